/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "corpus.h"
#include "suite.h"

#include "fuzz_tree.c"


/*
 * The harness of fuzz_tree.c without a fuzzer: 10,000 files and strings, each valid at first (or
 * wrong in one way) and then changed at random, from a fixed seed. In ten cases, so that one that
 * fails is near.
 */

#define CASES 10
#define FILES 1000
#define FILE_MAX 4096

static const char *const seeds[] = {
    "\x1fSwitchName=all Nodes=c[1-5],c03,r[1-2]n[1-2],c1.org,10.0.0.[1-9],x\n",
    "\x02# two switches and a third above them\nSwitchName=s0 Nodes=c[1-2,5],c03\n"
    "SwitchName=s1 Nodes=r1n2,c1.org,10.0.0.7,x LinkSpeed=100\nSwitchName=top Switches=s[0-1]\n",
    "\x01switchname = s0 \\\n  nodes = \"c[1-5],c03\" # some\r\n"
    "SWITCHNAME=s1 NODES=r[1-3]n[1-3],\\\nc1.org,10.0.0.7,\\  \nx\n",
    "\x03SwitchName=a Switches=b,c\nSwitchName=b Switches=d\nSwitchName=c Nodes=c[1-5],c03\n"
    "SwitchName=d Switches=e\nSwitchName=e Nodes=r1n2.org,c1.org,10.0.0.7,x\n",
    "\x0fSwitchName=a Nodes=c[0001-2000]\nSwitchName=b Nodes=d[1-9][1-9][1-9],c1,c2,c5,c03\n",
    "\x00SwitchName=t Switches=u\nSwitchName=u Switches=t\nSwitchName=v Nodes=c1\n",
    "\x80switch:2 node:4",
    "\x82switch:2 switch:2 node:2 rank:4",
    "\x81node:8",
};

static const char *const words[] = {
    "SwitchName=", "Nodes=",    "Switches=", "LinkSpeed=1 ", "[",        "]",  ",",
    "-",           "=",         "\"",        "\\\n",         "\\",       "#",  "\n",
    " ",           "0",         "007",       "[1-99]",       "99999999", "s0", "c1",
    "c1.org",      "switch:2 ", "node:",     "rank:",        "."};

static uint64_t state;

static uint32_t draw(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t) ((state >> 33) % below);
}

static size_t some_seed(uint8_t *buf)
{
    /* the first byte of one is a zero */
    const char *seed = seeds[draw(COUNT(seeds))];
    size_t len = 1 + strlen(seed + 1);

    memcpy(buf, seed, len);
    return len;
}

static size_t put_in(uint8_t *buf, size_t len, size_t at, const void *bytes, size_t n)
{
    if (len + n > FILE_MAX)
        return len;
    memmove(buf + at + n, buf + at, len - at);
    memcpy(buf + at, bytes, n);
    return len + n;
}

static size_t change(uint8_t *buf, size_t len)
{
    uint8_t other[FILE_MAX];
    size_t at = 1 + draw((uint32_t) len), n = 1 + draw(12);
    const char *word = words[draw(COUNT(words))];

    if (at >= len)
        return put_in(buf, len, len, word, strlen(word));
    if (n > len - at)
        n = len - at;
    switch (draw(7)) {
        case 0: /* another byte */
            buf[at] = (uint8_t) draw(256);
            return len;
        case 1: /* a word more */
        case 2:
            return put_in(buf, len, at, word, strlen(word));
        case 3: /* a piece less */
            memmove(buf + at, buf + at + n, len - at - n);
            return len - n;
        case 4: /* a piece twice */
            memcpy(other, buf + at, n);
            return put_in(buf, len, 1 + draw((uint32_t) len - 1), other, n);
        case 5: /* the head of one, the rest of another */
            n = some_seed(other);
            if (at >= n)
                return at;
            memcpy(buf + at, other + at, n - at);
            return n;
        default:
            return at;
    }
}

TEST_CASES(changed_files_do_no_harm, CASES)
{
    static uint8_t file[FILE_MAX];

    state = 20260131u + (uint64_t) _i;
    for (int i = 0; i < FILES; i++) {
        size_t len = some_seed(file);
        for (uint32_t n = draw(6); n > 0; n--)
            len = change(file, len);
        LLVMFuzzerTestOneInput(file, len);
    }
}

TEST_CASE(odd_files_do_no_harm)
{
    static const uint8_t bytes[] = "\x81\x02node:8";

    LLVMFuzzerTestOneInput(NULL, 0);
    for (size_t len = 1; len < sizeof(bytes); len++)
        for (size_t at = 0; at + len < sizeof(bytes); at++)
            LLVMFuzzerTestOneInput(bytes + at, len);
}

/* ---- seeds for a fuzzer ---------------------------------------------------------------------- */

static bool write_corpus(const char *dir)
{
    char name[32];
    bool ok = true;

    for (int i = 0; ok && i < COUNT(seeds); i++) {
        snprintf(name, sizeof(name), "topology-%02d", i);
        ok = corpus_put(dir, name, seeds[i], 1 + strlen(seeds[i] + 1));
    }
    return ok;
}

int main(int argc, char **argv)
{
    return corpus_main(argc, argv, write_corpus);
}
