/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "corpus.h"
#include "suite.h"

#include "fuzz_rules.c"

#include <errno.h>

/*
 * The harness of fuzz_rules.c without a fuzzer: 10,000 rule bases, each valid at first and then
 * changed at random, from a fixed seed.  In ten cases, so that one that fails is near.
 */

#define CASES 10
#define FILES 1000
#define FILE_MAX (1 << 17) /* the built-in rule base, and room for what is added to it */

static uint64_t state;

static uint32_t draw(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t) ((state >> 33) % below);
}

/* ---- seeds ----------------------------------------------------------------------------------- */

static const char small[] =
    "{ \"schema\": \"faultloc-rules/1\", \"name\": \"small\",\n"
    "  \"strategies\": [ { \"name\": \"look\", \"steps\": [ { \"ask\": \"response\","
    " \"at_rto\": 0 }, { \"ask\": \"state\", \"over\": \"answered\", \"at_rto\": [1, 3],"
    " \"if\": \"answered\" } ] } ],\n  \"rules\": [ // one\n"
    "    { \"name\": \"one\", \"if\": [ { \"kind\": [\"peer-stall\", \"flood-query\"], \"count\": 2,"
    " \"relation\": \"same-switch\", \"components\": 2, \"severity\": \"error\","
    " \"errno\": \"EIO\", \"window_ms\": 500 } ],\n"
    "      \"then\": { \"candidates\": [ { \"model\": \"dead\", \"prior\": 0.5 } ],"
    " \"derive\": \"io-slow\", \"probes\": \"look\" } } ],\n"
    "  \"models\": [\n"
    "    { \"name\": \"dead\", \"class\": \"node-outage\", \"symptoms\": [\"power-off\"],"
    " \"errno\": [110], \"thresholds\": { \"high\": 7.5 }, \"causes\": \"gone\","
    " \"leads_to\": \"gone\", \"before_s\": { \"above\": 5, \"below\": \"high\" },"
    " \"masks\": [\"gone\"],\n      \"signs\": [ { \"name\": \"mute\", \"text\": \"says nothing\","
    " \"confidence\": 0.9,"
    " \"at_once\": true, \"about\": \"asker\",\n"
    "        \"when\": [ { \"agent\": { \"not\": \"silent\" } }, { \"load-per-cpu\": { \"above\":"
    " \"high\", \"below\": 9 } } ],\n"
    "        \"leaves_open\": [ { \"class\": \"unknown\", \"confidence\": 0.1 } ] } ] },\n"
    "    { \"name\": \"gone\", \"class\": \"unknown\", \"listed_only\": true } ],\n"
    "  \"well\": [ { \"name\": \"fine\", \"text\": \"answers\", \"when\": {"
    " \"main\": \"answered\" } } ] }\n";

static const char smallest[] =
    "{\"schema\":\"faultloc-rules/1\",\"name\":\"s\","
    "\"strategies\":[{\"name\":\"s\",\"steps\":[{\"ask\":\"log\",\"at_rto\":0}]}],"
    "\"models\":[{\"name\":\"unknown\",\"listed_only\":true}],"
    "\"rules\":[{\"name\":\"r\",\"if\":[{\"kind\":\"flood-query\"}],"
    "\"then\":{\"candidates\":[{\"model\":\"unknown\",\"prior\":1}]}}]}";

/* Sometimes the great one, which takes its time. */
static size_t some_seed(char text[FILE_MAX], uint32_t which)
{
    size_t len;
    const char *seed = which == 0 ? ftree_rules_builtin(&len) : which == 1 ? smallest : small;

    if (which)
        len = strlen(seed);
    REQUIRE(len <= FILE_MAX / 8 * 7); /* else raise FILE_MAX */
    memcpy(text, seed, len);
    return len;
}

/* ---- changes --------------------------------------------------------------------------------- */

