/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "lone.h"
#include "suite.h"
#include "world.h"

static void symptom_from(struct lone *l, int32_t from, int32_t suspect, uint32_t count, bool flag)
{
    struct wire_message m = {.type = WIRE_SYMPTOM, .flags = flag ? WIRE_FLAG_SUBSTITUTE : 0};

    ftree_symptom_init(&m.u.symptom, FTREE_SYMPTOM_PEER_STALL, suspect, FTREE_NONE, from,
                       l->now - 1000 * FTREE_MS, l->now);
    m.u.symptom.count = count;
    lone_hear(l, from, FTREE_PATH_DATA, &m);
}

/* The tree of the tests:  0 - 1 2,  1 - 3 4,  2 - 5 6,  3 - 7 8,  4 - 9 10,  5 - 11 12. */
#define NODES 13

/* Where does node `self` send a symptom about `suspect`?  Itself: it examines. */
static const struct {
    int32_t self, suspect, hop;
} ways[] = {
    {0, 1, 0},  {0, 2, 0},   {0, 3, 1},  {0, 9, 1},  {0, 12, 2}, {1, 3, 1},  {1, 7, 3},  {1, 2, 0},
    {1, 11, 0}, {3, 7, 3},   {3, 8, 3},  {3, 4, 1},  {3, 10, 1}, {3, 1, 0},  {7, 8, 3},  {7, 3, 1},
    {7, 1, 3},  {12, 11, 5}, {12, 5, 2}, {12, 2, 5}, {12, 1, 5}, {2, 0, 10}, {1, 0, 10},
};

TEST_CASES(one_step_along_the_tree, COUNT(ways))
{
    struct lone *l = lone_of(shape_binary(NODES, 1), ways[_i].self);
    const struct lone_sent *s;

    lone_stall(l, ways[_i].self, ways[_i].suspect);
    s = lone_last(l, WIRE_SYMPTOM);
    if (ways[_i].hop == ways[_i].self) {
        ck_assert_ptr_null(s);
        ck_assert(ftree_inspect_is_suspect(l->ft, ways[_i].suspect));
    } else {
        ck_assert_ptr_nonnull(s);
        ck_assert_int_eq(s->to.node, ways[_i].hop);
        ck_assert_int_eq(s->m.flags, ways[_i].suspect == 0 ? WIRE_FLAG_SUBSTITUTE : 0);
    }
}

TEST_CASE(on_its_way_a_symptom_takes_the_next_step)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 1);

    symptom_from(l, 3, 10, 1, false); /* from below, to below */
    symptom_from(l, 0, 8, 1, false); /* from above */
    symptom_from(l, 4, 12, 1, false); /* up */
    ck_assert_str_eq(lone_log(l), "0 -> n3 data ack\n"
                                  "0 symptom about n10 goes to n4\n"
                                  "0 -> n4 data symptom\n"
                                  "0 -> n0 data ack\n"
                                  "0 symptom about n8 goes to n3\n"
                                  "0 -> n3 data symptom\n"
                                  "0 -> n4 data ack\n"
                                  "0 symptom about n12 goes to n0\n"
                                  "0 -> n0 data symptom\n");
}

