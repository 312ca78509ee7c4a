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

#define OUTAGE "node-outage/both-paths-silent"
#define CRASH "process-crash/pid-gone"

/* ---- what befalls a node of that tree -------------------------------------------------------- */

static struct lone *node_of(int32_t self, int32_t ppn)
{
    return lone_of(shape_binary(NODES, ppn), self);
}

static struct lone *node(int32_t self)
{
    return node_of(self, 1);
}

/* The first that acts when the root is lost. */
static struct lone *heir(void)
{
    return node(10);
}

static struct ftree_verdict outage(const struct lone *l, int32_t of, int32_t fln)
{
    return lone_verdict(l, OUTAGE, of, FTREE_NONE, fln);
}

static void finds(struct lone *l, struct ftree_verdict v)
{
    lone_finds(l, &v);
}

static void finds_lost(struct lone *l, int32_t of)
{
    finds(l, outage(l, of, l->self));
}

static void comes_up(struct lone *l, int32_t from, struct ftree_verdict v)
{
    lone_told(l, from, WIRE_VERDICT_UP, &v);
}

static void comes_down(struct lone *l, int32_t from, struct ftree_verdict v)
{
    lone_told(l, from, WIRE_VERDICT_DOWN, &v);
}

/* The same as message `id`, with n verdicts. */
static void told(struct lone *l, int32_t from, uint32_t id, const struct ftree_verdict *v,
                 int32_t n)
{
    struct wire_summaries w;
    struct wire_message m = messages_told(l->now, v, n, &w);

    m.id = id;
    lone_hear(l, from, FTREE_PATH_DATA, &m);
}

/* In message 70, which comes from the parent: node 9 is lost, as node 4 found. */
static struct lone *told_of_9(int32_t self)
{
    struct lone *l = node(self);
    struct ftree_verdict v = outage(l, 9, 4);

    told(l, ftree_inspect_parent(l->ft, self), 70, &v, 1);
    return l;
}

static void silent(struct lone *l, int32_t of, bool busy)
{
    ftree_peer_unresponsive(l->ft, l->now, of, busy);
}

/* In answer to the message that `from` owes an answer to. */
static void victims_from(struct lone *l, int32_t from, int32_t first, int32_t last)
{
    uint32_t asked = ftree_inspect_owes(l->ft, from);

    ck_assert_uint_ne(asked, 0);
    lone_victims(l, from, asked, first, last);
}

static void nobody_waits_at(struct lone *l, int32_t from)
{
    lone_nobody_waits(l, from, ftree_inspect_owes(l->ft, from));
}

/* Whoever was told anything acknowledges it, and nobody waits. */
static void nobody_waits(struct lone *l)
{
    int32_t n = l->n_sent;

    for (int32_t i = 0; i < n; i++)
        if (l->sent[i].m.type == WIRE_VERDICT_DOWN)
            lone_nobody_waits(l, l->sent[i].to.node, l->sent[i].m.id);
}

/* This node begins to examine another, in the place of whoever should. */
static void suspects(struct lone *l, int32_t of)
{
    struct wire_message m = {.type = WIRE_SYMPTOM, .flags = WIRE_FLAG_SUBSTITUTE};

    ftree_symptom_init(&m.u.symptom, FTREE_SYMPTOM_PEER_STALL, of, FTREE_NONE, 2, l->now, l->now);
    lone_hear(l, 2, FTREE_PATH_DATA, &m);
    ck_assert(ftree_inspect_is_suspect(l->ft, of));
    lone_log(l);
}

static void suspect_answers(struct lone *l, int32_t of)
{
    struct wire_message m = {.type = WIRE_ANSWER,
                             .u.answer.nonce = ftree_inspect_question(l->ft, of)};

    lone_hear(l, of, FTREE_PATH_DATA, &m);
    lone_run(l, 1);
}

static int32_t told_up(const struct lone *l)
{
    return lone_count(l, WIRE_VERDICT_UP);
}

static int32_t told_down(const struct lone *l)
{
    return lone_count(l, WIRE_VERDICT_DOWN);
}

static int32_t verdicts_told(const struct lone *l)
{
    int32_t n = 0;

    for (int32_t i = 0; i < l->n_sent; i++)
        n += l->sent[i].m.type == WIRE_VERDICT_DOWN ? l->sent[i].tolds : 0;
    return n;
}

static void expect_reported(const struct lone *l, int32_t reports, int32_t victims)
{
    ck_assert_int_eq(l->reports, reports);
    if (reports)
        ck_assert_int_eq(l->report[reports - 1].victims.count, victims);
}

static const struct wire_victims *victims_told(const struct lone *l)
{
    ck_assert_int_eq(lone_count(l, WIRE_VICTIMS), 1);
    return &lone_last(l, WIRE_VICTIMS)->m.u.victims;
}

static void expect_ack(const struct lone *l, uint32_t id, uint16_t flags)
{
    ck_assert_uint_eq(lone_last(l, WIRE_ACK)->m.u.ack, id);
    ck_assert_int_eq(lone_last(l, WIRE_ACK)->m.flags, flags);
}

/* ---- at the root ----------------------------------------------------------------------------- */

TEST_CASE(the_root_tells_its_children_gathers_and_reports)
{
    struct lone *l = node(0);
    uint32_t asked;

    lone_waits(l, 0);
    comes_up(l, 1, outage(l, 9, 4));
    asked = ftree_inspect_owes(l->ft, 1);
    lone_run(l, 10);
    lone_acks(l, 1);
    lone_acks(l, 2);
    victims_from(l, 1, 3, 4);
    lone_victims(l, 1, asked, 7, 8); /* twice: does not count */
    lone_victims(l, 7, asked, 10, 10); /* from one who was not asked */
    victims_from(l, 2, 5, 6);
    lone_victims(l, 2, asked, 11, 11); /* too late */
    lone_run(l, 100);
    EXPECT_LINES(lone_log(l), "0 -> n1 data ack\n"
                              "0 -> n1 n2 data verdict-down\n"
                              "10 -> n1 n1 n7 n2 data ack\n"
                              "10 reports node-outage of n9: 5 victims\n"
                              "10 -> n2 data ack\n");
    ck_assert_int_eq(l->verdicts, 1);
}

/* The time to gather shrinks with the height. */
static const struct {
    int32_t self, from;
    int ms;
    const char *log;
} gathers[] = {
    {0, 2, 1200, "1200 -> n12 data+mgmt probe fresh\n1200 reports node-outage of n12: 2 victims\n"},
    {1, 0, 800, "800 -> n0 data victims\n"},
    {3, 1, 400, "400 -> n1 data victims\n"},
};

TEST_CASES(nobody_waits_longer_than_gather, COUNT(gathers))
{
    struct lone *l = node(gathers[_i].self);
    struct ftree_verdict v = outage(l, 12, 5);

    lone_told(l, gathers[_i].from, gathers[_i].self ? WIRE_VERDICT_DOWN : WIRE_VERDICT_UP, &v);
    lone_all_ack(l);
    victims_from(l, 2 * gathers[_i].self + 1, 3, 4);
    lone_run(l, gathers[_i].ms - 1);
    ck_assert_int_eq(l->reports + lone_count(l, WIRE_VICTIMS), 0);
    lone_log(l);
    lone_run(l, 1);
    EXPECT_LINES(lone_log(l), gathers[_i].log);
}

