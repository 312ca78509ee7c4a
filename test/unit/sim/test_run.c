/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "sim/result.h"
#include "suite.h"

static struct sim_topology topology;
static struct sim_script script;
static struct sim_options options;
static struct sim_run run;
static struct sim_result result;

/* Runs a script on a job; all is then in `run` and `result`. */
static void simulate(const char *string, int32_t nodes, const char *lines, uint64_t seed)
{
    struct sim_script_error e;

    ck_assert_int_eq(sim_topology_make(&topology, string, nodes, 4, 0, 1), FTREE_OK);
    ck_assert_msg(!sim_script_read(&script, lines, &topology, &e), "%s", e.text);
    options =
        (struct sim_options){.topology = &topology,
                             .script = &script,
                             .link = {.base = 25000, .spread = 5000, .kind = SIM_SPREAD_UNIFORM},
                             .delay_max = 1000 * FTREE_MS,
                             .cost = 10000,
                             .partners = 4,
                             .grace = 3000 * FTREE_MS,
                             .limit = 60000 * FTREE_MS,
                             .check = true,
                             .program = options.program,
                             .ran = 600 * 1000 * FTREE_MS,
                             .loss = options.loss,
                             .duplicate = options.duplicate,
                             .delay = options.delay};
    sim_run(&run, &options, seed);
    sim_result_take(&run, 0, &result);
    if (!result.ok)
        sim_result_row(stderr, 1, &run, &result);
}

static void finish(void)
{
    sim_run_free(&run);
    sim_script_free(&script);
    sim_topology_free(&topology);
}

TEST_CASES(faults_are_found, 31)
{
    static const struct {
        const char *string, *lines;
        int expected;
    } rows[] = {
        {NULL, "lose node 7", 1},
        {NULL, "lose root", 1},
        {NULL, "lose root and 1 substitute", 2},
        {NULL, "lose random fln and child", 2},
        {NULL, "lose 3 random nodes", 3},
        {NULL, "kill node 7", 1},
        {NULL, "freeze node 7", 1},
        {NULL, "cut node 7 on data", 1},
        {NULL, "lose node 9\nstorm: all wait for it", 1},
        {"switch:5 node:6 rank:3", "freeze random node", 1},
        {"switch:5 node:6 rank:3", "kill random node", 3}, /* each of its ranks */
        {"switch:5 node:6 rank:3", "kill root", 3},
        {NULL, "kill root", 1},
        {NULL, "lose root\nkill random fln and child", 3},
        {"switch:5 node:6 rank:3", "lose random node", 1},
        {"switch:5 node:6 rank:3", "stop rank 12", 1},
        {"switch:5 node:6 rank:3", "stop rank 13", 1},
        {NULL, "stop rank 13", 1},
        {"switch:5 node:6 rank:3", "lose random switch", 1},
        {"switch:5 node:6", "lose switch 0", 1}, /* which the root is behind */
        {"switch:3 switch:3 node:4", "lose switch 0", 1},
        {"switch:3 switch:3 node:4", "lose random switch\nt=20s return it", 1},
        {"switch:5 node:6", "lose 2 random switches", 2},
        {"switch:5 node:6", "partition random switch\nt=20s heal", 2}, /* by each side */
        {"switch:5 node:6", "partition switch 0\nt=20s heal", 2},
        {"switch:3 switch:3 node:4", "partition switch 0\nt=20s heal", 2},
        {"switch:3 switch:3 node:4", "partition switch 4", 2},
        {"switch:2 node:8", "partition random switch", 2},
        {"switch:3 switch:3 node:4", "partition random switch on data", 1},
        {NULL, "cut node 2 from node 9", 1}, /* its child */
        {NULL, "down node 7", 1}, /* its own kernel says so, over the management network */
    };

    simulate(rows[_i].string, rows[_i].string ? 0 : 30, rows[_i].lines, (uint64_t) _i);
    ck_assert_ptr_null(run.broken);
    ck_assert_msg(result.ok, "%s", rows[_i].lines);
    ck_assert_int_eq(result.right, rows[_i].expected);
    finish();
}