TEST_CASE(equal_symptoms_are_held_back_for_half_a_stall_limit)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 1);
    const struct ftree_symptom *s;

    symptom_from(l, 3, 12, 1, false);
    lone_acks(l, 0);
    symptom_from(l, 4, 12, 1, false);
    symptom_from(l, 9, 12, 1, false);
    ck_assert_int_eq(lone_count(l, WIRE_SYMPTOM), 1);
    symptom_from(l, 9, 11, 1, false); /* another suspect */
    ck_assert_int_eq(lone_count(l, WIRE_SYMPTOM), 2);
    lone_acks(l, 0);
    lone_run(l, 499);
    symptom_from(l, 4, 12, 1, false);
    ck_assert_int_eq(lone_count(l, WIRE_SYMPTOM), 2);
    lone_run(l, 1); /* then they follow as one */
    ck_assert_int_eq(lone_count(l, WIRE_SYMPTOM), 3);
    s = &lone_last(l, WIRE_SYMPTOM)->m.u.symptom;
    ck_assert_int_eq(s->about.node, 12);
    ck_assert_uint_eq(s->count, 3);
    ck_assert_int_eq(s->reporters, 2);
    ck_assert_int_eq(s->reporter[0], 4);
    ck_assert_int_eq(s->reporter[1], 9);
    ck_assert_uint_eq(s->first, 0);
    ck_assert_uint_eq(s->last, l->now - FTREE_MS);
    lone_acks(l, 0);
    symptom_from(l, 4, 12, 1, false); /* at the same time as what follows now: it only counts */
    ck_assert_int_eq(lone_count(l, WIRE_SYMPTOM), 3);
    lone_run(l, 1399);
    ck_assert_int_eq(lone_count(l, WIRE_SYMPTOM), 3);
    lone_run(l, 1);
    ck_assert_int_eq(lone_count(l, WIRE_SYMPTOM), 4);
    lone_acks(l, 0);
    lone_run(l, 5000);
    ck_assert_int_eq(lone_count(l, WIRE_SYMPTOM), 4);
    ck_assert(ftree_intake_deadline(l->ft) == FTREE_NEVER);
    lone_sleep(l, 1000);
    symptom_from(l, 4, 12, 1, false); /* at once: the last was long ago */
    ck_assert_int_eq(lone_count(l, WIRE_SYMPTOM), 5);
}

TEST_CASE(symptoms_about_a_suspect_are_merged)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 0);

    symptom_from(l, 2, 1, 1, false);
    symptom_from(l, 2, 1, 7, false);
    lone_run(l, 100);
    symptom_from(l, 2, 1, 1, false);
    ck_assert_int_eq(ftree_inspect_suspects(l->ft), 1);
    ck_assert_uint_eq(lone_case(l, 1).count, 9);
    ck_assert_int_eq(lone_count(l, WIRE_PROBE), 2);
}

TEST_CASE(the_oldest_symptom_is_the_first)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 0);
    struct wire_message m = {.type = WIRE_SYMPTOM};

    ftree_symptom_init(&m.u.symptom, FTREE_SYMPTOM_PEER_STALL, 1, 1, 2, l->now - 300 * FTREE_MS,
                       l->now);
    lone_hear(l, 2, FTREE_PATH_DATA, &m);
    ck_assert_uint_eq(lone_case(l, 1).first, 700 * FTREE_MS);
    m.u.symptom.first = l->now - 600 * FTREE_MS;
    lone_hear(l, 2, FTREE_PATH_DATA, &m);
    ck_assert_uint_eq(lone_case(l, 1).first, 400 * FTREE_MS);
    m.u.symptom.first = 0; /* as old as the clock */
    lone_hear(l, 2, FTREE_PATH_DATA, &m);
    ck_assert_uint_eq(lone_case(l, 1).first, 0);
}

TEST_CASE(what_a_verdict_explains_goes_nowhere)
{
    struct lone *l = lone_of(shape_binary(NODES, 2), 1);

    lone_knows(l, "node-outage/both-paths-silent", 12, FTREE_NONE, 0);
    lone_knows(l, "process-crash/pid-gone", 11, 22, 0);
    symptom_from(l, 3, 12, 1, false); /* it is lost */
    symptom_from(l, 12, 11, 1, false); /* says a lost one */
    lone_stall(l, 2, 22); /* the rank is gone */
    ck_assert_int_eq(lone_count(l, WIRE_SYMPTOM), 0);
    lone_stall(l, 3, 23); /* its neighbour is not */
    ck_assert_int_eq(lone_count(l, WIRE_SYMPTOM), 1);
    ck_assert_str_eq(lone_log(l), "0 -> n3 data ack\n"
                                  "0 symptom about n12 explained by a verdict\n"
                                  "0 -> n12 data+mgmt probe fresh\n" /* is it still? */
                                  "0 -> n12 data ack\n"
                                  "0 symptom about n11 explained by a verdict\n"
                                  "0 rank 2 stalls, waits for rank 22\n"
                                  "0 symptom about n11 explained by a verdict\n"
                                  "0 rank 3 stalls, waits for rank 23\n"
                                  "0 symptom about n11 goes to n0\n"
                                  "0 -> n0 data symptom\n");
}

TEST_CASE(a_symptom_about_oneself_is_dropped)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 1);

    symptom_from(l, 3, 1, 1, false);
    ck_assert_str_eq(lone_log(l), "0 -> n3 data ack\n");
}

