/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "lone.h"
#include "messages.h"
#include "suite.h"

/* The tree of the tests:  0 - 1 2,  1 - 3 4,  2 - 5 6,  3 - 7 8,  4 - 9 10,  5 - 11 12. */
#define NODES 13

static void heard(struct ftree_verdict *v, uint8_t source, int32_t target, int32_t by, uint8_t path,
                  uint8_t reach)
{
    const struct ftree_evidence e = {.source = source,
                                     .target = target,
                                     .by = by,
                                     .role = FTREE_ROLE_AGENT,
                                     .path = path,
                                     .reach = reach};

    ftree_verdict_add_evidence(v, &e);
}

/* The FLN of `node` decides that it is silent from here only, for `by` was answered. */
static struct ftree_verdict silent_from_here(const struct lone *l, int32_t node, int32_t by)
{
    struct ftree_verdict v =
        lone_verdict(l, "unknown/silent-from-here-only", node, FTREE_NONE, l->self);

    for (uint8_t path = 0; path < FTREE_PATHS; path++) {
        heard(&v, FTREE_EVIDENCE_PROBE, node, l->self, path, FTREE_REACH_SILENT);
        heard(&v, FTREE_EVIDENCE_PROBE, 0, l->self, path, FTREE_REACH_ANSWERED); /* a witness */
        heard(&v, FTREE_EVIDENCE_VISIT, node, by, path, FTREE_REACH_ANSWERED);
    }
    return v;
}

/* A verdict is found here, and comes back from the root. */
static void decides(struct lone *l, const struct ftree_verdict *v)
{
    int32_t i = l->verdicts;

    LONE_STEP(l, ftree_announce_raise(l->ft, l->now, v));
    ck_assert_int_eq(l->verdicts, i + 1);
    lone_acks(l, 0);
    lone_log(l);
    lone_told(l, 0, WIRE_VERDICT_DOWN, &l->verdict[i]);
}

/* The last message that is to be passed on; NULL: none. */
static const struct lone_sent *to_pass_on(const struct lone *l)
{
    for (int32_t i = l->n_sent - 1; i >= 0; i--)
        if (l->sent[i].m.type == WIRE_VERDICT_DOWN && l->sent[i].m.flags == WIRE_FLAG_PASS_ON)
            return &l->sent[i];
    return NULL;
}

static int32_t count_to_pass_on(const struct lone *l)
{
    int32_t n = 0;

    for (int32_t i = 0; i < l->n_sent; i++)
        n += l->sent[i].m.type == WIRE_VERDICT_DOWN && l->sent[i].m.flags == WIRE_FLAG_PASS_ON;
    return n;
}

/* ---- at the FLN ------------------------------------------------------------------------------ */

START_TEST(a_node_that_only_others_reach_is_told_by_way_of_them)
{
    struct lone *l = lone_new(NODES, 1, 2, 1);
    struct ftree_verdict v = silent_from_here(l, 3, 9);

    decides(l, &v);
    ck_assert_str_eq(lone_log(l), "0 -> n3 mgmt verdict-down\n"
                                  "0 -> n4 data verdict-down\n"
                                  "0 tells n3 by way of n9\n"
                                  "0 -> n9 data verdict-down pass-on\n");
    lone_free(l);
}
END_TEST

/* What is found of node 3 by node 1, and is no reason to tell it by way of another. */
static void nobody_was_answered(struct ftree_verdict *v)
{
    heard(v, FTREE_EVIDENCE_VISIT, 3, 9, FTREE_PATH_DATA, FTREE_REACH_CONNECTED);
}

static void one_path_answers_here(struct ftree_verdict *v)
{
    heard(v, FTREE_EVIDENCE_VISIT, 3, 9, FTREE_PATH_DATA, FTREE_REACH_ANSWERED);
    heard(v, FTREE_EVIDENCE_PROBE, 3, 1, FTREE_PATH_MGMT, FTREE_REACH_ANSWERED);
}

static void another_node_was_seen(struct ftree_verdict *v)
{
    heard(v, FTREE_EVIDENCE_VISIT, 4, 9, FTREE_PATH_DATA, FTREE_REACH_ANSWERED);
}

static void its_deputy_was_seen(struct ftree_verdict *v)
{
    heard(v, FTREE_EVIDENCE_VISIT, 3, 9, FTREE_PATH_DATA, FTREE_REACH_ANSWERED);
    v->evidence[v->evidences - 1].role = FTREE_ROLE_DEPUTY;
}

