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
        heard(&v, FTREE_EVIDENCE_INDIRECT, node, by, path, FTREE_REACH_ANSWERED);
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
    if (l->self != 0)
        lone_told(l, 0, WIRE_VERDICT_DOWN, &l->verdict[i]);
}

/* The last message that is to be passed on to a node; NULL: none. */
static const struct lone_sent *for_node(const struct lone *l, int32_t node)
{
    for (int32_t i = l->n_sent - 1; i >= 0; i--)
        if (l->sent[i].relayed == node)
            return &l->sent[i];
    return NULL;
}

static int32_t count_relayed(const struct lone *l)
{
    int32_t n = 0;

    for (int32_t i = 0; i < l->n_sent; i++)
        n += l->sent[i].relayed != FTREE_NONE;
    return n;
}

/* Node `by` passes something on: from `node`, or (on) to it. */
static int relays(struct lone *l, int32_t by, int32_t node, bool on, const struct wire_message *m)
{
    struct wire_message relayed = {.type = WIRE_RELAY, .flags = on ? 0 : WIRE_FLAG_PASSED_ON};
    uint8_t inner[FTREE_MESSAGE_MAX], buf[FTREE_MESSAGE_MAX];
    size_t len = ftree_wire_encode(m, l->now, inner);

    relayed.u.relay = (struct wire_relay){.node = node, .len = len, .bytes = inner};
    len = ftree_wire_encode(&relayed, l->now, buf);
    return ftree_receive(l->ft, l->now, by, FTREE_PATH_MGMT, 1, buf, len);
}

/* ---- at the FLN ------------------------------------------------------------------------------ */

TEST_CASE(a_node_that_only_others_reach_is_told_by_way_of_them)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 1);
    struct ftree_verdict v = silent_from_here(l, 3, 9);

    decides(l, &v);
    ck_assert_str_eq(lone_log(l), "0 verdict-down to n3 goes by way of n9\n"
                                  "0 -> n9 data verdict-down for n3\n"
                                  "0 -> n4 data verdict-down\n");
}

/* What its BMC says, or a burst of packets, is evidence about the node, but no answer of it. */
TEST_CASE(a_line_about_the_node_is_no_answer_of_it)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 1);
    struct ftree_verdict v = silent_from_here(l, 3, 9);

    heard(&v, FTREE_EVIDENCE_HANDLER, 3, l->self, FTREE_PATHS, FTREE_REACH_ANSWERED);
    decides(l, &v);
    ck_assert_ptr_nonnull(for_node(l, 3));
}

/* What is found of node 3 by node 1, and is no reason to tell it by way of another. */
static void nobody_was_answered(struct ftree_verdict *v)
{
    heard(v, FTREE_EVIDENCE_INDIRECT, 3, 9, FTREE_PATH_DATA, FTREE_REACH_CONNECTED);
}

static void one_path_answers_here(struct ftree_verdict *v)
{
    heard(v, FTREE_EVIDENCE_INDIRECT, 3, 9, FTREE_PATH_DATA, FTREE_REACH_ANSWERED);
    heard(v, FTREE_EVIDENCE_PROBE, 3, 1, FTREE_PATH_MGMT, FTREE_REACH_ANSWERED);
}

static void another_node_was_seen(struct ftree_verdict *v)
{
    heard(v, FTREE_EVIDENCE_INDIRECT, 4, 9, FTREE_PATH_DATA, FTREE_REACH_ANSWERED);
}

static void its_deputy_was_seen(struct ftree_verdict *v)
{
    heard(v, FTREE_EVIDENCE_INDIRECT, 3, 9, FTREE_PATH_DATA, FTREE_REACH_ANSWERED);
    v->evidence[v->evidences - 1].role = FTREE_ROLE_DEPUTY;
}

static void (*const no_reasons[])(struct ftree_verdict *) = {
    nobody_was_answered, one_path_answers_here, another_node_was_seen, its_deputy_was_seen};

TEST_CASES(others_are_told_from_here_alone, COUNT(no_reasons))
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 1);
    struct ftree_verdict v = lone_verdict(l, "unknown/silent-from-here-only", 3, FTREE_NONE, 1);

    no_reasons[_i](&v);
    decides(l, &v);
    ck_assert_int_gt(lone_count(l, WIRE_VERDICT_DOWN), 0);
    ck_assert_int_eq(count_relayed(l), 0);
}

/* It is for its FLN, who found that, to have it told so. */
TEST_CASE(what_another_found_is_no_reason)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 1);
    struct ftree_verdict v = silent_from_here(l, 3, 9);

    v.fln = 0;
    lone_told(l, 0, WIRE_VERDICT_DOWN, &v);
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_DOWN), 2);
    ck_assert_int_eq(count_relayed(l), 0);
}