TEST_CASE(the_fln_stands_in_for_a_lost_step_down)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 0);

    lone_knows(l, "node-outage/both-paths-silent", 1, FTREE_NONE, 0);
    symptom_from(l, 2, 7, 1, false);
    ck_assert_ptr_null(lone_last(l, WIRE_SYMPTOM)); /* 3 is below the lost node */
    ck_assert(ftree_inspect_is_suspect(l->ft, 7));
}

TEST_CASE(a_lost_step_up_is_passed_over)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 7);

    lone_knows(l, "node-outage/both-paths-silent", 3, FTREE_NONE, 0);
    lone_stall(l, 7, 12);
    ck_assert_int_eq(lone_last(l, WIRE_SYMPTOM)->to.node, 1);
    lone_knows(l, "node-outage/both-paths-silent", 1, FTREE_NONE, 0);
    lone_run(l, 400);
    ck_assert_int_eq(lone_last(l, WIRE_SYMPTOM)->to.node, 0);
}

TEST_CASE(a_mute_step_is_passed_over_until_it_is_heard)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 7);
    struct wire_message m = {.type = WIRE_ACK};

    ftree_peer_unresponsive(l->ft, l->now, 3, false);
    ck_assert(!ftree_peer_usable(l->ft, l->now, 3));
    lone_stall(l, 7, 12);
    ck_assert_int_eq(lone_last(l, WIRE_SYMPTOM)->to.node, 1);
    lone_hear(l, 3, FTREE_PATH_DATA, &m);
    ck_assert(ftree_peer_usable(l->ft, l->now, 3));
    ftree_peer_unresponsive(l->ft, l->now, 3, false);
    ck_assert(!ftree_peer_usable(l->ft, l->now + 4999 * FTREE_MS, 3));
    ck_assert(ftree_peer_usable(l->ft, l->now + 5000 * FTREE_MS, 3));
}

TEST_CASE(without_ancestors_the_roots_substitutes_are_asked)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 2);
    bool substitute;
    int32_t hops[14], n = 0, hop;

    while ((hop = ftree_route_upward(l->ft, l->now, FTREE_NONE, &substitute)) != 2) {
        ck_assert_int_eq(substitute, hop != 0);
        hops[n++] = hop;
        ftree_peer_unresponsive(l->ft, l->now, hop, false);
    }
    ck_assert_int_eq(n, 9);
    ck_assert_int_eq(hops[0], 0);
    for (int32_t k = 1; k < n; k++) /* up to the own place in that order, not further */
        ck_assert_int_eq(hops[k], ftree_inspect_root_substitute(l->ft, k));
}

/* ---- the own node ---------------------------------------------------------------------------- */

/* Other middleware tells a node of itself: someone else examines it. */
static void hot(struct lone *l)
{
    struct ftree_symptom s;

    ftree_symptom_init(&s, FTREE_SYMPTOM_TEMPERATURE, l->self, FTREE_NONE, 0, l->now, l->now);
    ck_assert_int_eq(ftree_symptom(l->ft, l->now, &s), FTREE_OK);
    ck_assert_ptr_null(ftree_check(l->ft));
}

static const struct {
    int32_t self, lost, hop;
    int flags;
} flns[] = {
    {7, FTREE_NONE, 3, 0},
    {3, FTREE_NONE, 1, 0},
    {1, FTREE_NONE, 0, 0},
    {7, 3, 1, 0}, /* its FLN is lost: the next above */
    {1, 0, 10, WIRE_FLAG_SUBSTITUTE}, /* the root is */
    {0, FTREE_NONE, 10, WIRE_FLAG_SUBSTITUTE}, /* of the root its first substitute */
    {0, 10, 12, WIRE_FLAG_SUBSTITUTE}, /* or the next */
};

