/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "lone.h"
#include "messages.h"
#include "suite.h"

#include <stdio.h>
#include <string.h>

/* The tree of the tests:  0 - 1 2,  1 - 3 4,  2 - 5 6,  3 - 7 8,  4 - 9 10,  5 - 11 12. */
#define NODES 13

/* In answer to the message that `from` owes an answer to. */
static void victims_from(struct lone *l, int32_t from, int32_t first, int32_t last)
{
    uint32_t told = lone_due(l, from);

    ck_assert_uint_ne(told, 0);
    lone_victims(l, from, told, first, last);
}

/* Message `id` from above tells n verdicts. */
static void told(struct lone *l, int32_t from, uint32_t id, const struct ftree_verdict *v, int32_t n)
{
    struct wire_message m = {.type = WIRE_VERDICT_DOWN, .id = id};
    struct wire_outlines w = {0};

    for (int32_t i = 0; i < n; i++) {
        struct outline o = messages_outline(&v[i]);
        ck_assert(ftree_wire_put_outline(&w, l->now, &o, v[i].rule));
    }
    m.u.told = ftree_wire_told(&w);
    lone_hear(l, from, FTREE_PATH_DATA, &m);
}

static const struct known *known(const struct lone *l, int32_t i)
{
    return &l->ft->known.items[i];
}

/* ---- at the root ----------------------------------------------------------------------------- */

START_TEST(the_root_tells_its_children_gathers_and_reports)
{
    struct lone *l = lone_new(NODES, 1, 2, 0);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 9, FTREE_NONE, 4);
    uint32_t asked;

    l->state[0].phase = FTREE_PHASE_WAITING;
    l->state[0].waiting = l->cfg.stall;
    lone_told(l, 1, WIRE_VERDICT_UP, &v);
    asked = lone_due(l, 1);
    lone_run(l, 10);
    lone_acks(l, 1);
    lone_acks(l, 2);
    victims_from(l, 1, 3, 4);
    ck_assert_int_eq(l->reports, 0);
    lone_victims(l, 1, asked, 7, 8); /* twice: does not count */
    lone_victims(l, 7, asked, 10, 10); /* from one who was not asked */
    victims_from(l, 2, 5, 6);
    ck_assert_int_eq(l->reports, 1);
    ck_assert_int_eq(l->report[0].victims.count, 5);
    lone_victims(l, 2, asked, 11, 11); /* too late */
    ck_assert_int_eq(l->reports, 1);
    lone_run(l, 100);
    ck_assert_str_eq(lone_log(l), "0 -> n1 data ack\n"
                                  "0 -> n1 data verdict-down\n"
                                  "0 -> n2 data verdict-down\n"
                                  "10 -> n1 data ack\n"
                                  "10 -> n1 data ack\n"
                                  "10 -> n7 data ack\n"
                                  "10 -> n2 data ack\n"
                                  "10 reports node-outage of n9: 5 victims\n"
                                  "10 -> n2 data ack\n");
    ck_assert_int_eq(l->verdicts, 1);
    lone_free(l);
}
END_TEST

START_TEST(the_root_waits_no_longer_than_gather)
{
    struct lone *l = lone_new(NODES, 1, 2, 0);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 9, FTREE_NONE, 4);

    lone_told(l, 1, WIRE_VERDICT_UP, &v);
    lone_acks(l, 1);
    lone_acks(l, 2);
    victims_from(l, 1, 3, 4);
    lone_run(l, 399);
    ck_assert_int_eq(l->reports, 0);
    lone_run(l, 1);
    ck_assert_int_eq(l->reports, 1);
    ck_assert_int_eq(l->report[0].victims.count, 2);
    lone_free(l);
}
END_TEST