static void it_is_lost(struct ftree_verdict *v)
{
    heard(v, FTREE_EVIDENCE_VISIT, 3, 9, FTREE_PATH_DATA, FTREE_REACH_ANSWERED);
    v->class_ = FTREE_CLASS_NODE_OUTAGE;
}

static void it_is_not_below(struct ftree_verdict *v)
{
    heard(v, FTREE_EVIDENCE_VISIT, 5, 9, FTREE_PATH_DATA, FTREE_REACH_ANSWERED);
    v->node = 5;
}

static void its_parent_tells_it(struct ftree_verdict *v)
{
    heard(v, FTREE_EVIDENCE_VISIT, 7, 9, FTREE_PATH_DATA, FTREE_REACH_ANSWERED);
    v->node = 7;
}

static void (*const no_reasons[])(struct ftree_verdict *) = {
    nobody_was_answered, one_path_answers_here, another_node_was_seen, its_deputy_was_seen,
    it_is_lost,          it_is_not_below,       its_parent_tells_it,
};

/* rows: others_are_told_from_here_alone COUNT(no_reasons) */
START_TEST(others_are_told_from_here_alone)
{
    struct lone *l = lone_new(NODES, 1, 2, 1);
    struct ftree_verdict v = lone_verdict(l, "unknown/silent-from-here-only", 3, FTREE_NONE, 1);

    no_reasons[_i](&v);
    decides(l, &v);
    ck_assert_int_gt(lone_count(l, WIRE_VERDICT_DOWN), 0);
    ck_assert_int_eq(count_to_pass_on(l), 0);
    lone_free(l);
}
END_TEST

START_TEST(what_another_decided_is_not_passed_on)
{
    struct lone *l = lone_new(NODES, 1, 2, 1);
    struct ftree_verdict v = silent_from_here(l, 3, 9);

    v.fln = 0;
    lone_told(l, 0, WIRE_VERDICT_DOWN, &v);
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_DOWN), 2);
    ck_assert_int_eq(count_to_pass_on(l), 0);
    lone_free(l);
    l = lone_new(NODES, 1, 2, 0); /* the root has all of what others found */
    v = silent_from_here(l, 1, 9);
    v.fln = 10;
    lone_told(l, 2, WIRE_VERDICT_UP, &v);
    ck_assert(lone_known(l, 0).is_whole);
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_DOWN), 2);
    ck_assert_int_eq(count_to_pass_on(l), 0);
    lone_free(l);
}
END_TEST

START_TEST(below_a_lost_node_it_is_told_from_here)
{
    struct lone *l = lone_new(NODES, 1, 2, 1);
    struct ftree_verdict lost = lone_verdict(l, "node-outage/both-paths-silent", 3, FTREE_NONE, 1);
    struct ftree_verdict v = silent_from_here(l, 7, 8);

    decides(l, &lost);
    decides(l, &v);
    ck_assert_int_eq(to_pass_on(l)->to.node, 8);
    ck_assert_int_eq(to_pass_on(l)->told[0].node, 7);
    lone_free(l);
}
END_TEST

START_TEST(where_who_was_answered_is_silent_another_passes_it_on)
{
    struct lone *l = lone_new(NODES, 1, 2, 1);
    struct ftree_verdict v = silent_from_here(l, 3, 9);

    ftree_peer_unresponsive(l->ft, l->now, 9, false);
    ftree_peer_unresponsive(l->ft, l->now, 4, true);
    decides(l, &v);
    ck_assert_int_eq(to_pass_on(l)->to.node, 5); /* the next by number */
    lone_free(l);
}
END_TEST

START_TEST(where_nobody_can_pass_it_on_nobody_is_asked_to)
{
    struct lone *l = lone_new(NODES, 1, 2, 0);
    struct ftree_verdict v = silent_from_here(l, 1, 5);

    for (int32_t node = 1; node < NODES; node++)
        ftree_peer_unresponsive(l->ft, l->now, node, false);
    LONE_STEP(l, ftree_announce_raise(l->ft, l->now, &v));
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_DOWN), 2);
    ck_assert_int_eq(count_to_pass_on(l), 0);
    lone_free(l);
}
END_TEST

