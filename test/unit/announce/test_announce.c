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
    uint32_t told = ftree_inspect_owes(l->ft, from);

    ck_assert_uint_ne(told, 0);
    lone_victims(l, from, told, first, last);
}

/* Message `id` from above tells n verdicts. */
static void told(struct lone *l, int32_t from, uint32_t id, const struct ftree_verdict *v,
                 int32_t n)
{
    struct wire_summaries w;
    struct wire_message m = messages_told(l->now, v, n, &w);

    m.id = id;
    lone_hear(l, from, FTREE_PATH_DATA, &m);
}

/* ---- at the root ----------------------------------------------------------------------------- */

START_TEST(the_root_tells_its_children_gathers_and_reports)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 0);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 9, FTREE_NONE, 4);
    uint32_t asked;

    l->state[0].phase = FTREE_PHASE_WAITING;
    l->state[0].waiting = l->cfg.stall;
    lone_told(l, 1, WIRE_VERDICT_UP, &v);
    asked = ftree_inspect_owes(l->ft, 1);
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
}
END_TEST

START_TEST(the_root_waits_no_longer_than_gather)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 0);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 9, FTREE_NONE, 4);

    lone_told(l, 1, WIRE_VERDICT_UP, &v);
    lone_acks(l, 1);
    lone_acks(l, 2);
    victims_from(l, 1, 3, 4);
    lone_run(l, 1199); /* three levels below it */
    ck_assert_int_eq(l->reports, 0);
    lone_run(l, 1);
    ck_assert_int_eq(l->reports, 1);
    ck_assert_int_eq(l->report[0].victims.count, 2);
}
END_TEST

START_TEST(a_verdict_told_twice_is_one)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 0);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 9, FTREE_NONE, 4);

    lone_told(l, 1, WIRE_VERDICT_UP, &v);
    lone_log(l);
    lone_told(l, 1, WIRE_VERDICT_UP, &v); /* who still tells it has not heard it */
    ck_assert_str_eq(lone_log(l), "0 -> n1 data ack\n"
                                  "0 -> n1 data verdict-down\n");
    ck_assert_int_eq(l->verdicts, 1);
    lone_run(l, 1210);
    ck_assert_int_eq(l->reports, 1);
}
END_TEST

START_TEST(a_lost_node_explains_its_processes)
{
    struct lone *l = lone_of(shape_binary(NODES, 2), 0);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 9, FTREE_NONE, 4);
    struct ftree_verdict crash = lone_verdict(l, "process-crash/pid-gone", 9, 18, 4);

    lone_told(l, 1, WIRE_VERDICT_UP, &v);
    lone_told(l, 1, WIRE_VERDICT_UP, &crash);
    ck_assert_int_eq(l->verdicts, 1);
    lone_run(l, 1210);
    ck_assert_int_eq(l->reports, 1);
}
END_TEST

START_TEST(victims_are_never_more_than_there_are_ranks)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 0);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 9, FTREE_NONE, 4);
    struct wire_message m = {.type = WIRE_VICTIMS};

    m.u.victims.ranks.count = NODES;
    lone_told(l, 1, WIRE_VERDICT_UP, &v);
    m.u.victims.told = ftree_inspect_owes(l->ft, 1);
    lone_hear(l, 1, FTREE_PATH_DATA, &m);
    m.id = 0;
    lone_hear(l, 2, FTREE_PATH_DATA, &m);
    ck_assert_int_eq(l->report[0].victims.count, NODES);
}
END_TEST

START_TEST(the_lost_rank_is_no_victim_of_itself)
{
    struct lone *l = lone_of(shape_binary(NODES, 2), 0);
    struct ftree_verdict v = lone_verdict(l, "process-stopped/state-t", 0, 1, 0);

    for (int i = 0; i < 2; i++) {
        l->state[i].phase = FTREE_PHASE_WAITING;
        l->state[i].waiting = l->cfg.stall;
    }
    l->state[1].proc_state = 'T';
    LONE_STEP(l, ftree_announce_raise(l->ft, l->now, &v));
    lone_run(l, 1210);
    ck_assert_int_eq(l->reports, 1);
    ck_assert_int_eq(l->report[0].victims.count, 1);
    ck_assert_int_eq(l->report[0].victims.range[0].first, 0);
}
END_TEST

/* ---- a lost node, and those below it ---------------------------------------------------------- */

/* This node begins to examine another, in the place of whoever should. */
static void suspects(struct lone *l, int32_t node)
{
    struct wire_message m = {.type = WIRE_SYMPTOM, .flags = WIRE_FLAG_SUBSTITUTE};

    ftree_symptom_init(&m.u.symptom, FTREE_SYMPTOM_PEER_STALL, node, FTREE_NONE, 2, l->now, l->now);
    lone_hear(l, 2, FTREE_PATH_DATA, &m);
    ck_assert(ftree_inspect_is_suspect(l->ft, node));
    lone_log(l);
}

static void finds(struct lone *l, const char *sign, int32_t node)
{
    struct ftree_verdict v = lone_verdict(l, sign, node, FTREE_NONE, l->self);

    LONE_STEP(l, ftree_announce_raise(l->ft, l->now, &v));
}

START_TEST(a_lost_node_is_told_with_those_below_it)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 1);

    suspects(l, 7);
    finds(l, "node-outage/both-paths-silent", 3);
    lone_run(l, 300);
    ck_assert_int_eq(lone_known(l, 0).up, FTREE_INSPECT_UP_HELD);
    ck_assert(ftree_has_unannounced(l->ft));
    ck_assert_int_eq(l->verdicts, 1); /* here it is known */
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_UP), 0);
    lone_log(l);
    finds(l, "node-outage/both-paths-silent", 7);
    lone_run(l, 0);
    ck_assert_str_eq(lone_log(l), "300 verdict node-outage of n7 by node-outage/both-paths-silent\n"
                                  "300 sends verdict to n0\n"
                                  "300 -> n0 data verdict-up more\n"
                                  "300 sends verdict to n0\n"
                                  "300 -> n0 data verdict-up more\n");
}
END_TEST

START_TEST(a_lost_node_is_told_at_once_when_those_below_are_well)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 1);

    suspects(l, 7);
    suspects(l, 8);
    finds(l, "node-outage/both-paths-silent", 3);
    for (int32_t node = 7; node <= 8; node++) {
        struct wire_message m = {.type = WIRE_ANSWER,
                                 .u.answer.nonce = ftree_inspect_question(l->ft, node)};
        ck_assert_int_eq(lone_count(l, WIRE_VERDICT_UP), 0);
        lone_hear(l, node, FTREE_PATH_DATA, &m);
        lone_run(l, 1);
    }
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_UP), 1);
    ck_assert_int_eq(lone_last(l, WIRE_VERDICT_UP)->m.flags, 0);
    ck_assert_int_eq(lone_last(l, WIRE_VERDICT_UP)->m.u.verdict.node, 3);
}
END_TEST

START_TEST(a_lost_node_waits_for_those_below_no_longer_than_three_rto)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 1);

    suspects(l, 7);
    finds(l, "node-outage/both-paths-silent", 3);
    lone_run(l, 449);
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_UP), 0);
    lone_run(l, 1);
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_UP), 1);
    ck_assert(ftree_inspect_is_suspect(l->ft, 7));
}
END_TEST

START_TEST(a_slower_network_holds_it_for_longer)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 1);

    l->cfg.rto_min = 300 * FTREE_MS;
    lone_renew(l);
    suspects(l, 7);
    finds(l, "node-outage/both-paths-silent", 3);
    lone_run(l, 899);
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_UP), 0);
    lone_run(l, 1);
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_UP), 1);
}
END_TEST

/* Nodes 3 and 4 are held, and 7 is decided about: 3 is told with it, and 4 later. */
START_TEST(what_stays_held_does_not_go_along)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 1);

    suspects(l, 7);
    suspects(l, 9);
    finds(l, "node-outage/both-paths-silent", 3);
    finds(l, "node-outage/both-paths-silent", 4);
    finds(l, "node-outage/both-paths-silent", 7);
    lone_run(l, 0);
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_UP), 2);
    for (int32_t i = 0; i < l->n_sent; i++)
        ck_assert(l->sent[i].m.type != WIRE_VERDICT_UP || l->sent[i].m.u.verdict.node != 4);
    lone_acks(l, 0);
    lone_log(l);
    lone_run(l, 450);
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_UP), 1);
    ck_assert_int_eq(lone_last(l, WIRE_VERDICT_UP)->m.u.verdict.node, 4);
    ck_assert_int_eq(lone_last(l, WIRE_VERDICT_UP)->m.flags, 0);
}
END_TEST

/* Who finds what, with whom suspected: it is told at once. */
static const struct {
    int32_t self, node, suspect;
    const char *sign;
} told_at_once[] = {
    {1, 3, 9, "node-outage/both-paths-silent"}, /* not below it */
    {1, 3, 0, "node-outage/both-paths-silent"}, /* above it */
    {10, 0, 3, "node-outage/both-paths-silent"}, /* who is root depends on it */
    {1, 3, 7, "process-crash/pid-gone"}, /* a process, which its launcher would clean up */
    {1, 3, 7, "nic-fault/interface-gone"}, /* it is there, and tells those below */
};