/* All that must arrive goes so: here the release at the end of the job. */
TEST_CASE(every_type_is_relayed)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 1);
    struct ftree_verdict v = silent_from_here(l, 3, 9);
    struct wire_message m = {.type = WIRE_RELEASE};

    decides(l, &v);
    lone_log(l);
    ftree_leave(l->ft, l->now);
    lone_hear(l, 0, FTREE_PATH_DATA, &m);
    ck_assert_int_eq(for_node(l, 3)->m.type, WIRE_RELEASE);
    ck_assert_int_eq(for_node(l, 3)->to.node, 9);
}

/* It was told before it was known that others reach it, and did not acknowledge that. */
TEST_CASE(what_it_missed_goes_so_too)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 1);
    struct ftree_verdict before =
        lone_verdict(l, "node-outage/both-paths-silent", 12, FTREE_NONE, 5);
    struct ftree_verdict v = silent_from_here(l, 3, 9);

    lone_told(l, 0, WIRE_VERDICT_DOWN, &before);
    lone_acks(l, 4);
    lone_run(l, 400);
    lone_log(l);
    v.id += 7;
    LONE_STEP(l, ftree_announce_raise(l->ft, l->now, &v));
    ck_assert_ptr_null(for_node(l, 3));
    lone_run(l, 1);
    ck_assert_int_eq(for_node(l, 3)->told[0].node, 12);
}

TEST_CASE(where_who_was_answered_is_silent_another_passes_it_on)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 1);
    struct ftree_verdict v = silent_from_here(l, 3, 9);

    ftree_peer_unresponsive(l->ft, l->now, 9, false);
    ftree_peer_unresponsive(l->ft, l->now, 4, true);
    decides(l, &v);
    ck_assert_int_eq(for_node(l, 3)->to.node, 5); /* the next by number */
}

TEST_CASE(where_nobody_can_pass_it_on_nobody_is_asked_to)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 0);
    struct ftree_verdict v = silent_from_here(l, 1, 5);

    for (int32_t node = 1; node < NODES; node++)
        ftree_peer_unresponsive(l->ft, l->now, node, false);
    LONE_STEP(l, ftree_announce_raise(l->ft, l->now, &v));
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_DOWN), NODES - 1); /* those below in its place */
    ck_assert_int_eq(count_relayed(l), 0);
}

/* One rto later another is asked to, by new connections; then those below are told from here. */
TEST_CASE(each_try_takes_another_way)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 1);
    struct ftree_verdict v = silent_from_here(l, 3, 9);

    decides(l, &v);
    lone_acks(l, 4);
    lone_log(l);
    lone_run(l, 151);
    ck_assert_str_eq(lone_log(l), "75 -> n0 data ack\n"
                                  "150 verdict-down to n3 goes by way of n4\n"
                                  "150 -> n4 data+mgmt verdict-down for n3\n");
    lone_run(l, 198);
    lone_log(l);
    lone_run(l, 1);
    ck_assert_int_eq(lone_count(l, WIRE_VERDICT_DOWN) - count_relayed(l), 2); /* to 7 and 8 */
    ck_assert_int_eq(ftree_inspect_unresponsive(l->ft), 1); /* who passes on is not to blame */
}

TEST_CASE(below_lost_nodes_it_is_told_from_here)
{
    struct lone *l = lone_of(shape_binary(31, 1), 1);
    struct ftree_verdict v = silent_from_here(l, 15, 4);

    for (int32_t node = 3; node <= 7; node += 4) {
        struct ftree_verdict lost =
            lone_verdict(l, "node-outage/both-paths-silent", node, FTREE_NONE, 1);
        lost.id += (uint32_t) node;
        decides(l, &lost);
    }
    decides(l, &v);
    ck_assert_int_eq(for_node(l, 15)->to.node, 4);
    ck_assert_int_eq(for_node(l, 15)->told[0].node, 15);
}

