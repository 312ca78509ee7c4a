/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "lone.h"
#include "suite.h"

#include <string.h>

/*
 * Connections of own ranks on which nothing is acknowledged.  This node is 1 of 4, with ranks 2 and
 * 3; node 0 is the root.  A stall that began a second ago is told at 0, 1, 3 and 7 s.
 */

#define STUCK "unknown/connection-stuck"
#define SILENT "unknown/connection-silent"

static struct lone *stalling_in(struct lone *l)
{
    l->state[0].phase = l->state[1].phase = FTREE_PHASE_WAITING;
    l->state[0].peer = l->state[1].peer = 5;
    lone_stall(l, 2, 5);
    lone_acks(l, 0);
    return l;
}

static struct lone *stalling(void)
{
    return stalling_in(lone_of(shape_star(4, 2), 1));
}

static void add(struct lone *l, int32_t node, uint32_t bytes)
{
    l->connection[l->connections++] = (struct ftree_connection){
        .rank = 2, .node = node, .bytes = bytes, .tries = 4, .packet = 1500, .since = l->now, .sent = l->now};
}

/* Whether the node was asked since the log was last called for. */
static bool is_asked(const struct lone *l, int32_t node)
{
    for (int32_t i = 0; i < l->n_sent; i++)
        if (l->sent[i].m.type == WIRE_PROBE && l->sent[i].to.node == node)
            return true;
    return false;
}

/* So many seconds pass, in which what is stuck is sent again, or not. */
static void pass(struct lone *l, int seconds, bool again)
{
    for (int i = 0; i < seconds; i++) {
        lone_run(l, 1000);
        lone_acks(l, 0);
        for (int32_t k = 0; again && k < l->connections; k++)
            l->connection[k].sent = l->now;
    }
}

/* The agent of the node answers what it was asked because of that. */
static void answer(struct lone *l, int32_t node)
{
    lone_answer(l, node, FTREE_PATH_DATA, FTREE_ROLE_AGENT);
    lone_log(l);
}

TEST_CASE(who_waits_for_less_than_three_seconds_asks_nobody)
{
    struct lone *l = stalling();

    add(l, 2, 400);
    pass(l, 2, true);
    ck_assert_int_eq(l->connections_asked, 0);
    ck_assert_int_eq(lone_count(l, WIRE_PROBE), 0);
    pass(l, 1, true);
    ck_assert_int_gt(l->connections_asked, 0);
    ck_assert_int_eq(lone_last(l, WIRE_PROBE)->to.node, 2);
    ck_assert(lone_last(l, WIRE_PROBE)->to.fresh);
    ck_assert_int_eq(lone_last(l, WIRE_PROBE)->to.path, FTREE_PATH_DATA);
}

TEST_CASE(where_nothing_is_stuck_it_is_asked_as_often_as_a_stall_is_told)
{
    struct lone *l = stalling();

    pass(l, 20, true);
    ck_assert_int_eq(l->connections_asked, 3); /* at 3, 7 and 15 s */
    ck_assert_int_eq(lone_count(l, WIRE_PROBE), 0);
}

TEST_CASE(what_is_sent_after_an_answer_and_not_acknowledged_is_lost)
{
    struct lone *l = stalling();
    const struct ftree_verdict *v = l->verdict;

    add(l, 2, 400);
    pass(l, 4, true);
    answer(l, 2);
    ck_assert_int_eq(l->verdicts, 0);
    pass(l, 4, true);
    ck_assert_int_eq(l->verdicts, 1);
    ck_assert_str_eq(v->rule, STUCK);
    ck_assert_int_eq(v->class_, FTREE_CLASS_UNKNOWN);
    ck_assert_int_eq(v->node, 2);
    ck_assert_int_eq(v->rank, FTREE_NONE);
    ck_assert_int_eq(v->evidences, 3);
    ck_assert_str_eq(v->evidence[0].detail,
                     "rank 2 on n1 to rank 5 on n2: 400 bytes not acknowledged for 6.0 s, sent 5 times");
    ck_assert_str_eq(v->evidence[1].detail, "the agent of n2 answers that of n1 on the same network");
    ck_assert_str_eq(v->evidence[2].detail, "look for a firewall between n1 and n2");
}

TEST_CASE(large_packets_have_a_hint_of_their_own)
{
    struct lone *l = stalling();

    add(l, 2, 65570);
    pass(l, 4, true);
    answer(l, 2);
    pass(l, 4, true);
    ck_assert_str_eq(l->verdict[0].evidence[2].detail,
                     "look for a switch port whose MTU is too small for packets of 1500 bytes, and for a "
                     "firewall");
}