/* rows: not_every_verdict_waits_for_those_below COUNT(told_at_once) */
START_TEST(not_every_verdict_waits_for_those_below)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), told_at_once[_i].self);
    struct ftree_verdict v =
        lone_verdict(l, told_at_once[_i].sign, told_at_once[_i].node, FTREE_NONE, l->self);

    suspects(l, told_at_once[_i].suspect);
    LONE_STEP(l, ftree_announce_raise(l->ft, l->now, &v));
    ck_assert_int_ne(lone_known(l, 0).up, FTREE_INSPECT_UP_HELD);
}
END_TEST

/* Whoever found it has waited, or has nothing to wait for. */
START_TEST(what_others_found_does_not_wait_for_those_below)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 1);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 3, FTREE_NONE, 4);

    suspects(l, 7);
    lone_told(l, 4, WIRE_VERDICT_UP, &v);
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_UP), 1);
}
END_TEST

START_TEST(who_leaves_waits_for_nobody_below)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 1);

    suspects(l, 7);
    finds(l, "node-outage/both-paths-silent", 3);
    ck_assert_int_eq(lone_known(l, 0).up, FTREE_INSPECT_UP_HELD);
    ftree_leave(l->ft, l->now);
    lone_run(l, 0);
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_UP), 1);
}
END_TEST

START_TEST(the_root_tells_a_node_with_those_below_it)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 0);

    suspects(l, 3);
    finds(l, "node-outage/both-paths-silent", 1);
    lone_run(l, 300);
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_DOWN), 0);
    finds(l, "node-outage/both-paths-silent", 3);
    lone_run(l, 19);
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_DOWN), 0);
    lone_run(l, 1);
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_DOWN), 4); /* 2, 4, 7, 8 */
    ck_assert_int_eq(lone_last(l, WIRE_VERDICT_DOWN)->tolds, 2);
}
END_TEST

START_TEST(what_belongs_together_is_told_together)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 0);
    struct wire_message m = {.type = WIRE_VERDICT_UP, .flags = WIRE_FLAG_MORE};

    m.u.verdict = lone_verdict(l, "node-outage/both-paths-silent", 7, FTREE_NONE, 1);
    lone_hear(l, 1, FTREE_PATH_DATA, &m);
    m = (struct wire_message){.type = WIRE_VERDICT_UP};
    m.u.verdict = lone_verdict(l, "node-outage/both-paths-silent", 3, FTREE_NONE, 1);
    m.u.verdict.id++;
    lone_run(l, 10);
    lone_hear(l, 1, FTREE_PATH_DATA, &m);
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_DOWN), 0);
    lone_run(l, 10);
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_DOWN), 2);
    ck_assert_int_eq(lone_last(l, WIRE_VERDICT_DOWN)->tolds, 2);
}
END_TEST

START_TEST(what_was_to_go_along_and_does_not_holds_up_nobody)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 0);
    struct wire_message m = {.type = WIRE_VERDICT_UP, .flags = WIRE_FLAG_MORE};

    m.u.verdict = lone_verdict(l, "node-outage/both-paths-silent", 7, FTREE_NONE, 1);
    lone_hear(l, 1, FTREE_PATH_DATA, &m);
    lone_run(l, 19);
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_DOWN), 0);
    lone_run(l, 1);
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_DOWN), 2);
}
END_TEST

/* Node 1 tells the root a verdict with which another goes. */
static void more_of(struct lone *l, const char *sign, int32_t node, int32_t rank, int since_ms)
{
    struct wire_message m = {.type = WIRE_VERDICT_UP, .flags = WIRE_FLAG_MORE};

    m.u.verdict = lone_verdict(l, sign, node, rank, 1);
    m.u.verdict.id += (uint32_t) node;
    m.u.verdict.first_symptom = l->now - since_ms * FTREE_MS;
    lone_hear(l, 1, FTREE_PATH_DATA, &m);
}

START_TEST(what_belongs_together_is_told_no_sooner)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 0);
    ftree_time at;

    more_of(l, "process-crash/pid-gone", 7, 7, 5);
    lone_run(l, 144); /* a crash is told 150 ms after its first symptom */
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_DOWN), 0);
    lone_run(l, 1);
    ck_assert_int_gt(lone_count(l, WIRE_VERDICT_DOWN), 0);
    lone_log(l);
    more_of(l, "process-crash/pid-gone", 8, 8, 0);
    at = ftree_inspect_announces_at(l->ft);
    ck_assert_uint_gt(at, l->now);
    more_of(l, "node-outage/both-paths-silent", 9, FTREE_NONE, 900);
    ck_assert_uint_eq(ftree_inspect_announces_at(l->ft), at);
}
END_TEST

/* Whoever says that more follows, and never tells it, holds up nobody for long. */
START_TEST(more_and_more_is_told_all_the_same)
{
    struct lone *l = lone_of(shape_binary(100, 1), 0);

    for (int32_t i = 0; i < 10; i++) {
        more_of(l, "node-outage/both-paths-silent", 50 + i, FTREE_NONE, 900);
        lone_sleep(l, 20); /* and no tick comes between */
    }
    ck_assert_int_gt(lone_count(l, WIRE_VERDICT_DOWN), 0);
}
END_TEST

START_TEST(what_belongs_together_makes_no_pause_longer_after_a_calm)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 0);

    for (int32_t node = 3; node < 9; node++) {
        more_of(l, "node-outage/both-paths-silent", node, FTREE_NONE, 900);
        lone_run(l, 10000);
        ck_assert_uint_eq(ftree_inspect_announce_pause(l->ft), 20 * FTREE_MS);
    }
}
END_TEST

START_TEST(that_more_goes_along_is_passed_on)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 1);
    struct wire_message m = {.type = WIRE_VERDICT_UP, .flags = WIRE_FLAG_MORE};

    m.u.verdict = lone_verdict(l, "node-outage/both-paths-silent", 9, FTREE_NONE, 4);
    lone_hear(l, 4, FTREE_PATH_DATA, &m);
    ck_assert_str_eq(lone_log(l), "0 -> n4 data ack\n"
                                  "0 sends verdict to n0\n"
                                  "0 -> n0 data verdict-up more\n");
    m.u.verdict.withdrawn = l->now; /* nor is it lost when it is over */
    m.id = 0;
    lone_hear(l, 4, FTREE_PATH_DATA, &m);
    ck_assert_int_eq(lone_last(l, WIRE_VERDICT_UP)->m.flags, WIRE_FLAG_MORE);
}
END_TEST

/* It was never told: so is that it is over, lest a copy is believed. */
START_TEST(held_and_over_it_waits_no_more)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 1);
    struct wire_message m = {.type = WIRE_ANSWER};

    suspects(l, 7);
    finds(l, "node-outage/both-paths-silent", 3);
    lone_run(l, 200); /* it is asked whether it is over */
    lone_log(l);
    m.u.answer.nonce = lone_known(l, 0).question;
    ck_assert_uint_ne(m.u.answer.nonce, 0);
    lone_hear(l, 3, FTREE_PATH_DATA, &m);
    ck_assert_int_eq(lone_known(l, 0).up, FTREE_INSPECT_UP_SENT);
    ck_assert(lone_last(l, WIRE_VERDICT_UP)->m.u.verdict.withdrawn);
}
END_TEST

/* ---- on the way ------------------------------------------------------------------------------ */

START_TEST(a_verdict_goes_up_step_by_step)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 4);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 9, FTREE_NONE, 4);

    LONE_STEP(l, ftree_announce_raise(l->ft, l->now, &v));
    LONE_STEP(l, ftree_announce_raise(l->ft, l->now, &v)); /* found again */
    lone_acks(l, 1);
    ck_assert_str_eq(lone_log(l), "0 verdict node-outage of n9 by node-outage/both-paths-silent\n"
                                  "0 sends verdict to n1\n"
                                  "0 -> n1 data verdict-up\n");
    ck_assert_int_eq(l->verdicts, 1);
    ck_assert_uint_eq(lone_verdict_at(l, 0).symptoms, 2);
    lone_told(l, 10, WIRE_VERDICT_UP, &v); /* by another */
    ck_assert_uint_eq(lone_verdict_at(l, 0).symptoms, 3);
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_UP), 0);
}
END_TEST

START_TEST(down_it_goes_to_the_children_and_the_victims_back)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 1);
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
                                  "0 -> n3 data ack\n"
                                  "0 -> n4 data ack\n"
                                  "0 -> n0 data victims\n");
    ck_assert_int_eq(l->reports, 0); /* people are told by the root */
    lone_told(l, 0, WIRE_VERDICT_DOWN, &v);
    ck_assert_str_eq(lone_log(l), "0 -> n0 data ack nobody-waits\n");
    ck_assert_int_eq(l->verdicts, 1);
}
END_TEST

START_TEST(the_time_to_gather_shrinks_with_the_height)
{
    static const struct {
        int32_t self;
        int ms;
    } rows[] = {{1, 799}, {3, 399}};

    for (int i = 0; i < COUNT(rows); i++) {
        struct lone *l = lone_of(shape_binary(NODES, 1), rows[i].self);
        struct ftree_verdict v =
            lone_verdict(l, "node-outage/both-paths-silent", 12, FTREE_NONE, 5);
        lone_told(l, 0, WIRE_VERDICT_DOWN, &v);
        for (int32_t n = 0; n < NODES; n++)
            lone_acks(l, n);
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
    struct lone *l = lone_of(shape_binary(NODES, 1), 1);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 3, FTREE_NONE, 1);

    lone_told(l, 0, WIRE_VERDICT_DOWN, &v);
    ck_assert_str_eq(lone_log(l), "0 learns node-outage of n3\n"
                                  "0 -> n7 data verdict-down\n"
                                  "0 -> n8 data verdict-down\n"
                                  "0 -> n4 data verdict-down\n");
}
END_TEST