/* As many verdicts as there is room for in one message. */
TEST_CASE(the_longest_message_is_relayed_whole)
{
    struct lone *l = lone_of(shape_binary(NODES, 200), 1);
    struct ftree_verdict v = silent_from_here(l, 3, 9);
    struct wire_summaries w = {0};
    struct wire_message m = {.type = WIRE_VERDICT_DOWN, .id = 70};
    int32_t told = 0, summaries = 0;

    decides(l, &v);
    lone_log(l);
    for (bool room = true; room; told += room) {
        struct ftree_verdict crash =
            lone_verdict(l, "process-crash/pid-gone", 12, 12 * 200 + told, 5);
        struct summary o;
        crash.id += (uint32_t) told;
        o = messages_summary(&crash);
        room = ftree_wire_put_summary(&w, l->now, &o, crash.rule);
    }
    m.u.summaries = ftree_wire_summary_list(&w);
    lone_hear(l, 0, FTREE_PATH_DATA, &m);
    for (int32_t i = 0; i < l->n_sent; i++)
        summaries += l->sent[i].relayed == 3 ? l->sent[i].tolds : 0;
    ck_assert_int_gt(told, 100);
    ck_assert_int_eq(summaries, told);
}

/* One message for each, however often it goes by another. */
TEST_CASE(what_is_not_acknowledged_does_not_multiply)
{
    struct lone *l = lone_of(shape_tree(64, 1, 8), 0);

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
        /* the first was told alone, and then all four: eight messages, each with a try over one
         * path and one over two, and some at once when it was found that others reach their
         * receiver */
        ck_assert_int_le(count_relayed(l), i ? 0 : 8 * 4);
    }
}

TEST_CASE(without_memory_for_what_is_told_the_verdict_is_kept)
{
    for (int in = 1; in < 40; in++) {
        struct lone *l = lone_of(shape_binary(NODES, 1), 1);
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

/* Those who might pass it on are silent, and so is the node: the report does not wait for its
 * victims. */
TEST_CASE(where_no_other_can_pass_it_on_nobody_is_waited_for)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 0);
    struct ftree_verdict v = silent_from_here(l, 1, 5);

    for (int32_t node = 2; node < NODES; node++)
        if (node != 5)
            ftree_peer_unresponsive(l->ft, l->now, node, false);
    LONE_STEP(l, ftree_announce_raise(l->ft, l->now, &v));
    lone_run(l, 349);
    ck_assert_int_eq(l->reports, 0);
    lone_run(l, 1);
    ck_assert_int_eq(l->reports, 1);
}

TEST_CASE(a_suspect_passes_nothing_on)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 1);
    struct ftree_verdict v = silent_from_here(l, 3, 9);
    struct wire_message m = {.type = WIRE_SYMPTOM, .flags = WIRE_FLAG_SUBSTITUTE};

    ftree_symptom_init(&m.u.symptom, FTREE_SYMPTOM_PEER_STALL, 9, FTREE_NONE, 2, l->now, l->now);
    lone_hear(l, 2, FTREE_PATH_DATA, &m);
    ck_assert(ftree_inspect_is_suspect(l->ft, 9));
    decides(l, &v);
    ck_assert_int_eq(for_node(l, 3)->to.node, 4);
}

TEST_CASE(who_is_silent_from_here_passes_nothing_on)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 1);
    struct ftree_verdict other = silent_from_here(l, 4, 9), v = silent_from_here(l, 3, 4);

    decides(l, &other);
    v.id++;
    decides(l, &v);
    ck_assert_int_eq(for_node(l, 3)->to.node, 5);
    ck_assert_int_eq(for_node(l, 4)->to.node, 9);
}

/* With the node those next to it were lost: they are passed over, however many they are. */
TEST_CASE(past_those_that_are_lost_another_passes_it_on)
{
    struct lone *l = lone_of(shape_binary(64, 1), 1);
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
    ck_assert_int_eq(for_node(l, 3)->to.node, 31);
}

TEST_CASE(what_follows_is_told_so_too_until_it_answers)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 1);
    struct ftree_verdict v = silent_from_here(l, 3, 9);
    struct ftree_verdict more = lone_verdict(l, "node-outage/both-paths-silent", 12, FTREE_NONE, 5);

    decides(l, &v);
    lone_log(l);
    lone_told(l, 0, WIRE_VERDICT_DOWN, &more);
    ck_assert_int_eq(for_node(l, 3)->to.node, 9);
    ck_assert_int_eq(for_node(l, 3)->told[0].node, 12);
    lone_over(l, 0, "it answers");
    lone_acks(l, 0);
    lone_log(l);
    more = lone_verdict(l, "node-outage/both-paths-silent", 11, FTREE_NONE, 5);
    more.id += 2;
    lone_told(l, 0, WIRE_VERDICT_DOWN, &more);
    ck_assert_int_gt(lone_count(l, WIRE_VERDICT_DOWN), 0);
    ck_assert_int_eq(count_relayed(l), 0);
}

