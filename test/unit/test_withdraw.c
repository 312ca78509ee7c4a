/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "lone.h"
#include "suite.h"
#include "world.h"

#define SECOND (1000 * FTREE_MS)
#define MINUTE (60 * SECOND)

/* The tree of the tests on one handle:  0 - 1 2,  1 - 3 4,  2 - 5 6,  3 - 7 8,  4 - 9 10, ... */
#define NODES 13

/* ---- asking ---------------------------------------------------------------------------------- */

static void decide(struct lone *l, const char *sign, int32_t node, int32_t rank)
{
    struct ftree_verdict v = lone_verdict(l, sign, node, rank, l->ft->self);

    ftree_spread_raise(l->ft, l->now, &v);
    ck_assert_ptr_null(ftree_check(l->ft));
}

static int32_t asked(const struct lone *l, int32_t node)
{
    int32_t n = 0;

    for (int32_t i = 0; i < l->n_sent; i++)
        n += l->sent[i].m.type == WIRE_PROBE && l->sent[i].to.node == node &&
             l->sent[i].to.path == FTREE_PATH_DATA;
    return n;
}

/* The node that was asked whether it is still lost answers. */
static void answers(struct lone *l, int32_t node)
{
    struct wire_message m = {.type = WIRE_ANSWER, .u.answer.asked_peer = FTREE_NONE};

    for (int32_t i = 0; i < l->ft->known.n; i++)
        if (l->ft->known.items[i].v.node == node && l->ft->known.items[i].check)
            m.u.answer.nonce = l->ft->known.items[i].check;
    ck_assert_uint_ne(m.u.answer.nonce, 0);
    lone_hear(l, node, FTREE_PATH_MGMT, &m);
}

START_TEST(a_lost_node_is_asked_at_doubling_intervals)
{
    struct lone *l = lone_new(4, 1, 32, 0);
    int64_t at[16];
    int32_t n = 0;

    decide(l, "node-outage/both-paths-silent", 2, FTREE_NONE);
    for (int i = 0; i < 3000 && n < 10; i++) {
        lone_log(l);
        lone_run(l, 100);
        for (int32_t s = 0; s < l->n_sent; s++)
            if (l->sent[s].m.type == WIRE_PROBE && l->sent[s].to.node == 2 &&
                l->sent[s].to.path == FTREE_PATH_DATA) {
                ck_assert(l->sent[s].to.fresh);
                at[n++] = (int64_t) (l->sent[s].at / FTREE_MS) - 1000;
            }
    }
    ck_assert_int_eq(n, 10);
    ck_assert_int_eq(at[0], 200); /* before people are told */
    ck_assert_int_eq(at[1], 1200);
    ck_assert_int_eq(at[2], 3200);
    ck_assert_int_eq(at[3], 7200);
    ck_assert_int_eq(at[7], 127200);
    ck_assert_int_eq(at[8], 191200); /* 64 s from here on */
    ck_assert_int_eq(at[9], 255200);
    lone_free(l);
}
END_TEST

/* Who asks about a verdict it is told of by its parent (or, the root, by its child)? */
static const struct {
    int32_t self, fln;
    const char *sign;
    bool asks;
} askers[] = {
    {4, 4, "node-outage/both-paths-silent", true}, /* who decided */
    {0, 4, "node-outage/both-paths-silent", true}, /* the acting root */
    {1, 4, "node-outage/both-paths-silent", false},
    {3, 4, "node-outage/both-paths-silent", false},
    {0, 4, "process-stopped/connects-never-answers", true},
    {0, 4, "node-frozen/agent-and-deputy-mute", true},
    {0, 4, "process-crash/port-refused", false}, /* a crash is for ever */
    {0, 4, "unknown/data-path-silent", false}, /* it does answer */
};

