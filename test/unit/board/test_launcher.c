/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc_hydra.h"
#include "suite.h"

#include <string.h>

static struct faultloc_launcher_message word(void)
{
    struct faultloc_launcher_message w;

    memset(&w, 0, sizeof(w));
    w.magic = FAULTLOC_LAUNCHER_MAGIC;
    w.bytes = sizeof(w);
    w.kind = FAULTLOC_LAUNCHER_VERDICT;
    w.ranks.count = 3;
    w.ranks.ranges = 2;
    w.ranks.range[0].first = w.ranks.range[0].last = 2;
    w.ranks.range[1].first = 4;
    w.ranks.range[1].last = 5;
    return w;
}

static bool is_word(const struct faultloc_launcher_message *w)
{
    return faultloc_launcher_is_message(w, sizeof(*w), 6);
}

TEST_CASE(a_word_is_one)
{
    struct faultloc_launcher_message w = word();

    ck_assert(is_word(&w));
    ck_assert(faultloc_launcher_is_message(&w, sizeof(w), INT32_MAX));
    w.victims.count = 6; /* more than the ranges have */
    ck_assert(is_word(&w));
}

/* What is wrong with a word: bytes that are changed in a good one. */
static const struct {
    size_t at, bytes;
    uint8_t value;
} wrongs[] = {
    {offsetof(struct faultloc_launcher_message, magic), 1, 0},
    {offsetof(struct faultloc_launcher_message, bytes), 1, 1},
    {offsetof(struct faultloc_launcher_message, kind), 1, FAULTLOC_LAUNCHER_KINDS},
    {offsetof(struct faultloc_launcher_message, kind), 4, 0xff},
    {offsetof(struct faultloc_launcher_message, symptom_socket), FAULTLOC_LAUNCHER_PATH, 'x'},
    {offsetof(struct faultloc_launcher_message, class_), 24, 'x'},
    {offsetof(struct faultloc_launcher_message, host), 64, 'x'},
    {offsetof(struct faultloc_launcher_message, line), FAULTLOC_LAUNCHER_LINE, 'x'},
    {offsetof(struct faultloc_launcher_message, ended_rank), 4, 0xfe},
    {offsetof(struct faultloc_launcher_message, ended_rank), 1, 6},
    {offsetof(struct faultloc_launcher_message, ranks.count), 4, 0xff},
    {offsetof(struct faultloc_launcher_message, ranks.count), 1, 7},
    {offsetof(struct faultloc_launcher_message, ranks.ranges), 4, 0xff},
    {offsetof(struct faultloc_launcher_message, ranks.ranges), 1, FAULTLOC_LAUNCHER_RANGES + 1},
    {offsetof(struct faultloc_launcher_message, ranks.range[0].first), 4, 0xff},
    {offsetof(struct faultloc_launcher_message, ranks.range[0].first), 1, 3}, /* after its last */
    {offsetof(struct faultloc_launcher_message, ranks.range[0].last), 1, 4}, /* into the next */
    {offsetof(struct faultloc_launcher_message, ranks.range[1].last), 1, 6}, /* there are six */
    {offsetof(struct faultloc_launcher_message, victims.count), 1, 7},
};

TEST_CASES(what_is_wrong_is_refused, COUNT(wrongs))
{
    struct faultloc_launcher_message w = word();

    memset((char *) &w + wrongs[_i].at, wrongs[_i].value, wrongs[_i].bytes);
    ck_assert(!is_word(&w));
}

TEST_CASE(another_length_is_refused)
{
    struct faultloc_launcher_message w[2] = {word(), word()};

    ck_assert(!faultloc_launcher_is_message(w, sizeof(w[0]) - 1, 6));
    ck_assert(!faultloc_launcher_is_message(w, sizeof(w[0]) + 1, 6));
    ck_assert(!faultloc_launcher_is_message(w, 0, 6));
}

TEST_CASE(anything_may_come)
{
    struct faultloc_launcher_message w;
    uint32_t seed = 1;

    for (int i = 0; i < 100000; i++) {
        w = word();
        for (int j = 0; j < 8; j++) {
            seed = seed * 1664525u + 1013904223u; /* Numerical Recipes' quick generator */
            ((unsigned char *) &w)[seed % sizeof(w)] = (unsigned char) (seed >> 24);
        }
        if (is_word(&w)) {
            ck_assert_uint_lt(strlen(w.line), sizeof(w.line));
            ck_assert_int_lt(w.ranks.range[0].last, 6);
        }
    }
}