/* It is waited for like others, whatever it did not acknowledge before. */
TEST_CASE(its_victims_come_back_the_same_way)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 0);
    struct ftree_verdict v = silent_from_here(l, 1, 5);
    struct wire_message m = {.type = WIRE_VICTIMS, .id = 99};

    ftree_peer_unresponsive(l->ft, l->now, 1, false);
    LONE_STEP(l, ftree_announce_raise(l->ft, l->now, &v));
    lone_nobody_waits(l, 2, ftree_inspect_owes(l->ft, 2));
    ck_assert_int_eq(l->reports, 0);
    m.u.victims.message = for_node(l, 1)->m.id;
    ftree_ranks_add(&m.u.victims.ranks, 3, 4);
    ck_assert_int_eq(relays(l, 5, 1, false, &m), FTREE_OK);
    ck_assert_int_eq(l->reports, 1);
    ck_assert_int_eq(l->report[0].victims.count, 2);
    ck_assert_int_eq(ftree_inspect_outbox_to(l->ft, 1), 0); /* that acknowledges it */
}

/* Its verdict hides that it may be lost by now. */
TEST_CASE(by_way_of_others_it_is_asked_whether_it_is_there)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 0);
    struct ftree_verdict v = silent_from_here(l, 1, 5);
    struct wire_message m = {.type = WIRE_ACK, .id = 99};

    LONE_STEP(l, ftree_announce_raise(l->ft, l->now, &v));
    m.u.ack = for_node(l, 1)->m.id;
    ck_assert_int_eq(relays(l, 5, 1, false, &m), FTREE_OK);
    lone_log(l);
    lone_run(l, 200);
    ck_assert_int_eq(for_node(l, 1)->m.type, WIRE_VERDICT_DOWN);
    ck_assert_int_eq(for_node(l, 1)->tolds, 0);
    lone_run(l, 349);
    ck_assert(!ftree_inspect_is_suspect(l->ft, 1));
    lone_run(l, 1);
    ck_assert(ftree_inspect_is_suspect(l->ft, 1));
}

/* It is one link that is broken: the other end's verdict is enough, whichever is known first. */
TEST_CASE(of_both_ends_of_a_link_one_is_told)
{
    for (int found = 0; found < 2; found++) {
        struct lone *l = lone_of(shape_binary(NODES, 1), 3);
        struct ftree_verdict own = silent_from_here(l, 1, 9);
        struct ftree_verdict v = lone_verdict(l, own.rule, 3, FTREE_NONE, 1);
        if (found)
            LONE_STEP(l, ftree_announce_raise(l->ft, l->now, &own));
        lone_told(l, 0, WIRE_VERDICT_DOWN, &v);
        if (!found)
            LONE_STEP(l, ftree_announce_raise(l->ft, l->now, &own));
        ck_assert_int_eq(ftree_inspect_verdicts(l->ft), 1 + found);
        if (found)
            ck_assert_int_eq(lone_known(l, 0).up, FTREE_INSPECT_UP_NOTHING);
        lone_free(l);
    }
}

/* It finds the same of this one: one link is broken, and one verdict is enough. */
TEST_CASE(what_is_found_of_a_node_is_not_relayed_to_it)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 3);
    struct ftree_verdict v = silent_from_here(l, 1, 9);
    struct wire_message m = {.type = WIRE_FLOOD_QUERY, .id = 70, .u.round = 1};

    ck_assert_int_eq(relays(l, 9, 1, false, &m), FTREE_OK);
    lone_log(l);
    LONE_STEP(l, ftree_announce_raise(l->ft, l->now, &v));
    ck_assert_int_eq(lone_last(l, WIRE_VERDICT_UP)->to.node, 1);
    ck_assert_int_eq(lone_last(l, WIRE_VERDICT_UP)->relayed, FTREE_NONE);
}

/* ---- at the other ---------------------------------------------------------------------------- */

TEST_CASE(it_is_passed_on_whole_and_nothing_is_kept)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 9);
    struct wire_message m = {.type = WIRE_RELEASE, .id = 70};

    ck_assert_int_eq(relays(l, 1, 3, true, &m), FTREE_OK);
    ck_assert_uint_eq(for_node(l, 1)->m.id, 70);
    ck_assert_str_eq(lone_log(l), "0 passes a message on to n3\n"
                                  "0 -> n3 mgmt release from n1\n");
    ck_assert_int_eq(ftree_inspect_outbox(l->ft), 0);
}