TEST_CASES(what_is_seen_of_the_own_node_goes_to_its_fln, COUNT(flns))
{
    struct lone *l = lone_of(shape_binary(NODES, 1), flns[_i].self);
    const struct lone_sent *s;

    if (flns[_i].lost != FTREE_NONE)
        lone_knows(l, "node-outage/both-paths-silent", flns[_i].lost, FTREE_NONE, 0);
    hot(l);
    ck_assert_int_eq(ftree_inspect_cases(l->ft), 0);
    s = lone_last(l, WIRE_SYMPTOM);
    ck_assert_int_eq(s->to.node, flns[_i].hop);
    ck_assert_int_eq(s->m.flags, flns[_i].flags);
    ck_assert_int_eq(s->m.u.symptom.about.node, flns[_i].self);
    ck_assert_int_eq(s->m.u.symptom.reporter[0], flns[_i].self);
}

TEST_CASE(the_only_node_examines_nobody)
{
    struct lone *l = lone_of(shape_binary(1, 2), 0);

    hot(l);
    ck_assert_int_eq(ftree_inspect_suspects(l->ft), 0);
    lone_run(l, 5000);
    ck_assert_int_eq(ftree_inspect_cases(l->ft), 0);
    ck_assert_int_eq(l->n_sent, 0);
}

TEST_CASE(its_fln_examines_it)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 3);
    struct wire_message m = {.type = WIRE_SYMPTOM};

    ftree_symptom_init(&m.u.symptom, FTREE_SYMPTOM_MOUNT_SILENT, 7, FTREE_NONE, 7, l->now, l->now);
    lone_hear(l, 7, FTREE_PATH_DATA, &m);
    ck_assert(ftree_inspect_is_suspect(l->ft, 7));
}

TEST_CASE(an_expired_symptom_is_no_news)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 1);
    struct wire_message m = {.type = WIRE_SYMPTOM};

    lone_sleep(l, 60000);
    ftree_symptom_init(&m.u.symptom, FTREE_SYMPTOM_MOUNT_SILENT, 4, FTREE_NONE, 3, 0,
                       l->now - 10001 * FTREE_MS);
    lone_hear(l, 3, FTREE_PATH_DATA, &m);
    ck_assert_str_eq(lone_log(l), "60000 -> n3 data ack\n"
                                  "60000 symptom about n4 expired\n");
    m.id = 0;
    m.u.symptom.last += 2 * FTREE_MS;
    lone_hear(l, 3, FTREE_PATH_DATA, &m);
    ck_assert(ftree_inspect_is_suspect(l->ft, 4));
}

/* ---- overload -------------------------------------------------------------------------------- */

static enum wire_type reply_to_symptom(struct lone *l, int32_t from, int32_t suspect)
{
    lone_log(l);
    symptom_from(l, from, suspect, 1, false);
    ck_assert_ptr_null(ftree_check(l->ft));
    for (int32_t i = 0; i < l->n_sent; i++)
        if (l->sent[i].m.type == WIRE_ACK || l->sent[i].m.type == WIRE_BUSY)
            return (enum wire_type) l->sent[i].m.type;
    return WIRE_TYPE_COUNT;
}

TEST_CASE(who_has_too_much_under_way_is_busy)
{
    struct lone *l = lone_of(shape_tree(100, 1, 30), 1); /* its children are 31 to 60 */

    l->cfg.pending_max = 3;
    lone_renew(l);
    for (int32_t n = 31; n < 35; n++)
        ck_assert_int_eq(reply_to_symptom(l, 60, n), WIRE_ACK);
    ck_assert_int_eq(ftree_inspect_cases(l->ft), 4);
    ck_assert_int_eq(reply_to_symptom(l, 60, 35), WIRE_BUSY);
    ck_assert_int_eq(ftree_inspect_cases(l->ft), 4);
    ck_assert(!ftree_inspect_is_suspect(l->ft, 35));
    ck_assert_int_eq(reply_to_symptom(l, 60, 31), WIRE_ACK); /* it is here anyway */
}

/* Node 1 of a tree in which the children of 2 are 61 to 90. */
static struct lone *one_of_ranks_that_say(int32_t pending_max)
{
    struct lone *l = lone_of(shape_tree(1000, 1, 30), 1);

    l->cfg.pending_max = pending_max;
    l->ranks_say = true;
    lone_renew(l);
    return l;
}

