/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "lone.h"
#include "suite.h"


static void symptom_from(struct lone *l, int32_t from, int32_t suspect, uint32_t count, bool flag)
{
    struct wire_message m = {.type = WIRE_SYMPTOM,
                             .flags = flag ? WIRE_FLAG_SUBSTITUTE : 0,
                             .u.symptom = {.kind = SYMPTOM_STALL,
                                           .node = suspect,
                                           .rank = FTREE_NONE,
                                           .reporter = from,
                                           .count = count,
                                           .age = 1000 * FTREE_MS}};

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

/* rows: one_step_along_the_tree COUNT(ways) */
START_TEST(one_step_along_the_tree)
{
    struct lone *l = lone_new(NODES, 1, 2, ways[_i].self);
    const struct lone_sent *s;

    lone_stall(l, ways[_i].self, ways[_i].suspect);
    s = lone_last(l, WIRE_SYMPTOM);
    if (ways[_i].hop == ways[_i].self) {
        ck_assert_ptr_null(s);
        ck_assert_ptr_nonnull(ftree_probe_find(l->ft, ways[_i].suspect));
    } else {
        ck_assert_ptr_nonnull(s);
        ck_assert_int_eq(s->to.node, ways[_i].hop);
        ck_assert_int_eq(s->m.flags, ways[_i].suspect == 0 ? WIRE_FLAG_SUBSTITUTE : 0);
    }
    lone_free(l);
}
END_TEST

START_TEST(on_its_way_a_symptom_takes_the_next_step)
{
    struct lone *l = lone_new(NODES, 1, 2, 1);

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
    lone_free(l);
}
END_TEST

START_TEST(equal_symptoms_are_held_back_for_half_a_stall_limit)
{
    struct lone *l = lone_new(NODES, 1, 2, 1);

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
    lone_run(l, 1);
    symptom_from(l, 4, 12, 1, false);
    ck_assert_int_eq(lone_count(l, WIRE_SYMPTOM), 3);
    lone_free(l);
}
END_TEST

START_TEST(symptoms_about_a_suspect_are_merged)
{
    struct lone *l = lone_new(NODES, 1, 2, 0);

    symptom_from(l, 2, 1, 1, false);
    symptom_from(l, 2, 1, 7, false);
    lone_run(l, 100);
    symptom_from(l, 2, 1, 1, false);
    ck_assert_int_eq(l->ft->suspects.n, 1);
    ck_assert_uint_eq(l->ft->suspects.items[0].symptoms, 9);
    ck_assert_int_eq(lone_count(l, WIRE_PROBE), 2);
    lone_free(l);
}
END_TEST

START_TEST(the_oldest_symptom_is_the_first)
{
    struct lone *l = lone_new(NODES, 1, 2, 0);
    struct wire_message m = {.type = WIRE_SYMPTOM,
                             .u.symptom = {.node = 1, .rank = 1, .reporter = 2, .count = 1}};

    m.u.symptom.age = 300 * FTREE_MS;
    lone_hear(l, 2, FTREE_PATH_DATA, &m);
    ck_assert_uint_eq(l->ft->suspects.items[0].first_symptom, 700 * FTREE_MS);
    m.u.symptom.age = 600 * FTREE_MS;
    lone_hear(l, 2, FTREE_PATH_DATA, &m);
    ck_assert_uint_eq(l->ft->suspects.items[0].first_symptom, 400 * FTREE_MS);
    m.u.symptom.age = UINT64_MAX; /* older than the clock */
    lone_hear(l, 2, FTREE_PATH_DATA, &m);
    ck_assert_uint_eq(l->ft->suspects.items[0].first_symptom, 0);
    lone_free(l);
}
END_TEST

static void know(struct lone *l, enum ftree_rule rule, int32_t node, int32_t rank)
{
    struct ftree_verdict v = lone_verdict(l, rule, node, rank, 0);

    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_OK);
}

