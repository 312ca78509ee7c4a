/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree.h"
#include "suite.h"

/* Every number has a name of its own, by which it is found again, and nothing else has one. */
static void check_table(const char *(*name)(int), int (*by_name)(const char *), int count)
{
    for (int i = 0; i < count; i++) {
        ck_assert_str_ne(name(i), "?");
        ck_assert_str_ne(name(i), "");
        if (by_name)
            ck_assert_int_eq(by_name(name(i)), i);
        for (int j = 0; j < i; j++)
            ck_assert_str_ne(name(i), name(j));
    }
    ck_assert_str_eq(name(-1), "?");
    ck_assert_str_eq(name(count), "?");
    ck_assert_str_eq(name(INT32_MAX), "?");
    if (by_name) {
        ck_assert_int_eq(by_name("?"), -1);
        ck_assert_int_eq(by_name(""), -1);
    }
}

static const char *symptom_name(int kind)
{
    return ftree_symptom_info(kind)->name;
}

static const char *error_name(int error)
{
    return ftree_strerror(error);
}

TEST_CASE(numbers_and_names)
{
    check_table(ftree_class_name, ftree_class_by_name, FTREE_CLASS_COUNT);
    check_table(ftree_kind_name, ftree_kind_by_name, FTREE_KIND_COUNT);
    check_table(ftree_source_name, NULL, FTREE_SOURCE_COUNT);
    check_table(ftree_severity_name, ftree_severity_by_name, FTREE_SEVERITY_COUNT);
    check_table(symptom_name, ftree_symptom_by_name, FTREE_SYMPTOM_COUNT);
    check_table(ftree_reach_name, NULL, FTREE_REACH_COUNT);
    check_table(ftree_link_name, NULL, FTREE_LINK_COUNT);
    check_table(ftree_origin_name, NULL, FTREE_ORIGIN_COUNT);
    check_table(error_name, NULL, FTREE_ERR_VERSION + 1);
}

TEST_CASE(symptoms_have_a_source_a_kind_and_a_meaning)
{
    const struct ftree_symptom_info *info;
    int of_source[FTREE_SOURCE_COUNT] = {0};

    for (int i = 0; i < FTREE_SYMPTOM_COUNT; i++) {
        info = ftree_symptom_info(i);
        ck_assert_int_lt(info->source, FTREE_SOURCE_COUNT);
        ck_assert_int_lt(info->kind, FTREE_KIND_COUNT);
        ck_assert_int_lt(info->severity, FTREE_SEVERITY_COUNT);
        ck_assert_uint_gt(strlen(info->meaning), 10);
        ck_assert_uint_lt(strlen(info->name), FTREE_NAME_MAX);
        of_source[info->source]++;
    }
    for (int i = 0; i < FTREE_SOURCE_COUNT; i++)
        ck_assert_msg(of_source[i] > 0, "no symptom comes from %s", ftree_source_name(i));
    info = ftree_symptom_info(FTREE_SYMPTOM_INTERFACE_DOWN);
    ck_assert_str_eq(info->name, "interface-down");
    ck_assert_int_eq(info->source, FTREE_SOURCE_OPERATING_SYSTEM);
    ck_assert_int_eq(info->kind, FTREE_KIND_NIC);
    ck_assert_int_eq(info->severity, FTREE_SEVERITY_ERROR);
    ck_assert_str_eq(ftree_symptom_info(-1)->name, "?");
    ck_assert_str_eq(ftree_symptom_info(FTREE_SYMPTOM_COUNT)->meaning, "");
}