START_TEST(a_verdict_told_twice_is_one)
{
    struct lone *l = lone_new(NODES, 1, 2, 0);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 9, FTREE_NONE, 4);

    lone_told(l, 1, WIRE_VERDICT_UP, &v);
    lone_log(l);
    lone_told(l, 1, WIRE_VERDICT_UP, &v); /* who still tells it has not heard it */
    ck_assert_str_eq(lone_log(l), "0 -> n1 data ack\n"
                                  "0 -> n1 data verdict-down\n");
    ck_assert_int_eq(l->verdicts, 1);
    lone_run(l, 700);
    ck_assert_int_eq(l->reports, 1);
    lone_free(l);
}
END_TEST

START_TEST(a_lost_node_explains_its_processes)
{
    struct lone *l = lone_new(NODES, 2, 2, 0);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 9, FTREE_NONE, 4);
    struct ftree_verdict crash = lone_verdict(l, "process-crash/pid-gone", 9, 18, 4);

    lone_told(l, 1, WIRE_VERDICT_UP, &v);
    lone_told(l, 1, WIRE_VERDICT_UP, &crash);
    ck_assert_int_eq(l->verdicts, 1);
    lone_run(l, 700);
    ck_assert_int_eq(l->reports, 1);
    lone_free(l);
}
END_TEST

START_TEST(victims_are_never_more_than_there_are_ranks)
{
    struct lone *l = lone_new(NODES, 1, 2, 0);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 9, FTREE_NONE, 4);
    struct wire_message m = {.type = WIRE_VICTIMS};

    m.u.victims.ranks.count = NODES;
    lone_told(l, 1, WIRE_VERDICT_UP, &v);
    m.u.victims.told = lone_due(l, 1);
    lone_hear(l, 1, FTREE_PATH_DATA, &m);
    m.id = 0;
    lone_hear(l, 2, FTREE_PATH_DATA, &m);
    ck_assert_int_eq(l->report[0].victims.count, NODES);
    lone_free(l);
}
END_TEST

START_TEST(the_lost_rank_is_no_victim_of_itself)
{
    struct lone *l = lone_new(NODES, 2, 2, 0);
    struct ftree_verdict v = lone_verdict(l, "process-stopped/state-t", 0, 1, 0);

    for (int i = 0; i < 2; i++) {
        l->state[i].phase = FTREE_PHASE_WAITING;
        l->state[i].waiting = l->cfg.stall;
    }
    l->state[1].proc_state = 'T';
    ftree_spread_raise(l->ft, l->now, &v);
    lone_run(l, 700);
    ck_assert_int_eq(l->reports, 1);
    ck_assert_int_eq(l->report[0].victims.count, 1);
    ck_assert_int_eq(l->report[0].victims.range[0].first, 0);
    lone_free(l);
}
END_TEST

/* ---- on the way ------------------------------------------------------------------------------ */

START_TEST(a_verdict_goes_up_step_by_step)
{
    struct lone *l = lone_new(NODES, 1, 2, 4);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 9, FTREE_NONE, 4);

    ftree_spread_raise(l->ft, l->now, &v);
    ftree_spread_raise(l->ft, l->now, &v); /* found again */
    lone_acks(l, 1);
    ck_assert_str_eq(lone_log(l), "0 verdict node-outage of n9 by node-outage/both-paths-silent\n"
                                  "0 tells n1\n"
                                  "0 -> n1 data verdict-up\n");
    ck_assert_int_eq(l->verdicts, 1);
    ck_assert_uint_eq(known(l, 0)->whole->symptoms, 2);
    lone_told(l, 10, WIRE_VERDICT_UP, &v); /* by another */
    ck_assert_uint_eq(known(l, 0)->whole->symptoms, 3);
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_UP), 0);
    lone_free(l);
}
END_TEST