TEST_CASE(a_verdict_told_twice_is_one)
{
    struct lone *l = node(0);
    struct ftree_verdict v = outage(l, 9, 4);

    comes_up(l, 1, v);
    lone_log(l);
    comes_up(l, 1, v); /* who still tells it has not heard it */
    EXPECT_LINES(lone_log(l), "0 -> n1 data ack\n"
                              "0 -> n1 data verdict-down\n");
    ck_assert_int_eq(l->verdicts, 1);
    lone_run(l, 1210);
    ck_assert_int_eq(l->reports, 1);
}

TEST_CASE(a_lost_node_explains_its_processes)
{
    struct lone *l = node_of(0, 2);

    comes_up(l, 1, outage(l, 9, 4));
    comes_up(l, 1, lone_verdict(l, CRASH, 9, 18, 4));
    ck_assert_int_eq(l->verdicts, 1);
    lone_run(l, 1210);
    ck_assert_int_eq(l->reports, 1);
}

TEST_CASE(victims_are_never_more_than_there_are_ranks)
{
    struct lone *l = node(0);
    struct wire_message m = {.type = WIRE_VICTIMS};

    comes_up(l, 1, outage(l, 9, 4));
    m.u.victims.ranks.count = NODES;
    m.u.victims.message = ftree_inspect_owes(l->ft, 1);
    lone_hear(l, 1, FTREE_PATH_DATA, &m);
    m.id = 0;
    lone_hear(l, 2, FTREE_PATH_DATA, &m);
    expect_reported(l, 1, NODES);
}

TEST_CASE(the_lost_rank_is_no_victim_of_itself)
{
    struct lone *l = node_of(0, 2);

    lone_waits(l, 0);
    lone_waits(l, 1);
    l->state[1].proc_state = 'T';
    finds(l, lone_verdict(l, "process-stopped/state-t", 0, 1, 0));
    lone_run(l, 1210);
    expect_reported(l, 1, 1);
    ck_assert_int_eq(l->report[0].victims.range[0].first, 0);
}

/* ---- a lost node, and those below it --------------------------------------------------------- */

/* Node 1 found that node 3 is lost, while it suspects those below it. */
static struct lone *node_1_with_suspects(int32_t suspect, int32_t other)
{
    struct lone *l = node(1);

    suspects(l, suspect);
    if (other)
        suspects(l, other);
    finds_lost(l, 3);
    return l;
}

TEST_CASE(a_lost_node_is_told_with_those_below_it)
{
    struct lone *l = node_1_with_suspects(7, 0);

    lone_run(l, 300);
    ck_assert_int_eq(lone_known(l, 0).up, FTREE_INSPECT_UP_HELD);
    ck_assert(ftree_has_unannounced(l->ft));
    ck_assert_int_eq(l->verdicts, 1); /* here it is known */
    ck_assert_int_eq(told_up(l), 0);
    lone_log(l);
    finds_lost(l, 7);
    lone_run(l, 0);
    EXPECT_LINES(lone_log(l), "300 verdict node-outage of n7 by node-outage/both-paths-silent\n"
                              "300 sends verdict to n0\n"
                              "300 -> n0 data verdict-up more\n"
                              "300 sends verdict to n0\n"
                              "300 -> n0 data verdict-up more\n");
}

TEST_CASE(a_lost_node_is_told_at_once_when_those_below_are_well)
{
    struct lone *l = node_1_with_suspects(7, 8);

    suspect_answers(l, 7);
    ck_assert_int_eq(told_up(l), 0);
    suspect_answers(l, 8);
    ck_assert_int_eq(told_up(l), 1);
    ck_assert_int_eq(lone_last(l, WIRE_VERDICT_UP)->m.flags, 0);
    ck_assert_int_eq(lone_last(l, WIRE_VERDICT_UP)->m.u.verdict.node, 3);
}

/* A slower network holds it for longer. */
TEST_CASES(a_lost_node_waits_for_those_below_no_longer_than_three_rto, 2)
{
    struct lone *l = node(1);

    if (_i) {
        l->cfg.rto_min = 300 * FTREE_MS;
        lone_renew(l);
    }
    suspects(l, 7);
    finds_lost(l, 3);
    lone_run(l, _i ? 899 : 449);
    ck_assert_int_eq(told_up(l), 0);
    lone_run(l, 1);
    ck_assert_int_eq(told_up(l), 1);
    ck_assert(_i || ftree_inspect_is_suspect(l->ft, 7));
}

/* Nodes 3 and 4 are held, and 7 is decided about: 3 is told with it, and 4 later. */
TEST_CASE(what_stays_held_does_not_go_along)
{
    struct lone *l = node_1_with_suspects(7, 9);

    finds_lost(l, 4);
    finds_lost(l, 7);
    lone_run(l, 0);
    ck_assert_int_eq(told_up(l), 2);
    for (int32_t i = 0; i < l->n_sent; i++)
        ck_assert(l->sent[i].m.type != WIRE_VERDICT_UP || l->sent[i].m.u.verdict.node != 4);
    lone_acks(l, 0);
    lone_log(l);
    lone_run(l, 450);
    ck_assert_int_eq(told_up(l), 1);
    ck_assert_int_eq(lone_last(l, WIRE_VERDICT_UP)->m.u.verdict.node, 4);
    ck_assert_int_eq(lone_last(l, WIRE_VERDICT_UP)->m.flags, 0);
}

/* Who finds what, with whom suspected: it is told at once. */
static const struct {
    int32_t self, node, suspect;
    const char *sign;
} told_at_once[] = {
    {1, 3, 9, OUTAGE}, /* not below it */
    {1, 3, 0, OUTAGE}, /* above it */
    {10, 0, 3, OUTAGE}, /* who is root depends on it */
    {1, 3, 7, CRASH}, /* a process, which its launcher would clean up */
    {1, 3, 7, "nic-fault/interface-gone"}, /* it is there, and tells those below */
};

TEST_CASES(not_every_verdict_waits_for_those_below, COUNT(told_at_once))
{
    struct lone *l = node(told_at_once[_i].self);

    suspects(l, told_at_once[_i].suspect);
    finds(l, lone_verdict(l, told_at_once[_i].sign, told_at_once[_i].node, FTREE_NONE, l->self));
    ck_assert_int_ne(lone_known(l, 0).up, FTREE_INSPECT_UP_HELD);
}

/* Whoever found it has waited, or has nothing to wait for; nor does who leaves wait. */
TEST_CASES(what_others_found_and_who_leaves_do_not_wait_for_those_below, 2)
{
    struct lone *l = node(1);

    suspects(l, 7);
    if (_i == 0) {
        comes_up(l, 4, outage(l, 3, 4));
    } else {
        finds_lost(l, 3);
        ck_assert_int_eq(lone_known(l, 0).up, FTREE_INSPECT_UP_HELD);
        ftree_leave(l->ft, l->now);
        lone_run(l, 0);
    }
    ck_assert_int_eq(told_up(l), 1);
}