/* rows: who_asks COUNT(askers) */
START_TEST(who_asks)
{
    struct lone *l = lone_new(NODES, 1, 2, askers[_i].self);
    bool is_rank = strncmp(askers[_i].sign, "process", 7) == 0;
    struct ftree_verdict v =
        lone_verdict(l, askers[_i].sign, 9, is_rank ? 9 : FTREE_NONE, askers[_i].fln);

    if (askers[_i].fln == askers[_i].self)
        ftree_spread_raise(l->ft, l->now, &v);
    else if (askers[_i].self == 0)
        lone_told(l, 1, WIRE_VERDICT_UP, &v);
    else
        lone_told(l, ftree_topo_parent(&l->ft->topo, askers[_i].self), WIRE_VERDICT_DOWN, &v);
    ck_assert_int_eq(l->ft->known.items[0].recheck != FTREE_NEVER, askers[_i].asks);
    lone_run(l, 250);
    ck_assert_int_eq(asked(l, 9), askers[_i].asks);
    lone_free(l);
}
END_TEST

START_TEST(over_the_paths_that_there_are)
{
    for (int path = 0; path < FTREE_PATHS; path++) {
        struct lone *l = lone_new(4, 1, 32, 0);
        l->job.has_path[path] = false;
        decide(l, "node-outage/both-paths-silent", 2, FTREE_NONE);
        lone_run(l, 250);
        ck_assert_int_eq(lone_count(l, WIRE_PROBE), 1);
        ck_assert_int_eq(lone_last(l, WIRE_PROBE)->to.path, 1 - path);
        lone_free(l);
    }
}
END_TEST

START_TEST(whoever_hears_of_it_asks_at_once)
{
    struct lone *l = lone_new(NODES, 1, 2, 3);
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 9, FTREE_NONE, 4);
    struct wire_message m = {.type = WIRE_GOODBYE};

    lone_told(l, 1, WIRE_VERDICT_DOWN, &v);
    lone_run(l, 5000);
    ck_assert_int_eq(asked(l, 9), 0);
    m = (struct wire_message){.type = WIRE_SWEEP};
    lone_hear(l, 9, FTREE_PATH_DATA, &m);
    ck_assert_int_eq(asked(l, 9), 1);
    m.id = 0;
    lone_hear(l, 9, FTREE_PATH_DATA, &m); /* not for each message */
    ck_assert_int_eq(asked(l, 9), 1);
    ck_assert(ftree_has_failed(l->ft, 9)); /* a message may have been long on its way */
    lone_run(l, 120 * 1000);
    lone_log(l);
    m.id = 0;
    lone_hear(l, 9, FTREE_PATH_DATA, &m); /* at once again, though the next time is far off */
    ck_assert_int_eq(asked(l, 9), 1);
    answers(l, 9);
    ck_assert(!ftree_has_failed(l->ft, 9));
    lone_free(l);
}
END_TEST

START_TEST(only_the_answer_to_that_question_counts)
{
    struct lone *l = lone_new(4, 2, 32, 0);
    struct wire_message m = {.type = WIRE_ANSWER, .u.answer.asked_peer = FTREE_NONE};

    decide(l, "node-outage/both-paths-silent", 2, FTREE_NONE);
    lone_run(l, 250);
    lone_hear(l, 2, FTREE_PATH_DATA, &m); /* to a witness's question */
    m.id = 0;
    m.u.answer.nonce = l->ft->known.items[0].check + 1;
    lone_hear(l, 2, FTREE_PATH_DATA, &m); /* to one of long ago */
    m.id = 0;
    m.u.answer.nonce--;
    m.u.answer.role = FTREE_ROLE_DEPUTY;
    lone_hear(l, 2, FTREE_PATH_DATA, &m); /* the deputy's */
    m.id = 0;
    m.u.answer.role = FTREE_ROLE_AGENT;
    lone_hear(l, 3, FTREE_PATH_DATA, &m); /* another node's */
    ck_assert(ftree_has_failed(l->ft, 2));
    ck_assert_int_eq(l->withdrawals, 0);
    m.id = 0;
    lone_hear(l, 2, FTREE_PATH_DATA, &m);
    ck_assert(!ftree_has_failed(l->ft, 2));
    ck_assert_int_eq(l->withdrawals, 1);
    m.id = 0;
    lone_hear(l, 2, FTREE_PATH_DATA, &m); /* twice */
    ck_assert_int_eq(l->withdrawals, 1);
    lone_free(l);
}
END_TEST