/* 350 ms later the one is mute, and what it was to pass on goes to another. */
START_TEST(where_it_is_not_acknowledged_another_passes_it_on)
{
    struct lone *l = lone_new(NODES, 1, 2, 1);
    struct ftree_verdict v = silent_from_here(l, 3, 9);

    decides(l, &v);
    lone_acks(l, 4);
    lone_run(l, 349);
    lone_log(l);
    lone_run(l, 1);
    ck_assert_int_eq(to_pass_on(l)->to.node, 4);
    ck_assert_int_eq(count_to_pass_on(l), 1);
    lone_free(l);
}
END_TEST

/* Its victims are waited for like those of the first. */
START_TEST(who_passes_it_on_in_place_of_another_names_the_victims)
{
    struct lone *l = lone_new(NODES, 1, 2, 0);
    struct ftree_verdict v = silent_from_here(l, 1, 5);

    LONE_STEP(l, ftree_announce_raise(l->ft, l->now, &v));
    lone_nobody_waits(l, 2, ftree_inspect_owes(l->ft, 2));
    lone_log(l);
    lone_run(l, 350);
    ck_assert_int_eq(to_pass_on(l)->to.node, 2);
    lone_nobody_waits(l, 3, ftree_inspect_owes(l->ft, 3));
    lone_nobody_waits(l, 4, ftree_inspect_owes(l->ft, 4));
    ck_assert_int_eq(l->reports, 0);
    lone_victims(l, 2, to_pass_on(l)->m.id, 3, 4);
    ck_assert_int_eq(l->reports, 1);
    ck_assert_int_eq(l->report[0].victims.count, 2);
    lone_free(l);
}
END_TEST

START_TEST(where_no_other_can_pass_it_on_nobody_is_waited_for)
{
    struct lone *l = lone_new(NODES, 1, 2, 0);
    struct ftree_verdict v = silent_from_here(l, 1, 5);

    for (int32_t node = 2; node < NODES; node++)
        if (node != 5)
            ftree_peer_unresponsive(l->ft, l->now, node, false);
    LONE_STEP(l, ftree_announce_raise(l->ft, l->now, &v));
    lone_run(l, 349);
    ck_assert_int_eq(l->reports, 0);
    lone_run(l, 1);
    ck_assert_int_eq(l->reports, 1);
    lone_free(l);
}
END_TEST

/* One message for each, however often it goes to another. */
START_TEST(what_is_not_acknowledged_does_not_multiply)
{
    struct lone *l = lone_new(64, 1, 8, 0);

    for (int32_t node = 5; node <= 8; node++) {
        struct ftree_verdict v = silent_from_here(l, node, 20);
        v.id += (uint32_t) node;
        LONE_STEP(l, ftree_announce_raise(l->ft, l->now, &v));
    }
    for (int i = 0; i < 5; i++) {
        for (int32_t node = 1; node <= 4; node++)
            lone_acks(l, node);
        lone_log(l);
        lone_run(l, i ? 350 : 370);
        /* the first was told alone, and then all four: five messages, each with a try over one path and
         * one over two, and a few milliseconds of the next round */
        ck_assert_int_le(count_to_pass_on(l), 5 * 4);
    }
    lone_free(l);
}
END_TEST

START_TEST(a_suspect_passes_nothing_on)
{
    struct lone *l = lone_new(NODES, 1, 2, 1);
    struct ftree_verdict v = silent_from_here(l, 3, 9);
    struct wire_message m = {.type = WIRE_SYMPTOM, .flags = WIRE_FLAG_SUBSTITUTE};

    ftree_symptom_init(&m.u.symptom, FTREE_SYMPTOM_PEER_STALL, 9, FTREE_NONE, 2, l->now, l->now);
    lone_hear(l, 2, FTREE_PATH_DATA, &m);
    ck_assert(ftree_inspect_is_suspect(l->ft, 9));
    decides(l, &v);
    ck_assert_int_eq(to_pass_on(l)->to.node, 4);
    lone_free(l);
}
END_TEST

/* It would not tell them what they told it. */
START_TEST(nobody_below_a_node_passes_on_to_it)
{
    struct lone *l = lone_new(NODES, 1, 2, 1);
    struct ftree_verdict v = silent_from_here(l, 3, 7);

    decides(l, &v);
    ck_assert_int_eq(to_pass_on(l)->to.node, 4);
    lone_free(l);
}
END_TEST