START_TEST(down_it_goes_to_the_children_and_the_victims_back)
{
    struct lone *l = lone_new(NODES, 1, 2, 1);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 9, FTREE_NONE, 4);
    const struct wire_victims *w;

    l->state[0].phase = FTREE_PHASE_WAITING;
    l->state[0].waiting = l->cfg.stall;
    told(l, 0, 70, &v, 1);
    lone_acks(l, 3);
    lone_acks(l, 4);
    victims_from(l, 3, 7, 8);
    ck_assert_int_eq(lone_count(l, WIRE_VICTIMS), 0);
    victims_from(l, 4, 1, 0); /* none */
    w = &lone_last(l, WIRE_VICTIMS)->m.u.victims;
    ck_assert_uint_eq(w->told, 70);
    ck_assert_int_eq(w->ranks.count, 3);
    lone_acks(l, 0);
    ck_assert_str_eq(lone_log(l), "0 learns node-outage of n9\n"
                                  "0 -> n3 data verdict-down\n"
                                  "0 -> n4 data verdict-down\n"
                                  "0 -> n0 data ack\n"
                                  "0 -> n3 data ack\n"
                                  "0 -> n4 data ack\n"
                                  "0 -> n0 data victims\n");
    ck_assert_int_eq(l->reports, 0); /* people are told by the root */
    lone_told(l, 0, WIRE_VERDICT_DOWN, &v);
    ck_assert_str_eq(lone_log(l), "0 -> n0 data ack nobody-waits\n");
    ck_assert_int_eq(l->verdicts, 1);
    lone_free(l);
}
END_TEST

START_TEST(the_time_to_gather_shrinks_with_the_height)
{
    static const struct {
        int32_t self;
        int ms;
    } rows[] = {{1, 266}, {3, 133}};

    for (int i = 0; i < COUNT(rows); i++) {
        struct lone *l = lone_new(NODES, 1, 2, rows[i].self);
        struct ftree_verdict v =
            lone_verdict(l, "node-outage/both-paths-silent", 12, FTREE_NONE, 5);
        lone_told(l, 0, WIRE_VERDICT_DOWN, &v);
        lone_run(l, rows[i].ms);
        ck_assert_int_eq(lone_count(l, WIRE_VICTIMS), 0);
        lone_run(l, 1);
        ck_assert_int_eq(lone_count(l, WIRE_VICTIMS), 1);
        lone_free(l);
    }
}
END_TEST

START_TEST(the_children_of_a_lost_child_are_told)
{
    struct lone *l = lone_new(NODES, 1, 2, 1);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 3, FTREE_NONE, 1);

    lone_told(l, 0, WIRE_VERDICT_DOWN, &v);
    ck_assert_str_eq(lone_log(l), "0 learns node-outage of n3\n"
                                  "0 -> n7 data verdict-down\n"
                                  "0 -> n8 data verdict-down\n"
                                  "0 -> n4 data verdict-down\n"
                                  "0 -> n0 data ack\n");
    lone_free(l);
}
END_TEST

/* The silent one is passed over after 350 ms, and those below it get half of the time again. */
START_TEST(who_hears_of_it_late_has_time_to_answer)
{
    struct lone *l = lone_new(NODES, 1, 2, 0);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 12, FTREE_NONE, 5);

    lone_told(l, 2, WIRE_VERDICT_UP, &v);
    lone_acks(l, 2);
    victims_from(l, 2, 5, 6);
    lone_run(l, 549);
    ck_assert_int_eq(l->reports, 0);
    lone_run(l, 1);
    ck_assert_int_eq(l->reports, 1);
    ck_assert_int_eq(l->report[0].victims.count, 2);
    lone_free(l);
}
END_TEST