/* ---- telling --------------------------------------------------------------------------------- */

START_TEST(the_root_tells_who_was_told)
{
    struct lone *l = lone_new(4, 1, 32, 0);

    decide(l, "node-outage/both-paths-silent", 2, FTREE_NONE);
    for (int32_t n = 1; n < 4; n++)
        lone_acks(l, n);
    lone_run(l, 1000);
    ck_assert_int_eq(l->reports, 1);
    lone_log(l);
    answers(l, 2);
    for (int32_t n = 1; n < 4; n++)
        lone_acks(l, n);
    ck_assert_str_eq(lone_log(l), "1000 withdraws node-outage of n2: its agent answers again\n"
                                  "1000 -> n1 data verdict-down\n"
                                  "1000 -> n2 data verdict-down\n"
                                  "1000 -> n3 data verdict-down\n");
    ck_assert_int_eq(l->withdrawals, 1);
    ck_assert_int_eq(l->withdrawals_told, 1);
    ck_assert_uint_eq(ftree_verdict_at(l->ft, 0)->withdrawn, l->now);
    lone_run(l, 60000);
    ck_assert_str_eq(lone_log(l), "");
    ck_assert(ftree_deadline(l->ft) == FTREE_NEVER);
    lone_free(l);
}
END_TEST

START_TEST(over_before_it_was_told_nobody_is_told)
{
    struct lone *l = lone_new(4, 1, 32, 0);

    decide(l, "node-outage/both-paths-silent", 2, FTREE_NONE);
    for (int32_t n = 1; n < 4; n++)
        lone_acks(l, n);
    lone_run(l, 210);
    lone_log(l);
    answers(l, 2);
    for (int32_t n = 1; n < 4; n++)
        lone_acks(l, n);
    ck_assert_str_eq(lone_log(l), "210 withdraws node-outage of n2: its agent answers again\n"
                                  "210 node-outage of n2 is over before it was told\n"
                                  "210 -> n1 data verdict-down\n"
                                  "210 -> n2 data verdict-down\n"
                                  "210 -> n3 data verdict-down\n");
    lone_run(l, 5000);
    ck_assert_int_eq(l->reports + l->withdrawals_told, 0);
    lone_free(l);
}
END_TEST

START_TEST(who_decided_tells_the_root)
{
    struct lone *l = lone_new(NODES, 1, 2, 4);

    decide(l, "node-outage/both-paths-silent", 9, FTREE_NONE);
    lone_acks(l, 1);
    lone_run(l, 210);
    lone_log(l);
    answers(l, 9);
    ck_assert_str_eq(lone_log(l), "210 withdraws node-outage of n9: its agent answers again\n"
                                  "210 tells n1\n"
                                  "210 -> n1 data verdict-up\n");
    ck_assert_int_eq(l->ft->known.items[0].up, UP_SENT);
    lone_acks(l, 1);
    lone_told(l, 1, WIRE_VERDICT_DOWN, ftree_verdict_at(l->ft, 0)); /* it comes down */
    ck_assert_int_eq(l->ft->known.items[0].up, UP_NOTHING);
    lone_free(l);
}
END_TEST

static struct ftree_verdict over(const struct lone *l, int32_t node, int32_t fln)
{
    struct ftree_verdict v =
        lone_verdict(l, "node-outage/both-paths-silent", node, FTREE_NONE, fln);

    v.withdrawn = l->now;
    return v;
}

