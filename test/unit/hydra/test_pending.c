/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc_pending.h"
#include "suite.h"

static struct HYD_faultloc_pending pending;

TEST_CASE(a_process_and_back)
{
    for (int local = 0; local < 1000; local++) {
        int who = HYD_FAULTLOC_PENDING_LOCAL(local);
        ck_assert(HYD_FAULTLOC_PENDING_IS_LOCAL(who));
        ck_assert_int_eq(HYD_FAULTLOC_PENDING_LOCAL(who), local);
    }
    ck_assert(!HYD_FAULTLOC_PENDING_IS_LOCAL(1));
}

TEST_CASE(answers_come_in_order)
{
    int who = 77;

    pending = (struct HYD_faultloc_pending){0};
    ck_assert(!HYD_faultloc_pending_next(&pending, &who));
    ck_assert_int_eq(who, 77);
    HYD_faultloc_pending_add(&pending, 5);
    HYD_faultloc_pending_add(&pending, HYD_FAULTLOC_PENDING_LOCAL(0));
    HYD_faultloc_pending_add(&pending, 4);
    ck_assert(HYD_faultloc_pending_next(&pending, &who) && who == 5);
    ck_assert(HYD_faultloc_pending_next(&pending, &who) && who == HYD_FAULTLOC_PENDING_LOCAL(0));
    ck_assert(HYD_faultloc_pending_next(&pending, &who) && who == 4);
    ck_assert(!HYD_faultloc_pending_next(&pending, &who));
}

/* An agent that never answers is not asked for ever; when it does, there is room again. */
TEST_CASE(there_is_a_bound)
{
    int next = 1, expected = 1, who;

    pending = (struct HYD_faultloc_pending){0};
    for (int turn = 0; turn < 3; turn++) {
        while (!HYD_faultloc_pending_is_full(&pending))
            HYD_faultloc_pending_add(&pending, next++);
        ck_assert_int_eq(next - expected, HYD_FAULTLOC_PENDING);
        for (int i = 0; i < HYD_FAULTLOC_PENDING - 1 - turn; i++, expected++)
            ck_assert(HYD_faultloc_pending_next(&pending, &who) && who == expected);
    }
}