/* Of those whom the ranks' own words name only so many are passed on, and what is no stall is. */
TEST_CASE(where_everybody_waits_for_another_most_stalls_end_here)
{
    struct lone *l = one_of_ranks_that_say(3);
    struct wire_message m = {.type = WIRE_SYMPTOM};

    for (int32_t n = 61; n < 71; n++)
        symptom_from(l, 31 + n % 7, n, 1, false);
    ck_assert_int_eq(lone_count(l, WIRE_SYMPTOM), 3);
    ck_assert_int_eq(lone_count(l, WIRE_ACK), 10);
    ck_assert_int_eq(ftree_inspect_cases(l->ft), 0);
    ftree_symptom_init(&m.u.symptom, FTREE_SYMPTOM_PEER_UNREACHABLE, 71, FTREE_NONE, 31, l->now,
                       l->now);
    lone_hear(l, 31, FTREE_PATH_DATA, &m);
    ck_assert_int_eq(lone_count(l, WIRE_SYMPTOM), 4);
    lone_acks(l, 0);
    lone_run(l, 500);
    lone_log(l);
    symptom_from(l, 31, 70, 1, false); /* it comes again, and now there is room */
    ck_assert_int_eq(lone_count(l, WIRE_SYMPTOM), 1);
}

/* One that is held back with its like is not forgotten. */
TEST_CASE(what_was_passed_on_is_counted_however_many_there_are)
{
    struct lone *l = one_of_ranks_that_say(1);

    symptom_from(l, 31, 61, 1, false);
    symptom_from(l, 32, 62, 1, false);
    symptom_from(l, 33, 61, 5, false);
    lone_acks(l, 0);
    lone_run(l, 1500);
    ck_assert_int_eq(lone_last(l, WIRE_SYMPTOM)->m.u.symptom.about.node, 61);
    ck_assert_uint_eq(lone_last(l, WIRE_SYMPTOM)->m.u.symptom.count, 5);
}

/* The parent may have as many from each of its other children. */
TEST_CASE(of_many_stalls_some_are_passed_on_at_a_time)
{
    struct lone *l = one_of_ranks_that_say(256);

    for (int32_t n = 100; n < 230; n++)
        symptom_from(l, 31, n, 1, false);
    ck_assert_int_eq(lone_count(l, WIRE_SYMPTOM), 64);
    lone_acks(l, 0);
    lone_log(l);
    lone_run(l, 99);
    ck_assert_int_eq(lone_count(l, WIRE_SYMPTOM), 0);
    lone_run(l, 1);
    ck_assert_int_eq(lone_count(l, WIRE_SYMPTOM), 64);
    lone_acks(l, 0);
    lone_log(l);
    lone_run(l, 100);
    ck_assert_int_eq(lone_count(l, WIRE_SYMPTOM), 2);
    lone_acks(l, 0);
    lone_log(l);
    lone_run(l, 1000);
    ck_assert_int_eq(lone_count(l, WIRE_SYMPTOM), 0); /* each once */
}

TEST_CASE(ranks_that_cannot_say_what_they_wait_for_are_all_passed_on)
{
    struct lone *l = one_of_ranks_that_say(3);

    l->ranks_say = false;
    lone_renew(l);
    for (int32_t n = 61; n < 71; n++)
        symptom_from(l, 31, n, 1, false);
    ck_assert_int_eq(lone_count(l, WIRE_SYMPTOM), 10);
}

/* Else all of the cases of the children would be the root's. */
TEST_CASE(who_has_much_under_way_leaves_suspects_to_their_fln)
{
    struct lone *l = lone_of(shape_tree(1000, 1, 30), 0);

    l->cfg.pending_max = 4;
    lone_renew(l);
    for (int32_t n = 1; n < 3; n++)
        symptom_from(l, 5, n, 1, false);
    symptom_from(l, 5, 31, 1, false); /* 1 is a suspect, and may never pass it on */
    ck_assert_int_eq(ftree_inspect_cases(l->ft), 3);
    ck_assert_int_eq(lone_count(l, WIRE_SYMPTOM), 0);
    symptom_from(l, 5, 32, 1, false);
    ck_assert_int_eq(ftree_inspect_cases(l->ft), 3);
    ck_assert_int_eq(lone_last(l, WIRE_SYMPTOM)->to.node, 1);
}