START_TEST(on_its_way_up_and_down_it_is_passed_on_once)
{
    struct lone *l = lone_new(NODES, 1, 2, 1);
    struct ftree_verdict v = over(l, 9, 4);

    v.withdrawn = 0;
    lone_told(l, 0, WIRE_VERDICT_DOWN, &v);
    lone_acks(l, 3);
    lone_acks(l, 4);
    lone_log(l);
    v = over(l, 9, 4);
    lone_told(l, 4, WIRE_VERDICT_UP, &v);
    lone_told(l, 4, WIRE_VERDICT_UP, &v); /* who still tells it has not heard it */
    ck_assert_str_eq(lone_log(l), "0 -> n4 data ack\n"
                                  "0 learns that node-outage of n9 is over\n"
                                  "0 tells n0\n"
                                  "0 -> n0 data verdict-up\n"
                                  "0 -> n4 data ack\n"
                                  "0 -> n4 data verdict-down\n");
    lone_told(l, 0, WIRE_VERDICT_DOWN, &v);
    lone_told(l, 0, WIRE_VERDICT_DOWN, &v);
    ck_assert_str_eq(lone_log(l), "0 -> n0 data ack\n"
                                  "0 -> n3 data verdict-down\n"
                                  "0 -> n4 data verdict-down\n"
                                  "0 -> n0 data ack\n");
    ck_assert_int_eq(l->withdrawals, 1);
    lone_free(l);
}
END_TEST

START_TEST(down_it_goes_to_the_children)
{
    struct lone *l = lone_new(NODES, 1, 2, 1);
    struct ftree_verdict v = over(l, 9, 4);

    v.withdrawn = 0;
    lone_told(l, 0, WIRE_VERDICT_DOWN, &v);
    lone_acks(l, 3);
    lone_acks(l, 4);
    lone_log(l);
    v = over(l, 9, 4);
    lone_told(l, 0, WIRE_VERDICT_DOWN, &v);
    lone_told(l, 0, WIRE_VERDICT_DOWN, &v);
    ck_assert_str_eq(lone_log(l), "0 -> n0 data ack\n"
                                  "0 learns that node-outage of n9 is over\n"
                                  "0 -> n3 data verdict-down\n"
                                  "0 -> n4 data verdict-down\n"
                                  "0 -> n0 data ack\n");
    ck_assert_int_eq(l->withdrawals, 1);
    lone_free(l);
}
END_TEST

/* rows: it_may_overtake_its_verdict 2 */
START_TEST(it_may_overtake_its_verdict)
{
    struct lone *l = lone_new(NODES, 1, 2, _i);
    enum wire_type type = _i ? WIRE_VERDICT_DOWN : WIRE_VERDICT_UP;
    struct ftree_verdict v = over(l, 9, 4);

    lone_told(l, 1 - _i, type, &v);
    ck_assert(!ftree_has_failed(l->ft, 9));
    v.withdrawn = 0;
    lone_told(l, 1 - _i, type, &v); /* it comes, too late */
    ck_assert(!ftree_has_failed(l->ft, 9));
    for (int32_t n = 0; n < NODES; n++)
        if (n != _i)
            lone_acks(l, n);
    lone_run(l, 5000);
    ck_assert_int_eq(l->verdicts + l->withdrawals, 0);
    ck_assert_int_eq(l->reports + l->withdrawals_told, 0);
    lone_free(l);
}
END_TEST

START_TEST(found_by_two_it_is_over_for_both)
{
    struct lone *l = lone_new(NODES, 1, 2, 0);
    struct ftree_verdict v = over(l, 9, 4), other = over(l, 9, 1);

    v.withdrawn = 0;
    lone_told(l, 1, WIRE_VERDICT_UP, &v);
    lone_told(l, 1, WIRE_VERDICT_UP, &other); /* the same, found by another */
    ck_assert(!ftree_has_failed(l->ft, 9));
    ck_assert_int_eq(l->withdrawals, 1);
    lone_free(l);
}
END_TEST