/* The silent one is passed over after 350 ms, and those below it have what is left of the time. */
START_TEST(who_hears_of_it_late_has_time_to_answer)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 0);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 12, FTREE_NONE, 5);

    lone_told(l, 2, WIRE_VERDICT_UP, &v);
    lone_acks(l, 2);
    victims_from(l, 2, 5, 6);
    lone_run(l, 351);
    lone_acks(l, 3);
    lone_acks(l, 4);
    lone_run(l, 1199 - 351);
    ck_assert_int_eq(l->reports, 0);
    lone_run(l, 1);
    ck_assert_int_eq(l->reports, 1);
    ck_assert_int_eq(l->report[0].victims.count, 2);
}
END_TEST

START_TEST(a_silent_child_is_passed_over_and_told_when_it_is_well)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 0);
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
                                 .u.answer.nonce = ftree_inspect_question(l->ft, 1)};
        lone_hear(l, 1, FTREE_PATH_DATA, &m);
    }
    lone_run(l, 1);
    ck_assert_str_eq(lone_log(l), "350 n1 is well: its agent answers\n"
                                  "350 -> n1 data verdict-down fresh\n"
                                  "350 -> n1 mgmt verdict-down fresh\n");
}
END_TEST

static int32_t tolds(const struct lone *l)
{
    int32_t n = 0;

    for (int32_t i = 0; i < l->n_sent; i++)
        n += l->sent[i].m.type == WIRE_VERDICT_DOWN ? l->sent[i].tolds : 0;
    return n;
}

/* It was told to the root by way of 1, and the root is lost: this node acts for it now. */
START_TEST(what_was_on_its_way_to_a_lost_root_is_told_at_once)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 0);
    int32_t heir = ftree_inspect_root_substitute(l->ft, 1);
    struct ftree_verdict v;

    lone_free(l);
    l = lone_of(shape_binary(NODES, 1), heir);
    v = lone_verdict(l, "node-outage/both-paths-silent", 2, FTREE_NONE, 1);
    LONE_STEP(l, ftree_announce_raise(l->ft, l->now, &v));
    lone_acks(l, ftree_inspect_parent(l->ft, heir));
    ck_assert_int_eq(lone_known(l, 0).up, FTREE_INSPECT_UP_SENT);
    v = lone_verdict(l, "node-outage/both-paths-silent", 0, FTREE_NONE, 2);
    LONE_STEP(l, ftree_announce_raise(l->ft, l->now, &v));
    lone_run(l, 21); /* together with that of the root, or after the pause */
    for (int32_t i = 0; i < 2; i++)
        ck_assert(lone_known(l, i).announced);
}
END_TEST

/* Each of the messages that do not arrive speaks for its own verdicts only: else n verdicts about
 * one node became n squared at the next step, and so on down. */
START_TEST(many_verdicts_about_a_node_pass_a_silent_child_once_each)
{
    struct lone *l = lone_of(shape_binary(NODES, 30), 0);

    for (int32_t i = 0; i < 29; i++) { /* one of its ranks lives */
        struct ftree_verdict v = lone_verdict(l, "process-crash/pid-gone", 12, 360 + i, 12);
        lone_told(l, 2, WIRE_VERDICT_UP, &v);
    }
    lone_run(l, 20);
    lone_acks(l, 2);
    lone_run(l, 329);
    lone_log(l);
    lone_run(l, 21); /* node 1 is silent: its two children are told in its place */
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_DOWN), 2 * 2);
    ck_assert_int_eq(tolds(l), 2 * 29);
}
END_TEST

START_TEST(many_verdicts_pass_a_silent_parent_once_each)
{
    struct lone *l = lone_of(shape_binary(NODES, 30), 4);

    for (int32_t i = 0; i < 30; i++) {
        struct ftree_verdict v = lone_verdict(l, "process-crash/pid-gone", 9, 270 + i, 9);
        lone_told(l, 9, WIRE_VERDICT_UP, &v);
    }
    lone_run(l, 349);
    lone_log(l);
    lone_run(l, 1);
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_UP), 30);
}
END_TEST

/* Its children are told in its place at once: their victims are in the report, without a pause. */
START_TEST(the_children_of_a_mute_child_are_waited_for_and_not_the_child)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 0);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 12, FTREE_NONE, 5);

    ftree_peer_unresponsive(l->ft, l->now, 1, false);
    lone_told(l, 2, WIRE_VERDICT_UP, &v);
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_DOWN), 4);
    ck_assert_uint_eq(ftree_inspect_owes(l->ft, 1), 0);
    victims_from(l, 2, 5, 6);
    victims_from(l, 3, 7, 8);
    ck_assert_int_eq(l->reports, 0);
    victims_from(l, 4, 9, 10);
    ck_assert_int_eq(l->reports, 1);
    ck_assert_int_eq(l->report[0].victims.count, 6);
    lone_log(l);
    lone_run(l, 400); /* it has not acknowledged: its children know already */
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_DOWN), 2);
    ck_assert_int_eq(lone_last(l, WIRE_VERDICT_DOWN)->to.node, 1);
}
END_TEST

/* One that is told once more is no reason to tell those below it. */
START_TEST(the_children_of_a_mute_child_are_not_told_again_with_it)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 0);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 12, FTREE_NONE, 5);

    lone_told(l, 2, WIRE_VERDICT_UP, &v);
    ftree_peer_unresponsive(l->ft, l->now, 1, false);
    lone_log(l);
    LONE_STEP(l, ftree_announce_again(l->ft, l->now, 1));
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_DOWN), 1);
}
END_TEST

/* Its children are told by it, in a while, and their victims come with its own. */
START_TEST(a_busy_child_is_waited_for)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 0);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 12, FTREE_NONE, 5);

    ftree_peer_unresponsive(l->ft, l->now, 1, true);
    ck_assert_int_eq(ftree_peer(l->ft, l->now, 1), FTREE_PEER_BUSY);
    ck_assert_int_eq(ftree_peer(l->ft, l->now, 2), FTREE_PEER_OK);
    ck_assert_int_eq(ftree_peer(l->ft, l->now + 1000 * FTREE_MS, 1), FTREE_PEER_OK);
    lone_told(l, 2, WIRE_VERDICT_UP, &v);
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_DOWN), 2);
    victims_from(l, 2, 5, 6);
    ck_assert_int_eq(l->reports, 0);
    victims_from(l, 1, 3, 4);
    ck_assert_int_eq(l->reports, 1);
    ck_assert_int_eq(l->report[0].victims.count, 4);
}
END_TEST

/* ---- told together --------------------------------------------------------------------------- */

/* The i-th rank of node 12 has ended: for ever, so nobody asks whether it is over. */
static struct ftree_verdict crash(const struct lone *l, int32_t i)
{
    return lone_verdict(l, "process-crash/pid-gone", 12, l->job.node_first[12] + i, 12);
}

/* Ranks from..from+n-1 of it, all found at once. */
static void crashes(struct lone *l, int32_t from, int32_t n)
{
    for (int32_t i = from; i < from + n; i++) {
        struct ftree_verdict v = crash(l, i);
        lone_told(l, 2, WIRE_VERDICT_UP, &v);
    }
}

/* Whoever was told anything acknowledges it, and nobody waits. */
static void nobody_waits(struct lone *l)
{
    int32_t n = l->n_sent;

    for (int32_t i = 0; i < n; i++)
        if (l->sent[i].m.type == WIRE_VERDICT_DOWN)
            lone_nobody_waits(l, l->sent[i].to.node, l->sent[i].m.id);
}

/* When verdicts come in, and when how many of them are told: ms. */
static const struct {
    int32_t n;
    int at[6];
    int32_t announcements;
    struct {
        int at;
        int32_t n;
    } told[4];
} pauses[] = {
    {1, {0}, 1, {{0, 1}}},
    {2, {0, 0}, 2, {{0, 1}, {20, 1}}},
    {4, {0, 1, 10, 19}, 2, {{0, 1}, {20, 3}}},
    {2, {0, 20}, 2, {{0, 1}, {20, 1}}}, /* the pause is over */
    {5, {0, 5, 25, 30, 59}, 3, {{0, 1}, {20, 1}, {60, 3}}}, /* the next one is twice as long */
    {3, {0, 100, 139}, 3, {{0, 1}, {100, 1}, {140, 1}}}, /* it begins when something is told */
    {4, {0, 5, 1059, 1060}, 4, {{0, 1}, {20, 1}, {1059, 1}, {1139, 1}}},
    {4, {0, 5, 1060, 1061}, 4, {{0, 1}, {20, 1}, {1060, 1}, {1080, 1}}}, /* after a calm of 1 s */
};

/* rows: at_once_and_then_after_a_pause COUNT(pauses) */
START_TEST(at_once_and_then_after_a_pause)
{
    struct lone *l = lone_of(shape_binary(NODES, 8), 0);
    int32_t announcements = 0, next = 0;

    for (int ms = 0; ms < 1500; ms++) {
        for (; next < pauses[_i].n && pauses[_i].at[next] == ms; next++)
            crashes(l, next, 1);
        nobody_waits(l);
        for (int32_t i = 0; i < l->n_sent; i++) {
            if (l->sent[i].m.type != WIRE_VERDICT_DOWN || l->sent[i].to.node != 1)
                continue;
            ck_assert_int_lt(announcements, pauses[_i].announcements);
            ck_assert_uint_eq(l->sent[i].at / FTREE_MS - 1000, pauses[_i].told[announcements].at);
            ck_assert_int_eq(l->sent[i].tolds, pauses[_i].told[announcements].n);
            announcements++;
        }
        lone_log(l);
        lone_run(l, 1);
    }
    ck_assert_int_eq(announcements, pauses[_i].announcements);
    ck_assert_int_eq(l->reports, pauses[_i].n);
}
END_TEST