/* Puts `new` in the place of `old_len` bytes at `at`. */
static size_t put(char text[FILE_MAX], size_t len, size_t at, size_t old_len, const char *new,
                  size_t new_len)
{
    char copy[512];

    old_len = old_len < len - at ? old_len : len - at;
    new_len = new_len < sizeof(copy) ? new_len : sizeof(copy);
    if (len - old_len + new_len > FILE_MAX)
        return len;
    memcpy(copy, new, new_len); /* may be of the text itself */
    memmove(text + at + new_len, text + at + old_len, len - at - old_len);
    memcpy(text + at, copy, new_len);
    return len - old_len + new_len;
}

/* Things that mean something, in places where they do not, or on both sides of a limit. */
static size_t put_token(char text[FILE_MAX], size_t len)
{
    static const char *const tokens[] = {
        "{",      "}",         "[",        "]",      ",",        ":",         "\"",     "//",
        "/*",     "*/",        "0",        "-1",     "1",        "1.0001",    "1e999",  "-1e999",
        "1e-9",   "1000000",   "1000001",  "4096",   "5.9",      "5.91",      "null",   "true",
        "{}",     "[]",        "\"\"",     "\"dead\"", "\"gone\"", "\"look\"",  "\"flood-query\"",
        "\"EIO\"", "\"\\u0000\"", "\"no\"", "\\",     "\n",       "\"kind\": ", "\"not\": ",
        "18446744073709551616", "\"unknown\"", "\"node-outage\"", "\"listed_only\": true,"};
    const char *token = tokens[draw(COUNT(tokens))];
    size_t at = draw((uint32_t) len + 1), end = at;

    /* mostly one token for another */
    if (draw(4)) {
        while (at > 0 && !strchr(" \n,:[]{}", text[at - 1]))
            at--;
        while (end < len && !strchr(" \n,:[]{}", text[end]))
            end++;
    }
    return put(text, len, at, end - at, token, strlen(token));
}

static size_t change(char text[FILE_MAX], size_t len)
{
    size_t at = draw((uint32_t) len + 1), from = draw((uint32_t) len + 1), n = 1 + draw(60);
    char c = (char) (draw(4) ? ' ' + (char) draw(95) : (char) draw(256));

    n = n < len - from ? n : len - from;
    switch (draw(8)) {
        case 0: /* a byte */
            return put(text, len, at, 1, &c, 1);
        case 1: /* one more, one less */
            return draw(2) ? put(text, len, at, 0, &c, 1) : put(text, len, at, 1, "", 0);
        case 2: /* a piece less */
            return put(text, len, from, n, "", 0);
        case 3: /* a piece twice */
            return put(text, len, at, 0, text + from, n);
        case 4: /* shorter */
            return draw(4) ? len : at;
        default:
            return put_token(text, len);
    }
}

TEST_CASES(changed_files_do_no_harm, CASES)
{
    static char text[FILE_MAX];

    state = 20260131u + (uint64_t) _i;
    for (int n = 0; n < FILES; n++) {
        size_t len = some_seed(text, n % 50 ? 1 + draw(8) : 0);
        for (uint32_t changes = 1 + draw(3); changes > 0; changes--)
            len = change(text, len);
        LLVMFuzzerTestOneInput((const uint8_t *) text, len);
    }
}

TEST_CASES(seeds_are_valid, 3)
{
    static char text[FILE_MAX];
    struct ftree_rules *rules;
    struct ftree_rules_error e;
    size_t len = some_seed(text, (uint32_t) _i);

    ck_assert_msg(ftree_rules_read(text, len, &rules, &e) == FTREE_OK, "line %d: %s", e.line,
                  e.text);
    ftree_rules_free(rules);
    for (size_t n = 0; _i && n < len; n++) /* and no beginning of one does harm */
        LLVMFuzzerTestOneInput((const uint8_t *) text, n);
}

/* ---- seeds for a fuzzer ---------------------------------------------------------------------- */

static bool write_corpus(const char *dir)
{
    static char text[FILE_MAX];
    char name[32];
    bool ok = true;

    for (uint32_t n = 0; ok && n < 3; n++) {
        snprintf(name, sizeof(name), "rules-%u", (unsigned) n);
        ok = corpus_put(dir, name, text, some_seed(text, n));
    }
    return ok;
}

int main(int argc, char **argv)
{
    return corpus_main(argc, argv, write_corpus);
}