/* As a verdict does, its withdrawal passes a child that does not answer. */
START_TEST(a_silent_child_is_passed_over_and_told_when_it_is_well)
{
    struct lone *l = lone_new(NODES, 1, 2, 0);
    struct ftree_verdict v = over(l, 12, 5);
    struct wire_message m = {.type = WIRE_ANSWER, .u.answer.asked_peer = FTREE_NONE};

    v.withdrawn = 0;
    lone_told(l, 2, WIRE_VERDICT_UP, &v);
    lone_acks(l, 1);
    lone_acks(l, 2);
    lone_run(l, 500);
    v = over(l, 12, 5);
    lone_told(l, 2, WIRE_VERDICT_UP, &v);
    lone_acks(l, 2);
    lone_run(l, 349);
    lone_log(l);
    lone_run(l, 1); /* node 1 is silent */
    ck_assert_str_eq(lone_log(l), "850 verdict-down to n1 not acknowledged\n"
                                  "850 suspects n1: peer-silent, rule silent-agent\n"
                                  "850 -> n1 data probe\n"
                                  "850 -> n1 mgmt probe\n"
                                  "850 -> n3 data verdict-down\n"
                                  "850 -> n4 data verdict-down\n");
    m.u.answer.nonce = ftree_probe_find(l->ft, 1)->nonce;
    lone_hear(l, 1, FTREE_PATH_DATA, &m);
    ck_assert_str_eq(lone_log(l), "850 n1 is well: its agent answers\n"
                                  "850 -> n1 data verdict-down\n");
    lone_free(l);
}
END_TEST

START_TEST(who_is_back_is_told_what_it_has_missed)
{
    struct lone *l = lone_new(4, 1, 32, 0);
    int32_t told = 0;

    decide(l, "node-outage/both-paths-silent", 2, FTREE_NONE);
    decide(l, "process-crash/port-refused", 3, 3);
    lone_run(l, 1000);
    lone_log(l);
    answers(l, 2);
    for (int32_t i = 0; i < l->n_sent; i++)
        told += l->sent[i].to.node == 2 && l->sent[i].m.type == WIRE_VERDICT_DOWN &&
                l->sent[i].m.u.verdict.node == 3;
    ck_assert_int_eq(told, 1);
    lone_free(l);
}
END_TEST

START_TEST(who_leaves_asks_no_more)
{
    struct lone *l = lone_new(4, 1, 32, 0);

    decide(l, "node-outage/both-paths-silent", 2, FTREE_NONE);
    ftree_leave(l->ft, l->now);
    lone_run(l, 20000);
    ck_assert_int_eq(asked(l, 2), 0);
    ck_assert(ftree_withdraw_deadline(l->ft) == FTREE_NEVER);
    lone_free(l);
}
END_TEST

START_TEST(a_withdrawn_verdict_is_restored_as_such)
{
    struct lone *l = lone_new(4, 1, 32, 0);
    struct ftree_verdict v = over(l, 2, 0);

    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_OK);
    ck_assert(!ftree_has_failed(l->ft, 2));
    ck_assert_ptr_null(ftree_check(l->ft));
    lone_run(l, 5000);
    ck_assert_str_eq(lone_log(l), "");
    lone_free(l);
}
END_TEST

/* The agent before learnt it after it had handed on the verdict. */
START_TEST(a_restored_verdict_is_withdrawn_by_restoring_it_again)
{
    struct lone *l = lone_new(4, 1, 32, 0);
    struct ftree_verdict v = over(l, 2, 0);

    v.withdrawn = 0;
    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_OK);
    ck_assert(ftree_has_failed(l->ft, 2));
    v.withdrawn = l->now;
    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_OK);
    ck_assert(!ftree_has_failed(l->ft, 2));
    ck_assert_ptr_null(ftree_check(l->ft));
    lone_run(l, 5000);
    ck_assert_str_eq(lone_log(l), "");
    lone_free(l);
}
END_TEST

/* ---- the own ranks --------------------------------------------------------------------------- */

START_TEST(a_stopped_rank_that_runs_again_is_seen_by_its_own_node)
{
    struct lone *l = lone_new(1, 2, 32, 0);

    l->state[1].proc_state = 'T';
    lone_stall(l, 0, 1);
    lone_run(l, 5000);
    ck_assert_int_eq(l->reports, 1);
    ck_assert_int_eq(l->withdrawals, 0);
    lone_log(l);
    l->state[1].proc_state = 'S';
    lone_run(l, 1000);
    ck_assert_str_eq(lone_log(l), "5350 withdraws process-stopped of n0: it runs again\n");
    ck_assert_int_eq(l->withdrawals, 1);
    ck_assert_int_eq(l->withdrawals_told, 1);
    l->state[1].proc_state = 'T'; /* and once more */
    lone_run(l, 20000);
    ck_assert_int_eq(l->verdicts, 2);
    ck_assert_int_eq(l->reports, 2);
    lone_free(l);
}
END_TEST