START_TEST(the_pause_doubles_while_there_are_more)
{
    static const int at[] = {0, 20, 60, 140, 300, 620, 940, 1260, 1580, 1900};
    struct lone *l = lone_of(shape_binary(NODES, 200), 0);
    int32_t announcements = 0, told_of = 0;

    for (int ms = 0; ms < 2100; ms += 10) {
        if (ms < 1900)
            crashes(l, ms / 10, 1);
        nobody_waits(l);
        for (int32_t i = 0; i < l->n_sent; i++)
            if (l->sent[i].m.type == WIRE_VERDICT_DOWN && l->sent[i].to.node == 1) {
                ck_assert_int_lt(announcements, COUNT(at));
                ck_assert_uint_eq(l->sent[i].at / FTREE_MS - 1000, at[announcements++]);
                told_of += l->sent[i].tolds;
            }
        lone_log(l);
        lone_run(l, 10);
    }
    ck_assert_int_eq(announcements, COUNT(at));
    ck_assert_int_eq(told_of, 190);
    ck_assert_int_eq(l->reports, 190);
}
END_TEST

START_TEST(what_finds_no_room_in_one_message_takes_two)
{
    struct lone *l = lone_of(shape_binary(NODES, 160), 0);
    uint32_t first, second;

    crashes(l, 0, 1);
    nobody_waits(l);
    ck_assert_int_eq(l->reports, 1);
    crashes(l, 1, 150);
    ck_assert(ftree_announce_is_under_way(l->ft)); /* a job that ends now must wait */
    ck_assert_int_eq(ftree_inspect_announcements(l->ft), 0);
    lone_log(l);
    lone_run(l, 20);
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_DOWN), 2 * 2);
    ck_assert_int_eq(tolds(l), 2 * 150);
    ck_assert_int_eq(ftree_inspect_announcements(l->ft), 1);
    ck_assert_int_eq(ftree_inspect_owed(l->ft), 4); /* each of both children owes both */
    first = l->sent[0].m.id;
    second = l->sent[2].m.id;
    ck_assert_uint_ne(first, second);
    ck_assert_uint_eq(l->sent[1].m.id, first);
    ck_assert_int_gt(l->sent[0].tolds, l->sent[2].tolds);
    lone_nobody_waits(l, 1, second);
    lone_nobody_waits(l, 1, second); /* twice: it still owes the first */
    lone_nobody_waits(l, 2, first);
    ck_assert_uint_eq(ftree_inspect_owes(l->ft, 1), first);
    lone_victims(l, 1, first, 3, 3);
    ck_assert_int_eq(l->reports, 1);
    lone_victims(l, 2, second, 5, 6);
    ck_assert_int_eq(l->reports, 151);
    for (int32_t i = 1; i < 151; i++)
        ck_assert_int_eq(l->report[i].victims.count, 3);
}
END_TEST

START_TEST(what_a_node_has_missed_takes_as_many_messages_as_it_needs)
{
    struct lone *l = lone_of(shape_binary(NODES, 160), 0);

    for (int32_t i = 0; i < 150; i++) {
        struct ftree_verdict v = crash(l, i);
        ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_OK);
    }
    LONE_STEP(l, ftree_announce_again(l->ft, l->now, 3));
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_DOWN), 2);
    ck_assert_int_eq(tolds(l), 150);
    ck_assert_int_eq(ftree_inspect_announcements(l->ft), 0);
    l->fail_alloc_in = 1;
    LONE_STEP(l, ftree_announce_again(l->ft, l->now, 4));
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_DOWN), 2);
}
END_TEST

/* Each child of the silent one is told all of it, and the time for answers begins anew. */
START_TEST(many_pass_a_silent_child_together)
{
    struct lone *l = lone_of(shape_binary(NODES, 8), 0);

    crashes(l, 0, 1);
    nobody_waits(l);
    crashes(l, 1, 5);
    lone_run(l, 20);
    lone_nobody_waits(l, 2, ftree_inspect_owes(l->ft, 2));
    lone_run(l, 349);
    lone_log(l);
    lone_run(l, 1);
    ck_assert_str_eq(lone_log(l), "370 verdict-down to n1 not acknowledged\n"
                                  "370 suspects n1: peer-silent, rule silent-agent\n"
                                  "370 -> n1 data probe\n"
                                  "370 -> n1 mgmt probe\n"
                                  "370 -> n3 data verdict-down\n"
                                  "370 -> n4 data verdict-down\n");
    ck_assert_uint_eq(ftree_inspect_owes(l->ft, 1), 0);
    /* the same message */
    ck_assert_uint_eq(ftree_inspect_owes(l->ft, 3), ftree_inspect_owes(l->ft, 4));
    lone_run(l, 149); /* no longer than by gather alone */
    lone_nobody_waits(l, 3, ftree_inspect_owes(l->ft, 3));
    ck_assert_int_eq(l->reports, 1);
    lone_run(l, 50);
    ck_assert_int_eq(l->reports, 1);
    victims_from(l, 4, 5, 5);
    ck_assert_int_eq(l->reports, 6);
    ck_assert_int_eq(l->report[5].victims.count, 1);
}
END_TEST

START_TEST(what_stands_and_what_is_over_are_told_in_one_message)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 1);
    struct ftree_verdict v[2] = {
        crash(l, 0), lone_verdict(l, "node-outage/both-paths-silent", 9, FTREE_NONE, 4)};
    const struct lone_sent *s;

    told(l, 0, 70, &v[1], 1);
    nobody_waits(l);
    lone_acks(l, 0);
    lone_log(l);
    v[1].withdrawn = l->now;
    told(l, 0, 71, v, 2);
    s = lone_last(l, WIRE_VERDICT_DOWN);
    ck_assert_int_eq(s->tolds, 2);
    ck_assert_int_eq(s->told[0].node, 12);
    ck_assert_uint_eq(s->told[0].withdrawn, 0);
    ck_assert_int_eq(s->told[1].node, 9);
    ck_assert_uint_eq(s->told[1].withdrawn, l->now);
    ck_assert_str_eq(lone_log(l), "0 learns process-crash of n12\n"
                                  "0 learns that node-outage of n9 is over\n"
                                  "0 -> n3 data verdict-down\n"
                                  "0 -> n4 data verdict-down\n");
    ck_assert_int_eq(ftree_inspect_announcements(l->ft), 1);
    lone_nobody_waits(l, 3, ftree_inspect_owes(l->ft, 3));
    lone_nobody_waits(l, 4, ftree_inspect_owes(l->ft, 4));
    ck_assert_uint_eq(lone_last(l, WIRE_ACK)->m.u.ack, 71);
}
END_TEST

START_TEST(over_while_victims_are_gathered_the_others_are_reported)
{
    struct lone *l = lone_of(shape_binary(NODES, 8), 0);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 9, FTREE_NONE, 4);

    crashes(l, 0, 1);
    nobody_waits(l);
    lone_told(l, 1, WIRE_VERDICT_UP, &v);
    crashes(l, 1, 1);
    lone_run(l, 30);
    ck_assert_int_eq(ftree_inspect_announcements(l->ft), 1);
    v.withdrawn = l->now;
    lone_acks(l, 1);
    lone_acks(l, 2);
    lone_log(l);
    lone_told(l, 1, WIRE_VERDICT_UP, &v);
    lone_run(l, 30);
    ck_assert_str_eq(lone_log(l), "30 -> n1 data ack\n"
                                  "30 learns that node-outage of n9 is over\n"
                                  "30 node-outage of n9 is over before it was announced\n"
                                  "60 -> n1 data verdict-down\n"
                                  "60 -> n2 data verdict-down\n");
    ck_assert_int_eq(ftree_inspect_announcements(l->ft), 1); /* that it is over has no victims */
    victims_from(l, 1, 3, 4);
    victims_from(l, 2, 5, 5);
    ck_assert_int_eq(l->reports, 2);
    ck_assert_int_eq(l->report[1].class_, FTREE_CLASS_PROCESS_CRASH);
    ck_assert_int_eq(l->report[1].victims.count, 3);
    ck_assert_int_eq(l->withdrawals, 1);
    ck_assert_int_eq(l->withdrawals_told, 0);
}
END_TEST

START_TEST(over_while_victims_are_gathered_below_they_are_named_all_the_same)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 1);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 9, FTREE_NONE, 4);
    uint32_t first;

    told(l, 0, 70, &v, 1);
    first = ftree_inspect_owes(l->ft, 3);
    lone_log(l);
    v.withdrawn = l->now;
    told(l, 0, 71, &v, 1);
    ck_assert_str_eq(lone_log(l), "0 learns that node-outage of n9 is over\n"
                                  "0 -> n3 data verdict-down\n"
                                  "0 -> n4 data verdict-down\n"
                                  "0 -> n0 data ack nobody-waits\n");
    lone_victims(l, 3, first, 7, 7);
    lone_nobody_waits(l, 4, first);
    ck_assert_uint_eq(lone_last(l, WIRE_VICTIMS)->m.u.victims.told, 70);
    ck_assert_int_eq(ftree_inspect_announcements(l->ft), 0);
}
END_TEST

