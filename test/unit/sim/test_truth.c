/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "suite.h"
#include "sim/truth.h"

static struct sim_truth truth;

static void expect(int32_t node, bool must)
{
    struct sim_expectation e = {.classes = SIM_CLASS(FTREE_CLASS_NODE_OUTAGE),
                                .node = node,
                                .switch_ = FTREE_NONE,
                                .fault = node,
                                .must = must,
                                .sides = 1,
                                .reporters = 1,
                                .sibling = FTREE_NONE};

    sim_truth_expect(&truth, &e);
}

static void hear(int class_, int32_t node, uint32_t id, bool withdrawn)
{
    struct ftree_verdict v = {.class_ = (uint8_t) class_,
                              .kind = FTREE_KIND_NODE,
                              .node = node,
                              .rank = FTREE_NONE,
                              .switch_ = FTREE_NONE,
                              .id = id,
                              .withdrawn = withdrawn};

    sim_truth_report(&truth, 100, 0, &v);
}

/* All that is wrong, as one text. */
static const char *problems(void)
{
    static char text[512];
    struct sim_problem p;
    size_t n = 0;

    text[0] = 0;
    for (int32_t i = 0; sim_truth_problem(&truth, i, &p); i++)
        n += (size_t) snprintf(text + n, sizeof(text) - n, "%s %d;", sim_problem_name(p.kind),
                               (int) (p.expectation != FTREE_NONE
                                          ? truth.expectation[p.expectation].node
                                          : truth.report[p.report].v.node));
    sim_truth_free(&truth);
    return text;
}

TEST_CASE(what_is_told_once_is_right)
{
    expect(3, true);
    ck_assert(!sim_truth_is_complete(&truth));
    hear(FTREE_CLASS_NODE_OUTAGE, 3, 1, false);
    ck_assert(sim_truth_is_complete(&truth));
    ck_assert_str_eq(problems(), "");
}

static void hear_switch(int32_t switch_, uint32_t id)
{
    struct ftree_verdict v = {.class_ = FTREE_CLASS_SWITCH_FAULT,
                              .kind = FTREE_KIND_SWITCH,
                              .node = 3,
                              .rank = FTREE_NONE,
                              .switch_ = switch_,
                              .id = id};

    sim_truth_report(&truth, 100, (int32_t) id, &v);
}

static void expect_switch(int32_t switch_, int32_t sibling)
{
    struct sim_expectation e = {.classes = SIM_CLASS(FTREE_CLASS_SWITCH_FAULT),
                                .node = FTREE_NONE,
                                .switch_ = switch_,
                                .must = true,
                                .sides = 2,
                                .reporters = 2,
                                .sibling = sibling};

    sim_truth_expect(&truth, &e);
}

TEST_CASE(of_a_partition_both_sides_tell_once)
{
    expect_switch(5, FTREE_NONE);
    hear_switch(5, 1);
    ck_assert(!sim_truth_is_complete(&truth));
    hear_switch(5, 2);
    ck_assert(sim_truth_is_complete(&truth));
    ck_assert_str_eq(problems(), "");
    expect_switch(5, FTREE_NONE);
    hear_switch(5, 1);
    hear_switch(5, 2);
    hear_switch(5, 3);
    ck_assert_str_eq(problems(), "reported twice -1;");
}

TEST_CASE(another_switch_is_right_only_where_there_are_but_two)
{
    expect_switch(5, 6);
    hear_switch(5, 1);
    hear_switch(6, 2);
    ck_assert_str_eq(problems(), "");
    expect_switch(5, FTREE_NONE);
    hear_switch(5, 1);
    hear_switch(6, 2);
    ck_assert_str_eq(problems(), "missing -1;wrong 3;");
}

TEST_CASE(what_nobody_tells_is_missing_but_if_it_need_not_be_told)
{
    expect(3, true);
    expect(4, false);
    ck_assert_str_eq(problems(), "missing 3;");
}

TEST_CASE(another_node_or_class_is_wrong)
{
    expect(3, false);
    hear(FTREE_CLASS_NODE_OUTAGE, 4, 1, false);
    hear(FTREE_CLASS_NODE_FROZEN, 3, 2, false);
    ck_assert_str_eq(problems(), "wrong 4;wrong 3;");
}

TEST_CASE(twice_is_once_too_often)
{
    expect(3, true);
    hear(FTREE_CLASS_NODE_OUTAGE, 3, 1, false);
    hear(FTREE_CLASS_NODE_OUTAGE, 3, 2, false);
    ck_assert_str_eq(problems(), "reported twice 3;");
}

TEST_CASE(what_is_over_must_be_withdrawn_and_what_is_not_must_not)
{
    expect(3, true);
    expect(4, true);
    hear(FTREE_CLASS_NODE_OUTAGE, 3, 1, false);
    hear(FTREE_CLASS_NODE_OUTAGE, 4, 2, false);
    sim_truth_over(&truth, 3);
    ck_assert(!sim_truth_is_complete(&truth));
    hear(FTREE_CLASS_NODE_OUTAGE, 4, 2, true);
    ck_assert_str_eq(problems(), "not withdrawn 3;wrongly withdrawn 4;");
}

TEST_CASE(what_returned_and_was_withdrawn_is_right)
{
    expect(3, true);
    hear(FTREE_CLASS_NODE_OUTAGE, 3, 1, false);
    sim_truth_well(&truth, 3, FTREE_NONE);
    hear(FTREE_CLASS_NODE_OUTAGE, 3, 1, true);
    ck_assert(sim_truth_is_complete(&truth));
    ck_assert_str_eq(problems(), "");
}

TEST_CASE(what_stands_and_is_not_known_to_all_is_wrong)
{
    expect(3, true);
    hear(FTREE_CLASS_NODE_OUTAGE, 3, 1, false);
    truth.report[0].unaware = 1;
    ck_assert_str_eq(problems(), "not known to all 3;");
}

/* Told to people or not. */
TEST_CASE(a_verdict_that_no_fault_explains_is_a_mistake)
{
    struct ftree_verdict v = {
        .class_ = FTREE_CLASS_UNKNOWN, .kind = FTREE_KIND_NODE, .node = 3, .switch_ = FTREE_NONE};

    expect(3, true);
    sim_truth_raise(&truth, 100, &v);
    ck_assert_int_eq(truth.mistakes, 1);
    v.class_ = FTREE_CLASS_NODE_OUTAGE;
    sim_truth_raise(&truth, 100, &v);
    v.node = 4;
    v.local_only = true;
    sim_truth_raise(&truth, 100, &v);
    ck_assert_int_eq(truth.mistakes, 1);
    sim_truth_free(&truth);
}

TEST_CASE(the_first_stall_of_each_counts)
{
    expect(3, true);
    expect(4, true);
    sim_truth_stall(&truth, 100, 3);
    sim_truth_stall(&truth, 200, 3);
    ck_assert_uint_eq(truth.expectation[0].first_stall, 100);
    ck_assert_uint_eq(truth.expectation[1].first_stall, 0);
    sim_truth_free(&truth);
}