/* Exactly these ranks, each once, in time; and what happens beside. */
TEST_CASES(ranks_that_wait_for_each_other_are_found, 19)
{
    static const struct {
        const char *string, *lines;
        int expected, victims; /* victims of the first; -1: whichever */
    } rows[] = {
        {NULL, "ring of 2 ranks", 1, 0},
        {NULL, "ring of 100 scattered ranks", 1, 0}, /* more than a verdict lists */
        {NULL, "ring of 100 scattered ranks within 2s", 1, 0},
        {NULL, "knot of 20 ranks", 1, 0},
        {NULL, "any source of 8 scattered ranks", 1, 0},
        {NULL, "ring of 90 scattered ranks;chain of 30 scattered ranks to it", 1, 30},
        {NULL, "ring of 10 scattered ranks;knot of 10 scattered ranks", 2, -1},
        {NULL, "ring of 10 scattered ranks;t=20s knot of 10 ranks", 2, 0},
        {NULL, "finalize random node;chain of 30 scattered ranks to it", 1, 30},
        {NULL, "finalize random node;collective: all but it", 1, 199},
        {NULL, "collective: random node receives", 1, 198},
        {NULL, "collective: random node has another root", 1, 199},
        {NULL, "ring of 10 scattered ranks for 10s", 1, 0},
        {NULL, "chain of 30 scattered ranks to random node", 1, -1}, /* a note */
        {NULL, "6 chains of 5 ranks to random node", 1, -1},
        {NULL, "collective: all but random node", 1, -1},
        {"node:70 rank:64", "collective: all but node 69", 1, -1},
        {NULL, "chain of 30 scattered ranks to random node;lose one of it", 1, -1},
        {"switch:5 node:6 rank:3", "ring of 40 scattered ranks", 1, 0},
        {"switch:5 node:6 rank:3", "ring of 10 ranks;lose random node", 2, -1},
        {"node:70 rank:64", "collective: all but node 69", 1, -1},
        {"node:70 rank:64", "finalize node 69;collective: all but it", 1, -1},
    };
    char lines[128], *next;

    snprintf(lines, sizeof(lines), "%s", rows[_i].lines);
    while ((next = strchr(lines, ';')))
        *next = '\n';
    simulate(rows[_i].string, rows[_i].string ? 0 : 200, lines, (uint64_t) _i);
    ck_assert_ptr_null(run.broken);
    ck_assert_msg(result.ok, "%s", rows[_i].lines);
    ck_assert_int_eq(result.right, rows[_i].expected);
    ck_assert_int_eq(result.late, 0);
    ck_assert_int_eq(run.truth.mistakes, 0);
    if (rows[_i].victims >= 0)
        ck_assert_int_eq(run.truth.report[0].v.victims.count, rows[_i].victims);
    finish();
}

TEST_CASES(a_rank_that_never_comes_back_is_told_from_one_that_is_slow, 8)
{
    static const struct {
        const char *program, *string, *lines, *rule;
        int tests;
    } rows[] = {
        {"bt", NULL, "collective: random node sleeps", "user-code-hang/blocked", 1},
        {"bt", NULL, "collective: all but random node", "user-code-hang/burns-cpu", 1},
        {"lu", "node:10 rank:64", "collective: random node sleeps", "user-code-hang/blocked", 1},
        {"mg", "node:10 rank:64", "collective: random node sleeps", "user-code-hang/blocked", 1},
        {"hpcg", NULL, "collective: all but random node", "user-code-hang/burns-cpu", 1},
        {"bt", NULL, "collective: all but random node for 10s", "", 1},
        {"bt", NULL, "collective: random node sleeps for 1500ms", "", 1},
        {"cg", "node:10 rank:64", "random phases every 20s of up to 8s for 5m", "", 8},
    };

    options.program = sim_program_find(rows[_i].program, strlen(rows[_i].program));
    simulate(rows[_i].string, rows[_i].string ? 0 : 50, rows[_i].lines, (uint64_t) _i);
    ck_assert_ptr_null(run.broken);
    ck_assert_int_ge((int) run.tests.tests, rows[_i].tests);
    if (*rows[_i].rule) {
        ck_assert_msg(result.ok, "%s", rows[_i].lines);
        ck_assert_int_eq(result.right, 1);
        ck_assert_int_eq(result.late, 0);
        ck_assert_str_eq(run.truth.report[0].v.rule, rows[_i].rule);
        ck_assert_int_eq(run.truth.report[0].v.victims.count, run.job.size - 1);
    } else {
        ck_assert_int_eq(run.truth.reports, 0);
    }
    finish();
}