/* Two found the same and both are told: it is known once. */
START_TEST(the_same_twice_in_one_message_is_one)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 1);
    struct ftree_verdict v[2] = {crash(l, 0), crash(l, 0)};

    v[1].fln = 5;
    told(l, 0, 70, v, 2);
    ck_assert_int_eq(ftree_inspect_verdicts(l->ft), 1);
    ck_assert_int_eq(l->verdicts, 1);
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_DOWN), 2);
    nobody_waits(l);
    ck_assert_int_eq(lone_last(l, WIRE_ACK)->m.flags, WIRE_FLAG_NOBODY_WAITS);
}
END_TEST

START_TEST(each_has_the_name_of_its_rule)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 1);
    struct ftree_verdict v[3] = {crash(l, 0), lone_verdict(l, "process-crash/pid-gone", 11, 11, 5),
                                 lone_verdict(l, "process-stopped/state-t", 10, 10, 4)};
    struct ftree_inspect_message message;
    struct wire_message m;
    struct summary o;
    char rule[FTREE_NAME_MAX] = "";

    told(l, 0, 70, v, 3);
    ck_assert(ftree_inspect_message(l->ft, 0, &message));
    ck_assert_int_eq(ftree_wire_decode(&l->job, l->now, message.bytes, message.len, &m), FTREE_OK);
    for (int i = 0; i < 3; i++) {
        ck_assert_str_eq(lone_verdict_at(l, i).rule, v[i].rule);
        ck_assert(ftree_wire_get_summary(&l->job, l->now, &m.u.summaries, &o, rule));
        ck_assert_str_eq(rule, v[i].rule);
        ck_assert_uint_eq(o.first_symptom, v[i].first_symptom);
    }
}
END_TEST

/* ---- who waits is said with the acknowledgment ------------------------------------------------ */

static const struct {
    int32_t self, from;
    bool waits;
    const char *log;
} acknowledged[] = {
    {7, 3, false, "0 -> n3 data ack nobody-waits\n"},
    {7, 3, true, "0 -> n3 data victims\n"},
    {3, 1, false, "0 -> n7 data verdict-down\n0 -> n8 data verdict-down\n"},
    {3, 1, true, "0 -> n7 data verdict-down\n0 -> n8 data verdict-down\n"},
};

/* rows: a_leaf_where_nobody_waits_says_no_more COUNT(acknowledged) */
START_TEST(a_leaf_where_nobody_waits_says_no_more)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), acknowledged[_i].self);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 9, FTREE_NONE, 4);
    char log[256];

    l->state[0].phase = FTREE_PHASE_WAITING;
    l->state[0].waiting = acknowledged[_i].waits ? l->cfg.stall : 0;
    told(l, acknowledged[_i].from, 70, &v, 1);
    snprintf(log, sizeof(log), "0 learns node-outage of n9\n%s", acknowledged[_i].log);
    ck_assert_str_eq(lone_log(l), log);
    ck_assert_int_eq(ftree_inspect_announcements(l->ft), acknowledged[_i].self == 3);
}
END_TEST

/* The acknowledgment waits for those below, half as long as the sender's patience lasts. */
START_TEST(an_acknowledgment_is_kept_back_for_a_while)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 3);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 9, FTREE_NONE, 4);

    told(l, 1, 70, &v, 1);
    lone_nobody_waits(l, 7, ftree_inspect_owes(l->ft, 7));
    lone_run(l, 74);
    ck_assert_int_eq(lone_count(l, WIRE_ACK), 0);
    lone_run(l, 1);
    ck_assert_int_eq(lone_count(l, WIRE_ACK), 1);
    ck_assert_uint_eq(lone_last(l, WIRE_ACK)->m.u.ack, 70);
    ck_assert_int_eq(lone_last(l, WIRE_ACK)->m.flags, 0);
    /* late: that nobody waits is a message of its own */
    lone_nobody_waits(l, 8, ftree_inspect_owes(l->ft, 8));
    ck_assert_int_eq(lone_last(l, WIRE_VICTIMS)->m.u.victims.ranks.count, 0);
    ck_assert_int_eq(lone_count(l, WIRE_ACK), 1);
}
END_TEST

START_TEST(those_below_answer_and_it_is_acknowledged)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 3);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 9, FTREE_NONE, 4);

    told(l, 1, 70, &v, 1);
    lone_nobody_waits(l, 7, ftree_inspect_owes(l->ft, 7));
    lone_nobody_waits(l, 8, ftree_inspect_owes(l->ft, 8));
    ck_assert_int_eq(lone_count(l, WIRE_VICTIMS), 0);
    ck_assert_uint_eq(lone_last(l, WIRE_ACK)->m.u.ack, 70);
    ck_assert_int_eq(lone_last(l, WIRE_ACK)->m.flags, WIRE_FLAG_NOBODY_WAITS);
}
END_TEST

/* On the way there the data path is dead, and an acknowledgment is sent but once. */
/* rows: an_acknowledgment_takes_the_path_of_what_it_acknowledges 2 */
START_TEST(an_acknowledgment_takes_the_path_of_what_it_acknowledges)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 3);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 9, FTREE_NONE, 4);
    struct wire_message m = {.type = WIRE_VERDICT_DOWN, .id = 70};
    struct wire_summaries w = {0};
    struct summary o = messages_summary(&v);

    ck_assert(ftree_wire_put_summary(&w, l->now, &o, v.rule));
    m.u.summaries = ftree_wire_summary_list(&w);
    lone_hear(l, 1, FTREE_PATH_MGMT, &m);
    if (_i == 0) {
        lone_nobody_waits(l, 7, ftree_inspect_owes(l->ft, 7));
        lone_nobody_waits(l, 8, ftree_inspect_owes(l->ft, 8));
    } else {
        lone_run(l, 75);
    }
    ck_assert_uint_eq(lone_last(l, WIRE_ACK)->m.u.ack, 70);
    ck_assert_int_eq(lone_last(l, WIRE_ACK)->to.path, FTREE_PATH_MGMT);
}
END_TEST

/* Who names its victims has the message; how long that took says nothing of the network. */
START_TEST(victims_acknowledge_what_asked_for_them)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 3);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 9, FTREE_NONE, 4);

    told(l, 1, 70, &v, 1);
    ck_assert_int_eq(ftree_inspect_outbox(l->ft), 2);
    lone_run(l, 70);
    lone_victims(l, 7, ftree_inspect_owes(l->ft, 7), 7, 7);
    ck_assert_int_eq(ftree_inspect_outbox(l->ft), 1);
    ck_assert_int_eq(ftree_inspect_outbox_to(l->ft, 8), 1);
    ck_assert_uint_eq(ftree_inspect_round_trip(l->ft).mean, 0);
}
END_TEST

START_TEST(a_leaf_names_all_but_the_lost_rank)
{
    struct lone *l = lone_of(shape_binary(NODES, 2), 7);
    struct ftree_verdict v = lone_verdict(l, "process-stopped/state-t", 7, 14, 7);

    for (int i = 0; i < 2; i++) {
        l->state[i].phase = FTREE_PHASE_WAITING;
        l->state[i].waiting = l->cfg.stall;
    }
    told(l, 3, 70, &v, 1);
    ck_assert_int_eq(lone_last(l, WIRE_VICTIMS)->m.u.victims.ranks.count, 1);
    ck_assert_int_eq(lone_last(l, WIRE_VICTIMS)->m.u.victims.ranks.range[0].first, 15);
}
END_TEST

/* Of what was told before the rank may be a component: of this it is a victim. */
START_TEST(a_component_of_the_one_is_a_victim_of_the_other)
{
    struct lone *l = lone_of(shape_binary(NODES, 2), 7);
    struct ftree_verdict first = lone_verdict(l, "process-stopped/state-t", 7, 14, 7);
    struct ftree_verdict second =
        lone_verdict(l, "node-outage/both-paths-silent", 9, FTREE_NONE, 4);

    l->state[0].phase = FTREE_PHASE_WAITING;
    l->state[0].waiting = l->cfg.stall;
    told(l, 3, 70, &first, 1);
    ck_assert_int_eq(lone_count(l, WIRE_VICTIMS), 0);
    told(l, 3, 71, &second, 1);
    ck_assert_int_eq(lone_last(l, WIRE_VICTIMS)->m.u.victims.ranks.count, 1);
}
END_TEST

/* Of several the one that was found the fastest says for how long a victim must have waited. */
START_TEST(the_last_symptom_says_who_has_waited_long_enough)
{
    for (int32_t n = 1; n <= 2; n++) {
        struct lone *l = lone_of(shape_binary(NODES, 1), 7);
        struct ftree_verdict v[2] = {crash(l, 0),
                                     lone_verdict(l, "process-crash/pid-gone", 9, 9, 9)};
        v[1].first_symptom = l->now - 100 * FTREE_MS;
        l->state[0].phase = FTREE_PHASE_WAITING;
        l->state[0].waiting = 60 * FTREE_MS;
        told(l, 3, 70, v, n);
        ck_assert_int_eq(lone_count(l, WIRE_VICTIMS), n == 2);
        lone_free(l);
    }
}
END_TEST