START_TEST(who_is_silent_from_here_passes_nothing_on)
{
    struct lone *l = lone_new(NODES, 1, 2, 1);
    struct ftree_verdict other = silent_from_here(l, 4, 9), v = silent_from_here(l, 3, 4);

    decides(l, &other);
    v.id++;
    decides(l, &v);
    for (int32_t i = 0; i < l->n_sent; i++)
        ck_assert(l->sent[i].m.flags != WIRE_FLAG_PASS_ON || l->sent[i].to.node != 4);
    ck_assert_int_eq(count_to_pass_on(l), 2);
    lone_free(l);
}
END_TEST

START_TEST(what_the_root_has_not_told_yet_is_passed_on_by_nobody)
{
    struct lone *l = lone_new(NODES, 1, 2, 1);
    struct ftree_verdict v = silent_from_here(l, 3, 9);
    struct ftree_verdict told = lone_verdict(l, "node-outage/both-paths-silent", 12, FTREE_NONE, 5);

    LONE_STEP(l, ftree_announce_raise(l->ft, l->now, &v));
    lone_told(l, 0, WIRE_VERDICT_DOWN, &told);
    ck_assert_int_eq(count_to_pass_on(l), 0);
    lone_told(l, 0, WIRE_VERDICT_DOWN, &l->verdict[0]);
    lone_log(l);
    told.withdrawn = l->now; /* on its way up */
    lone_told(l, 5, WIRE_VERDICT_UP, &told);
    told = lone_verdict(l, "node-outage/both-paths-silent", 11, FTREE_NONE, 5);
    told.id++;
    lone_told(l, 0, WIRE_VERDICT_DOWN, &told);
    ck_assert_int_eq(to_pass_on(l)->tolds,
                     2); /* nor 12: neither that it is lost nor that it is back */
    lone_free(l);
}
END_TEST

START_TEST(what_is_for_its_own_people_is_not_passed_on)
{
    struct lone *l = lone_new(NODES, 1, 2, 1);
    struct ftree_verdict own = silent_from_here(l, 4, 9), v = silent_from_here(l, 3, 9);

    own.own_only = true;
    LONE_STEP(l, ftree_announce_raise(l->ft, l->now, &own));
    v.id++;
    decides(l, &v);
    ck_assert_int_eq(count_to_pass_on(l), 1);
    ck_assert_int_eq(to_pass_on(l)->tolds, 1);
    ck_assert_int_eq(to_pass_on(l)->told[0].node, 3);
    lone_free(l);
}
END_TEST

START_TEST(below_two_lost_nodes_it_is_told_from_here)
{
    struct lone *l = lone_new(31, 1, 2, 1);
    struct ftree_verdict v = silent_from_here(l, 15, 4);

    for (int32_t node = 3; node <= 7; node += 4) {
        struct ftree_verdict lost =
            lone_verdict(l, "node-outage/both-paths-silent", node, FTREE_NONE, 1);
        lost.id += (uint32_t) node;
        decides(l, &lost);
    }
    decides(l, &v);
    ck_assert_int_eq(to_pass_on(l)->told[0].node, 15);
    lone_free(l);
}
END_TEST

/* Node 3 has 400 ms for its children; 350 of them go by before 9 is passed over. */
START_TEST(who_passes_it_on_in_place_of_another_has_time_to_answer)
{
    struct lone *l = lone_new(NODES, 1, 2, 3);
    struct ftree_verdict v = silent_from_here(l, 7, 9);
    const struct lone_sent *s;

    ftree_peer_unresponsive(l->ft, l->now, 7, false); /* as its FLN has found */
    LONE_STEP(l, ftree_announce_raise(l->ft, l->now, &v));
    lone_acks(l, 1);
    lone_log(l);
    lone_told(l, 1, WIRE_VERDICT_DOWN, &l->verdict[0]);
    ck_assert_int_eq(to_pass_on(l)->to.node, 9);
    lone_nobody_waits(l, 8, ftree_inspect_owes(l->ft, 8));
    lone_log(l);
    lone_run(l, 350);
    s = to_pass_on(l);
    ck_assert_int_eq(s->to.node, 8);
    ck_assert_uint_eq(s->told[0].located, l->verdict[0].located);
    lone_run(l, 199);
    ck_assert_int_eq(lone_count(l, WIRE_VICTIMS), 0);
    lone_victims(l, 8, s->m.id, 7, 7);
    ck_assert_int_eq(lone_count(l, WIRE_VICTIMS), 1);
    ck_assert_int_eq(lone_last(l, WIRE_VICTIMS)->m.u.victims.ranks.count, 1);
    lone_free(l);
}
END_TEST