START_TEST(a_silent_child_is_passed_over_and_told_when_it_is_well)
{
    struct lone *l = lone_new(NODES, 1, 2, 0);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 12, FTREE_NONE, 5);

    lone_told(l, 2, WIRE_VERDICT_UP, &v);
    lone_acks(l, 2);
    victims_from(l, 2, 5, 6);
    lone_run(l, 349);
    lone_log(l);
    lone_run(l, 1); /* node 1 is silent */
    ck_assert_str_eq(lone_log(l), "350 verdict-down to n1 not acknowledged\n"
                                  "350 suspects n1: peer-silent, rule silent-agent\n"
                                  "350 -> n1 data probe\n"
                                  "350 -> n1 mgmt probe\n"
                                  "350 -> n3 data verdict-down\n"
                                  "350 -> n4 data verdict-down\n");
    victims_from(l, 3, 3, 3);
    victims_from(l, 4, 4, 4);
    ck_assert_int_eq(l->reports, 1);
    ck_assert_int_eq(l->report[0].victims.count, 4);
    lone_log(l);
    {
        struct wire_message m = {.type = WIRE_ANSWER,
                                 .u.answer.nonce = ftree_probe_find(l->ft, 1)->nonce};
        lone_hear(l, 1, FTREE_PATH_DATA, &m);
    }
    lone_run(l, 1);
    ck_assert_str_eq(lone_log(l), "350 n1 is well: its agent answers\n"
                                  "350 -> n1 data verdict-down fresh\n"
                                  "350 -> n1 mgmt verdict-down fresh\n");
    lone_free(l);
}
END_TEST

static int32_t tolds(const struct lone *l)
{
    int32_t n = 0;

    for (int32_t i = 0; i < l->n_sent; i++)
        n += l->sent[i].m.type == WIRE_VERDICT_DOWN ? l->sent[i].tolds : 0;
    return n;
}

/* Each of the messages that do not arrive speaks for its own verdicts only: else n verdicts about
 * one node became n squared at the next step, and so on down. */
START_TEST(many_verdicts_about_a_node_pass_a_silent_child_once_each)
{
    struct lone *l = lone_new(NODES, 30, 2, 0);

    for (int32_t i = 0; i < 30; i++) {
        struct ftree_verdict v = lone_verdict(l, "process-crash/pid-gone", 12, 360 + i, 12);
        lone_told(l, 2, WIRE_VERDICT_UP, &v);
    }
    lone_run(l, 20);
    lone_acks(l, 2);
    lone_run(l, 329);
    lone_log(l);
    lone_run(l, 21); /* node 1 is silent: its two children are told in its place */
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_DOWN), 2 * 2);
    ck_assert_int_eq(tolds(l), 2 * 30);
    lone_free(l);
}
END_TEST

START_TEST(many_verdicts_pass_a_silent_parent_once_each)
{
    struct lone *l = lone_new(NODES, 30, 2, 4);

    for (int32_t i = 0; i < 30; i++) {
        struct ftree_verdict v = lone_verdict(l, "process-crash/pid-gone", 9, 270 + i, 9);
        lone_told(l, 9, WIRE_VERDICT_UP, &v);
    }
    lone_run(l, 349);
    lone_log(l);
    lone_run(l, 1);
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_UP), 30);
    lone_free(l);
}
END_TEST

START_TEST(a_mute_child_is_told_but_not_waited_for)
{
    struct lone *l = lone_new(NODES, 1, 2, 0);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 12, FTREE_NONE, 5);

    ftree_outbox_mute(l->ft, l->now, 1, false);
    lone_told(l, 2, WIRE_VERDICT_UP, &v);
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_DOWN), 2);
    victims_from(l, 2, 5, 6);
    ck_assert_int_eq(l->reports, 1);
    lone_free(l);
}
END_TEST

/* ---- who is root ----------------------------------------------------------------------------- */

START_TEST(the_acting_root_is_the_first_that_is_not_lost)
{
    struct lone *l = lone_new(NODES, 1, 2, 10); /* the first substitute */
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 0, FTREE_NONE, 10);

    ck_assert(!ftree_spread_is_root(l->ft));
    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_OK);
    ck_assert(ftree_spread_is_root(l->ft));
    lone_free(l);
}
END_TEST