TEST_CASE(the_root_and_its_heir_never_refuse)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 0);

    l->cfg.pending_max = 0;
    lone_renew(l);
    ck_assert_int_eq(reply_to_symptom(l, 5, 1), WIRE_ACK);
    ck_assert_int_eq(reply_to_symptom(l, 5, 2), WIRE_ACK);
    lone_free(l);
    l = lone_of(shape_binary(NODES, 1), 10);
    l->cfg.pending_max = 0;
    lone_renew(l);
    lone_knows(l, "node-outage/both-paths-silent", 0, FTREE_NONE, 0);
    ck_assert_int_eq(reply_to_symptom(l, 5, 1), WIRE_ACK);
    ck_assert_int_eq(reply_to_symptom(l, 5, 2), WIRE_ACK);
}

/* Its own tick came late: it gets too little CPU. */
TEST_CASE(who_is_late_is_busy)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 1);

    lone_stall(l, 1, 3); /* something to be late for */
    lone_run(l, 100);
    lone_sleep(l, 2000);
    ftree_tick(l->ft, l->now);
    ck_assert_int_eq(reply_to_symptom(l, 0, 4), WIRE_BUSY);
    ck_assert_int_eq(reply_to_symptom(l, 0, 3), WIRE_ACK); /* under way already */
    lone_run(l, 999);
    ck_assert(ftree_inspect_is_suspect(l->ft, 3) || l->verdicts);
    lone_run(l, 2000); /* it runs in time again */
    ck_assert_int_eq(reply_to_symptom(l, 0, 4), WIRE_ACK);
}

TEST_CASE(late_once_by_a_little_is_not_busy)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 1);

    lone_stall(l, 1, 3);
    lone_run(l, 100);
    lone_sleep(l, 150);
    ftree_tick(l->ft, l->now);
    ck_assert_int_eq(reply_to_symptom(l, 0, 4), WIRE_ACK);
}

TEST_CASE(who_was_late_long_ago_is_not_busy)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 1);

    lone_stall(l, 1, 12);
    lone_acks(l, 0);
    ftree_stall_over(l->ft, l->now, 1);
    lone_sleep(l, 2000);
    ftree_tick(l->ft, l->now); /* nothing was due: not late */
    ck_assert_int_eq(reply_to_symptom(l, 0, 4), WIRE_ACK);
}

TEST_CASE(a_busy_fln_is_passed_over)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 7);
    struct wire_message m = {.type = WIRE_BUSY};

    lone_stall(l, 7, 8); /* its FLN is 3 */
    m.u.ack = lone_last(l, WIRE_SYMPTOM)->m.id;
    lone_log(l);
    lone_hear(l, 3, FTREE_PATH_DATA, &m);
    ck_assert_str_eq(lone_log(l), "0 n3 is busy\n"
                                  "0 symptom about n8 goes to n1\n"
                                  "0 -> n1 data symptom\n");
    ck_assert_int_eq(ftree_inspect_outbox(l->ft), 1);
    ck_assert(!ftree_peer_usable(l->ft, l->now, 3)); /* although it is heard, */
    ck_assert(!ftree_peer_usable(l->ft, l->now + 999 * FTREE_MS, 3));
    ck_assert(ftree_peer_usable(l->ft, l->now + 1000 * FTREE_MS, 3)); /* for a second */
    ck_assert_int_eq(ftree_inspect_suspects(l->ft), 0); /* and nobody suspects it */
}

TEST_CASE(who_is_above_a_busy_fln_stands_in)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 1);
    struct wire_message m = {.type = WIRE_BUSY};

    symptom_from(l, 7, 8, 1, false); /* 7 passed 3 over */
    m.u.ack = lone_last(l, WIRE_SYMPTOM)->m.id; /* 1 asks it once more */
    lone_hear(l, 3, FTREE_PATH_DATA, &m);
    ck_assert(ftree_inspect_is_suspect(l->ft, 8));
}

TEST_CASE(busy_with_something_else_is_nothing)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 7);
    struct wire_message m = {.type = WIRE_BUSY};

    lone_stall(l, 7, 8);
    m.u.ack = lone_last(l, WIRE_SYMPTOM)->m.id + 1;
    lone_hear(l, 3, FTREE_PATH_DATA, &m); /* another message */
    m.id = 0;
    m.u.ack--;
    lone_hear(l, 1, FTREE_PATH_DATA, &m); /* another node */
    ck_assert(ftree_peer_usable(l->ft, l->now, 3));
    ck_assert_int_eq(ftree_inspect_outbox(l->ft), 1);
    m = (struct wire_message){.type = WIRE_FLOOD_QUERY, .u.round = 1};
    ftree_outbox_put(l->ft, l->now, 3, &m);
    m = (struct wire_message){.type = WIRE_BUSY, .u.ack = m.id};
    lone_hear(l, 3, FTREE_PATH_DATA, &m); /* only a symptom can be refused */
    ck_assert_int_eq(ftree_inspect_outbox(l->ft), 2);
}