START_TEST(nobody_waits_for_what_is_over)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 7);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 9, FTREE_NONE, 4);

    l->state[0].phase = FTREE_PHASE_WAITING;
    l->state[0].waiting = l->cfg.stall;
    v.withdrawn = l->now;
    told(l, 3, 70, &v, 1);
    ck_assert_str_eq(lone_log(l), "0 -> n3 data ack nobody-waits\n");
}
END_TEST

/* The acting root is a child of this node, and all between them are lost. */
START_TEST(whoever_told_it_is_not_told)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 4);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 12, FTREE_NONE, 5);

    told(l, 10, 70, &v, 1);
    ck_assert_str_eq(lone_log(l), "0 learns node-outage of n12\n"
                                  "0 -> n9 data verdict-down\n");
}
END_TEST

START_TEST(what_has_not_come_down_is_not_told_to_who_is_back)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 1);
    struct ftree_verdict v = crash(l, 0);

    lone_told(l, 3, WIRE_VERDICT_UP, &v);
    LONE_STEP(l, ftree_announce_again(l->ft, l->now, 4));
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_DOWN), 0);
    told(l, 0, 70, &v, 1);
    lone_log(l);
    LONE_STEP(l, ftree_announce_again(l->ft, l->now, 4));
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_DOWN), 1);
}
END_TEST

START_TEST(a_message_that_comes_twice_is_answered_once)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 3);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 9, FTREE_NONE, 4);

    told(l, 1, 70, &v, 1);
    lone_log(l);
    told(l, 1, 70, &v, 1); /* still asking those below */
    ck_assert_str_eq(lone_log(l), "0 -> n1 data ack\n");
    lone_nobody_waits(l, 7, ftree_inspect_owes(l->ft, 7));
    lone_nobody_waits(l, 8, ftree_inspect_owes(l->ft, 8));
    ck_assert_int_eq(lone_count(l, WIRE_VICTIMS), 1);
    told(l, 1, 70, &v, 1); /* on their way */
    lone_acks(l, 1);
    ck_assert_str_eq(lone_log(l), "0 -> n1 data victims\n"
                                  "0 -> n1 data ack\n");
    told(l, 1, 70, &v, 1); /* they are there: no others will come */
    ck_assert_str_eq(lone_log(l), "0 -> n1 data ack nobody-waits\n");
}
END_TEST

START_TEST(a_leaf_answers_a_message_each_time_it_comes)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 7);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 9, FTREE_NONE, 4);

    l->state[0].phase = FTREE_PHASE_WAITING;
    l->state[0].waiting = l->cfg.stall;
    told(l, 3, 70, &v, 1);
    told(l, 3, 70, &v, 1);
    ck_assert_str_eq(lone_log(l), "0 learns node-outage of n9\n"
                                  "0 -> n3 data victims\n"
                                  "0 -> n3 data victims\n");
}
END_TEST

/* The first is still waited for by whoever told it first. */
START_TEST(told_by_another_parent_there_is_nothing_to_add)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 3);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 9, FTREE_NONE, 4);

    told(l, 1, 70, &v, 1);
    lone_log(l);
    told(l, 0, 70, &v, 1); /* the number is the same by chance */
    ck_assert_str_eq(lone_log(l), "0 -> n0 data ack nobody-waits\n");
    lone_victims(l, 7, ftree_inspect_owes(l->ft, 7), 7, 7);
    lone_nobody_waits(l, 8, ftree_inspect_owes(l->ft, 8));
    ck_assert_int_eq(lone_count(l, WIRE_VICTIMS), 1);
    ck_assert_int_eq(lone_last(l, WIRE_VICTIMS)->to.node, 1);
    ck_assert_int_eq(lone_last(l, WIRE_VICTIMS)->m.u.victims.ranks.count, 1);
}
END_TEST

START_TEST(with_all_below_lost_or_mute_the_answer_is_there_at_once)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 3);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 9, FTREE_NONE, 4);

    lone_knows(l, "node-outage/both-paths-silent", 7, FTREE_NONE, 1);
    ftree_peer_unresponsive(l->ft, l->now, 8, false);
    told(l, 1, 70, &v, 1);
    ck_assert_str_eq(lone_log(l), "0 learns node-outage of n9\n"
                                  "0 -> n8 data verdict-down\n"
                                  "0 -> n1 data ack nobody-waits\n");
}
END_TEST

START_TEST(only_the_word_of_who_owes_it_counts)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 0);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 9, FTREE_NONE, 4);
    uint32_t asked;

    lone_told(l, 1, WIRE_VERDICT_UP, &v);
    asked = ftree_inspect_owes(l->ft, 1);
    lone_acks(l, 1); /* it has been told; who waits there it will say */
    lone_nobody_waits(l, 2, asked + 1);
    lone_nobody_waits(l, 3, asked);
    lone_nobody_waits(l, 2, asked);
    lone_nobody_waits(l, 2, asked);
    ck_assert_int_eq(l->reports, 0);
    ck_assert_uint_eq(ftree_inspect_owes(l->ft, 1), asked);
    lone_nobody_waits(l, 1, asked);
    ck_assert_int_eq(l->reports, 1);
    ck_assert_int_eq(l->report[0].victims.count, 0);
}
END_TEST

/* ---- who has all of it ------------------------------------------------------------------------ */

static struct ftree_verdict with_evidence(const struct lone *l)
{
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 9, FTREE_NONE, 4);

    ftree_verdict_add_evidence(&v, &(struct ftree_evidence){.target = 9, .by = 4});
    return v;
}

START_TEST(on_the_way_it_is_kept_until_it_comes_down)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 1);
    struct ftree_verdict v = with_evidence(l);

    lone_told(l, 4, WIRE_VERDICT_UP, &v);
    ck_assert_int_eq(lone_verdict_at(l, 0).evidences, 1);
    ck_assert_int_eq(lone_last(l, WIRE_VERDICT_UP)->m.u.verdict.evidences, 1);
    lone_told(l, 0, WIRE_VERDICT_DOWN, &v);
    ck_assert(!lone_known(l, 0).is_whole);
    ck_assert(ftree_verdict_at(l->ft, 0, &v));
    ck_assert_int_eq(v.evidences, 0);
    ck_assert_str_eq(v.rule, "node-outage/both-paths-silent");
}
END_TEST

START_TEST(who_decided_and_who_is_root_keep_it)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 4);
    struct ftree_verdict v = with_evidence(l);

    LONE_STEP(l, ftree_announce_raise(l->ft, l->now, &v));
    lone_told(l, 1, WIRE_VERDICT_DOWN, &v);
    ck_assert_int_eq(lone_verdict_at(l, 0).evidences, 1);
    lone_free(l);
    l = lone_of(shape_binary(NODES, 1), 0);
    lone_told(l, 1, WIRE_VERDICT_UP, &v);
    victims_from(l, 1, 3, 4);
    victims_from(l, 2, 5, 5);
    ck_assert_int_eq(lone_verdict_at(l, 0).evidences, 1);
    ck_assert_int_eq(lone_verdict_at(l, 0).victims.count, 3);
    ck_assert_int_eq(l->report[0].evidences, 1);
    ck_assert_int_eq(l->report[0].victims.count, 3);
}
END_TEST

START_TEST(the_root_is_lost_and_its_heir_is_told_all_of_it)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 4);
    struct ftree_verdict v = with_evidence(l);
    struct ftree_verdict other = lone_verdict(l, "process-stopped/state-t", 12, 12, 5);
    struct ftree_verdict over = lone_verdict(l, "process-stopped/state-t", 3, 3, 4);
    struct ftree_verdict nic = lone_verdict(l, "nic-fault/interface-down", 0, FTREE_NONE, 10);
    struct ftree_verdict lost = lone_verdict(l, "node-outage/both-paths-silent", 0, FTREE_NONE, 10);

    LONE_STEP(l, ftree_announce_raise(l->ft, l->now, &v));
    lone_told(l, 1, WIRE_VERDICT_DOWN, &v);
    lone_knows(l, "process-crash/pid-gone", 11, 11, 4); /* nothing but its summary */
    ftree_verdict_add_evidence(&other, &v.evidence[0]); /* another's */
    ck_assert_int_eq(ftree_restore(l->ft, l->now, &other), FTREE_OK);
    ftree_verdict_add_evidence(&over, &v.evidence[0]);
    over.withdrawn = l->now;
    ck_assert_int_eq(ftree_restore(l->ft, l->now, &over), FTREE_OK);
    lone_acks(l, 1);
    lone_log(l);
    lone_told(l, 1, WIRE_VERDICT_DOWN, &nic); /* it is the root all the same */
    v = lone_verdict(l, "node-outage/both-paths-silent", 8, FTREE_NONE, 3);
    lone_told(l, 1, WIRE_VERDICT_DOWN, &v); /* it is not */
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_UP), 0);
    lone_log(l);
    lone_told(l, 1, WIRE_VERDICT_DOWN, &lost);
    ck_assert_int_eq(lone_last(l, WIRE_VERDICT_UP)->m.u.verdict.node, 9);
    ck_assert_int_eq(lone_last(l, WIRE_VERDICT_UP)->m.u.verdict.evidences, 1);
    ck_assert_str_eq(lone_log(l), "0 learns node-outage of n0\n"
                                  "0 -> n10 data verdict-up\n"
                                  "0 -> n10 data verdict-down\n");
}
END_TEST