START_TEST(it_is_passed_on_to_whom_the_first_line_is_about)
{
    struct lone *l = lone_new(NODES, 1, 2, 1);
    struct ftree_verdict lost = lone_verdict(l, "node-outage/both-paths-silent", 12, FTREE_NONE, 5);
    struct ftree_verdict v = silent_from_here(l, 3, 9);
    const struct lone_sent *s;

    lone_told(l, 0, WIRE_VERDICT_DOWN, &lost);
    decides(l, &v);
    ck_assert_int_eq(to_pass_on(l)->tolds, 2);
    lone_acks(l, 4);
    lone_log(l);
    lone_run(l, 350);
    s = to_pass_on(l);
    ck_assert_ptr_nonnull(s);
    ck_assert_int_eq(s->to.node, 4);
    ck_assert_int_eq(s->tolds, 2);
    ck_assert_int_eq(s->told[0].node, 3);
    ck_assert_int_eq(s->told[1].node, 12);
    ck_assert_uint_eq(s->told[1].located, lost.located);
    lone_free(l);
}
END_TEST

START_TEST(who_can_be_told_by_another_again_is_told_past_nobody)
{
    struct lone *l = lone_new(NODES, 1, 2, 1);
    struct ftree_verdict lost = lone_verdict(l, "node-outage/both-paths-silent", 3, FTREE_NONE, 1);
    struct ftree_verdict v = silent_from_here(l, 7, 9);

    decides(l, &lost);
    v.id++;
    decides(l, &v);
    ck_assert_int_gt(count_to_pass_on(l), 0);
    lone_acks(l, 4);
    lone_acks(l, 8);
    lone_run(l, 200);
    lone_over(l, 0, "it is heard");
    lone_log(l);
    lone_run(l, 150);
    ck_assert_int_eq(count_to_pass_on(l), 0);
    lone_free(l);
}
END_TEST

/* With the node those next to it were lost: they are passed over, however many they are. */
START_TEST(past_those_that_are_lost_another_passes_it_on)
{
    struct lone *l = lone_new(64, 1, 2, 1);
    struct ftree_verdict v = silent_from_here(l, 3, 9);

    for (int32_t node = 9; node <= 30; node++) {
        struct ftree_verdict lost =
            lone_verdict(l, "node-outage/both-paths-silent", node, FTREE_NONE, 0);
        lost.id += (uint32_t) node;
        lone_told(l, 0, WIRE_VERDICT_DOWN, &lost);
    }
    for (int32_t node = 4; node <= 8; node++)
        ftree_peer_unresponsive(l->ft, l->now, node, false);
    decides(l, &v);
    ck_assert_int_eq(to_pass_on(l)->to.node, 39); /* 31 to 38 are below node 3 */
    lone_free(l);
}
END_TEST

START_TEST(all_that_is_told_is_told_by_way_of_another)
{
    struct lone *l = lone_new(NODES, 1, 2, 1);
    struct ftree_verdict before =
        lone_verdict(l, "node-outage/both-paths-silent", 12, FTREE_NONE, 5);
    struct ftree_verdict over =
        lone_verdict(l, "node-frozen/agent-and-deputy-mute", 11, FTREE_NONE, 5);
    struct ftree_verdict own = lone_verdict(l, "process-stopped/state-t", 1, 1, 1);
    struct ftree_verdict v = silent_from_here(l, 3, 9);
    const struct lone_sent *s;

    over.id++;
    lone_told(l, 0, WIRE_VERDICT_DOWN, &before);
    lone_told(l, 0, WIRE_VERDICT_DOWN, &over);
    over.withdrawn = l->now;
    lone_told(l, 0, WIRE_VERDICT_DOWN, &over);
    LONE_STEP(l, ftree_announce_raise(l->ft, l->now, &own)); /* the root has not told it yet */
    decides(l, &v);
    s = to_pass_on(l);
    ck_assert_int_eq(s->tolds, 3);
    ck_assert_int_eq(s->told[0].node, 3);
    ck_assert_int_eq(s->told[1].node, 12);
    ck_assert_int_eq(s->told[2].node, 11);
    ck_assert_uint_ne(s->told[2].withdrawn, 0);
    lone_free(l);
}
END_TEST