/* The FLN of 7 and 8 sleeps for two seconds, and 8 is lost: whoever is above finds it, and the
 * sleeper is not accused. */
TEST_CASE(an_overloaded_fln_is_passed_over_and_not_accused)
{
    struct world *w = world_of(shape_binary(NODES, 1));

    w->node[8].off = true;
    world_all_wait(w, 8, 8);
    for (int i = 0; i < 6; i++) {
        w->node[3].asleep_until = w->now + 800 * FTREE_MS;
        world_run(w, 850 * FTREE_MS);
    }
    ck_assert_int_eq(w->reports, 1);
    ck_assert_int_eq(w->report[0].class_, FTREE_CLASS_NODE_OUTAGE);
    ck_assert_int_eq(w->report[0].node, 8);
    world_run(w, 20000 * FTREE_MS);
    ck_assert_int_eq(w->reports, 1);
    ck_assert_int_eq(w->withdrawals, 0);
    for (int32_t n = 0; n < NODES; n++)
        ck_assert_int_eq(w->verdicts_on[n], n != 8);
}

TEST_CASE(a_substitute_examines_what_it_is_sent)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 11);

    symptom_from(l, 1, 0, 1, true);
    ck_assert(ftree_inspect_is_suspect(l->ft, 0));
}

TEST_CASE(the_heir_of_the_root_examines_the_roots_children)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 10);

    lone_knows(l, "node-outage/both-paths-silent", 0, FTREE_NONE, 0);
    lone_stall(l, 10, 1);
    ck_assert(ftree_inspect_is_suspect(l->ft, 1));
    lone_stall(l, 10, 12); /* further down it is somebody else's */
    lone_run(l, 500);
    ck_assert_int_eq(lone_last(l, WIRE_SYMPTOM)->to.node, 2);
}

TEST_CASE(a_symptom_not_acknowledged_goes_another_way_and_ages)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 7);

    lone_stall(l, 7, 12);
    lone_run(l, 349);
    lone_log(l);
    lone_run(l, 1);
    ck_assert_int_eq(lone_last(l, WIRE_SYMPTOM)->to.node, 1);
    ck_assert_uint_eq(lone_last(l, WIRE_SYMPTOM)->m.u.symptom.first, 0);
    ck_assert_uint_eq(lone_last(l, WIRE_SYMPTOM)->m.u.symptom.last, 1000 * FTREE_MS);
    ck_assert_str_eq(lone_log(l), "350 symptom to n3 not acknowledged\n"
                                  "350 symptom about n3 goes to n1\n"
                                  "350 -> n1 data symptom\n"
                                  "350 symptom about n12 goes to n1\n"
                                  "350 -> n1 data symptom\n");
}

TEST_CASE(who_leaves_says_so_to_whoever_sends_a_symptom)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 1);

    ftree_leave(l->ft, l->now);
    symptom_from(l, 3, 7, 1, false);
    ck_assert_str_eq(lone_log(l), "0 -> n3 data ack\n"
                                  "0 -> n3 data goodbye more\n");
    ck_assert_int_eq(ftree_inspect_suspects(l->ft), 0);
}

TEST_CASE(who_has_left_is_neither_suspected_nor_passed_by)
{
    struct lone *l = lone_of(shape_binary(NODES, 1), 7);
    struct wire_message m = {.type = WIRE_GOODBYE};

    lone_hear(l, 3, FTREE_PATH_DATA, &m);
    lone_log(l);
    lone_stall(l, 7, 3);
    ck_assert_int_eq(lone_count(l, WIRE_SYMPTOM), 0);
    ftree_stall_over(l->ft, l->now, 7);
    lone_run(l, 1000);
    lone_stall(l, 7, 12);
    ck_assert_int_eq(lone_last(l, WIRE_SYMPTOM)->to.node, 1);
}