/* rows: the_heir_keeps_all_of_it_and_does_not_tell_people_once_more 2 */
START_TEST(the_heir_keeps_all_of_it_and_does_not_tell_people_once_more)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 10);
    struct ftree_verdict v = with_evidence(l);

    lone_told(l, 4, WIRE_VERDICT_DOWN, &v);
    ck_assert(!lone_known(l, 0).is_whole);
    if (_i) /* or it hears only then that it is the root */
        lone_knows(l, "node-outage/both-paths-silent", 0, FTREE_NONE, 10);
    lone_log(l);
    lone_told(l, 4, WIRE_VERDICT_UP, &v);
    ck_assert_str_eq(lone_log(l), "0 -> n4 data ack\n"
                                  "0 -> n4 data verdict-down\n"); /* it may not have heard */
    ck_assert_int_eq(lone_verdict_at(l, 0).evidences, 1);
    ck_assert_int_eq(l->reports, 0); /* people have been told by the root before */
}
END_TEST

/* A verdict on a process comes up late, its node is known as lost: that is not what is known of
 * it. */
START_TEST(what_another_verdict_explains_is_no_part_of_it)
{
    struct lone *l = lone_of(shape_binary(NODES, 2), 10);
    struct ftree_verdict v = with_evidence(l);
    struct ftree_verdict crash = lone_verdict(l, "process-crash/pid-gone", 9, 18, 4), found;

    lone_told(l, 4, WIRE_VERDICT_DOWN, &v);
    crash.id = v.id + 1;
    lone_told(l, 4, WIRE_VERDICT_UP, &crash);
    ck_assert_int_eq(ftree_inspect_verdicts(l->ft), 1);
    ck_assert(ftree_verdict_at(l->ft, 0, &found));
    ck_assert_str_eq(found.rule, v.rule);
    ck_assert_str_eq(found.because, "");
}
END_TEST

/* The heir would tell it to all as if another had found it. */
START_TEST(what_is_for_its_own_people_is_not_told_to_the_heir)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 4);
    struct ftree_verdict v = lone_verdict(l, "unknown/no-node-answers", 4, FTREE_NONE, 4);
    struct ftree_verdict lost = lone_verdict(l, "node-outage/both-paths-silent", 0, FTREE_NONE, 10);

    v.local_only = true;
    LONE_STEP(l, ftree_announce_raise(l->ft, l->now, &v));
    lone_told(l, 1, WIRE_VERDICT_DOWN, &lost);
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_UP), 0);
}
END_TEST

/* What reaches nobody else is told to nobody else, though another may find the same. */
START_TEST(what_is_for_its_own_people_is_not_told_again)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 0);
    struct ftree_verdict v = lone_verdict(l, "unknown/no-node-answers", 0, FTREE_NONE, 0);

    v.local_only = true;
    LONE_STEP(l, ftree_announce_raise(l->ft, l->now, &v));
    lone_log(l);
    v.local_only = false;
    v.fln = 1;
    lone_told(l, 1, WIRE_VERDICT_UP, &v);
    ck_assert_int_eq(lone_count(l, WIRE_ACK), 1);
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_DOWN), 0);
}
END_TEST

/* ---- who is root ----------------------------------------------------------------------------- */

START_TEST(the_acting_root_is_the_first_that_is_not_lost)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 10); /* the first substitute */

    ck_assert(!ftree_route_is_root(l->ft));
    lone_knows(l, "node-outage/both-paths-silent", 0, FTREE_NONE, 10);
    ck_assert(ftree_route_is_root(l->ft));
}
END_TEST

START_TEST(the_heir_tells_the_roots_children_and_reports)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 10);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 0, FTREE_NONE, 10);

    LONE_STEP(l, ftree_announce_raise(l->ft, l->now, &v));
    victims_from(l, 1, 1, 1);
    victims_from(l, 2, 2, 2);
    ck_assert_str_eq(lone_log(l), "0 verdict node-outage of n0 by node-outage/both-paths-silent\n"
                                  "0 -> n1 data verdict-down\n"
                                  "0 -> n2 data verdict-down\n"
                                  "0 reports node-outage of n0: 2 victims\n");
    ck_assert_int_eq(l->reports, 1);
}
END_TEST

START_TEST(the_root_is_back_and_is_told_what_the_heir_would_tell)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 10);
    struct ftree_verdict v = lone_verdict(l, "process-crash/pid-gone", 3, 3, 10);
    struct ftree_verdict second = lone_verdict(l, "process-crash/pid-gone", 5, 5, 10);
    struct wire_message m = {.type = WIRE_FLOOD_QUERY}, answer = {.type = WIRE_ANSWER};

    second.id = v.id + 1;
    lone_knows(l, "node-outage/both-paths-silent", 0, FTREE_NONE, 10);
    LONE_STEP(l, ftree_announce_raise(l->ft, l->now, &v));
    LONE_STEP(l, ftree_announce_raise(l->ft, l->now, &second));
    ck_assert_int_eq(ftree_inspect_queued(l->ft), 1);
    lone_hear(l, 0, FTREE_PATH_DATA, &m);
    answer.u.answer.asked_peer = FTREE_NONE;
    answer.u.answer.nonce = lone_known(l, 0).question;
    lone_hear(l, 0, FTREE_PATH_DATA, &answer);
    ck_assert(!ftree_route_is_root(l->ft));
    lone_log(l);
    lone_run(l, 20);
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_DOWN), 0);
    ck_assert_int_eq(lone_last(l, WIRE_VERDICT_UP)->m.u.verdict.node, 5);
    ck_assert_ptr_null(ftree_check(l->ft));
}
END_TEST

START_TEST(with_the_root_silent_a_verdict_waits_until_it_is_decided_about)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 1);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 3, FTREE_NONE, 1);
    struct ftree_verdict root = lone_verdict(l, "node-outage/both-paths-silent", 0, FTREE_NONE, 10);

    ftree_peer_unresponsive(l->ft, l->now, 0, false);
    LONE_STEP(l, ftree_announce_raise(l->ft, l->now, &v));
    ck_assert_int_eq(lone_known(l, 0).up, FTREE_INSPECT_UP_PENDING);
    lone_run(l, 1000);
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_UP), 0);
    lone_log(l);
    lone_told(l, 10, WIRE_VERDICT_DOWN, &root);
    lone_run(l, 0);
    ck_assert_str_eq(lone_log(l), "1000 learns node-outage of n0\n"
                                  "1000 -> n7 data verdict-down\n"
                                  "1000 -> n8 data verdict-down\n"
                                  "1000 -> n4 data verdict-down\n"
                                  "1000 sends verdict to substitute n10\n"
                                  "1000 -> n10 data verdict-up substitute\n");
}
END_TEST

START_TEST(a_verdict_that_does_not_come_down_is_told_again)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 4);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 9, FTREE_NONE, 4);
    int32_t told = 0;

    LONE_STEP(l, ftree_announce_raise(l->ft, l->now, &v));
    for (int i = 0; i < 60; i++) {
        told += lone_count(l, WIRE_VERDICT_UP);
        lone_acks(l, 1);
        lone_log(l);
        lone_run(l, 1000);
    }
    ck_assert_int_eq(told, 8); /* every 2 s, and then no more */
    ck_assert(ftree_announce_deadline(l->ft) == FTREE_NEVER);
}
END_TEST

START_TEST(up_past_a_silent_parent)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 4);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 9, FTREE_NONE, 4);

    LONE_STEP(l, ftree_announce_raise(l->ft, l->now, &v));
    lone_run(l, 349);
    lone_log(l);
    lone_run(l, 1);
    ck_assert_str_eq(lone_log(l), "350 verdict-up to n1 not acknowledged\n"
                                  "350 symptom about n1 goes to n0\n"
                                  "350 -> n0 data symptom\n"
                                  "350 sends verdict to n0\n"
                                  "350 -> n0 data verdict-up\n");
}
END_TEST

START_TEST(what_a_verdict_explains_need_not_be_told_any_more)
{
    struct lone *l = lone_of(shape_binary(NODES, 2), 4);
    struct ftree_verdict crash = lone_verdict(l, "process-crash/pid-gone", 9, 18, 4);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 9, FTREE_NONE, 1);

    LONE_STEP(l, ftree_announce_raise(l->ft, l->now, &crash));
    ck_assert_int_eq(lone_known(l, 0).up, FTREE_INSPECT_UP_SENT);
    lone_told(l, 1, WIRE_VERDICT_DOWN, &v);
    ck_assert_int_eq(lone_known(l, 0).up, FTREE_INSPECT_UP_NOTHING);
}
END_TEST

/* The node is not lost, and its interface is down. */
START_TEST(what_a_verdict_that_is_over_explained_is_told)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 4);
    struct ftree_verdict nic = lone_verdict(l, "nic-fault/interface-down", 9, FTREE_NONE, 4);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 9, FTREE_NONE, 1);

    LONE_STEP(l, ftree_announce_raise(l->ft, l->now, &nic));
    lone_acks(l, 1);
    lone_told(l, 1, WIRE_VERDICT_DOWN, &v);
    lone_run(l, 100);
    ck_assert_int_eq(lone_known(l, 0).up, FTREE_INSPECT_UP_NOTHING);
    v.withdrawn = l->now;
    lone_log(l);
    lone_told(l, 1, WIRE_VERDICT_DOWN, &v);
    lone_run(l, 1);
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_UP), 1);
    ck_assert_int_eq(lone_last(l, WIRE_VERDICT_UP)->m.u.verdict.class_, FTREE_CLASS_NIC_FAULT);
    lone_told(l, 1, WIRE_VERDICT_DOWN, &nic);
    ck_assert_int_eq(lone_known(l, 0).up, FTREE_INSPECT_UP_NOTHING);
}
END_TEST