START_TEST(what_a_verdict_explains_goes_nowhere)
{
    struct lone *l = lone_new(NODES, 2, 2, 1);

    know(l, FTREE_RULE_BOTH_PATHS_SILENT, 12, FTREE_NONE);
    know(l, FTREE_RULE_PID_GONE, 11, 22);
    symptom_from(l, 3, 12, 1, false); /* it is lost */
    symptom_from(l, 12, 11, 1, false); /* says a lost one */
    lone_stall(l, 2, 22); /* the rank is gone */
    ck_assert_int_eq(lone_count(l, WIRE_SYMPTOM), 0);
    lone_stall(l, 3, 23); /* its neighbour is not */
    ck_assert_int_eq(lone_count(l, WIRE_SYMPTOM), 1);
    ck_assert_str_eq(lone_log(l), "0 -> n3 data ack\n"
                                  "0 symptom about n12 explained by a verdict\n"
                                  "0 -> n12 data ack\n"
                                  "0 symptom about n11 explained by a verdict\n"
                                  "0 rank 2 stalls, waits for rank 22\n"
                                  "0 symptom about n11 explained by a verdict\n"
                                  "0 rank 3 stalls, waits for rank 23\n"
                                  "0 symptom about n11 goes to n0\n"
                                  "0 -> n0 data symptom\n");
    lone_free(l);
}
END_TEST

START_TEST(a_symptom_about_oneself_is_dropped)
{
    struct lone *l = lone_new(NODES, 1, 2, 1);

    symptom_from(l, 3, 1, 1, false);
    ck_assert_str_eq(lone_log(l), "0 -> n3 data ack\n");
    lone_free(l);
}
END_TEST

START_TEST(the_fln_stands_in_for_a_lost_step_down)
{
    struct lone *l = lone_new(NODES, 1, 2, 0);

    know(l, FTREE_RULE_BOTH_PATHS_SILENT, 1, FTREE_NONE);
    symptom_from(l, 2, 7, 1, false);
    ck_assert_ptr_null(lone_last(l, WIRE_SYMPTOM)); /* 3 is below the lost node */
    ck_assert_ptr_nonnull(ftree_probe_find(l->ft, 7));
    lone_free(l);
}
END_TEST

START_TEST(a_lost_step_up_is_passed_over)
{
    struct lone *l = lone_new(NODES, 1, 2, 7);

    know(l, FTREE_RULE_BOTH_PATHS_SILENT, 3, FTREE_NONE);
    lone_stall(l, 7, 12);
    ck_assert_int_eq(lone_last(l, WIRE_SYMPTOM)->to.node, 1);
    know(l, FTREE_RULE_BOTH_PATHS_SILENT, 1, FTREE_NONE);
    lone_run(l, 400);
    ck_assert_int_eq(lone_last(l, WIRE_SYMPTOM)->to.node, 0);
    lone_free(l);
}
END_TEST

START_TEST(a_mute_step_is_passed_over_until_it_is_heard)
{
    struct lone *l = lone_new(NODES, 1, 2, 7);
    struct wire_message m = {.type = WIRE_ACK};

    ftree_outbox_mute(l->ft, l->now, 3);
    ck_assert(!ftree_correlate_usable(l->ft, l->now, 3));
    lone_stall(l, 7, 12);
    ck_assert_int_eq(lone_last(l, WIRE_SYMPTOM)->to.node, 1);
    lone_hear(l, 3, FTREE_PATH_DATA, &m);
    ck_assert(ftree_correlate_usable(l->ft, l->now, 3));
    ftree_outbox_mute(l->ft, l->now, 3);
    ck_assert(!ftree_correlate_usable(l->ft, l->now + 4999 * FTREE_MS, 3));
    ck_assert(ftree_correlate_usable(l->ft, l->now + 5000 * FTREE_MS, 3));
    lone_free(l);
}
END_TEST

START_TEST(without_ancestors_the_roots_substitutes_are_asked)
{
    struct lone *l = lone_new(NODES, 1, 2, 2);
    bool substitute;
    int32_t hops[14], n = 0, hop;

    while ((hop = ftree_correlate_upward(l->ft, l->now, FTREE_NONE, &substitute)) != 2) {
        ck_assert_int_eq(substitute, hop != 0);
        hops[n++] = hop;
        ftree_outbox_mute(l->ft, l->now, hop);
    }
    ck_assert_int_eq(n, 9);
    ck_assert_int_eq(hops[0], 0);
    for (int32_t k = 1; k < n; k++) /* up to the own place in that order, not further */
        ck_assert_int_eq(hops[k], ftree_topo_root_substitute(&l->ft->topo, k));
    lone_free(l);
}
END_TEST