TEST_CASE(classes_have_a_kind_and_an_origin)
{
    ck_assert_str_eq(ftree_class_name(FTREE_CLASS_NODE_OUTAGE), "node-outage");
    ck_assert_str_eq(ftree_class_name(FTREE_CLASS_UNKNOWN), "unknown");
    ck_assert_int_eq(ftree_class_kind(FTREE_CLASS_NODE_OUTAGE), FTREE_KIND_NODE);
    ck_assert_int_eq(ftree_class_kind(FTREE_CLASS_LINK_FAULT), FTREE_KIND_LINK);
    ck_assert_int_eq(ftree_class_kind(FTREE_CLASS_COUNT), FTREE_KIND_NODE);
    ck_assert_int_eq(ftree_class_kind(-1), FTREE_KIND_NODE);
    ck_assert_int_eq(ftree_class_origin(FTREE_CLASS_NODE_FROZEN), FTREE_ORIGIN_HARDWARE);
    ck_assert_int_eq(ftree_class_origin(FTREE_CLASS_PROCESS_CRASH), FTREE_ORIGIN_SOFTWARE);
    ck_assert_int_eq(ftree_class_origin(FTREE_CLASS_UNKNOWN), FTREE_ORIGIN_UNKNOWN);
    ck_assert_int_eq(ftree_class_origin(FTREE_CLASS_COUNT), FTREE_ORIGIN_UNKNOWN);
    ck_assert_int_eq(ftree_class_origin(-1), FTREE_ORIGIN_UNKNOWN);
}

TEST_CASE(somebody_is_called_because_of_each)
{
    for (int c = 0; c < FTREE_CLASS_COUNT; c++)
        ck_assert_msg(ftree_class_ticket(c) != FTREE_TICKET_OF_CLASS, "%s", ftree_class_name(c));
    ck_assert_str_eq(ftree_ticket_name(ftree_class_ticket(FTREE_CLASS_LINK_FAULT)), "network");
    ck_assert_str_eq(ftree_ticket_name(ftree_class_ticket(-1)), "");
}

TEST_CASE(no_job_is_ended_that_is_only_slow_or_whose_fault_is_unknown)
{
    for (int c = -1; c <= FTREE_CLASS_COUNT; c++) {
        bool goes_on = c < 0 || c == FTREE_CLASS_COUNT || c == FTREE_CLASS_STRAGGLER || c == FTREE_CLASS_GPU_FAULT ||
                       c == FTREE_CLASS_NODE_AT_RISK || c == FTREE_CLASS_NETWORK_DEGRADED || c == FTREE_CLASS_UNKNOWN;
        ck_assert_msg(ftree_class_ends_job(c) == !goes_on, "%s", ftree_class_name(c));
    }
}

TEST_CASE(paths_and_errors)
{
    ck_assert_str_eq(ftree_path_name(FTREE_PATH_DATA), "data");
    ck_assert_str_eq(ftree_path_name(FTREE_PATH_MGMT), "mgmt");
    ck_assert_str_eq(ftree_path_name(FTREE_PATHS), "local");
    ck_assert_str_eq(ftree_strerror(FTREE_OK), "success");
    ck_assert_str_eq(ftree_strerror(FTREE_ERR_MALFORMED), "a message is malformed");
    ck_assert_str_eq(ftree_strerror(FTREE_ERR_VERSION), "a message is of another protocol version");
}

TEST_CASE(nodes)
{
    static const char *const hosts[] = {"h0", "h1"};
    const struct ftree_job named = {.nodes = 2, .size = 2, .fanout = 2, .node_name = hosts};
    const struct ftree_job plain = {.nodes = 2, .size = 2, .fanout = 2};
    char buf[16];

    ck_assert_str_eq(ftree_node_name(&named, 1, buf, sizeof(buf)), "h1");
    ck_assert_str_eq(ftree_node_name(&named, 2, buf, sizeof(buf)), "n2");
    ck_assert_str_eq(ftree_node_name(&named, -1, buf, sizeof(buf)), "n-1");
    ck_assert_str_eq(ftree_node_name(&plain, 1, buf, sizeof(buf)), "n1");
    ck_assert_str_eq(ftree_node_name(&plain, INT32_MAX, buf, sizeof(buf)), "n2147483647");
}
