/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc_asked.h"
#include "suite.h"

static struct HYD_faultloc_asked asked;

START_TEST(a_process_and_back)
{
    for (int local = 0; local < 1000; local++) {
        int who = HYD_FAULTLOC_ASKED_LOCAL(local);
        ck_assert(HYD_FAULTLOC_ASKED_IS_LOCAL(who));
        ck_assert_int_eq(HYD_FAULTLOC_ASKED_LOCAL(who), local);
    }
    ck_assert(!HYD_FAULTLOC_ASKED_IS_LOCAL(1));
}
END_TEST

START_TEST(answers_come_in_order)
{
    int who = 77;

    asked = (struct HYD_faultloc_asked){0};
    ck_assert(!HYD_faultloc_asked_next(&asked, &who));
    ck_assert_int_eq(who, 77);
    HYD_faultloc_asked_add(&asked, 5);
    HYD_faultloc_asked_add(&asked, HYD_FAULTLOC_ASKED_LOCAL(0));
    HYD_faultloc_asked_add(&asked, 4);
    ck_assert(HYD_faultloc_asked_next(&asked, &who) && who == 5);
    ck_assert(HYD_faultloc_asked_next(&asked, &who) && who == HYD_FAULTLOC_ASKED_LOCAL(0));
    ck_assert(HYD_faultloc_asked_next(&asked, &who) && who == 4);
    ck_assert(!HYD_faultloc_asked_next(&asked, &who));
}
END_TEST

/* An agent that never answers is not asked for ever; when it does, there is room again. */
START_TEST(there_is_a_bound)
{
    int next = 1, expected = 1, who;

    asked = (struct HYD_faultloc_asked){0};
    for (int turn = 0; turn < 3; turn++) {
        while (!HYD_faultloc_asked_is_full(&asked))
            HYD_faultloc_asked_add(&asked, next++);
        ck_assert_int_eq(next - expected, HYD_FAULTLOC_ASKED);
        for (int i = 0; i < HYD_FAULTLOC_ASKED - 1 - turn; i++, expected++)
            ck_assert(HYD_faultloc_asked_next(&asked, &who) && who == expected);
    }
}
END_TEST

SUITE("hydra_asked")
{
    TEST(a_process_and_back);
    TEST(answers_come_in_order);
    TEST(there_is_a_bound);
}