START_TEST(a_substitute_examines_what_it_is_sent)
{
    struct lone *l = lone_new(NODES, 1, 2, 11);

    symptom_from(l, 1, 0, 1, true);
    ck_assert_ptr_nonnull(ftree_probe_find(l->ft, 0));
    lone_free(l);
}
END_TEST

START_TEST(the_heir_of_the_root_examines_the_roots_children)
{
    struct lone *l = lone_new(NODES, 1, 2, 10);

    know(l, FTREE_RULE_BOTH_PATHS_SILENT, 0, FTREE_NONE);
    lone_stall(l, 10, 1);
    ck_assert_ptr_nonnull(ftree_probe_find(l->ft, 1));
    lone_stall(l, 10, 12); /* further down it is somebody else's */
    lone_run(l, 500);
    ck_assert_int_eq(lone_last(l, WIRE_SYMPTOM)->to.node, 2);
    lone_free(l);
}
END_TEST

START_TEST(a_symptom_not_acknowledged_goes_another_way_and_ages)
{
    struct lone *l = lone_new(NODES, 1, 2, 7);

    lone_stall(l, 7, 12);
    lone_run(l, 349);
    lone_log(l);
    lone_run(l, 1);
    ck_assert_int_eq(lone_last(l, WIRE_SYMPTOM)->to.node, 1);
    ck_assert_uint_eq(lone_last(l, WIRE_SYMPTOM)->m.u.symptom.age, 1350 * FTREE_MS);
    ck_assert_str_eq(lone_log(l), "350 symptom to n3 not acknowledged\n"
                                  "350 symptom about n3 goes to n1\n"
                                  "350 -> n1 data symptom\n"
                                  "350 symptom about n12 goes to n1\n"
                                  "350 -> n1 data symptom\n");
    lone_free(l);
}
END_TEST

START_TEST(who_leaves_says_so_to_whoever_sends_a_symptom)
{
    struct lone *l = lone_new(NODES, 1, 2, 1);

    ftree_leave(l->ft, l->now);
    symptom_from(l, 3, 7, 1, false);
    ck_assert_str_eq(lone_log(l), "0 -> n3 data ack\n"
                                  "0 -> n3 data goodbye\n");
    ck_assert_int_eq(l->ft->suspects.n, 0);
    lone_free(l);
}
END_TEST

START_TEST(who_has_left_is_neither_suspected_nor_passed_by)
{
    struct lone *l = lone_new(NODES, 1, 2, 7);
    struct wire_message m = {.type = WIRE_GOODBYE};

    lone_hear(l, 3, FTREE_PATH_DATA, &m);
    lone_log(l);
    lone_stall(l, 7, 3);
    ck_assert_int_eq(lone_count(l, WIRE_SYMPTOM), 0);
    ftree_stall_over(l->ft, l->now, 7);
    lone_run(l, 1000);
    lone_stall(l, 7, 12);
    ck_assert_int_eq(lone_last(l, WIRE_SYMPTOM)->to.node, 1);
    lone_free(l);
}
END_TEST

SUITE("correlate")
{
    TEST_ROWS(one_step_along_the_tree, COUNT(ways));
    TEST(on_its_way_a_symptom_takes_the_next_step);
    TEST(equal_symptoms_are_held_back_for_half_a_stall_limit);
    TEST(symptoms_about_a_suspect_are_merged);
    TEST(the_oldest_symptom_is_the_first);
    TEST(what_a_verdict_explains_goes_nowhere);
    TEST(a_symptom_about_oneself_is_dropped);
    TEST(the_fln_stands_in_for_a_lost_step_down);
    TEST(a_lost_step_up_is_passed_over);
    TEST(a_mute_step_is_passed_over_until_it_is_heard);
    TEST(without_ancestors_the_roots_substitutes_are_asked);
    TEST(a_substitute_examines_what_it_is_sent);
    TEST(the_heir_of_the_root_examines_the_roots_children);
    TEST(a_symptom_not_acknowledged_goes_another_way_and_ages);
    TEST(who_leaves_says_so_to_whoever_sends_a_symptom);
    TEST(who_has_left_is_neither_suspected_nor_passed_by);
}