TEST_CASE(the_root_tells_a_node_with_those_below_it)
{
    struct lone *l = node(0);

    suspects(l, 3);
    finds_lost(l, 1);
    lone_run(l, 300);
    finds_lost(l, 3);
    lone_run(l, 19);
    ck_assert_int_eq(told_down(l), 0);
    lone_run(l, 1);
    ck_assert_int_eq(told_down(l), 4); /* 2, 4, 7, 8 */
    ck_assert_int_eq(lone_last(l, WIRE_VERDICT_DOWN)->tolds, 2);
}

/* Node 1 tells the root a verdict with which another goes, or (`more` 0) the last one. */
static void comes_with(struct lone *l, uint16_t more, struct ftree_verdict v, int since_ms)
{
    struct wire_message m = {.type = WIRE_VERDICT_UP, .flags = more, .u.verdict = v};

    m.u.verdict.id += (uint32_t) v.node;
    m.u.verdict.first_symptom = l->now - since_ms * FTREE_MS;
    lone_hear(l, 1, FTREE_PATH_DATA, &m);
}

/* What was to go along, and does not, holds up nobody. */
TEST_CASES(what_belongs_together_is_told_together, 2)
{
    struct lone *l = node(0);

    comes_with(l, WIRE_FLAG_MORE, outage(l, 7, 1), 900);
    lone_run(l, 10);
    if (_i == 0)
        comes_with(l, 0, outage(l, 3, 1), 900);
    lone_run(l, 9);
    ck_assert_int_eq(told_down(l), 0);
    lone_run(l, 1);
    ck_assert_int_eq(told_down(l), 2);
    ck_assert_int_eq(lone_last(l, WIRE_VERDICT_DOWN)->tolds, _i == 0 ? 2 : 1);
}

TEST_CASE(what_belongs_together_is_told_no_sooner)
{
    struct lone *l = node(0);
    ftree_time at;

    comes_with(l, WIRE_FLAG_MORE, lone_verdict(l, CRASH, 7, 7, 1), 5);
    lone_run(l, 144); /* a crash is told 150 ms after its first symptom */
    ck_assert_int_eq(told_down(l), 0);
    lone_run(l, 1);
    ck_assert_int_gt(told_down(l), 0);
    comes_with(l, WIRE_FLAG_MORE, lone_verdict(l, CRASH, 8, 8, 1), 0);
    at = ftree_inspect_announces_at(l->ft);
    ck_assert_uint_gt(at, l->now);
    comes_with(l, WIRE_FLAG_MORE, outage(l, 9, 1), 900);
    ck_assert_uint_eq(ftree_inspect_announces_at(l->ft), at);
}

/* Whoever says that more follows, and never tells it, holds up nobody for long. */
TEST_CASE(more_and_more_is_told_all_the_same)
{
    struct lone *l = lone_of(shape_binary(64, 1), 0);

    for (int32_t i = 0; i < 10; i++) {
        comes_with(l, WIRE_FLAG_MORE, outage(l, 50 + i, 1), 900);
        lone_sleep(l, 20); /* and no tick comes between */
    }
    ck_assert_int_gt(told_down(l), 0);
}

TEST_CASE(what_belongs_together_makes_no_pause_longer_after_a_calm)
{
    struct lone *l = node(0);

    for (int32_t i = 3; i < 9; i++) {
        comes_with(l, WIRE_FLAG_MORE, outage(l, i, 1), 900);
        lone_run(l, 10000);
        ck_assert_uint_eq(ftree_inspect_announce_pause(l->ft), 20 * FTREE_MS);
    }
}

TEST_CASE(that_more_goes_along_is_passed_on)
{
    struct lone *l = node(1);
    struct wire_message m = {.type = WIRE_VERDICT_UP, .flags = WIRE_FLAG_MORE};

    m.u.verdict = outage(l, 9, 4);
    lone_hear(l, 4, FTREE_PATH_DATA, &m);
    m.u.verdict.withdrawn = l->now; /* nor is it lost when it is over */
    m.id = 0;
    lone_hear(l, 4, FTREE_PATH_DATA, &m);
    EXPECT_LINES(lone_log(l), "0 -> n4 data ack\n"
                              "0 sends verdict to n0\n"
                              "0 -> n0 data verdict-up more\n"
                              "0 -> n4 data ack\n"
                              "0 learns that node-outage of n9 is over\n"
                              "0 sends verdict to n0\n"
                              "0 -> n0 data verdict-up more\n");
}

/* It was never told: so is that it is over, lest a copy is believed. */
TEST_CASE(held_and_over_it_waits_no_more)
{
    struct lone *l = node_1_with_suspects(7, 0);
    struct wire_message m = {.type = WIRE_ANSWER};

    lone_run(l, 200); /* it is asked whether it is over */
    m.u.answer.nonce = lone_known(l, 0).question;
    ck_assert_uint_ne(m.u.answer.nonce, 0);
    lone_hear(l, 3, FTREE_PATH_DATA, &m);
    ck_assert_int_eq(lone_known(l, 0).up, FTREE_INSPECT_UP_SENT);
    ck_assert(lone_last(l, WIRE_VERDICT_UP)->m.u.verdict.withdrawn);
}

/* ---- on the way ------------------------------------------------------------------------------ */

TEST_CASE(a_verdict_goes_up_step_by_step)
{
    struct lone *l = node(4);

    finds_lost(l, 9);
    finds_lost(l, 9); /* found again */
    lone_acks(l, 1);
    ck_assert_uint_eq(lone_verdict_at(l, 0).symptoms, 2);
    EXPECT_LINES(lone_log(l), "0 verdict node-outage of n9 by node-outage/both-paths-silent\n"
                              "0 sends verdict to n1\n"
                              "0 -> n1 data verdict-up\n");
    ck_assert_int_eq(l->verdicts, 1);
    comes_up(l, 10, outage(l, 9, 4)); /* by another */
    ck_assert_uint_eq(lone_verdict_at(l, 0).symptoms, 3);
    ck_assert_int_eq(told_up(l), 0);
}

TEST_CASE(down_it_goes_to_the_children_and_the_victims_back)
{
    struct lone *l = node(1);
    struct ftree_verdict v = outage(l, 9, 4);

    lone_waits(l, 0);
    told(l, 0, 70, &v, 1);
    lone_acks(l, 3);
    lone_acks(l, 4);
    victims_from(l, 3, 7, 8);
    victims_from(l, 4, 1, 0); /* none */
    ck_assert_uint_eq(victims_told(l)->message, 70);
    ck_assert_int_eq(victims_told(l)->ranks.count, 3);
    lone_acks(l, 0);
    comes_down(l, 0, v);
    EXPECT_LINES(lone_log(l), "0 learns node-outage of n9\n"
                              "0 -> n3 n4 data verdict-down\n"
                              "0 -> n3 n4 data ack\n"
                              "0 -> n0 data victims\n"
                              "0 -> n0 data ack nobody-waits\n");
    ck_assert_int_eq(l->reports, 0); /* people are told by the root */
    ck_assert_int_eq(l->verdicts, 1);
}

TEST_CASE(the_children_of_a_lost_child_are_told)
{
    struct lone *l = node(1);

    comes_down(l, 0, outage(l, 3, 1));
    EXPECT_LINES(lone_log(l), "0 learns node-outage of n3\n"
                              "0 -> n7 n8 n4 data verdict-down\n");
}