START_TEST(what_follows_is_told_so_too_until_it_answers)
{
    struct lone *l = lone_new(NODES, 1, 2, 1);
    struct ftree_verdict v = silent_from_here(l, 3, 9);
    struct ftree_verdict more = lone_verdict(l, "node-outage/both-paths-silent", 12, FTREE_NONE, 5);

    decides(l, &v);
    lone_acks(l, 9);
    lone_log(l);
    lone_told(l, 0, WIRE_VERDICT_DOWN, &more);
    ck_assert_int_eq(to_pass_on(l)->to.node, 9);
    ck_assert_int_eq(to_pass_on(l)->tolds, 2);
    lone_log(l);
    lone_over(l, 0, "it answers");
    lone_acks(l, 0);
    lone_log(l);
    v = l->verdict[0];
    v.withdrawn = l->now;
    lone_told(l, 0, WIRE_VERDICT_DOWN, &v);
    more = lone_verdict(l, "node-outage/both-paths-silent", 11, FTREE_NONE, 5);
    more.id += 2;
    lone_told(l, 0, WIRE_VERDICT_DOWN, &more);
    ck_assert_int_gt(lone_count(l, WIRE_VERDICT_DOWN), 0);
    ck_assert_int_eq(count_to_pass_on(l), 0);
    lone_free(l);
}
END_TEST

/* Each of them has to say which node they are for. */
START_TEST(what_finds_no_room_in_one_message_takes_two)
{
    struct lone *l = lone_new(NODES, 200, 2, 1);
    struct ftree_verdict v = silent_from_here(l, 3, 9);
    int32_t summaries = 0, messages = 0;

    for (int i = 0; i < 150; i++) {
        struct ftree_verdict crash = lone_verdict(l, "process-crash/pid-gone", 12, 12 * 200 + i, 5);
        crash.id += (uint32_t) i;
        lone_told(l, 0, WIRE_VERDICT_DOWN, &crash);
        lone_acks(l, 3);
        lone_acks(l, 4);
        lone_log(l);
    }
    decides(l, &v);
    for (int32_t i = 0; i < l->n_sent; i++) {
        const struct lone_sent *s = &l->sent[i];
        if (s->m.type != WIRE_VERDICT_DOWN || s->m.flags != WIRE_FLAG_PASS_ON)
            continue;
        messages++;
        summaries += s->tolds;
        ck_assert_int_eq(s->told[0].node, 3);
    }
    ck_assert_int_eq(messages, 2);
    ck_assert_int_eq(summaries, 150 + messages);
    lone_free(l);
}
END_TEST

START_TEST(who_passes_it_on_names_the_victims)
{
    struct lone *l = lone_new(NODES, 1, 2, 0);
    struct ftree_verdict v = silent_from_here(l, 1, 2);
    uint32_t passed_on;

    LONE_STEP(l, ftree_announce_raise(l->ft, l->now, &v));
    passed_on = to_pass_on(l)->m.id;
    lone_nobody_waits(l, 2, ftree_inspect_owes(l->ft, 2));
    ck_assert_int_eq(l->reports, 0);
    lone_victims(l, 2, passed_on, 3, 4);
    lone_run(l, 351); /* it is silent, and those below it are told from here */
    lone_nobody_waits(l, 3, ftree_inspect_owes(l->ft, 3));
    ck_assert_int_eq(l->reports, 0);
    lone_nobody_waits(l, 4, ftree_inspect_owes(l->ft, 4));
    ck_assert_int_eq(l->reports, 1);
    ck_assert_int_eq(l->report[0].victims.count, 2);
    lone_free(l);
}
END_TEST

START_TEST(without_memory_for_what_is_told_the_verdict_is_kept)
{
    for (int in = 1; in < 40; in++) {
        struct lone *l = lone_new(NODES, 1, 2, 1);
        struct ftree_verdict v = silent_from_here(l, 3, 9);
        LONE_STEP(l, ftree_announce_raise(l->ft, l->now, &v));
        l->fail_alloc_in = in;
        lone_told(l, 0, WIRE_VERDICT_DOWN, &v);
        lone_run(l, 1000);
        l->fail_alloc_in = 0;
        ck_assert_int_eq(l->verdicts, 1);
        lone_free(l);
    }
}
END_TEST

/* ---- at the other ---------------------------------------------------------------------------- */