/* TCP tries again after up to two minutes: the network may work again long before. */
TEST_CASE(nobody_is_accused_for_what_was_sent_before_the_answer)
{
    struct lone *l = stalling();
    int32_t asked;

    add(l, 2, 400);
    pass(l, 4, true);
    answer(l, 2);
    pass(l, 60, false);
    ck_assert_int_eq(l->verdicts, 0);
    l->connections = 0; /* and now it came through */
    pass(l, 10, false);
    asked = l->connections_asked;
    pass(l, 30, false);
    ck_assert_int_eq(l->connections_asked, asked + 3); /* as the stall is told */
    ck_assert_int_eq(l->verdicts, 0);
}

TEST_CASES(it_is_silent_where_a_third_node_answers, 2)
{
    struct lone *l = stalling();

    add(l, 2, 400);
    for (int i = 0; i < 20 && !l->verdicts; i++) {
        pass(l, 1, true);
        for (int32_t node = 0; node < 4 && _i == 0; node += 3)
            if (is_asked(l, node))
                lone_answer(l, node, FTREE_PATH_DATA, FTREE_ROLE_AGENT);
        lone_log(l);
    }
    if (_i) { /* nobody is heard on the network */
        ck_assert_int_eq(l->verdicts, 0);
        return;
    }
    ck_assert_int_eq(l->verdicts, 1);
    ck_assert_str_eq(l->verdict[0].rule, SILENT);
    ck_assert_str_eq(l->verdict[0].evidence[1].detail,
                     "the agent of n1 is not answered by that of n2 either");
}

TEST_CASES(a_verdict_that_is_known_explains_it, 3)
{
    static const char *const sign[] = {"node-outage/both-paths-silent", "unknown/data-path-silent",
                                       "user-code-hang/blocked"};
    struct lone *l = stalling();
    lone_knows(l, sign[_i], 2, _i == 2 ? 4 : FTREE_NONE, 0);
    add(l, 2, 400);
    pass(l, 4, true);
    answer(l, 2);
    pass(l, 16, true);
    ck_assert_int_eq(l->verdicts, _i == 2); /* not that one of its ranks hangs */
}

/* The others' switch, or the own one. */
TEST_CASES(a_switch_that_is_known_to_be_bad_explains_it, 2)
{
    struct lone *l = lone_of(shape_star(4, 2), 1);
    struct ftree_verdict v;

    lone_use_tree(l, shape_read("switch:2 node:2"));
    stalling_in(l);
    v = lone_verdict(l, "switch-fault/data-behind-silent", 2 * !_i, FTREE_NONE, 1);
    v.kind = FTREE_KIND_SWITCH;
    v.switch_ = l->job.tree->node_switch[v.node];
    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_OK);
    add(l, 2, 400);
    for (int i = 0; i < 20; i++) {
        pass(l, 1, true);
        if (is_asked(l, 0))
            answer(l, 0);
    }
    ck_assert_int_eq(l->verdicts, 0);
}

TEST_CASE(where_several_others_are_not_reached_this_node_is_named)
{
    struct lone *l = stalling();

    add(l, 2, 400);
    add(l, 3, 400);
    pass(l, 4, true);
    lone_answer(l, 2, FTREE_PATH_DATA, FTREE_ROLE_AGENT);
    answer(l, 3);
    pass(l, 4, true);
    ck_assert_int_eq(l->verdicts, 1);
    ck_assert_int_eq(l->verdict[0].node, 1);
    ck_assert_int_eq(l->verdict[0].evidences, 4);
}

TEST_CASES(it_is_over_when_it_is_acknowledged, 2)
{
    struct lone *l = stalling();

    add(l, 2, 400);
    pass(l, 4, true);
    answer(l, 2);
    pass(l, 4, true);
    ck_assert_int_eq(l->verdicts, 1);
    pass(l, 20, true);
    ck_assert_int_eq(l->withdrawals, 0);
    l->connections = 0;
    for (int i = 0; i < 2 && _i; i++)
        l->state[i].phase = FTREE_PHASE_LEFT; /* with its connections */
    pass(l, 2, true);
    ck_assert_int_eq(l->withdrawals, !_i);
}

/* The one that waits may be on another node: what it waits for is stuck here. */
TEST_CASE(another_node_asks_for_one_of_its_own)
{
    struct lone *l = lone_of(shape_star(4, 2), 1);
    struct wire_message m = {.type = WIRE_PROBE, .u.probe = {.nonce = 9, .rank = 2}};

    add(l, 2, 400);
    lone_run(l, 4000);
    m.u.probe.first = l->now - 4000 * FTREE_MS;
    lone_hear(l, 0, FTREE_PATH_DATA, &m);
    ck_assert_int_eq(l->connections_asked, 1);
    m.u.probe.nonce = 0; /* as a witness */
    lone_run(l, 10);
    lone_hear(l, 0, FTREE_PATH_DATA, &m);
    ck_assert_int_eq(l->connections_asked, 1);
    pass(l, 4, true);
    ck_assert_int_eq(l->connections_asked, 5); /* from here on by itself */
}
