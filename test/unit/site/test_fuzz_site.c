/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "corpus.h"
#include "suite.h"

#include "fuzz_site.c"

/* The harness of fuzz_site.c without a fuzzer: 20,000 texts, each as it may be at first and then changed at
 * random, from a fixed seed. */

#define TEXTS 20000
#define TEXT_MAX 4096

static uint64_t state;

static uint32_t draw(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t) ((state >> 33) % below);
}

static const char *const seeds[READERS] = {
    [OF_POWER] = "Chassis Power is on\n",
    [OF_EVENTS] = "1,01/31/26,12:00:00 UTC,Fan #0x30,Lower Critical going low ,Asserted\n"
                  "2, Pre-Init ,0000001897,Memory #0x34,Uncorrectable ECC,Asserted\n"
                  "Set Session Privilege Level\n01/31/26 12:00:40 UTC\n",
    [OF_SENSORS] = "CPU Temp,98,degrees C,ucr\nFan 1,0,RPM,lcr\n12V,9.1,Volts,lnr\n",
    [OF_SLURM] = "NodeName=c17 Arch=x86_64 State=DOWN*+DRAIN ThreadsPerCore=1\n   Reason=Not responding "
                 "[slurm@2026-01-31T12:00:00]\n",
    [OF_PBS] = "c17\n     state = down,offline\n     comment = a disk\n",
    [OF_LINE] = "{\"symptom\": \"fan-failed\", \"age_s\": 40, \"text\": \"fan 2\", \"value\": [1, {}]}",
    [OF_MAP] = "c[01-16,20],login -> bmc[01-16,20],x",
    [OF_FILE] = "{\"handlers\": [{\"name\": \"bmc\", \"ask\": \"ipmi\", \"nodes\": \"c[1-64]\", \"deadline_ms\": 500,"
                " \"settings\": {\"user\": \"u\", \"password\": \"p\"}, \"of_node\": {\"address\": "
                "[\"c[1-64] -> b[1-64]\", \"d -> e\"]}}, {\"name\": \"os\", \"ask\": \"os\"}, "
                "{\"name\": \"x\", \"program\": \"/x\", \"from\": \"c1\"}]}"};

static size_t change(char *text, size_t len)
{
    static const char *const tokens[] = {",", "\n", "Asserted", "99999999999999999999", "-1", "\"", "{", "]",
                                         "[1-99999]", " -> ", "%s%n", "S+ ", "\\u0000", "\xff", "/", "1e999"};
    const char *token = tokens[draw(COUNT(tokens))];
    size_t at = draw((uint32_t) len + 1), n = strlen(token);

    switch (draw(4)) {
        case 0:
            if (at < len)
                text[at] = (char) (1 + draw(255));
            return len;
        case 1:
            return at; /* cut off */
        case 2:
            memmove(text + at / 2, text + at, len - at);
            return len - at + at / 2;
        default:
            if (len + n >= TEXT_MAX)
                return len;
            memmove(text + at + n, text + at, len - at);
            memcpy(text + at, token, n);
            return len + n;
    }
}

TEST_CASES(changed_texts_do_no_harm, READERS)
{
    static char text[TEXT_MAX + 1];

    state = 20260131u + (uint64_t) _i;
    for (int n = 0; n < TEXTS / READERS; n++) {
        size_t len = strlen(seeds[_i]);
        memcpy(text + 1, seeds[_i], len);
        text[0] = (char) _i;
        for (uint32_t changes = draw(6); changes > 0; changes--)
            len = change(text + 1, len);
        LLVMFuzzerTestOneInput((const uint8_t *) text, len + 1);
    }
}

static bool write_corpus(const char *dir)
{
    char text[TEXT_MAX], name[32];
    bool ok = true;

    for (int i = 0; ok && i < READERS; i++) {
        snprintf(name, sizeof(name), "site-%d", i);
        text[0] = (char) i;
        memcpy(text + 1, seeds[i], strlen(seeds[i]));
        ok = corpus_put(dir, name, text, strlen(seeds[i]) + 1);
    }
    return ok;
}

int main(int argc, char **argv)
{
    return corpus_main(argc, argv, write_corpus);
}