TEST_CASE(a_healthy_job_sends_nothing)
{
    simulate(NULL, 30, "t=100h heal", 1);
    ck_assert(result.ok);
    ck_assert_uint_eq(run.messages, 0);
    finish();
}

TEST_CASE(a_node_that_all_wait_for_and_that_is_well_is_not_accused)
{
    simulate(NULL, 30, "storm: all wait for node 9", 1);
    ck_assert(result.ok);
    ck_assert_int_eq(run.truth.reports, 0);
    ck_assert_uint_gt(run.messages, 30);
    finish();
}

TEST_CASE(a_job_in_which_ranks_wait_and_go_on_is_healthy)
{
    simulate(NULL, 30, "random waits every 200ms of up to 10s for 20m", 1);
    ck_assert(result.ok);
    ck_assert_int_eq(run.truth.reports, 0);
    ck_assert_uint_gt(run.messages, 1000);
    finish();
}

TEST_CASE(what_is_over_is_withdrawn)
{
    simulate(NULL, 30, "t=1s lose node 7\nt=10s return it", 1);
    ck_assert(result.ok);
    ck_assert_int_eq(run.truth.reports, 1);
    ck_assert_uint_gt(run.truth.report[0].withdrawn, run.truth.report[0].at);
    finish();
}

/* What was due while it was away is late, and time does not go back for it. */
TEST_CASE(a_root_that_was_away_accuses_nobody)
{
    simulate(NULL, 40, "lose node 14\nt=2500ms lose root for 3s", 38);
    ck_assert(result.ok);
    for (int32_t i = 0; i < run.truth.reports; i++) {
        ck_assert_int_eq(run.truth.report[i].v.class_, FTREE_CLASS_NODE_OUTAGE);
        ck_assert(i == 0 || run.truth.report[i].at >= run.truth.report[i - 1].at);
    }
    finish();
}

TEST_CASE(the_same_seed_is_the_same_run_to_the_last_message)
{
    uint64_t hash, messages;

    options.loss = options.duplicate = options.delay = 0.05;
    simulate(NULL, 50, "lose 2 random nodes", 5);
    hash = run.hash;
    messages = run.messages;
    finish();
    simulate(NULL, 50, "lose 2 random nodes", 5);
    ck_assert(run.hash == hash);
    ck_assert(run.messages == messages);
    finish();
    simulate(NULL, 50, "lose 2 random nodes", 6);
    ck_assert(run.hash != hash);
    finish();
}

TEST_CASE(idle_handles_are_small_and_none_leaks)
{
    uint64_t not_made = 0;

    simulate(NULL, 200, "lose node 9", 1);
    ck_assert_double_le(result.idle_per_handle, 1040);
    for (int32_t n = 0; n < run.job.nodes; n++) {
        not_made += run.node[n].ft == NULL;
        sim_handle_end(&run, n);
    }
    ck_assert_uint_eq(run.memory, not_made * run.idle);
    finish();
}

/* What was counted apart is what was asked and answered. */
TEST_CASE(messages_about_own_suspects_are_counted_apart)
{
    uint64_t own = 0;

    simulate(NULL, 30, "lose node 9", 1);
    for (int32_t n = 0; n < run.job.nodes; n++)
        own += run.node[n].beside;
    ck_assert_uint_gt(own, 4);
    ck_assert_uint_lt(result.busiest_beside_suspects, result.busiest_messages);
    ck_assert_double_gt(result.located_max, 1);
    ck_assert_int_eq(result.late, 0);
    finish();
}