/* Node 1 tells this one, 9, what it is to pass on: message 70. */
static void asks(struct lone *l, int32_t from, const struct ftree_verdict *v, int32_t n)
{
    struct wire_summaries w;
    struct wire_message m = messages_told(l->now, v, n, &w);

    m.id = 70;
    m.flags = WIRE_FLAG_PASS_ON;
    lone_hear(l, from, FTREE_PATH_MGMT, &m);
}

static struct lone *asked(int32_t node)
{
    struct lone *l = lone_new(NODES, 1, 2, 9);
    struct ftree_verdict v[2] = {
        lone_verdict(l, "unknown/silent-from-here-only", node, FTREE_NONE, 1),
        lone_verdict(l, "node-outage/both-paths-silent", 12, FTREE_NONE, 5)};

    asks(l, 1, v, 2);
    return l;
}

START_TEST(it_is_passed_on_and_the_victims_are_named)
{
    struct lone *l = asked(3);
    const struct lone_sent *s = lone_last(l, WIRE_VERDICT_DOWN);

    ck_assert_int_eq(s->to.node, 3);
    ck_assert_int_eq(s->m.flags, 0);
    ck_assert_int_eq(s->tolds, 2);
    ck_assert_int_eq(s->told[0].node, 3);
    ck_assert_int_eq(s->told[1].node, 12);
    ck_assert_int_eq(l->verdicts, 0); /* its own parent tells it */
    lone_run(l, 10);
    lone_victims(l, 3, ftree_inspect_owes(l->ft, 3), 7, 8);
    ck_assert_uint_eq(lone_last(l, WIRE_VICTIMS)->m.u.victims.told, 70);
    ck_assert_int_eq(lone_last(l, WIRE_VICTIMS)->m.u.victims.ranks.count, 2);
    ck_assert_str_eq(lone_log(l), "0 passes what is told on to n3\n"
                                  "0 -> n3 data verdict-down\n"
                                  "10 -> n1 mgmt victims\n");
    lone_free(l);
}
END_TEST

START_TEST(where_nobody_waits_it_says_so)
{
    struct lone *l = asked(3);

    lone_nobody_waits(l, 3, ftree_inspect_owes(l->ft, 3));
    ck_assert_str_eq(lone_log(l), "0 passes what is told on to n3\n"
                                  "0 -> n3 data verdict-down\n"
                                  "0 -> n1 mgmt ack nobody-waits\n");
    lone_free(l);
}
END_TEST

/* gather for each level below the node, and half of it. */
START_TEST(it_waits_for_the_victims_as_long_as_those_below_may_take)
{
    static const struct {
        int32_t node;
        int ms;
    } rows[] = {{3, 600}, {10, 200}};

    for (int i = 0; i < COUNT(rows); i++) {
        struct lone *l = asked(rows[i].node);
        lone_run(l, 75); /* half of the smallest rto */
        ck_assert_int_eq(lone_count(l, WIRE_ACK), 1);
        ck_assert_int_eq(lone_last(l, WIRE_ACK)->m.flags, 0);
        lone_acks(l, rows[i].node);
        lone_run(l, rows[i].ms - 76);
        ck_assert_int_eq(lone_count(l, WIRE_VICTIMS), 0);
        lone_run(l, 1);
        ck_assert_int_eq(lone_count(l, WIRE_VICTIMS), 1); /* none */
        lone_free(l);
    }
}
END_TEST

/* What this one is told itself is another telling. */
START_TEST(passing_on_ends_no_other_telling)
{
    struct lone *l = lone_new(40, 1, 2, 9);
    struct ftree_verdict own = lone_verdict(l, "node-outage/both-paths-silent", 12, FTREE_NONE, 5);
    struct ftree_verdict v = lone_verdict(l, "unknown/silent-from-here-only", 3, FTREE_NONE, 1);

    lone_told(l, 4, WIRE_VERDICT_DOWN, &own);
    ck_assert(lone_known(l, 0).gathers);
    asks(l, 1, &v, 1);
    lone_nobody_waits(l, 3, ftree_inspect_owes(l->ft, 3));
    ck_assert(lone_known(l, 0).gathers);
    lone_free(l);
}
END_TEST

START_TEST(what_comes_twice_is_passed_on_once)
{
    struct lone *l = asked(3);
    struct ftree_verdict v = lone_verdict(l, "unknown/silent-from-here-only", 3, FTREE_NONE, 1);

    asks(l, 1, &v, 1);
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_DOWN), 1);
    ck_assert_int_eq(lone_count(l, WIRE_ACK), 1);
    lone_free(l);
}
END_TEST