/* The root is told by 2, whose victims are 5 and 6; of 1 it has heard nothing for so long. */
static struct lone *root_with_silent_1(int ms)
{
    struct lone *l = node(0);

    comes_up(l, 2, outage(l, 12, 5));
    lone_acks(l, 2);
    victims_from(l, 2, 5, 6);
    lone_run(l, ms - 1);
    lone_log(l);
    lone_run(l, 1);
    return l;
}

/* The silent one is passed over after 350 ms, and those below it have what is left of the time. */
TEST_CASE(who_hears_of_it_late_has_time_to_answer)
{
    struct lone *l = root_with_silent_1(350);

    lone_run(l, 1);
    lone_acks(l, 3);
    lone_acks(l, 4);
    lone_run(l, 1199 - 351);
    expect_reported(l, 0, 0);
    lone_run(l, 1);
    expect_reported(l, 1, 2);
}

TEST_CASE(a_silent_child_is_passed_over_and_told_when_it_is_well)
{
    struct lone *l = root_with_silent_1(350);

    EXPECT_LINES(lone_log(l), "350 verdict-down to n1 not acknowledged\n"
                              "350 suspects n1: peer-silent, rule silent-agent\n"
                              "350 -> n1 data+mgmt probe\n"
                              "350 -> n3 n4 data verdict-down\n");
    victims_from(l, 3, 3, 3);
    victims_from(l, 4, 4, 4);
    expect_reported(l, 1, 4);
    lone_log(l);
    suspect_answers(l, 1);
    EXPECT_LINES(lone_log(l), "350 n1 is well: its agent answers\n"
                              "350 -> n1 data+mgmt verdict-down fresh\n");
}

/* It was told to the root by way of 1, and the root is lost: this node acts for it now. */
TEST_CASE(what_was_on_its_way_to_a_lost_root_is_told_at_once)
{
    struct lone *l = heir();

    ck_assert_int_eq(ftree_inspect_root_substitute(l->ft, 1), l->self);
    finds(l, outage(l, 2, 1));
    lone_acks(l, ftree_inspect_parent(l->ft, l->self));
    ck_assert_int_eq(lone_known(l, 0).up, FTREE_INSPECT_UP_SENT);
    finds(l, outage(l, 0, 2));
    lone_run(l, 21); /* together with that of the root, or after the pause */
    ck_assert(lone_known(l, 0).announced && lone_known(l, 1).announced);
}

/* Each of the messages that do not arrive speaks for its own verdicts only: else n verdicts about
 * one node became n squared at the next step, and so on down. */
TEST_CASE(many_verdicts_about_a_node_pass_a_silent_child_once_each)
{
    struct lone *l = node_of(0, 30);

    for (int32_t i = 0; i < 29; i++) /* one of its ranks lives */
        comes_up(l, 2, lone_verdict(l, CRASH, 12, 360 + i, 12));
    lone_run(l, 20);
    lone_acks(l, 2);
    lone_run(l, 329);
    lone_log(l);
    lone_run(l, 21); /* node 1 is silent: its two children are told in its place */
    ck_assert_int_eq(told_down(l), 2 * 2);
    ck_assert_int_eq(verdicts_told(l), 2 * 29);
}

TEST_CASE(many_verdicts_pass_a_silent_parent_once_each)
{
    struct lone *l = node_of(4, 30);

    for (int32_t i = 0; i < 30; i++)
        comes_up(l, 9, lone_verdict(l, CRASH, 9, 270 + i, 9));
    lone_run(l, 349);
    lone_log(l);
    lone_run(l, 1);
    ck_assert_int_eq(told_up(l), 30);
}

/* Its children are told in its place at once: their victims are in the report, without a pause. */
TEST_CASE(the_children_of_a_mute_child_are_waited_for_and_not_the_child)
{
    struct lone *l = node(0);

    silent(l, 1, false);
    comes_up(l, 2, outage(l, 12, 5));
    ck_assert_int_eq(told_down(l), 4);
    ck_assert_uint_eq(ftree_inspect_owes(l->ft, 1), 0);
    victims_from(l, 2, 5, 6);
    victims_from(l, 3, 7, 8);
    expect_reported(l, 0, 0);
    victims_from(l, 4, 9, 10);
    expect_reported(l, 1, 6);
    lone_log(l);
    lone_run(l, 400); /* it has not acknowledged: its children know already */
    ck_assert_int_eq(told_down(l), 2);
    ck_assert_int_eq(lone_last(l, WIRE_VERDICT_DOWN)->to.node, 1);
}

/* One that is told once more is no reason to tell those below it. */
TEST_CASE(the_children_of_a_mute_child_are_not_told_again_with_it)
{
    struct lone *l = node(0);

    comes_up(l, 2, outage(l, 12, 5));
    silent(l, 1, false);
    lone_log(l);
    LONE_STEP(l, ftree_announce_again(l->ft, l->now, 1));
    ck_assert_int_eq(told_down(l), 1);
}

/* Its children are told by it, in a while, and their victims come with its own. */
TEST_CASE(a_busy_child_is_waited_for)
{
    struct lone *l = node(0);

    silent(l, 1, true);
    ck_assert_int_eq(ftree_peer(l->ft, l->now, 1), FTREE_PEER_BUSY);
    ck_assert_int_eq(ftree_peer(l->ft, l->now, 2), FTREE_PEER_OK);
    ck_assert_int_eq(ftree_peer(l->ft, l->now + 1000 * FTREE_MS, 1), FTREE_PEER_OK);
    comes_up(l, 2, outage(l, 12, 5));
    ck_assert_int_eq(told_down(l), 2);
    victims_from(l, 2, 5, 6);
    expect_reported(l, 0, 0);
    victims_from(l, 1, 3, 4);
    expect_reported(l, 1, 4);
}

/* ---- told together --------------------------------------------------------------------------- */

/* The i-th rank of node 12 has ended: for ever, so nobody asks whether it is over. */
static struct ftree_verdict crash(const struct lone *l, int32_t i)
{
    return lone_verdict(l, CRASH, 12, l->job.node_first[12] + i, 12);
}