START_TEST(a_stopped_rank_that_ends_does_not_run_again)
{
    struct lone *l = lone_new(1, 2, 32, 0);

    l->state[1].proc_state = 'T';
    lone_stall(l, 0, 1);
    lone_run(l, 1000);
    l->state[1].phase = FTREE_PHASE_GONE;
    lone_run(l, 5000);
    ck_assert_int_eq(l->withdrawals, 0);
    lone_free(l);
}
END_TEST

/* ---- stories --------------------------------------------------------------------------------- */

static void expect_told(const struct world *w, int32_t verdicts, int32_t withdrawals)
{
    for (int32_t n = 0; n < w->job.nodes; n++) {
        ck_assert_msg(w->verdicts_on[n] == verdicts, "node %d knows %d verdicts", (int) n,
                      (int) w->verdicts_on[n]);
        ck_assert_msg(w->withdrawals_on[n] == withdrawals, "node %d knows of %d withdrawals",
                      (int) n, (int) w->withdrawals_on[n]);
        for (int32_t other = 0; other < w->job.nodes; other++)
            ck_assert(!ftree_has_failed(w->node[n].ft, other));
    }
}

START_TEST(a_stopped_process_is_continued)
{
    struct world *w = world_new(4, 2, 32);

    w->rank[5].proc_state = 'T';
    world_all_wait(w, FTREE_NONE, 5);
    world_run(w, 3 * SECOND);
    ck_assert_int_eq(w->reports, 1);
    w->rank[5].proc_state = 'R';
    for (int32_t r = 0; r < 8; r++)
        world_go_on(w, r);
    world_trace(w);
    world_run(w, 1500 * FTREE_MS);
    EXPECT_LINES(world_trace(w), "3350 n2: withdraws process-stopped of n2: it runs again\n"
                                 "3350 n2: tells n0\n"
                                 "3351 n0: learns that process-stopped of n2 is over\n"
                                 "3352 n1: learns that process-stopped of n2 is over\n"
                                 "3352 n3: learns that process-stopped of n2 is over\n");
    ck_assert_int_eq(w->withdrawals, 1);
    expect_told(w, 1, 1);
    world_free(w);
}
END_TEST

static void cut(struct world *w, int32_t node, bool down)
{
    w->node[node].path_down[FTREE_PATH_DATA] = w->node[node].path_down[FTREE_PATH_MGMT] = down;
}

static void all_go_on(struct world *w)
{
    for (int32_t r = 0; r < w->job.size; r++)
        world_go_on(w, r);
}

/* rows: a_node_is_cut_off_for_a_while 7 */
START_TEST(a_node_is_cut_off_for_a_while)
{
    struct world *w = world_new(7, 1, 2);

    for (int turn = 1; turn <= 3; turn++) { /* it is found each time */
        cut(w, _i, true);
        world_all_wait(w, _i, _i);
        ck_assert(world_run_until_reports(w, turn, 5 * SECOND));
        ck_assert_int_eq(w->report[turn - 1].node, _i);
        ck_assert_int_eq(w->report[turn - 1].class_, FTREE_CLASS_NODE_OUTAGE);
        all_go_on(w);
        cut(w, _i, false);
        world_run(w, 20 * SECOND);
        ck_assert_int_eq(w->reports, turn);
        ck_assert_int_eq(w->withdrawals, turn);
        for (int32_t n = 0; n < 7; n++)
            ck_assert_int_eq(w->withdrawals_on[n], n == _i ? 0 : turn);
        for (int32_t n = 0; n < 7; n++)
            ck_assert(!ftree_has_failed(w->node[n].ft, _i));
    }
    world_free(w);
}
END_TEST