/* Nothing is passed to this node, to who asks, to one that is lost. */
TEST_CASE(what_cannot_be_passed_on_is_left)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 9);
    struct ftree_verdict lost = lone_verdict(l, "node-outage/both-paths-silent", 3, FTREE_NONE, 1);
    struct wire_message m = {.type = WIRE_RELEASE, .id = 70};

    lone_told(l, 4, WIRE_VERDICT_DOWN, &lost);
    lone_log(l);
    ck_assert_int_eq(relays(l, 1, 3, true, &m), FTREE_OK);
    ck_assert_int_eq(relays(l, 1, 1, true, &m), FTREE_OK);
    ck_assert_int_eq(relays(l, 1, 9, true, &m), FTREE_OK);
    ck_assert_str_eq(lone_log(l), "");
}

/* ---- at the node ----------------------------------------------------------------------------- */

TEST_CASE(what_is_relayed_is_taken_as_from_its_author)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 10); /* a leaf, whose rank waits */
    struct ftree_verdict v = lone_verdict(l, "node-outage/both-paths-silent", 12, FTREE_NONE, 5);
    struct wire_summaries w;
    struct wire_message m = messages_told(l->now, &v, 1, &w);

    m.id = 70;
    l->state[0].waiting = 2000 * FTREE_MS;
    ck_assert_int_eq(relays(l, 9, 4, false, &m), FTREE_OK);
    ck_assert_uint_eq(for_node(l, 4)->m.u.victims.message, 70);
    ck_assert_str_eq(lone_log(l), "0 learns node-outage of n12\n"
                                  "0 -> n9 mgmt victims for n4\n");
    ck_assert_int_eq(relays(l, 9, 4, false, &m), FTREE_OK); /* it comes again */
    ck_assert_str_eq(lone_log(l), "0 -> n9 mgmt victims for n4\n");
}

/* Until that one is heard itself, or for ten seconds. */
TEST_CASE(for_a_while_it_sends_by_the_same_way)
{
    for (int heard = 0; heard < 2; heard++) {
        struct lone *l = lone_of(shape_binary(NODES, 1), 10);
        struct wire_message m = {.type = WIRE_FLOOD_QUERY, .id = 70, .u.round = 1};
        ck_assert_int_eq(relays(l, 9, 4, false, &m), FTREE_OK);
        ck_assert_int_eq(for_node(l, 4)->m.type, WIRE_ACK);
        ck_assert_int_eq(for_node(l, 4)->to.node, 9);
        lone_log(l);
        if (heard)
            lone_hear(l, 4, FTREE_PATH_DATA, &(struct wire_message){.type = WIRE_RELEASE});
        else
            l->now += 10000 * FTREE_MS;
        lone_log(l);
        lone_hear(l, 4, FTREE_PATH_DATA, &(struct wire_message){.type = WIRE_RELEASE});
        ck_assert_int_eq(count_relayed(l), 0);
        lone_free(l);
    }
}

/* Questions are not relayed: their answers would be no facts. */
TEST_CASE(only_what_must_arrive_is_taken)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 10);
    struct wire_message m = {.type = WIRE_PROBE, .id = 70};
    uint8_t bytes[] = {0xf7, WIRE_VERSION};
    struct wire_message empty = {.type = WIRE_RELAY, .flags = WIRE_FLAG_PASSED_ON,
                                 .u.relay = {.node = 4, .len = sizeof(bytes), .bytes = bytes}};
    uint8_t buf[FTREE_MESSAGE_MAX];

    ck_assert_int_eq(relays(l, 9, 4, false, &m), FTREE_ERR_MALFORMED);
    m = (struct wire_message){.type = WIRE_RELAY, .id = 71, .u.relay = {.node = 4}};
    ck_assert_int_eq(relays(l, 9, 4, false, &m), FTREE_ERR_MALFORMED);
    m = (struct wire_message){.type = WIRE_RELEASE, .id = 72};
    ck_assert_int_eq(relays(l, 9, 10, false, &m), FTREE_ERR_MALFORMED);
    ck_assert_int_eq(ftree_receive(l->ft, l->now, 9, FTREE_PATH_DATA, 1, buf,
                                   ftree_wire_encode(&empty, l->now, buf)),
                     FTREE_ERR_MALFORMED);
    ck_assert_str_eq(lone_log(l), "");
}

TEST_CASE(without_memory_it_is_taken_nevertheless)
{
    for (int in = 1; in < 6; in++) {
        struct lone *l = lone_of(shape_binary(NODES, 1), 10);
        struct wire_message m = {.type = WIRE_GOODBYE, .id = 70};
        l->fail_alloc_in = in;
        ck_assert_int_eq(relays(l, 9, 4, false, &m), FTREE_OK);
        l->fail_alloc_in = 0;
        ck_assert_int_eq(lone_count(l, WIRE_ACK), 1);
        lone_free(l);
    }
}
