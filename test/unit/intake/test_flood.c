/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "lone.h"
#include "suite.h"

static void hear_round(struct lone *l, int32_t from, uint32_t round)
{
    struct wire_message m = {.type = WIRE_FLOOD_QUERY, .u.round = round};

    lone_hear(l, from, FTREE_PATH_DATA, &m);
}

/* The tree:  0 - 1 2,  1 - 3 4,  2 - 5 6. */

TEST_CASE(a_round_asks_the_children_and_tells_the_parent)
{
    struct lone *l = lone_of(shape_binary(7, 1), 1);

    lone_stall(l, 1, FTREE_NONE);
    ck_assert_str_eq(lone_log(l), "0 rank 1 stalls, peer not known\n"
                                  "0 flood query 1\n"
                                  "0 -> n0 data flood-query\n"
                                  "0 suspects n3: flood-query, rule nobody-known-to-wait-for\n"
                                  "0 -> n3 data probe\n"
                                  "0 suspects n4: flood-query, rule nobody-known-to-wait-for\n"
                                  "0 -> n4 data probe\n");
}

TEST_CASE(the_root_tells_nobody)
{
    struct lone *l = lone_of(shape_binary(7, 1), 0);

    lone_stall(l, 0, FTREE_NONE);
    ck_assert_int_eq(lone_count(l, WIRE_PROBE), 2);
    ck_assert_int_eq(lone_count(l, WIRE_FLOOD_QUERY), 0);
}

TEST_CASE(who_told_the_round_is_not_told_or_asked_again)
{
    struct lone *l = lone_of(shape_binary(7, 1), 1);

    hear_round(l, 3, 5);
    ck_assert_str_eq(lone_log(l), "0 -> n3 data ack\n"
                                  "0 flood query 5\n"
                                  "0 -> n0 data flood-query\n"
                                  "0 suspects n4: flood-query, rule nobody-known-to-wait-for\n"
                                  "0 -> n4 data probe\n");
    hear_round(l, 4, 5); /* known by now */
    ck_assert_str_eq(lone_log(l), "0 -> n4 data ack\n");
}

TEST_CASE(stalls_of_a_moment_share_a_round)
{
    struct lone *l = lone_of(shape_binary(7, 3), 1);

    lone_stall(l, 3, FTREE_NONE);
    lone_stall(l, 4, FTREE_NONE);
    lone_run(l, 499);
    lone_acks(l, 0);
    lone_stall(l, 5, FTREE_NONE);
    ck_assert_uint_eq(ftree_inspect_flood_round(l->ft), 1);
    lone_run(l, 501); /* told again at 1 s */
    ck_assert_uint_eq(ftree_inspect_flood_round(l->ft), 2);
}

TEST_CASE(a_greater_round_is_joined_at_any_time)
{
    struct lone *l = lone_of(shape_binary(7, 1), 1);

    lone_stall(l, 1, FTREE_NONE);
    hear_round(l, 0, 2);
    ck_assert_uint_eq(ftree_inspect_flood_round(l->ft), 2);
    hear_round(l, 0, 9);
    ck_assert_uint_eq(ftree_inspect_flood_round(l->ft), 9);
}

TEST_CASE(who_tells_an_old_round_is_told_the_new_one)
{
    struct lone *l = lone_of(shape_binary(7, 1), 1);

    hear_round(l, 0, 9);
    lone_log(l);
    hear_round(l, 4, 1);
    ck_assert_str_eq(lone_log(l), "0 -> n4 data ack\n"
                                  "0 -> n4 data flood-query\n");
}

TEST_CASE(rounds_may_wrap)
{
    struct lone *l = lone_of(shape_binary(7, 1), 1);

    hear_round(l, 0, INT32_MAX);
    hear_round(l, 0, UINT32_MAX - 1);
    hear_round(l, 0, UINT32_MAX);
    ck_assert_uint_eq(ftree_inspect_flood_round(l->ft), UINT32_MAX);
    hear_round(l, 0, 3);
    ck_assert_uint_eq(ftree_inspect_flood_round(l->ft), 3);
    hear_round(l, 0, UINT32_MAX);
    ck_assert_uint_eq(ftree_inspect_flood_round(l->ft), 3);
}