START_TEST(the_heir_tells_the_roots_children_and_reports)
{
    struct lone *l = lone_new(NODES, 1, 2, 10);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 0, FTREE_NONE, 10);

    ftree_spread_raise(l->ft, l->now, &v);
    victims_from(l, 1, 1, 1);
    victims_from(l, 2, 2, 2);
    ck_assert_str_eq(lone_log(l), "0 verdict node-outage of n0 by node-outage/both-paths-silent\n"
                                  "0 -> n1 data verdict-down\n"
                                  "0 -> n2 data verdict-down\n"
                                  "0 -> n1 data ack\n"
                                  "0 -> n2 data ack\n"
                                  "0 reports node-outage of n0: 2 victims\n");
    ck_assert_int_eq(l->reports, 1);
    lone_free(l);
}
END_TEST

START_TEST(with_the_root_silent_a_verdict_waits_until_it_is_decided_about)
{
    struct lone *l = lone_new(NODES, 1, 2, 1);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 3, FTREE_NONE, 1);
    struct ftree_verdict root = lone_verdict(l, "node-outage/both-paths-silent", 0, FTREE_NONE, 10);

    ftree_outbox_mute(l->ft, l->now, 0, false);
    ftree_spread_raise(l->ft, l->now, &v);
    ck_assert_int_eq(known(l, 0)->up, UP_PENDING);
    lone_run(l, 1000);
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_UP), 0);
    lone_log(l);
    lone_told(l, 10, WIRE_VERDICT_DOWN, &root);
    lone_run(l, 0);
    ck_assert_str_eq(lone_log(l), "1000 learns node-outage of n0\n"
                                  "1000 -> n7 data verdict-down\n"
                                  "1000 -> n8 data verdict-down\n"
                                  "1000 -> n4 data verdict-down\n"
                                  "1000 -> n10 data ack\n"
                                  "1000 tells substitute n10\n"
                                  "1000 -> n10 data verdict-up substitute\n");
    lone_free(l);
}
END_TEST

START_TEST(a_verdict_that_does_not_come_down_is_told_again)
{
    struct lone *l = lone_new(NODES, 1, 2, 4);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 9, FTREE_NONE, 4);
    int32_t told = 0;

    ftree_spread_raise(l->ft, l->now, &v);
    for (int i = 0; i < 60; i++) {
        told += lone_count(l, WIRE_VERDICT_UP);
        lone_acks(l, 1);
        lone_log(l);
        lone_run(l, 1000);
    }
    ck_assert_int_eq(told, 8); /* every 2 s, and then no more */
    ck_assert(ftree_spread_deadline(l->ft) == FTREE_NEVER);
    lone_free(l);
}
END_TEST

START_TEST(up_past_a_silent_parent)
{
    struct lone *l = lone_new(NODES, 1, 2, 4);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 9, FTREE_NONE, 4);

    ftree_spread_raise(l->ft, l->now, &v);
    lone_run(l, 349);
    lone_log(l);
    lone_run(l, 1);
    ck_assert_str_eq(lone_log(l), "350 verdict-up to n1 not acknowledged\n"
                                  "350 symptom about n1 goes to n0\n"
                                  "350 -> n0 data symptom\n"
                                  "350 tells n0\n"
                                  "350 -> n0 data verdict-up\n");
    lone_free(l);
}
END_TEST

START_TEST(what_a_verdict_explains_need_not_be_told_any_more)
{
    struct lone *l = lone_new(NODES, 2, 2, 4);
    struct ftree_verdict crash = lone_verdict(l, "process-crash/pid-gone", 9, 18, 4);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 9, FTREE_NONE, 1);

    ftree_spread_raise(l->ft, l->now, &crash);
    ck_assert_int_eq(known(l, 0)->up, UP_SENT);
    lone_told(l, 1, WIRE_VERDICT_DOWN, &v);
    ck_assert_int_eq(known(l, 0)->up, UP_NOTHING);
    lone_free(l);
}
END_TEST

