/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/*
 * From which length on a wait is unusual: what counts as history, and how many questions waits lead
 * to that are unusual and harmless.
 */

#include "faultloc/node/wait_limit.h"
#include "suite.h"

#define MS FTREE_MS
#define S (1000 * MS)
#define STALL S

static struct faultloc_wait_limit limit;
static struct faultloc_waited rank;
static ftree_time now;

static void begin(void)
{
    now = 100 * S;
    rank = (struct faultloc_waited){0};
    faultloc_wait_limit_begin(&limit, now);
}

/* A wait of so long, after which the rank computes for a while; looks are 50 ms apart.  Returns after
 * how long somebody is asked; 0: nobody is. */
static ftree_time wait_for(ftree_time lasts, ftree_time computes)
{
    ftree_time asked = 0;

    for (ftree_time t = 50 * MS; t <= lasts; t += 50 * MS) {
        now += 50 * MS;
        faultloc_wait_limit_look(&limit, &rank, now, t);
        if (!asked && t >= faultloc_wait_limit(&limit, now, t, STALL)) {
            asked = t;
            rank.asked = t < STALL;
        }
    }
    now += computes;
    faultloc_wait_limit_look(&limit, &rank, now, 0);
    return asked;
}

TEST_CASE(waits_are_short_once_enough_were_seen)
{
    begin();
    wait_for(500 * MS, 400 * MS); /* began while connections were made */
    ck_assert_uint_eq(faultloc_wait_limit(&limit, now, S, STALL), STALL);
    for (int i = 0; i < 10; i++)
        wait_for(0, 300 * MS);
    ck_assert_uint_eq(faultloc_wait_limit(&limit, now, S, STALL), 200 * MS);
    ck_assert_uint_eq(wait_for(5 * S, S), 200 * MS);
    ck_assert_uint_eq(faultloc_wait_limit(&limit, now, S, STALL), STALL);
}

TEST_CASE(the_limit_is_four_times_the_longest)
{
    begin();
    now += 5 * S;
    ck_assert_uint_eq(wait_for(100 * MS, S), 0);
    ck_assert_uint_eq(faultloc_wait_limit(&limit, now, S, STALL), 400 * MS);
    ck_assert_uint_eq(faultloc_wait_limit(&limit, now, S, 100 * MS), 100 * MS); /* that of the user */
    ck_assert_uint_eq(faultloc_wait_limit(&limit, now, 100 * MS, STALL), STALL); /* as others */
    wait_for(300 * MS, S);
    ck_assert_uint_eq(faultloc_wait_limit(&limit, now, S, STALL), STALL);
}

TEST_CASE(a_wait_that_goes_on_is_no_history)
{
    begin();
    now += 5 * S;
    faultloc_wait_limit_look(&limit, &rank, now, 150 * MS);
    faultloc_wait_limit_look(&limit, &rank, now + 100, 150 * MS); /* the look took a later time */
    faultloc_wait_limit_look(&limit, &rank, now + 40 * MS, 190 * MS);
    ck_assert_uint_eq(faultloc_wait_limit(&limit, now, S, STALL), 200 * MS);
    faultloc_wait_limit_look(&limit, &rank, now + 80 * MS, 10 * MS); /* another one */
    ck_assert_uint_eq(faultloc_wait_limit(&limit, now, S, STALL), 760 * MS);
}

static const struct {
    ftree_time lasts, apart;
    int asked; /* before the stall limit, in eight hours */
} irregular[] = {
    {3 * S, 10 * S, 1},
    {300 * MS, 20 * S, 1},
    {300 * MS, 200 * S, 2}, /* periods of 60, 120, 240 s */
    {3 * S, 1200 * S, 5},
    {100 * MS, 5 * S, 0},
};

TEST_CASES(what_comes_again_leads_to_few_questions, COUNT(irregular))
{
    ftree_time from;
    int asked = 0;

    begin();
    now += 5 * S;
    for (from = now; now < from + 8 * 3600 * S;) {
        ftree_time at = wait_for(irregular[_i].lasts, S);
        asked += at && at < STALL;
        for (ftree_time end = now + irregular[_i].apart; now < end;)
            wait_for(0, S);
    }
    ck_assert_int_eq(asked, irregular[_i].asked);
}