TEST_CASE(the_children_of_a_lost_child_are_asked)
{
    struct lone *l = lone_of(shape_binary(7, 1), 0);

    lone_knows(l, "node-outage/both-paths-silent", 1, FTREE_NONE, 0);
    lone_stall(l, 0, FTREE_NONE);
    ck_assert_str_eq(lone_log(l), "0 rank 0 stalls, peer not known\n"
                                  "0 flood query 1\n"
                                  "0 suspects n3: flood-query, rule nobody-known-to-wait-for\n"
                                  "0 -> n3 data probe\n"
                                  "0 suspects n4: flood-query, rule nobody-known-to-wait-for\n"
                                  "0 -> n4 data probe\n"
                                  "0 suspects n2: flood-query, rule nobody-known-to-wait-for\n"
                                  "0 -> n2 data probe\n");
}

TEST_CASE(the_heir_of_the_root_asks_the_roots_children)
{
    struct lone *l = lone_of(shape_binary(7, 1), 5);

    ck_assert_int_eq(ftree_inspect_root_substitute(l->ft, 1), 5);
    lone_knows(l, "node-outage/both-paths-silent", 0, FTREE_NONE, 0);
    lone_stall(l, 5, FTREE_NONE);
    ck_assert_str_eq(lone_log(l), "0 rank 5 stalls, peer not known\n"
                                  "0 flood query 1\n"
                                  "0 -> n2 data flood-query\n"
                                  "0 suspects n1: flood-query, rule nobody-known-to-wait-for\n"
                                  "0 -> n1 data probe\n"
                                  "0 suspects n2: flood-query, rule nobody-known-to-wait-for\n"
                                  "0 -> n2 data probe\n");
}

TEST_CASE(a_round_goes_past_a_silent_parent)
{
    struct lone *l = lone_of(shape_binary(7, 1), 3);

    lone_stall(l, 3, FTREE_NONE);
    lone_run(l, 349);
    lone_log(l);
    lone_run(l, 1);
    ck_assert_str_eq(lone_log(l), "350 flood-query to n1 not acknowledged\n"
                                  "350 symptom about n1 goes to n0\n"
                                  "350 -> n0 data symptom\n"
                                  "350 -> n0 data flood-query\n");
    ck_assert_uint_eq(ftree_inspect_flood_round(l->ft), 1);
}

TEST_CASE(who_leaves_takes_no_part)
{
    struct lone *l = lone_of(shape_binary(7, 1), 1);

    ftree_leave(l->ft, l->now);
    hear_round(l, 0, 3);
    LONE_STEP(l, ftree_flood_start(l->ft, l->now));
    LONE_STEP(l, ftree_flood_upward(l->ft, l->now, FTREE_NONE));
    ck_assert_str_eq(lone_log(l), "0 -> n0 data ack\n");
}

TEST_CASE(a_child_that_has_left_is_not_asked)
{
    struct lone *l = lone_of(shape_binary(7, 1), 1);
    struct wire_message m = {.type = WIRE_GOODBYE};

    lone_hear(l, 3, FTREE_PATH_DATA, &m);
    lone_log(l);
    lone_stall(l, 1, FTREE_NONE);
    ck_assert_int_eq(lone_count(l, WIRE_PROBE), 1);
    ck_assert_int_eq(lone_last(l, WIRE_PROBE)->to.node, 4);
}

TEST_CASE(a_round_looks_at_the_own_ranks)
{
    struct lone *l = lone_of(shape_binary(7, 2), 1);

    l->state[1].proc_state = 'T';
    hear_round(l, 0, 1);
    lone_run(l, 200);
    ck_assert_int_eq(l->verdicts, 1);
    ck_assert_int_eq(l->verdict[0].rank, 3);
}
