/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "switches.h"

/* The head of one switch suspects nodes behind another. */

#define MEMBERS 12
#define FEW 4

static int32_t member(const struct lone *l, int32_t i)
{
    char name[16];

    snprintf(name, sizeof(name), "0.%d", (int) i);
    return switches_node(l->job.tree, name, NULL);
}

/* It suspects the members 1 to n. */
static struct lone *crowd(int32_t n)
{
    struct lone *l = switches_new("switch:2 node:12", "1.0");
    struct ftree_symptom s;

    for (int32_t i = 1; i <= n; i++) {
        ftree_symptom_init(&s, FTREE_SYMPTOM_PEER_STALL, member(l, i), FTREE_NONE, l->self, 0,
                           l->now);
        LONE_STEP(l, ftree_correlate(l->ft, l->now, &s, 0));
    }
    ck_assert_int_eq(ftree_inspect_suspects(l->ft), n);
    return l;
}

static int32_t waiting(const struct lone *l)
{
    int32_t n = 0;

    for (int32_t node = 0; node < l->job.nodes; node++) {
        struct ftree_inspect_suspect su;
        n += ftree_inspect_suspect(l->ft, node, &su) && su.waits;
    }
    return n;
}

/* How many of the members 1 to n were asked since the log was last called for. */
static int32_t asked(const struct lone *l, int32_t n)
{
    int32_t found = 0;

    for (int32_t i = 1; i <= n; i++) {
        bool any = false;
        for (int32_t j = 0; j < l->n_sent; j++)
            any |= l->sent[j].m.type == WIRE_PROBE && l->sent[j].to.node == member(l, i) &&
                   l->sent[j].m.u.probe.nonce;
        found += any;
    }
    return found;
}

static void connects(struct lone *l, int32_t node)
{
    lone_reach(l, node, FTREE_PATH_DATA, FTREE_ROLE_AGENT, FTREE_REACH_CONNECTED, 0);
    lone_reach(l, node, FTREE_PATH_MGMT, FTREE_ROLE_AGENT, FTREE_REACH_CONNECTED, 0);
}

TEST_CASE(each_is_asked_once_and_a_few_to_the_end)
{
    struct lone *l = crowd(8);

    ck_assert_int_eq(asked(l, 8), 8);
    lone_run(l, 149);
    lone_log(l);
    lone_run(l, 700);
    ck_assert_int_eq(asked(l, 8), FEW);
    ck_assert_int_eq(waiting(l), 8 - FEW);
}

TEST_CASE(as_many_as_the_few_do_not_wait)
{
    struct lone *l = crowd(FEW);

    lone_run(l, 160);
    ck_assert_int_eq(waiting(l), 0);
}

TEST_CASE(without_switches_nobody_waits)
{
    struct lone *l = lone_of(shape_star(20, 1), 0);

    for (int32_t i = 1; i <= 8; i++)
        LONE_STEP(l, ftree_intake_silent(l->ft, l->now, i));
    lone_run(l, 160);
    ck_assert_int_eq(ftree_inspect_suspects(l->ft), 8);
    ck_assert_int_eq(waiting(l), 0);
}

TEST_CASE(who_answers_is_well_and_nobody_waits_for_it)
{
    struct lone *l = crowd(8);

    lone_run(l, 10);
    for (int32_t i = 1; i <= 4; i++)
        lone_answer(l, member(l, i), FTREE_PATH_DATA, FTREE_ROLE_AGENT);
    ck_assert_int_eq(ftree_inspect_suspects(l->ft), 4);
    lone_run(l, 160);
    ck_assert_int_eq(waiting(l), 0);
}

TEST_CASE(who_waits_is_well_when_it_answers)
{
    struct lone *l = crowd(5);
    struct wire_message m = {.type = WIRE_ANSWER};
    ftree_time rto = ftree_inspect_round_trip(l->ft).timeout;

    lone_run(l, 600);
    ck_assert(lone_suspect(l, member(l, 5)).waits);
    m.u.answer.nonce = ftree_inspect_question(l->ft, member(l, 5));
    m.u.answer.asked_peer = FTREE_NONE;
    lone_hear(l, member(l, 5), FTREE_PATH_DATA, &m);
    ck_assert(!ftree_inspect_is_suspect(l->ft, member(l, 5)));
    /* that says nothing of how long an answer takes */
    ck_assert_uint_eq(ftree_inspect_round_trip(l->ft).timeout, rto);
}

TEST_CASE(if_it_is_the_switch_nobody_is_examined)
{
    struct lone *l = crowd(8);
    struct ftree_verdict v;

    lone_run(l, 600);
    v = lone_verdict(l, "switch-fault/all-behind-silent", member(l, 0), FTREE_NONE, 1);
    v.kind = FTREE_KIND_SWITCH;
    v.switch_ = l->job.tree->node_switch[member(l, 0)];
    lone_told(l, switches_node(l->job.tree, "1.1", NULL), WIRE_VERDICT_UP, &v);
    ck_assert_int_eq(ftree_inspect_suspects(l->ft), 0);
    lone_log(l);
    lone_run(l, 2000);
    ck_assert_int_eq(asked(l, 8), 0);
}

/* Members 9 to 11 and the other switch are heard: it is not the switch. */
TEST_CASE(if_it_is_not_all_others_are_examined)
{
    struct lone *l = crowd(8);

    for (int32_t i = 9; i < MEMBERS; i++)
        connects(l, member(l, i));
    connects(l, switches_node(l->job.tree, "1.1", NULL));
    lone_run(l, 599);
    ck_assert_int_eq(l->verdicts, 0);
    lone_run(l, 290);
    lone_log(l);
    lone_run(l, 110); /* the others look when the whole window is over */
    ck_assert_int_eq(l->verdicts, FEW);
    ck_assert_int_eq(waiting(l), 0);
    ck_assert_int_eq(asked(l, 8), 8 - FEW);
    lone_run(l, 400);
    ck_assert_int_eq(l->verdicts, 8);
    for (int32_t i = 0; i < 8; i++)
        ck_assert_str_eq(l->verdict[i].rule, "node-outage/both-paths-silent");
}