START_TEST(a_verdict_ends_the_suspicion)
{
    struct lone *l = lone_new(NODES, 1, 2, 1);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 3, FTREE_NONE, 0);

    lone_stall(l, 1, 4);
    lone_run(l, 500);
    ftree_correlate_silent(l->ft, l->now, 3);
    ck_assert_int_eq(l->ft->suspects.n, 2);
    lone_told(l, 0, WIRE_VERDICT_DOWN, &v);
    ck_assert_int_eq(l->ft->suspects.n, 1);
    ck_assert_int_eq(l->ft->suspects.items[0].node, 4);
    lone_free(l);
}
END_TEST

START_TEST(who_is_cut_off_tells_its_own_people)
{
    struct lone *l = lone_new(NODES, 1, 2, 4);
    struct ftree_verdict v = lone_verdict(l, "unknown/no-node-answers", 4, FTREE_NONE, 4);

    v.own_only = true;
    ftree_spread_raise(l->ft, l->now, &v);
    ck_assert_int_eq(l->reports, 1);
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_UP), 0);
    lone_free(l);
}
END_TEST

START_TEST(victims_of_an_unknown_verdict_are_nobodys)
{
    struct lone *l = lone_new(NODES, 1, 2, 0);

    lone_victims(l, 1, 1, 3, 4);
    ck_assert_int_eq(l->reports, 0);
    lone_free(l);
}
END_TEST

/* Whichever allocation fails: what is known is told and reported. */
START_TEST(without_memory_a_verdict_is_left_out)
{
    int left_out = 0;
    bool failed = true;

    for (int nth = 1; failed; nth++) {
        struct lone *l = lone_new(NODES, 1, 2, 0);
        struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 9, FTREE_NONE, 4);
        l->fail_alloc_in = nth;
        lone_told(l, 1, WIRE_VERDICT_UP, &v);
        lone_run(l, 700);
        failed = l->fail_alloc_in == 0;
        ck_assert_int_eq(l->reports, l->verdicts);
        left_out += l->reports == 0;
        if (l->reports > 0)
            ck_assert_str_eq(l->report[0].rule, "node-outage/both-paths-silent");
        lone_free(l);
    }
    ck_assert_int_eq(left_out, 3); /* the place, that in the index, that in what is told */
}
END_TEST

SUITE("spread")
{
    TEST(the_root_tells_its_children_gathers_and_reports);
    TEST(the_root_waits_no_longer_than_gather);
    TEST(a_verdict_told_twice_is_one);
    TEST(a_lost_node_explains_its_processes);
    TEST(victims_are_never_more_than_there_are_ranks);
    TEST(the_lost_rank_is_no_victim_of_itself);
    TEST(a_verdict_goes_up_step_by_step);
    TEST(down_it_goes_to_the_children_and_the_victims_back);
    TEST(the_time_to_gather_shrinks_with_the_height);
    TEST(the_children_of_a_lost_child_are_told);
    TEST(who_hears_of_it_late_has_time_to_answer);
    TEST(a_silent_child_is_passed_over_and_told_when_it_is_well);
    TEST(many_verdicts_about_a_node_pass_a_silent_child_once_each);
    TEST(many_verdicts_pass_a_silent_parent_once_each);
    TEST(a_mute_child_is_told_but_not_waited_for);
    TEST(the_acting_root_is_the_first_that_is_not_lost);
    TEST(the_heir_tells_the_roots_children_and_reports);
    TEST(with_the_root_silent_a_verdict_waits_until_it_is_decided_about);
    TEST(a_verdict_that_does_not_come_down_is_told_again);
    TEST(up_past_a_silent_parent);
    TEST(what_a_verdict_explains_need_not_be_told_any_more);
    TEST(a_verdict_ends_the_suspicion);
    TEST(who_is_cut_off_tells_its_own_people);
    TEST(victims_of_an_unknown_verdict_are_nobodys);
    TEST(without_memory_a_verdict_is_left_out);
}