/* Ranks from..from+n-1 of it, all found at once. */
static void crashes(struct lone *l, int32_t from, int32_t n)
{
    for (int32_t i = from; i < from + n; i++)
        comes_up(l, 2, crash(l, i));
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

TEST_CASES(at_once_and_then_after_a_pause, COUNT(pauses))
{
    struct lone *l = node_of(0, 8);
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

TEST_CASE(the_pause_doubles_while_there_are_more)
{
    static const int at[] = {0, 20, 60, 140, 300, 620, 940, 1260, 1580, 1900};
    struct lone *l = node_of(0, 200);
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

TEST_CASE(what_finds_no_room_in_one_message_takes_two)
{
    struct lone *l = node_of(0, 160);
    uint32_t first, second;

    crashes(l, 0, 1);
    nobody_waits(l);
    ck_assert_int_eq(l->reports, 1);
    crashes(l, 1, 150);
    ck_assert(ftree_is_announcing(l->ft)); /* a job that ends now must wait */
    ck_assert_int_eq(ftree_inspect_announcements(l->ft), 0);
    lone_log(l);
    lone_run(l, 20);
    ck_assert_int_eq(told_down(l), 2 * 2);
    ck_assert_int_eq(verdicts_told(l), 2 * 150);
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

TEST_CASE(what_a_node_has_missed_takes_as_many_messages_as_it_needs)
{
    struct lone *l = node_of(0, 160);

    for (int32_t i = 0; i < 150; i++)
        lone_knows(l, CRASH, 12, l->job.node_first[12] + i, 12);
    LONE_STEP(l, ftree_announce_again(l->ft, l->now, 3));
    ck_assert_int_eq(told_down(l), 2);
    ck_assert_int_eq(verdicts_told(l), 150);
    ck_assert_int_eq(ftree_inspect_announcements(l->ft), 0);
    l->fail_alloc_in = 1;
    LONE_STEP(l, ftree_announce_again(l->ft, l->now, 4));
    ck_assert_int_eq(told_down(l), 2);
}

/* Each child of the silent one is told all of it, and the time for answers begins anew. */
TEST_CASE(many_pass_a_silent_child_together)
{
    struct lone *l = node_of(0, 8);

    crashes(l, 0, 1);
    nobody_waits(l);
    crashes(l, 1, 5);
    lone_run(l, 20);
    nobody_waits_at(l, 2);
    lone_run(l, 349);
    lone_log(l);
    lone_run(l, 1);
    EXPECT_LINES(lone_log(l), "370 verdict-down to n1 not acknowledged\n"
                              "370 suspects n1: peer-silent, rule silent-agent\n"
                              "370 -> n1 data+mgmt probe\n"
                              "370 -> n3 n4 data verdict-down\n");
    ck_assert_uint_eq(ftree_inspect_owes(l->ft, 1), 0);
    /* the same message */
    ck_assert_uint_eq(ftree_inspect_owes(l->ft, 3), ftree_inspect_owes(l->ft, 4));
    lone_run(l, 149); /* no longer than by gather alone */
    nobody_waits_at(l, 3);
    lone_run(l, 50);
    ck_assert_int_eq(l->reports, 1);
    victims_from(l, 4, 5, 5);
    expect_reported(l, 6, 1);
}

TEST_CASE(what_stands_and_what_is_over_are_told_in_one_message)
{
    struct lone *l = told_of_9(1);
    struct ftree_verdict v[2] = {crash(l, 0), outage(l, 9, 4)};
    const struct lone_sent *s;

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
    EXPECT_LINES(lone_log(l), "0 learns process-crash of n12\n"
                              "0 learns that node-outage of n9 is over\n"
                              "0 -> n3 n4 data verdict-down\n");
    ck_assert_int_eq(ftree_inspect_announcements(l->ft), 1);
    nobody_waits_at(l, 3);
    nobody_waits_at(l, 4);
    expect_ack(l, 71, WIRE_FLAG_NOBODY_WAITS);
}

TEST_CASE(over_while_victims_are_gathered_the_others_are_reported)
{
    struct lone *l = node_of(0, 8);
    struct ftree_verdict v = outage(l, 9, 4);

    crashes(l, 0, 1);
    nobody_waits(l);
    comes_up(l, 1, v);
    crashes(l, 1, 1);
    lone_run(l, 30);
    ck_assert_int_eq(ftree_inspect_announcements(l->ft), 1);
    v.withdrawn = l->now;
    lone_acks(l, 1);
    lone_acks(l, 2);
    lone_log(l);
    comes_up(l, 1, v);
    lone_run(l, 30);
    ck_assert_int_eq(ftree_inspect_announcements(l->ft), 1); /* that it is over has no victims */
    victims_from(l, 1, 3, 4);
    victims_from(l, 2, 5, 5);
    EXPECT_LINES(lone_log(l), "30 -> n1 data ack\n"
                              "30 learns that node-outage of n9 is over\n"
                              "30 node-outage of n9 is over before it was announced\n"
                              "60 -> n1 n2 data verdict-down\n"
                              "60 -> n1 n2 data ack\n"
                              "60 reports process-crash of n12: 3 victims\n");
    ck_assert_int_eq(l->reports, 2);
    ck_assert_int_eq(l->withdrawals, 1);
    ck_assert_int_eq(l->withdrawals_told, 0);
}

TEST_CASE(over_while_victims_are_gathered_below_they_are_named_all_the_same)
{
    struct lone *l = told_of_9(1);
    struct ftree_verdict v = outage(l, 9, 4);
    uint32_t first = ftree_inspect_owes(l->ft, 3);

    lone_log(l);
    v.withdrawn = l->now;
    told(l, 0, 71, &v, 1);
    EXPECT_LINES(lone_log(l), "0 learns that node-outage of n9 is over\n"
                              "0 -> n3 n4 data verdict-down\n"
                              "0 -> n0 data ack nobody-waits\n");
    lone_victims(l, 3, first, 7, 7);
    lone_nobody_waits(l, 4, first);
    ck_assert_uint_eq(victims_told(l)->message, 70);
    ck_assert_int_eq(ftree_inspect_announcements(l->ft), 0);
}

/* Two found the same and both are told: it is known once. */
TEST_CASE(the_same_twice_in_one_message_is_one)
{
    struct lone *l = node(1);
    struct ftree_verdict v[2] = {crash(l, 0), crash(l, 0)};

    v[1].fln = 5;
    told(l, 0, 70, v, 2);
    ck_assert_int_eq(ftree_inspect_verdicts(l->ft), 1);
    ck_assert_int_eq(l->verdicts, 1);
    ck_assert_int_eq(told_down(l), 2);
    nobody_waits(l);
    expect_ack(l, 70, WIRE_FLAG_NOBODY_WAITS);
}

TEST_CASE(each_has_the_name_of_its_rule)
{
    struct lone *l = node(1);
    struct ftree_verdict v[3] = {crash(l, 0), lone_verdict(l, CRASH, 11, 11, 5),
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

/* ---- who waits is said with the acknowledgment ----------------------------------------------- */

static const struct {
    int32_t self, from;
    bool waits;
    const char *log;
} acknowledged[] = {
    {7, 3, false, "0 -> n3 data ack nobody-waits\n"},
    {7, 3, true, "0 -> n3 data victims\n"},
    {3, 1, false, "0 -> n7 n8 data verdict-down\n"},
    {3, 1, true, "0 -> n7 n8 data verdict-down\n"},
    {4, 10, false, "0 -> n9 data verdict-down\n"}, /* by a child, the acting root: it knows */
};

TEST_CASES(a_leaf_where_nobody_waits_says_no_more, COUNT(acknowledged))
{
    struct lone *l = node(acknowledged[_i].self);
    struct ftree_verdict v = outage(l, 12, 5);
    char log[256];

    if (acknowledged[_i].waits)
        lone_waits(l, 0);
    told(l, acknowledged[_i].from, 70, &v, 1);
    snprintf(log, sizeof(log), "0 learns node-outage of n12\n%s", acknowledged[_i].log);
    EXPECT_LINES(lone_log(l), log);
    ck_assert_int_eq(ftree_inspect_announcements(l->ft), acknowledged[_i].self < 7);
}

/* The acknowledgment waits for those below, half as long as the sender's patience lasts. */
TEST_CASE(an_acknowledgment_is_kept_back_for_a_while)
{
    struct lone *l = told_of_9(3);

    nobody_waits_at(l, 7);
    lone_run(l, 74);
    ck_assert_int_eq(lone_count(l, WIRE_ACK), 0);
    lone_run(l, 1);
    expect_ack(l, 70, 0);
    /* late: that nobody waits is a message of its own */
    nobody_waits_at(l, 8);
    ck_assert_int_eq(victims_told(l)->ranks.count, 0);
    ck_assert_int_eq(lone_count(l, WIRE_ACK), 1);
}

TEST_CASE(those_below_answer_and_it_is_acknowledged)
{
    struct lone *l = told_of_9(3);

    nobody_waits_at(l, 7);
    nobody_waits_at(l, 8);
    ck_assert_int_eq(lone_count(l, WIRE_VICTIMS), 0);
    expect_ack(l, 70, WIRE_FLAG_NOBODY_WAITS);
}

/* On the way there the data path is dead, and an acknowledgment is sent but once. */
TEST_CASES(an_acknowledgment_takes_the_path_of_what_it_acknowledges, 2)
{
    struct lone *l = node(3);
    struct ftree_verdict v = outage(l, 9, 4);
    struct wire_summaries w;
    struct wire_message m = messages_told(l->now, &v, 1, &w);

    m.id = 70;
    lone_hear(l, 1, FTREE_PATH_MGMT, &m);
    if (_i == 0) {
        nobody_waits_at(l, 7);
        nobody_waits_at(l, 8);
    } else {
        lone_run(l, 75);
    }
    ck_assert_uint_eq(lone_last(l, WIRE_ACK)->m.u.ack, 70);
    ck_assert_int_eq(lone_last(l, WIRE_ACK)->to.path, FTREE_PATH_MGMT);
}

/* Who names its victims has the message; how long that took says nothing of the network. */
TEST_CASE(victims_acknowledge_what_asked_for_them)
{
    struct lone *l = told_of_9(3);

    ck_assert_int_eq(ftree_inspect_outbox(l->ft), 2);
    lone_run(l, 70);
    victims_from(l, 7, 7, 7);
    ck_assert_int_eq(ftree_inspect_outbox(l->ft), 1);
    ck_assert_int_eq(ftree_inspect_outbox_to(l->ft, 8), 1);
    ck_assert_uint_eq(ftree_inspect_round_trip(l->ft).mean, 0);
}

/* But the lost rank; of what was told before, of which it may be a component, this is a victim. */
TEST_CASES(a_leaf_names_all_but_the_lost_rank, 2)
{
    struct lone *l = node_of(7, 2);
    struct ftree_verdict stopped = lone_verdict(l, "process-stopped/state-t", 7, 14, 7);
    struct ftree_verdict second = outage(l, 9, 4);

    lone_waits(l, _i == 0);
    told(l, 3, 70, &stopped, 1);
    ck_assert_int_eq(lone_count(l, WIRE_VICTIMS), _i == 0);
    if (_i)
        told(l, 3, 71, &second, 1);
    ck_assert_int_eq(victims_told(l)->ranks.count, 1);
    ck_assert_int_eq(victims_told(l)->ranks.range[0].first, _i ? 14 : 15);
}

/* Of several the one that was found the fastest says for how long a victim must have waited. */
TEST_CASES(the_last_symptom_says_who_has_waited_long_enough, 2)
{
    struct lone *l = node(7);
    struct ftree_verdict v[2] = {crash(l, 0), lone_verdict(l, CRASH, 9, 9, 9)};

    v[1].first_symptom = l->now - 100 * FTREE_MS;
    lone_waits(l, 0);
    l->state[0].waiting = 60 * FTREE_MS;
    told(l, 3, 70, v, _i + 1);
    ck_assert_int_eq(lone_count(l, WIRE_VICTIMS), _i);
}

TEST_CASE(nobody_waits_for_what_is_over)
{
    struct lone *l = node(7);
    struct ftree_verdict v = outage(l, 9, 4);

    lone_waits(l, 0);
    v.withdrawn = l->now;
    told(l, 3, 70, &v, 1);
    EXPECT_LINES(lone_log(l), "0 -> n3 data ack nobody-waits\n");
}

TEST_CASE(what_has_not_come_down_is_not_told_to_who_is_back)
{
    struct lone *l = node(1);
    struct ftree_verdict v = crash(l, 0);

    comes_up(l, 3, v);
    LONE_STEP(l, ftree_announce_again(l->ft, l->now, 4));
    ck_assert_int_eq(told_down(l), 0);
    told(l, 0, 70, &v, 1);
    lone_log(l);
    LONE_STEP(l, ftree_announce_again(l->ft, l->now, 4));
    ck_assert_int_eq(told_down(l), 1);
}

TEST_CASE(a_message_that_comes_twice_is_answered_once)
{
    struct lone *l = told_of_9(3);
    struct ftree_verdict v = outage(l, 9, 4);

    told(l, 1, 70, &v, 1); /* still asking those below */
    nobody_waits_at(l, 7);
    nobody_waits_at(l, 8);
    told(l, 1, 70, &v, 1); /* on their way */
    lone_acks(l, 1);
    told(l, 1, 70, &v, 1); /* they are there: no others will come */
    EXPECT_LINES(lone_log(l), "0 learns node-outage of n9\n"
                              "0 -> n7 n8 data verdict-down\n"
                              "0 -> n1 data ack\n"
                              "0 -> n1 data victims\n"
                              "0 -> n1 data ack\n"
                              "0 -> n1 data ack nobody-waits\n");
}

TEST_CASE(a_leaf_answers_a_message_each_time_it_comes)
{
    struct lone *l = node(7);
    struct ftree_verdict v = outage(l, 9, 4);

    lone_waits(l, 0);
    told(l, 3, 70, &v, 1);
    told(l, 3, 70, &v, 1);
    EXPECT_LINES(lone_log(l), "0 learns node-outage of n9\n"
                              "0 -> n3 n3 data victims\n");
}

/* The first is still waited for by whoever told it first. */
TEST_CASE(told_by_another_parent_there_is_nothing_to_add)
{
    struct lone *l = told_of_9(3);
    struct ftree_verdict v = outage(l, 9, 4);

    lone_log(l);
    told(l, 0, 70, &v, 1); /* the number is the same by chance */
    victims_from(l, 7, 7, 7);
    nobody_waits_at(l, 8);
    ck_assert_int_eq(victims_told(l)->ranks.count, 1);
    EXPECT_LINES(lone_log(l), "0 -> n0 data ack nobody-waits\n"
                              "0 -> n1 data victims\n");
}

TEST_CASE(with_all_below_lost_or_mute_the_answer_is_there_at_once)
{
    struct lone *l = node(3);
    struct ftree_verdict v = outage(l, 9, 4);

    lone_knows(l, OUTAGE, 7, FTREE_NONE, 1);
    silent(l, 8, false);
    told(l, 1, 70, &v, 1);
    EXPECT_LINES(lone_log(l), "0 learns node-outage of n9\n"
                              "0 -> n8 data verdict-down\n"
                              "0 -> n1 data ack nobody-waits\n");
}

TEST_CASE(only_the_word_of_who_owes_it_counts)
{
    struct lone *l = node(0);
    uint32_t asked;

    lone_victims(l, 1, 1, 3, 4); /* of what was never told */
    comes_up(l, 1, outage(l, 9, 4));
    asked = ftree_inspect_owes(l->ft, 1);
    lone_acks(l, 1); /* it has been told; who waits there it will say */
    lone_nobody_waits(l, 2, asked + 1);
    lone_nobody_waits(l, 3, asked);
    lone_nobody_waits(l, 2, asked);
    lone_nobody_waits(l, 2, asked);
    expect_reported(l, 0, 0);
    ck_assert_uint_eq(ftree_inspect_owes(l->ft, 1), asked);
    lone_nobody_waits(l, 1, asked);
    expect_reported(l, 1, 0);
}

/* ---- who has all of it ----------------------------------------------------------------------- */

static struct ftree_verdict with_evidence(const struct lone *l)
{
    struct ftree_verdict v = outage(l, 9, 4);

    ftree_verdict_add_evidence(&v, &(struct ftree_evidence){.target = 9, .by = 4});
    return v;
}

TEST_CASE(on_the_way_it_is_kept_until_it_comes_down)
{
    struct lone *l = node(1);
    struct ftree_verdict v = with_evidence(l);

    comes_up(l, 4, v);
    ck_assert_int_eq(lone_verdict_at(l, 0).evidences, 1);
    ck_assert_int_eq(lone_last(l, WIRE_VERDICT_UP)->m.u.verdict.evidences, 1);
    comes_down(l, 0, v);
    ck_assert(!lone_known(l, 0).is_whole);
    ck_assert_int_eq(lone_verdict_at(l, 0).evidences, 0);
    ck_assert_str_eq(lone_verdict_at(l, 0).rule, OUTAGE);
}

TEST_CASE(who_decided_and_who_is_root_keep_it)
{
    struct lone *l = node(4);
    struct ftree_verdict v = with_evidence(l);

    finds(l, v);
    comes_down(l, 1, v);
    ck_assert_int_eq(lone_verdict_at(l, 0).evidences, 1);
    lone_free(l);
    l = node(0);
    comes_up(l, 1, v);
    victims_from(l, 1, 3, 4);
    victims_from(l, 2, 5, 5);
    ck_assert_int_eq(lone_verdict_at(l, 0).evidences, 1);
    ck_assert_int_eq(lone_verdict_at(l, 0).victims.count, 3);
    ck_assert_int_eq(l->report[0].evidences, 1);
    expect_reported(l, 1, 3);
}

TEST_CASE(the_root_is_lost_and_its_heir_is_told_all_of_it)
{
    struct lone *l = node(4);
    struct ftree_verdict v = with_evidence(l);
    struct ftree_verdict other = lone_verdict(l, "process-stopped/state-t", 12, 12, 5);
    struct ftree_verdict over = lone_verdict(l, "process-stopped/state-t", 3, 3, 4);

    finds(l, v);
    comes_down(l, 1, v);
    lone_knows(l, CRASH, 11, 11, 4); /* nothing but its summary */
    ftree_verdict_add_evidence(&other, &v.evidence[0]); /* another's */
    ck_assert_int_eq(ftree_restore(l->ft, l->now, &other), FTREE_OK);
    ftree_verdict_add_evidence(&over, &v.evidence[0]);
    over.withdrawn = l->now;
    ck_assert_int_eq(ftree_restore(l->ft, l->now, &over), FTREE_OK);
    lone_acks(l, 1);
    lone_log(l);
    comes_down(l, 1, lone_verdict(l, "nic-fault/interface-down", 0, FTREE_NONE, 10)); /* it acts */
    comes_down(l, 1, outage(l, 8, 3)); /* it is not the root */
    ck_assert_int_eq(told_up(l), 0);
    lone_log(l);
    comes_down(l, 1, outage(l, 0, 10));
    ck_assert_int_eq(lone_last(l, WIRE_VERDICT_UP)->m.u.verdict.node, 9);
    ck_assert_int_eq(lone_last(l, WIRE_VERDICT_UP)->m.u.verdict.evidences, 1);
    EXPECT_LINES(lone_log(l), "0 learns node-outage of n0\n"
                              "0 -> n10 data verdict-up\n"
                              "0 -> n10 data verdict-down\n");
}

TEST_CASES(the_heir_keeps_all_of_it_and_does_not_tell_people_once_more, 2)
{
    struct lone *l = heir();
    struct ftree_verdict v = with_evidence(l);

    comes_down(l, 4, v);
    ck_assert(!lone_known(l, 0).is_whole);
    if (_i) /* or it hears only then that it is the root */
        lone_knows(l, OUTAGE, 0, FTREE_NONE, 10);
    lone_log(l);
    comes_up(l, 4, v);
    EXPECT_LINES(lone_log(l), "0 -> n4 data ack\n"
                              "0 -> n4 data verdict-down\n"); /* it may not have heard */
    ck_assert_int_eq(lone_verdict_at(l, 0).evidences, 1);
    ck_assert_int_eq(l->reports, 0); /* people have been told by the root before */
}

/* A verdict on a process comes up late, its node is known as lost: that is not what is known of
 * it. */
TEST_CASE(what_another_verdict_explains_is_no_part_of_it)
{
    struct lone *l = node_of(10, 2);
    struct ftree_verdict v = with_evidence(l), late = lone_verdict(l, CRASH, 9, 18, 4);

    comes_down(l, 4, v);
    late.id = v.id + 1;
    comes_up(l, 4, late);
    ck_assert_int_eq(ftree_inspect_verdicts(l->ft), 1);
    ck_assert_str_eq(lone_verdict_at(l, 0).rule, v.rule);
    ck_assert_str_eq(lone_verdict_at(l, 0).because, "");
}

/* ---- what reaches its own people only -------------------------------------------------------- */

static struct lone *who_is_cut_off(int32_t self)
{
    struct lone *l = node(self);
    struct ftree_verdict v = lone_verdict(l, "unknown/no-node-answers", self, FTREE_NONE, self);

    v.local_only = true;
    finds(l, v);
    ck_assert_int_eq(l->reports, 1);
    ck_assert_int_eq(told_up(l) + told_down(l), 0);
    lone_log(l);
    return l;
}

/* The heir would tell it to all as if another had found it. */
TEST_CASE(what_is_for_its_own_people_is_not_told_to_the_heir)
{
    struct lone *l = who_is_cut_off(4);

    comes_down(l, 1, outage(l, 0, 10));
    ck_assert_int_eq(told_up(l), 0);
}

/* What reaches nobody else is told to nobody else, though another may find the same. */
TEST_CASE(what_is_for_its_own_people_is_not_told_again)
{
    struct lone *l = who_is_cut_off(0);

    comes_up(l, 1, lone_verdict(l, "unknown/no-node-answers", 0, FTREE_NONE, 1));
    EXPECT_LINES(lone_log(l), "0 -> n1 data+mgmt probe fresh\n"
                              "0 -> n1 data ack\n");
}

/* ---- who is root ----------------------------------------------------------------------------- */

TEST_CASE(the_heir_tells_the_roots_children_and_reports)
{
    struct lone *l = heir();

    ck_assert(!ftree_route_is_root(l->ft));
    finds_lost(l, 0);
    ck_assert(ftree_route_is_root(l->ft)); /* the first that is not lost */
    victims_from(l, 1, 1, 1);
    victims_from(l, 2, 2, 2);
    EXPECT_LINES(lone_log(l), "0 verdict node-outage of n0 by node-outage/both-paths-silent\n"
                              "0 -> n1 n2 data verdict-down\n"
                              "0 reports node-outage of n0: 2 victims\n");
}

TEST_CASE(the_root_is_back_and_is_told_what_the_heir_would_tell)
{
    struct lone *l = heir();
    struct ftree_verdict second = lone_verdict(l, CRASH, 5, 5, 10);
    struct wire_message m = {.type = WIRE_FLOOD_QUERY}, answer = {.type = WIRE_ANSWER};

    second.id = lone_verdict(l, CRASH, 3, 3, 10).id + 1;
    lone_knows(l, OUTAGE, 0, FTREE_NONE, 10);
    finds(l, lone_verdict(l, CRASH, 3, 3, 10));
    finds(l, second);
    ck_assert_int_eq(ftree_inspect_queued(l->ft), 1);
    lone_hear(l, 0, FTREE_PATH_DATA, &m);
    answer.u.answer.asked_peer = FTREE_NONE;
    answer.u.answer.nonce = lone_known(l, 0).question;
    lone_hear(l, 0, FTREE_PATH_DATA, &answer);
    ck_assert(!ftree_route_is_root(l->ft));
    lone_log(l);
    lone_run(l, 20);
    ck_assert_int_eq(told_down(l), 0);
    ck_assert_int_eq(lone_last(l, WIRE_VERDICT_UP)->m.u.verdict.node, 5);
}

TEST_CASE(with_the_root_silent_a_verdict_waits_until_it_is_decided_about)
{
    struct lone *l = node(1);

    silent(l, 0, false);
    finds_lost(l, 3);
    ck_assert_int_eq(lone_known(l, 0).up, FTREE_INSPECT_UP_PENDING);
    lone_run(l, 1000);
    ck_assert_int_eq(told_up(l), 0);
    lone_log(l);
    comes_down(l, 10, outage(l, 0, 10));
    lone_run(l, 0);
    EXPECT_LINES(lone_log(l), "1000 learns node-outage of n0\n"
                              "1000 -> n7 n8 n4 data verdict-down\n"
                              "1000 sends verdict to substitute n10\n"
                              "1000 -> n10 data verdict-up substitute\n");
}

TEST_CASE(a_verdict_that_does_not_come_down_is_told_again)
{
    struct lone *l = node(4);
    int32_t times = 0;

    finds_lost(l, 9);
    for (int i = 0; i < 60; i++) {
        times += told_up(l);
        lone_acks(l, 1);
        lone_log(l);
        lone_run(l, 1000);
    }
    ck_assert_int_eq(times, 8); /* every 2 s, and then no more */
    ck_assert(ftree_announce_deadline(l->ft) == FTREE_NEVER);
}

TEST_CASE(up_past_a_silent_parent)
{
    struct lone *l = node(4);

    finds_lost(l, 9);
    lone_run(l, 349);
    lone_log(l);
    lone_run(l, 1);
    EXPECT_LINES(lone_log(l), "350 verdict-up to n1 not acknowledged\n"
                              "350 symptom about n1 goes to n0\n"
                              "350 -> n0 data symptom\n"
                              "350 sends verdict to n0\n"
                              "350 -> n0 data verdict-up\n");
}

TEST_CASE(what_a_verdict_explains_need_not_be_told_any_more)
{
    struct lone *l = node_of(4, 2);

    finds(l, lone_verdict(l, CRASH, 9, 18, 4));
    ck_assert_int_eq(lone_known(l, 0).up, FTREE_INSPECT_UP_SENT);
    comes_down(l, 1, outage(l, 9, 1));
    ck_assert_int_eq(lone_known(l, 0).up, FTREE_INSPECT_UP_NOTHING);
}

/* The node is not lost, and its interface is down. */
TEST_CASE(what_a_verdict_that_is_over_explained_is_told)
{
    struct lone *l = node(4);
    struct ftree_verdict nic = lone_verdict(l, "nic-fault/interface-down", 9, FTREE_NONE, 4);
    struct ftree_verdict v = outage(l, 9, 1);

    finds(l, nic);
    lone_acks(l, 1);
    comes_down(l, 1, v);
    lone_run(l, 100);
    ck_assert_int_eq(lone_known(l, 0).up, FTREE_INSPECT_UP_NOTHING);
    v.withdrawn = l->now;
    lone_log(l);
    comes_down(l, 1, v);
    lone_run(l, 1);
    ck_assert_int_eq(told_up(l), 1);
    ck_assert_int_eq(lone_last(l, WIRE_VERDICT_UP)->m.u.verdict.class_, FTREE_CLASS_NIC_FAULT);
    comes_down(l, 1, nic);
    ck_assert_int_eq(lone_known(l, 0).up, FTREE_INSPECT_UP_NOTHING);
}

TEST_CASE(a_verdict_ends_the_suspicion)
{
    struct lone *l = node(1);

    lone_stall(l, 1, 4);
    lone_run(l, 500);
    LONE_STEP(l, ftree_intake_silent(l->ft, l->now, 3));
    ck_assert_int_eq(ftree_inspect_suspects(l->ft), 2);
    comes_down(l, 0, outage(l, 3, 0));
    ck_assert_int_eq(ftree_inspect_suspects(l->ft), 1);
    ck_assert(ftree_inspect_is_suspect(l->ft, 4));
}

/* ---- without memory -------------------------------------------------------------------------- */

/* Whichever allocation fails: what is known is told and reported. */
TEST_CASE(without_memory_a_verdict_is_left_out)
{
    int left_out = 0;
    bool failed = true;

    for (int nth = 1; failed; nth++) {
        struct lone *l = node(0);
        l->fail_alloc_in = nth;
        comes_up(l, 1, outage(l, 9, 4));
        lone_acks(l, 1);
        lone_acks(l, 2);
        lone_run(l, 1210);
        failed = l->fail_alloc_in == 0;
        ck_assert_int_eq(l->reports, l->verdicts);
        left_out += l->reports == 0;
        if (l->reports > 0)
            ck_assert_str_eq(l->report[0].rule, OUTAGE);
        lone_free(l);
    }
    ck_assert_int_eq(left_out, 4); /* places: of all, by node, of what is announced, of a batch */
}

/* One verdict is told, and then a batch of four. */
TEST_CASE(without_memory_those_that_are_known_are_reported)
{
    bool failed = true;

    for (int nth = 1; failed; nth++) {
        struct lone *l = node_of(0, 8);
        lone_waits(l, 0);
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

/* What those above are told is true, or nothing. */
TEST_CASE(without_memory_nobody_is_left_out_below)
{
    bool failed = true;

    for (int nth = 1; failed; nth++) {
        struct lone *l = node_of(1, 8);
        struct ftree_verdict v[4];
        const struct lone_sent *ack, *victims;
        for (int32_t i = 0; i < COUNT(v); i++)
            v[i] = crash(l, i);
        lone_waits(l, 0);
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
