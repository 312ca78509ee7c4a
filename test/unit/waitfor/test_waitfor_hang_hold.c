/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "suite.h"

#include "ftree/waitfor/waitfor_hang_int.h"

/* When the job may be ended because of what ranks do outside MPI, and why not before. */

#define SECOND (1000 * FTREE_MS)
#define BLOCKED (60 * SECOND)
#define ACTIVE (600 * SECOND)
#define NEVER FTREE_HOLDS_FOR_EVER

static const struct {
    uint8_t what, ending;
    ftree_time end;
    const char *why;
} rows[] = {
    {FTREE_OUTSIDE_SLEEPS, FTREE_ENDING_THREAD, BLOCKED, "can be woken only by its own threads"},
    {FTREE_OUTSIDE_SLEEPS, FTREE_ENDING_UNKNOWN, ACTIVE, "may be woken by something unknown"},
    {FTREE_OUTSIDE_SLEEPS, FTREE_ENDING_SIGNAL, NEVER, "may be woken by a signal that it handles"},
    {FTREE_OUTSIDE_SLEEPS, FTREE_ENDING_TIMEOUT, NEVER, "is in a call with a timeout of its own"},
    {FTREE_OUTSIDE_SLEEPS, FTREE_ENDING_INPUT, NEVER, "waits for standard input or a terminal"},
    {FTREE_OUTSIDE_AWAITS, FTREE_ENDING_THREAD, ACTIVE, "is awaiting an answer"},
    {FTREE_OUTSIDE_AWAITS, FTREE_ENDING_UNKNOWN, ACTIVE, "is awaiting an answer"},
    {FTREE_OUTSIDE_AWAITS, FTREE_ENDING_SIGNAL, NEVER, "a signal"},
    {FTREE_OUTSIDE_AWAITS, FTREE_ENDING_TIMEOUT, NEVER, "a timeout"},
    {FTREE_OUTSIDE_AWAITS, FTREE_ENDING_INPUT, NEVER, "standard input"},
    {FTREE_OUTSIDE_PAUSES, FTREE_ENDING_THREAD, ACTIVE, "is active now and then"},
    {FTREE_OUTSIDE_PAUSES, FTREE_ENDING_UNKNOWN, ACTIVE, "is active now and then"},
    {FTREE_OUTSIDE_PAUSES, FTREE_ENDING_SIGNAL, NEVER, "a signal"},
    {FTREE_OUTSIDE_PAUSES, FTREE_ENDING_TIMEOUT, NEVER, "a timeout"},
    {FTREE_OUTSIDE_PAUSES, FTREE_ENDING_INPUT, NEVER, "standard input"},
    {FTREE_OUTSIDE_RUNS, FTREE_ENDING_UNKNOWN, ACTIVE, "is active"},
    {FTREE_OUTSIDE_RUNS, FTREE_ENDING_THREAD, ACTIVE, "is active"},
    {FTREE_OUTSIDE_RUNS, FTREE_ENDING_SIGNAL, NEVER, "a signal"},
    {FTREE_OUTSIDE_RUNS, FTREE_ENDING_TIMEOUT, NEVER, "a timeout"},
    {FTREE_OUTSIDE_RUNS, FTREE_ENDING_INPUT, NEVER, "standard input"},
    {FTREE_OUTSIDE_DISK, FTREE_ENDING_UNKNOWN, ACTIVE, "is in disk sleep"},
    {FTREE_OUTSIDE_DISK, FTREE_ENDING_INPUT, ACTIVE, "is in disk sleep"},
    {FTREE_OUTSIDE_STOPPED, FTREE_ENDING_TIMEOUT, ACTIVE, "is stopped"},
    {FTREE_OUTSIDE_UNKNOWN, FTREE_ENDING_UNKNOWN, ACTIVE, "is in an unknown state"},
};

static ftree_time hold(const struct hang_sweep *s, char line[FTREE_DETAIL_MAX])
{
    return waitfor_hang_hold(s, line, FTREE_DETAIL_MAX);
}

TEST_CASES(what_a_rank_does_decides, sizeof(rows) / sizeof(rows[0]))
{
    struct hang_sweep s = {
        .count = 1, .stay = {{.rank = 3, .what = rows[_i].what, .ending = rows[_i].ending}}};
    const char *end = rows[_i].end == BLOCKED  ? "may be ended after 60 s: rank 3 "
                      : rows[_i].end == ACTIVE ? "may be ended after 600 s: rank 3 "
                                               : "the job is never ended because of it: rank 3 ";
    char line[FTREE_DETAIL_MAX];

    ck_assert_uint_eq(hold(&s, line), rows[_i].end);
    ck_assert_ptr_nonnull(strstr(line, end));
    ck_assert_ptr_nonnull(strstr(line, rows[_i].why));
}

TEST_CASE(the_longest_stay_before_gives_the_scale)
{
    struct hang_sweep s = {.count = 1, .longest = 100 * SECOND};
    char line[FTREE_DETAIL_MAX];

    s.stay[0].what = FTREE_OUTSIDE_SLEEPS;
    ck_assert_uint_eq(hold(&s, line), 1000 * SECOND);
    ck_assert_ptr_nonnull(strstr(line, "at most 100.0 s before"));
    s.stay[0].ending = FTREE_ENDING_INPUT;
    ck_assert_uint_eq(hold(&s, line), NEVER);
}

/* A blocked one may wait for it. */
TEST_CASE(one_that_may_go_on_speaks_for_all)
{
    struct hang_sweep s = {.count = 3};
    char line[FTREE_DETAIL_MAX];

    for (int i = 0; i < 3; i++)
        s.stay[i] = (struct ftree_stay){.rank = i, .what = FTREE_OUTSIDE_SLEEPS};
    ck_assert_uint_eq(hold(&s, line), BLOCKED);
    s.stay[2].what = FTREE_OUTSIDE_RUNS;
    ck_assert_uint_eq(hold(&s, line), ACTIVE);
    ck_assert_ptr_nonnull(strstr(line, "rank 2 is active"));
    s.stay[1].ending = FTREE_ENDING_TIMEOUT;
    ck_assert_uint_eq(hold(&s, line), NEVER);
    ck_assert_ptr_nonnull(strstr(line, "rank 1 is in a call with a timeout of its own"));
}

TEST_CASE(while_others_go_on_there_is_time)
{
    struct hang_sweep s = {.count = 1, .others_go_on = true};
    char line[FTREE_DETAIL_MAX];

    s.stay[0].what = FTREE_OUTSIDE_SLEEPS;
    ck_assert_uint_eq(hold(&s, line), ACTIVE);
    ck_assert_ptr_nonnull(strstr(line, "after 600 s: other ranks continue"));
}