/* rows: an_agent_is_stopped_for_three_seconds 7 */
START_TEST(an_agent_is_stopped_for_three_seconds)
{
    struct world *w = world_new(7, 1, 2);
    int32_t other = (_i + 3) % 7;

    w->node[_i].mute = true;
    world_all_wait(w, _i, _i);
    world_run(w, 3 * SECOND);
    ck_assert_int_eq(w->reports, 1);
    ck_assert_int_eq(w->report[0].class_, FTREE_CLASS_PROCESS_STOPPED);
    ck_assert_int_eq(w->report[0].node, _i);
    w->node[_i].mute = false;
    all_go_on(w);
    world_run(w, 10 * SECOND);
    ck_assert_int_eq(w->reports, 1);
    ck_assert_int_eq(w->withdrawals, 1);
    for (int32_t n = 0; n < 7; n++) {
        ck_assert_int_eq(w->withdrawals_on[n], w->verdicts_on[n]);
        ck_assert(!ftree_has_failed(w->node[n].ft, _i));
    }
    w->node[other].mute = true; /* the next is found */
    world_all_wait(w, other, other);
    world_run(w, 5 * SECOND);
    ck_assert_int_eq(w->reports, 2);
    ck_assert_int_eq(w->report[1].node, other);
    world_free(w);
}
END_TEST

/* Nobody who runs is accused, and whoever runs again counts as well everywhere. */
/* rows: whoever_is_stopped_and_continued 20 */
START_TEST(whoever_is_stopped_and_continued)
{
    struct world *w = world_new(12, 1, 3);

    w->random = (uint64_t) _i;
    w->jitter = 5 * FTREE_MS;
    w->loss_percent = _i % 2 ? 5 : 0;
    for (int turn = 0; turn < 6; turn++) {
        int32_t node = (_i + 5 * turn) % 12;
        w->node[node].mute = true;
        world_all_wait(w, node, node);
        world_run(w, (ftree_time) (1 + turn) * 700 * FTREE_MS);
        w->node[node].mute = false;
        all_go_on(w);
        world_run(w, 2 * MINUTE);
        for (int32_t i = 0; i < w->reports; i++) {
            bool stopped_once = false;
            for (int t = 0; t <= turn; t++)
                stopped_once = stopped_once || w->report[i].node == (_i + 5 * t) % 12;
            ck_assert(stopped_once);
        }
        for (int32_t n = 0; n < 12; n++)
            for (int32_t of = 0; of < 12; of++)
                ck_assert_msg(!ftree_has_failed(w->node[n].ft, of),
                              "turn %d: node %d takes node %d for lost", turn, (int) n, (int) of);
    }
    ck_assert_int_gt(w->reports, 0);
    ck_assert_int_eq(w->withdrawals, w->reports);
    world_free(w);
}
END_TEST

SUITE("withdraw")
{
    TEST(a_lost_node_is_asked_at_doubling_intervals);
    TEST_ROWS(who_asks, COUNT(askers));
    TEST(over_the_paths_that_there_are);
    TEST(whoever_hears_of_it_asks_at_once);
    TEST(only_the_answer_to_that_question_counts);
    TEST(the_root_tells_who_was_told);
    TEST(over_before_it_was_told_nobody_is_told);
    TEST(who_decided_tells_the_root);
    TEST(on_its_way_up_and_down_it_is_passed_on_once);
    TEST(down_it_goes_to_the_children);
    TEST_ROWS(it_may_overtake_its_verdict, 2);
    TEST(found_by_two_it_is_over_for_both);
    TEST(a_silent_child_is_passed_over_and_told_when_it_is_well);
    TEST(who_is_back_is_told_what_it_has_missed);
    TEST(who_leaves_asks_no_more);
    TEST(a_withdrawn_verdict_is_restored_as_such);
    TEST(a_restored_verdict_is_withdrawn_by_restoring_it_again);
    TEST(a_stopped_rank_that_runs_again_is_seen_by_its_own_node);
    TEST(a_stopped_rank_that_ends_does_not_run_again);
    TEST(a_stopped_process_is_continued);
    TEST_ROWS(a_node_is_cut_off_for_a_while, 7);
    TEST_ROWS(an_agent_is_stopped_for_three_seconds, 7);
    TEST_ROWS(whoever_is_stopped_and_continued, 20);
}
