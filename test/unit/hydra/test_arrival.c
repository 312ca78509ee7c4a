/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc_arrival.h"
#include "faultloc_incident.h"
#include "suite.h"

#define S *1000LL

static struct HYD_faultloc_arrival arrival;

/* mpiexec's loop: it is woken when something is due. */
static int64_t now;
static int asked, said;

BEFORE_EACH
{
    arrival = (struct HYD_faultloc_arrival){.barrier = 0};
    now = 1 S;
    asked = said = 0;
}

static void come(void)
{
    HYD_faultloc_arrival_come(&arrival, now, now);
}

static void turn(bool answered)
{
    enum HYD_faultloc_arrival_step step;

    while ((step = HYD_faultloc_arrival_step(&arrival, now, answered)) !=
           HYD_FAULTLOC_ARRIVAL_WAIT) {
        asked += step == HYD_FAULTLOC_ARRIVAL_ASK;
        said += step == HYD_FAULTLOC_ARRIVAL_SAY;
    }
}

/* To the next note; the time until then. */
static int64_t next_note(void)
{
    int64_t from = now;
    int before = said;

    while (said == before) {
        ck_assert_int_lt(HYD_faultloc_arrival_due(&arrival), from + 1000000 S);
        now = HYD_faultloc_arrival_due(&arrival);
        turn(true);
    }
    return now - from;
}

TEST_CASE(nothing_is_due_where_nobody_waits)
{
    ck_assert_int_eq(HYD_faultloc_arrival_due(&arrival), HYD_FAULTLOC_NEVER);
    turn(true);
    come();
    ck_assert_int_eq(HYD_faultloc_arrival_due(&arrival), now + 10 S);
    now += 9 S;
    turn(true);
    ck_assert(!HYD_faultloc_arrival_all(&arrival)); /* there was no note */
    ck_assert_int_eq(HYD_faultloc_arrival_due(&arrival), HYD_FAULTLOC_NEVER);
    now += 1000 S;
    turn(true);
    ck_assert_int_eq(asked, 0);
}

TEST_CASE(notes_come_at_intervals_that_double)
{
    static const int64_t after[] = {10 S,  20 S,  40 S,  80 S,  160 S,
                                    320 S, 600 S, 600 S, 600 S, 600 S};

    come();
    for (size_t i = 0; i < sizeof(after) / sizeof(after[0]); i++)
        ck_assert_int_eq(next_note(), after[i]);
    ck_assert_int_eq(asked, said);
    ck_assert(HYD_faultloc_arrival_all(&arrival));
    ck_assert_int_eq(HYD_faultloc_arrival_due(&arrival), HYD_FAULTLOC_NEVER);
}

TEST_CASE(each_arrival_gives_ten_seconds_more)
{
    for (int i = 0; i < 100; i++, now += 9 S) {
        come();
        turn(true);
    }
    ck_assert_int_eq(asked, 0);
    ck_assert_int_eq(next_note(), 1 S);
    come();
    ck_assert_int_eq(next_note(), 20 S); /* that interval goes on */
    now += 35 S;
    come();
    ck_assert_int_eq(next_note(), 10 S);
}

TEST_CASE(answers_are_waited_for)
{
    come();
    now += 10 S;
    turn(false);
    ck_assert_int_eq(asked, 1);
    ck_assert_int_eq(said, 0);
    ck_assert_int_eq(HYD_faultloc_arrival_due(&arrival), now + 2 S);
    now += 1 S;
    turn(false);
    ck_assert_int_eq(said, 0);
    turn(true);
    ck_assert_int_eq(said, 1);
    now += 20 S;
    turn(false);
    ck_assert_int_eq(asked, 2);
    now += 2 S;
    turn(false); /* no longer */
    ck_assert_int_eq(said, 2);
}

/* Some of a proxy's own ranks have come, which mpiexec hears of when it asks. */
TEST_CASE(an_answer_can_make_the_note_wait)
{
    come();
    now += 10 S;
    turn(false);
    HYD_faultloc_arrival_come(&arrival, now - 15 S, now - 4 S);
    turn(true);
    ck_assert_int_eq(said, 0);
    ck_assert_int_eq(HYD_faultloc_arrival_due(&arrival), now + 6 S);
    ck_assert_int_eq(arrival.first, now - 15 S);
    now += 6 S;
    turn(true);
    ck_assert_int_eq(said, 1);
}

/* A proxy says that its ranks wait for each other, before mpiexec knows of any arrival. */
TEST_CASE(what_began_before_it_was_known)
{
    now += 20 S;
    HYD_faultloc_arrival_come(&arrival, now - 12 S, now - 11 S);
    ck_assert_int_eq(arrival.barrier, 1);
    turn(true);
    ck_assert_int_eq(said, 1);
    ck_assert_int_eq(arrival.first, now - 12 S);
}

/* mpiexec was stopped, and perhaps the whole job: nobody can have come meanwhile. */
TEST_CASE(a_time_of_standstill_does_not_count)
{
    come();
    now += 12 S;
    turn(true);
    ck_assert_int_eq(asked, 0);
    ck_assert_int_eq(next_note(), 10 S);
    now += 500 S;
    turn(true);
    ck_assert_int_eq(said, 1);
    ck_assert_int_eq(next_note(), 10 S);
}

/* Who comes meanwhile ends the barrier, and the next one is a new one. */
TEST_CASE(barriers_are_counted)
{
    for (int i = 1; i < 4; i++) {
        come();
        ck_assert_int_eq(arrival.barrier, i);
        ck_assert_int_eq(next_note(), 10 S);
        ck_assert(HYD_faultloc_arrival_all(&arrival));
        ck_assert_int_eq(arrival.barrier, i + 1);
        now += 100 S;
    }
    come();
    now += 10 S;
    turn(false);
    ck_assert(!HYD_faultloc_arrival_all(&arrival)); /* while it asks */
    turn(true);
    ck_assert_int_eq(said, 3);
    come();
    ck_assert_int_eq(HYD_faultloc_arrival_due(&arrival), now + 10 S);
}