/* Nothing is passed to this node, to who asks, to one that is lost; nor where no node is named. */
START_TEST(what_cannot_be_passed_on_is_acknowledged)
{
    struct lone *l = lone_new(NODES, 1, 2, 9);
    struct ftree_verdict lost = lone_verdict(l, "node-outage/both-paths-silent", 3, FTREE_NONE, 1);
    struct ftree_verdict v = lone_verdict(l, "unknown/silent-from-here-only", 9, FTREE_NONE, 1);

    lone_told(l, 4, WIRE_VERDICT_DOWN, &lost);
    lone_log(l);
    asks(l, 1, &v, 1);
    v.node = 1;
    asks(l, 1, &v, 1);
    v.node = 3;
    asks(l, 1, &v, 1);
    asks(l, 1, &v, 0);
    ck_assert_str_eq(lone_log(l), "0 -> n1 mgmt ack nobody-waits\n"
                                  "0 -> n1 mgmt ack nobody-waits\n"
                                  "0 -> n1 mgmt ack nobody-waits\n"
                                  "0 -> n1 mgmt ack nobody-waits\n");
    lone_free(l);
}
END_TEST

START_TEST(without_memory_for_the_victims_it_is_passed_on)
{
    for (int in = 1; in < 12; in++) {
        struct lone *l = lone_new(NODES, 1, 2, 9);
        struct ftree_verdict v = lone_verdict(l, "unknown/silent-from-here-only", 3, FTREE_NONE, 1);
        l->fail_alloc_in = in;
        asks(l, 1, &v, 1);
        l->fail_alloc_in = 0;
        if (lone_count(l, WIRE_ACK) > 0) /* at once: there will be no victims */
            ck_assert_int_eq(lone_last(l, WIRE_ACK)->m.flags, WIRE_FLAG_NOBODY_WAITS);
        lone_run(l, 100);
        ck_assert_int_eq(lone_count(l, WIRE_ACK), 1);
        lone_free(l);
    }
}
END_TEST

SUITE("relay")
{
    TEST(a_node_that_only_others_reach_is_told_by_way_of_them);
    TEST_ROWS(others_are_told_from_here_alone, COUNT(no_reasons));
    TEST(what_another_decided_is_not_passed_on);
    TEST(below_a_lost_node_it_is_told_from_here);
    TEST(where_who_was_answered_is_silent_another_passes_it_on);
    TEST(where_nobody_can_pass_it_on_nobody_is_asked_to);
    TEST(where_it_is_not_acknowledged_another_passes_it_on);
    TEST(who_passes_it_on_in_place_of_another_names_the_victims);
    TEST(where_no_other_can_pass_it_on_nobody_is_waited_for);
    TEST(what_is_not_acknowledged_does_not_multiply);
    TEST(a_suspect_passes_nothing_on);
    TEST(nobody_below_a_node_passes_on_to_it);
    TEST(who_is_silent_from_here_passes_nothing_on);
    TEST(what_the_root_has_not_told_yet_is_passed_on_by_nobody);
    TEST(what_is_for_its_own_people_is_not_passed_on);
    TEST(below_two_lost_nodes_it_is_told_from_here);
    TEST(who_passes_it_on_in_place_of_another_has_time_to_answer);
    TEST(it_is_passed_on_to_whom_the_first_line_is_about);
    TEST(who_can_be_told_by_another_again_is_told_past_nobody);
    TEST(past_those_that_are_lost_another_passes_it_on);
    TEST(all_that_is_told_is_told_by_way_of_another);
    TEST(what_follows_is_told_so_too_until_it_answers);
    TEST(what_finds_no_room_in_one_message_takes_two);
    TEST(who_passes_it_on_names_the_victims);
    TEST(without_memory_for_what_is_told_the_verdict_is_kept);
    TEST(it_is_passed_on_and_the_victims_are_named);
    TEST(where_nobody_waits_it_says_so);
    TEST(it_waits_for_the_victims_as_long_as_those_below_may_take);
    TEST(passing_on_ends_no_other_telling);
    TEST(what_comes_twice_is_passed_on_once);
    TEST(what_cannot_be_passed_on_is_acknowledged);
    TEST(without_memory_for_the_victims_it_is_passed_on);
}