START_TEST(a_verdict_ends_the_suspicion)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 1);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 3, FTREE_NONE, 0);

    lone_stall(l, 1, 4);
    lone_run(l, 500);
    LONE_STEP(l, ftree_intake_silent(l->ft, l->now, 3));
    ck_assert_int_eq(ftree_inspect_suspects(l->ft), 2);
    lone_told(l, 0, WIRE_VERDICT_DOWN, &v);
    ck_assert_int_eq(ftree_inspect_suspects(l->ft), 1);
    ck_assert(ftree_inspect_is_suspect(l->ft, 4));
}
END_TEST

START_TEST(who_is_cut_off_tells_its_own_people)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 4);
    struct ftree_verdict v = lone_verdict(l, "unknown/no-node-answers", 4, FTREE_NONE, 4);

    v.local_only = true;
    LONE_STEP(l, ftree_announce_raise(l->ft, l->now, &v));
    ck_assert_int_eq(l->reports, 1);
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_UP), 0);
}
END_TEST

START_TEST(victims_of_an_unknown_verdict_are_nobodys)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 0);

    lone_victims(l, 1, 1, 3, 4);
    ck_assert_int_eq(l->reports, 0);
}
END_TEST

/* Whichever allocation fails: what is known is told and reported. */
START_TEST(without_memory_a_verdict_is_left_out)
{
    int left_out = 0;
    bool failed = true;

    for (int nth = 1; failed; nth++) {
        struct lone *l = lone_of(shape_binary(NODES, 1), 0);
        struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 9, FTREE_NONE, 4);
        l->fail_alloc_in = nth;
        lone_told(l, 1, WIRE_VERDICT_UP, &v);
        lone_acks(l, 1);
        lone_acks(l, 2);
        lone_run(l, 1210);
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

/* One verdict is told, and then a batch of four. */
START_TEST(without_memory_those_that_are_known_are_reported)
{
    bool failed = true;

    for (int nth = 1; failed; nth++) {
        struct lone *l = lone_of(shape_binary(NODES, 8), 0);
        l->state[0].phase = FTREE_PHASE_WAITING;
        l->state[0].waiting = l->cfg.stall;
        l->fail_alloc_in = nth;
        crashes(l, 0, 5);
        lone_run(l, 20);
        ck_assert_int_eq(ftree_inspect_queued(l->ft), 0);
        nobody_waits(l);
        lone_run(l, 1210);
        failed = l->fail_alloc_in == 0;
        ck_assert_int_ge(l->verdicts, failed ? 4 : 5);
        ck_assert_int_eq(l->reports, l->verdicts);
        for (int32_t i = 0; i < l->reports; i++)
            ck_assert_int_eq(l->report[i].victims.count, 1); /* the own one */
        ck_assert_int_eq(ftree_inspect_announcements(l->ft), 0);
        lone_free(l);
    }
}
END_TEST

/* What those above are told is true, or nothing. */
START_TEST(without_memory_nobody_is_left_out_below)
{
    bool failed = true;

    for (int nth = 1; failed; nth++) {
        struct lone *l = lone_of(shape_binary(NODES, 8), 1);
        struct ftree_verdict v[4];
        const struct lone_sent *ack, *victims;
        for (int32_t i = 0; i < COUNT(v); i++)
            v[i] = crash(l, i);
        l->state[0].phase = FTREE_PHASE_WAITING;
        l->state[0].waiting = l->cfg.stall;
        l->fail_alloc_in = nth;
        told(l, 0, 70, v, COUNT(v));
        nobody_waits(l);
        ack = lone_last(l, WIRE_ACK);
        failed = l->fail_alloc_in == 0;
        ck_assert_int_ge(ftree_inspect_verdicts(l->ft), failed ? 3 : 4);
        if (ack && ack->m.flags & WIRE_FLAG_NOBODY_WAITS)
            ck_abort_msg("with allocation %d failing nobody waits", nth);
        lone_run(l, 900);
        victims = lone_last(l, WIRE_VICTIMS);
        ck_assert_int_eq(ftree_inspect_announcements(l->ft), 0);
        ck_assert(failed || (victims && victims->m.u.victims.ranks.count == 1));
        for (int32_t i = 0; i < ftree_inspect_verdicts(l->ft); i++)
            ck_assert(lone_known(l, i).announced);
        lone_free(l);
    }
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
    TEST(a_lost_node_is_told_with_those_below_it);
    TEST(a_lost_node_is_told_at_once_when_those_below_are_well);
    TEST(a_lost_node_waits_for_those_below_no_longer_than_three_rto);
    TEST(a_slower_network_holds_it_for_longer);
    TEST(what_stays_held_does_not_go_along);
    TEST_ROWS(not_every_verdict_waits_for_those_below, COUNT(told_at_once));
    TEST(what_others_found_does_not_wait_for_those_below);
    TEST(who_leaves_waits_for_nobody_below);
    TEST(the_root_tells_a_node_with_those_below_it);
    TEST(what_belongs_together_is_told_together);
    TEST(what_was_to_go_along_and_does_not_holds_up_nobody);
    TEST(what_belongs_together_is_told_no_sooner);
    TEST(more_and_more_is_told_all_the_same);
    TEST(what_belongs_together_makes_no_pause_longer_after_a_calm);
    TEST(that_more_goes_along_is_passed_on);
    TEST(held_and_over_it_waits_no_more);
    TEST(a_verdict_goes_up_step_by_step);
    TEST(down_it_goes_to_the_children_and_the_victims_back);
    TEST(the_time_to_gather_shrinks_with_the_height);
    TEST(the_children_of_a_lost_child_are_told);
    TEST(who_hears_of_it_late_has_time_to_answer);
    TEST(a_silent_child_is_passed_over_and_told_when_it_is_well);
    TEST(what_was_on_its_way_to_a_lost_root_is_told_at_once);
    TEST(many_verdicts_about_a_node_pass_a_silent_child_once_each);
    TEST(many_verdicts_pass_a_silent_parent_once_each);
    TEST(the_children_of_a_mute_child_are_waited_for_and_not_the_child);
    TEST(the_children_of_a_mute_child_are_not_told_again_with_it);
    TEST(a_busy_child_is_waited_for);
    TEST_ROWS(at_once_and_then_after_a_pause, COUNT(pauses));
    TEST(the_pause_doubles_while_there_are_more);
    TEST(what_finds_no_room_in_one_message_takes_two);
    TEST(what_a_node_has_missed_takes_as_many_messages_as_it_needs);
    TEST(many_pass_a_silent_child_together);
    TEST(what_stands_and_what_is_over_are_told_in_one_message);
    TEST(over_while_victims_are_gathered_the_others_are_reported);
    TEST(over_while_victims_are_gathered_below_they_are_named_all_the_same);
    TEST(the_same_twice_in_one_message_is_one);
    TEST(each_has_the_name_of_its_rule);
    TEST_ROWS(a_leaf_where_nobody_waits_says_no_more, COUNT(acknowledged));
    TEST(an_acknowledgment_is_kept_back_for_a_while);
    TEST(those_below_answer_and_it_is_acknowledged);
    TEST_ROWS(an_acknowledgment_takes_the_path_of_what_it_acknowledges, 2);
    TEST(victims_acknowledge_what_asked_for_them);
    TEST(a_leaf_names_all_but_the_lost_rank);
    TEST(a_component_of_the_one_is_a_victim_of_the_other);
    TEST(the_last_symptom_says_who_has_waited_long_enough);
    TEST(nobody_waits_for_what_is_over);
    TEST(whoever_told_it_is_not_told);
    TEST(what_has_not_come_down_is_not_told_to_who_is_back);
    TEST(a_message_that_comes_twice_is_answered_once);
    TEST(a_leaf_answers_a_message_each_time_it_comes);
    TEST(told_by_another_parent_there_is_nothing_to_add);
    TEST(with_all_below_lost_or_mute_the_answer_is_there_at_once);
    TEST(only_the_word_of_who_owes_it_counts);
    TEST(on_the_way_it_is_kept_until_it_comes_down);
    TEST(who_decided_and_who_is_root_keep_it);
    TEST(the_root_is_lost_and_its_heir_is_told_all_of_it);
    TEST_ROWS(the_heir_keeps_all_of_it_and_does_not_tell_people_once_more, 2);
    TEST(what_another_verdict_explains_is_no_part_of_it);
    TEST(what_is_for_its_own_people_is_not_told_to_the_heir);
    TEST(what_is_for_its_own_people_is_not_told_again);
    TEST(the_acting_root_is_the_first_that_is_not_lost);
    TEST(the_heir_tells_the_roots_children_and_reports);
    TEST(the_root_is_back_and_is_told_what_the_heir_would_tell);
    TEST(with_the_root_silent_a_verdict_waits_until_it_is_decided_about);
    TEST(a_verdict_that_does_not_come_down_is_told_again);
    TEST(up_past_a_silent_parent);
    TEST(what_a_verdict_explains_need_not_be_told_any_more);
    TEST(what_a_verdict_that_is_over_explained_is_told);
    TEST(a_verdict_ends_the_suspicion);
    TEST(who_is_cut_off_tells_its_own_people);
    TEST(victims_of_an_unknown_verdict_are_nobodys);
    TEST(without_memory_a_verdict_is_left_out);
    TEST(without_memory_those_that_are_known_are_reported);
    TEST(without_memory_nobody_is_left_out_below);
}