/* A link that is cut and an interface that is down are told apart by what the node says itself. */
TEST_CASES(a_node_knows_how_its_data_interface_is, 2)
{
    simulate(NULL, 30, _i ? "down node 7" : "cut node 7 on data", 1);
    ck_assert_int_eq(run.truth.reports, 1);
    ck_assert_int_eq(run.truth.report[0].v.class_,
                     _i ? FTREE_CLASS_NIC_FAULT : FTREE_CLASS_LINK_FAULT);
    finish();
}

/* Node 2 is the parent of node 9, which has children of its own, and of node 10, which has none. */
TEST_CASE(whom_its_parent_alone_does_not_reach_is_told)
{
    for (int32_t node = 9; node <= 10; node++) {
        char lines[64];
        snprintf(lines, sizeof(lines), "t=1s cut node 2 from node %d\nt=4s lose node 25",
                 (int) node);
        simulate(NULL, 38, lines, 1);
        ck_assert_ptr_null(run.broken);
        ck_assert(result.ok);
        ck_assert_int_eq(result.right, 2);
        ck_assert_int_eq(run.truth.report[0].v.node, node);
        ck_assert_int_eq(run.truth.report[1].v.node, 25);
        finish();
    }
}

/* The verdicts are right, but node 9 is told of none but the one about itself: its parent cannot
 * reach it, and those by way of whom it is told cannot any more.  The last verdict is looked at,
 * too. */
TEST_CASE(whom_nobody_tells_is_counted)
{
    simulate(
        NULL, 30,
        "t=1s cut node 2 from node 9\nt=5s cut node 10 from node 9\nt=5s cut node 11 from node 9\n"
        "t=6s lose node 25",
        1);
    ck_assert_ptr_null(run.broken);
    ck_assert_int_eq(result.right, 2);
    ck_assert_int_eq(run.truth.reports, 2);
    ck_assert_int_eq(run.truth.report[0].v.node, 9);
    ck_assert_int_eq(run.truth.report[0].unaware, 0);
    ck_assert_int_eq(run.truth.report[1].v.node, 25);
    ck_assert_int_eq(run.truth.report[1].unaware, 1);
    ck_assert(!result.ok);
    finish();
}

/* Until there are no others. */
TEST_CASES(two_lines_draw_different_nodes, 3)
{
    static const char *const rows[][2] = {
        {NULL, "lose 3 random nodes\nt=2s kill 3 random nodes\nt=3s freeze random node"},
        {NULL, "lose random fln and child\nt=2s lose random fln and child"},
        {"switch:4 node:3",
         "lose random switch\nt=2s lose random switch\nt=3s kill 3 random nodes"},
    };

    for (uint64_t seed = 1; seed <= 10; seed++) {
        bool taken[12] = {false};
        simulate(rows[_i][0], rows[_i][0] ? 0 : 12, rows[_i][1], seed);
        for (int32_t line = 0; line < script.n; line++)
            for (int32_t i = 0; i < run.hit[line].nodes; i++) {
                ck_assert(!taken[run.hit[line].node[i]]);
                taken[run.hit[line].node[i]] = true;
            }
        finish();
    }
}

TEST_CASE(where_no_others_are_left_a_node_is_drawn_twice)
{
    simulate(NULL, 3, "lose 3 random nodes\nkill random node\nfreeze random fln and child", 1);
    ck_assert_int_eq(run.hit[0].nodes, 3);
    ck_assert_int_eq(run.hit[1].nodes, 1);
    ck_assert_int_eq(run.hit[2].nodes, 2);
    finish();
}

/* Its answer waits its turn, and so do its ticks: the node is late, and no one dies of it. */
TEST_CASE(an_agent_with_slow_messages_is_busy)
{
    simulate(NULL, 30, "lose node 7\nstorm: all wait for it", 1);
    ck_assert(result.ok);
    finish();
    options.cost = 0;
    ck_assert_uint_gt(result.busiest_messages, 8);
}
