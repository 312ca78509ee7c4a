/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* The status of a job as lines for people. */

#include "base.h"
#include "faultloc/agent/serve/serve_status.h"
#include "program.h"
#include "sample.h"
#include "suite.h"

static struct faultloc_program program;

BEFORE_EACH
{
    program_open(&program, 1);
}

AFTER_EACH
{
    program_close(&program);
}

static void expect(const struct ftree_query_result *r, bool full, const char *expected)
{
    char *text = faultloc_status_job_text(&program, r, full);

    EXPECT_LINES(text, expected);
    free(text);
}

TEST_CASE(all_that_there_can_be)
{
    struct ftree_verdict v = base_verdict("node-outage/both-paths-silent", 3, FTREE_NONE);

    v.located = v.first_symptom = 1;
    ck_assert_int_eq(ftree_restore(program.ft, 2, &v), FTREE_OK);
    v = base_verdict("process-stopped/state-t", 2, 4);
    v.located = v.first_symptom = 1;
    v.withdrawn = true;
    v.id = 1;
    ck_assert_int_eq(ftree_restore(program.ft, 2, &v), FTREE_OK);
    expect(&sample_status, false,
           "job 4711: 8 ranks on 4 nodes, as of now (acting root: h0)\n"
           "nodes: 1 answered; 1 left (h1); 1 lost (h3); 1 silent (h2)\n"
           "   ranks  what they do                                         since  which\n"
           "       3  waiting in MPI (rows)                           1.5-12.0 s  0-4:2, for 5, "
           "some for any\n"
           "       1  in MPI                                                   -  6\n"
           "       1  stopped                                                  -  7\n"
           "       1  in 1 further classes\n"
           "       2  not known: their nodes have not answered\n"
           "suspected: node h2, examined by h0 for 1.2 s (peer-stall)\n"
           "suspected: a switch above node h2, examined by h1 for 0.2 s (peer-stall)\n"
           "suspected: 1 more\n"
           "verdict: node-outage: node h3 (ranks 6-7) is down\n"
           "withdrawn: process-stopped: rank 4 (node h2) is stopped\n");
}

/* A job of one rank, of which nothing is known yet. */
TEST_CASE(nothing_is_known)
{
    const struct ftree_query_result r = {.root = FTREE_NONE, .nodes = 1};

    program.job.job.size = program.job.job.nodes = 1;
    expect(&r, false, "job 4711: 1 rank on 1 node, as of now (acting root: ?)\n"
                      "nodes: 0 answered\n"
                      "       1  not known: their nodes have not answered\n"
                      "no verdict\n");
    program.job.job.size = 8;
    program.job.job.nodes = 4;
}

static struct ftree_span two[] = {{0, 1}};

/* All nodes have answered, but one without its ranks. */
TEST_CASE(ranks_that_sleep_and_ranks_that_are_not_known)
{
    struct ftree_rank_class one = {.state = FTREE_DOES_SLEEP,
                                   .comm = "a pipe (pipe_read)",
                                   .on = "/tmp/fifo",
                                   .count = 2,
                                   .shortest = 8000 * FTREE_MS,
                                   .longest = 9000 * FTREE_MS,
                                   .ranks = {.items = two, .n = 1, .count = 2}};
    struct ftree_query_result r = {.root = 0,
                                   .nodes = 4,
                                   .answered = {.count = 4},
                                   .classes = {.items = &one, .n = 1}};

    expect(&r, false,
           "job 4711: 8 ranks on 4 nodes, as of now (acting root: h0)\n"
           "nodes: 4 answered\n"
           "   ranks  what they do                                         since  which\n"
           "       2  outside MPI, asleep in a pipe (pipe_read)        8.0-9.0 s  0-1, rank 0 for "
           "/tmp/fifo\n"
           "       6  not known: their agents were out of memory or time\n"
           "no verdict\n");
}

/* Pairs of ranks, which make no runs. */
static struct ftree_span many[] = {{0, 1}, {3, 4}, {6, 7}, {9, 10}, {12, 13}, {15, 16}, {18, 19}};

static const struct {
    bool full;
    const char *ranks;
} lists[] = {
    {false, "  0-1, 3-4, 6-7, 9-10, 12-13, ...\n"},
    {true, "  0-1, 3-4, 6-7, 9-10, 12-13, 15-16, 18-19\n"},
};

TEST_CASES(a_long_list_is_cut_unless_all_is_wanted, COUNT(lists))
{
    struct ftree_rank_class one = {.state = FTREE_DOES_COMPUTE,
                                   .count = 14,
                                   .ranks = {.items = many, .n = COUNT(many), .count = 14}};
    struct ftree_query_result r = {
        .root = 0, .nodes = 4, .classes = {.items = &one, .n = 1}};
    char *text;

    text = faultloc_status_job_text(&program, &r, lists[_i].full);
    ck_assert_msg(strstr(text, lists[_i].ranks), "%s", text);
    free(text);
}

/* Of more than twelve verdicts a short one has the last ones. */
TEST_CASE(many_verdicts)
{
    struct ftree_verdict v = base_verdict("process-stopped/state-t", 2, 4);
    const struct ftree_query_result r = {.root = 0, .nodes = 4};
    char *text;

    v.located = v.first_symptom = 1;
    v.withdrawn = true;
    for (v.id = 1; v.id <= 14; v.id++)
        ck_assert_int_eq(ftree_restore(program.ft, 2, &v), FTREE_OK);
    text = faultloc_status_job_text(&program, &r, false);
    ck_assert_msg(strstr(text, "verdict: 2 earlier ones\n"), "%s", text);
    free(text);
    text = faultloc_status_job_text(&program, &r, true);
    ck_assert_msg(!strstr(text, "earlier"), "%s", text);
    free(text);
}
