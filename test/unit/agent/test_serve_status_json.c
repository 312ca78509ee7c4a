/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* The status of a job and its stacks as JSON, as the schemas in doc say. */

#include "base.h"
#include "faultloc/agent/serve/serve_status.h"
#include "program.h"
#include "sample.h"
#include "schema.h"
#include "suite.h"

#include "ftree/stacks/stacks.h"

#define UNIX_MS 1769860810250

static struct faultloc_program program;

BEFORE_EACH
{
    program_open(&program, 1);
}

AFTER_EACH
{
    program_close(&program);
}

static void expect(const struct ftree_query_result *r, const char *expected)
{
    char *text = faultloc_status_job_json(&program, r, UNIX_MS);

    ck_assert_str_eq(text, expected);
    ck_assert_int_eq(schema_findings("status", text), 0);
    free(text);
}

#define HEAD \
    "{\"schema\":\"faultloc-status/2\",\"job\":\"4711\",\"unix_ms\":1769860810250," \
    "\"size\":8,\"nodes\":4,\"asked\":\"h1\""

TEST_CASE(all_that_there_can_be)
{
    struct ftree_verdict v = base_verdict("node-outage/both-paths-silent", 3, FTREE_NONE);

    v.located = v.first_symptom = 1;
    ck_assert_int_eq(ftree_restore(program.ft, 2, &v), FTREE_OK);
    expect(&sample_status,
           HEAD ",\"root\":\"h0\",\"node_states\":{\"answered\":{\"count\":1,\"runs\":[[0,1]]},"
                "\"left\":{\"count\":1,\"runs\":[[1,1]],\"names\":[\"h1\"]},"
                "\"lost\":{\"count\":1,\"runs\":[[3,1]],\"names\":[\"h3\"]},"
                "\"silent\":{\"count\":1,\"runs\":[[2,1]],\"names\":[\"h2\"]}},"
                "\"classes\":[{\"count\":3,\"state\":\"waiting\",\"call\":\"MPI\","
                "\"communicator\":\"rows\",\"shortest_s\":1.5,\"longest_s\":12.0,\"example\":0,"
                "\"ranks\":{\"count\":3,\"runs\":[[0,3,2]]},"
                "\"wait_for\":{\"count\":1,\"runs\":[[5,1]]},\"wait_for_any_source\":1},"
                "{\"count\":1,\"state\":\"in MPI\",\"call\":\"MPI\",\"example\":6,"
                "\"ranks\":{\"count\":1,\"runs\":[[6,1]]}},"
                "{\"count\":1,\"state\":\"stopped\",\"example\":7,"
                "\"ranks\":{\"count\":1,\"runs\":[[7,1]]}}],"
                "\"further_classes\":1,\"ranks_in_further_classes\":1,"
                "\"suspicions\":[{\"node\":\"h2\",\"examined_by\":\"h0\","
                "\"symptom\":\"peer-stall\",\"since_s\":1.2},{\"node\":\"h2\",\"switch\":1,"
                "\"examined_by\":\"h1\",\"symptom\":\"peer-stall\",\"since_s\":0.2}],"
                "\"further_suspicions\":1,\"verdicts\":[{\"class\":\"node-outage\","
                "\"line\":\"node-outage: node h3 (ranks 6-7) is down\",\"withdrawn\":false}]}");
}

TEST_CASE(nothing_is_known)
{
    const struct ftree_query_result r = {.root = FTREE_NONE, .nodes = 4};

    expect(&r, HEAD ",\"node_states\":{\"answered\":{\"count\":0,\"runs\":[]},"
                    "\"left\":{\"count\":0,\"runs\":[],\"names\":[]},"
                    "\"lost\":{\"count\":0,\"runs\":[],\"names\":[]},"
                    "\"silent\":{\"count\":0,\"runs\":[],\"names\":[]}},\"classes\":[],"
                    "\"further_classes\":0,\"ranks_in_further_classes\":0,\"suspicions\":[],"
                    "\"further_suspicions\":0,\"verdicts\":[]}");
}

TEST_CASE(the_own_node_alone)
{
    struct ftree_query_result r;

    ck_assert(ftree_query_own(program.ft, PROGRAM_NOW, &r));
    expect(&r, HEAD ",\"node_states\":{\"answered\":{\"count\":1,\"runs\":[[1,1]]},"
                    "\"left\":{\"count\":0,\"runs\":[],\"names\":[]},"
                    "\"lost\":{\"count\":0,\"runs\":[],\"names\":[]},"
                    "\"silent\":{\"count\":0,\"runs\":[],\"names\":[]}},"
                    "\"classes\":[{\"count\":2,\"state\":\"outside MPI\",\"example\":2,"
                    "\"ranks\":{\"count\":2,\"runs\":[[2,2]]}}],"
                    "\"further_classes\":0,\"ranks_in_further_classes\":0,\"suspicions\":[],"
                    "\"further_suspicions\":0,\"verdicts\":[]}");
    ftree_query_own_free(program.ft, &r);
}

/* What the schema does not allow is found. */
static const char *const wrong[][2] = {
    {"\"runs\":[[0,1]]", "\"runs\":[[0]]"},
    {"\"state\":\"stopped\"", "\"state\":\"dreaming\""},
    {"\"suspicions\":", "\"suspected\":"},
    {"faultloc-status/2", "faultloc-status/1"},
};

TEST_CASES(another_document_does_not_fit, COUNT(wrong))
{
    char *text, *at, changed[4096];

    text = faultloc_status_job_json(&program, &sample_status, UNIX_MS);
    at = strstr(text, wrong[_i][0]);
    ck_assert_ptr_nonnull(at);
    snprintf(changed, sizeof(changed), "%.*s%s%s", (int) (at - text), text, wrong[_i][1],
             at + strlen(wrong[_i][0]));
    ck_assert_int_gt(schema_findings("status", changed), 0);
    free(text);
}

TEST_CASE(stacks_fit_their_schema)
{
    const struct ftree_call calls[] = {
        {.function = "compute", .file = "solver.c", .module = "app", .line = 77},
        {.function = "main", .file = "", .module = "app"}};
    struct ftree_query_result r = sample_status;
    struct ftree_stacks s = {0};
    char *text;

    ftree_stacks_add(program.ft, &s, 6, calls, COUNT(calls));
    r.stacks = &s;
    text = faultloc_status_stacks_json(&program, &r, UNIX_MS);
    ck_assert_int_eq(schema_findings("stacks", text), 0);
    ck_assert_int_gt(schema_findings("status", text), 0);
    free(text);
    ftree_stacks_clear(program.ft, &s);
}
