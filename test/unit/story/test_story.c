/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "base.h"
#include "ftree_int.h"
#include "stories.h"
#include "suite.h"
#include "waiting_ranks.h"

#include <stdio.h>
#include <string.h>

/*
 * Whole stories across nodes.  In each a fault happens at 0 ms; rank by rank the stall limit of one
 * second passes; what the nodes then decide is read from the trace, line by line.
 */

#define SECOND (1000 * FTREE_MS)
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)

static void expect_report(const struct world *w, int32_t i, int32_t by, enum ftree_class class_,
                          int32_t node, int32_t rank)
{
    ck_assert_int_lt(i, w->reports);
    ck_assert_int_eq(w->reporter[i], by);
    ck_assert_str_eq(ftree_class_name(w->report[i].class_), ftree_class_name(class_));
    ck_assert_int_eq(w->report[i].node, node);
    ck_assert_int_eq(w->report[i].rank, rank);
}

static bool lives(const struct world *w, int32_t n)
{
    return !w->node[n].off && !w->node[n].mute && !w->node[n].gone;
}

/* Every node that lives knows `n` verdicts, and has been told of each once. */
static void expect_all_told(const struct world *w, int32_t n)
{
    for (int32_t i = 0; i < w->job.nodes; i++)
        if (lives(w, i))
            ck_assert_msg(w->verdicts_on[i] == n, "node %d has been told %d verdicts", (int) i,
                          (int) w->verdicts_on[i]);
}

static void expect_nothing_told(const struct world *w)
{
    ck_assert_int_eq(w->reports, 0);
    for (int32_t i = 0; i < w->job.nodes; i++)
        ck_assert_int_eq(w->verdicts_on[i], 0);
}

static void expect_victims(const struct world *w, int32_t i, const char *expected)
{
    char buf[256] = "";
    int len = 0;

    for (int32_t r = 0; r < w->report[i].victims.ranges; r++)
        len += snprintf(buf + len, sizeof(buf) - (size_t) len, "%s%d-%d", r ? " " : "",
                        (int) w->report[i].victims.range[r].first,
                        (int) w->report[i].victims.range[r].last);
    ck_assert_str_eq(buf, expected);
}

/* ---- a node is lost -------------------------------------------------------------------------- */

TEST_CASE(a_leaf_is_lost)
{
    struct world *w = world_of(shape_star(4, 1));

    w->node[2].off = true;
    world_all_wait(w, 2, 2);
    world_run(w, 1990 * FTREE_MS);
    EXPECT_STORY(world_trace(w));
    ck_assert_int_eq(w->reports, 1);
    expect_report(w, 0, 0, FTREE_CLASS_NODE_OUTAGE, 2, FTREE_NONE);
    expect_victims(w, 0, "0-1 3-3");
    expect_all_told(w, 1);
    world_run(w, MINUTE);
    ck_assert_int_eq(w->reports, 1);
    expect_all_told(w, 1);
}

/* Who waits for it reaches the stall limit only later than the one that waits for that. */
TEST_CASE(a_leaf_is_lost_at_the_end_of_a_chain)
{
    struct world *w = world_of(shape_star(4, 1));

    world_wait(w, 3, 1);
    world_run(w, 900 * FTREE_MS);
    w->node[2].off = true;
    world_wait(w, 1, 2);
    world_run(w, SECOND);
    expect_report(w, 0, 0, FTREE_CLASS_NODE_OUTAGE, 2, FTREE_NONE);
    expect_victims(w, 0, "1-1 3-3");
}

TEST_CASE(the_root_is_lost)
{
    struct world *w = world_of(shape_star(4, 1));

    w->node[0].off = true;
    world_all_wait(w, 0, 0);
    world_run(w, 2990 * FTREE_MS);
    EXPECT_STORY(world_trace(w));
    ck_assert_int_eq(w->reports, 1);
    expect_report(w, 0, ftree_inspect_root_substitute(w->node[1].ft, 1), FTREE_CLASS_NODE_OUTAGE,
                  0, FTREE_NONE);
    expect_victims(w, 0, "1-3");
    expect_all_told(w, 1);
    world_run(w, MINUTE);
    ck_assert_int_eq(w->reports, 1);
}

TEST_CASE(two_of_eight_are_lost_one_the_fln_of_the_other)
{
    struct world *w = world_of(shape_binary(8, 1));

    w->node[1].off = w->node[3].off = true;
    for (int32_t r = 0; r < 8; r++)
        if (r != 1 && r != 3)
            world_wait(w, r, r & 1 ? 1 : 3);
    world_run(w, 2990 * FTREE_MS);
    EXPECT_STORY(world_trace(w));
    ck_assert_int_eq(w->reports, 2);
    expect_report(w, 0, 0, FTREE_CLASS_NODE_OUTAGE, 1, FTREE_NONE);
    expect_report(w, 1, 0, FTREE_CLASS_NODE_OUTAGE, 3, FTREE_NONE);
    expect_all_told(w, 2);
    world_run(w, MINUTE);
    ck_assert_int_eq(w->reports, 2);
    expect_all_told(w, 2);
}

TEST_CASE(root_and_first_substitute_are_lost)
{
    struct world *w = world_of(shape_star(6, 1));
    int32_t heir = ftree_inspect_root_substitute(w->node[1].ft, 1);
    int32_t second = ftree_inspect_root_substitute(w->node[1].ft, 2);

    w->node[0].off = w->node[heir].off = true;
    for (int32_t r = 1; r < 6; r++)
        if (r != heir)
            world_wait(w, r, r % 2 ? 0 : heir);
    world_run(w, 3500 * FTREE_MS);
    ck_assert_int_eq(heir, 3);
    ck_assert_int_eq(second, 5);
    /* the verdict on n0 is told 20 ms later, with any others */
    EXPECT_STORY(world_trace(w));
    ck_assert_int_eq(w->reports, 2);
    expect_all_told(w, 2);
    for (int32_t i = 0; i < 2; i++) {
        ck_assert_int_eq(w->report[i].class_, FTREE_CLASS_NODE_OUTAGE);
        ck_assert_int_eq(w->reporter[i], second);
    }
    ck_assert_int_eq(w->report[0].node + w->report[1].node, heir);
    world_run(w, MINUTE);
    ck_assert_int_eq(w->reports, 2);
}

/* Nobody waits for a known peer any more (MPI_ANY_SOURCE), and the root that would ask is gone. */
TEST_CASE(after_the_root_another_is_lost_and_found_by_a_flood_query)
{
    struct world *w = world_of(shape_star(5, 1));
    int32_t heir = ftree_inspect_root_substitute(w->node[1].ft, 1);
    int32_t next = heir == 2 ? 3 : 2;

    w->node[0].off = true;
    world_all_wait(w, 0, 0);
    world_run(w, 10 * SECOND);
    ck_assert_int_eq(w->reports, 1);
    w->node[next].off = true;
    for (int32_t r = 1; r < 5; r++)
        world_go_on(w, r);
    for (int32_t r = 1; r < 5; r++)
        if (r != next)
            world_wait(w, r, FTREE_NONE);
    world_trace(w);
    world_run(w, 2 * SECOND);
    ck_assert_int_eq(heir, 3);
    EXPECT_STORY(world_trace(w));
    ck_assert_int_eq(w->reports, 2);
    expect_report(w, 1, heir, FTREE_CLASS_NODE_OUTAGE, next, FTREE_NONE);
    expect_all_told(w, 2);
}

TEST_CASE(one_of_two_nodes_is_lost)
{
    struct world *w = world_of(shape_star(2, 2));

    w->node[1].off = true;
    world_all_wait(w, 1, 2);
    world_run(w, 5 * SECOND);
    ck_assert_int_eq(w->reports, 1);
    expect_report(w, 0, 0, FTREE_CLASS_NODE_OUTAGE, 1, FTREE_NONE);
    ck_assert_str_eq(w->report[0].rule, "node-outage/silent-without-witness");
    expect_victims(w, 0, "0-1");
}

/* A board with three nodes dies, and its neighbours by number are who is asked as witnesses. */
TEST_CASE(neighbours_are_lost_together)
{
    struct world *w = world_of(shape_tree(64, 1, 64));

    w->node[1].off = w->node[2].off = w->node[3].off = true;
    world_wait(w, 0, 1); /* all others compute */
    world_run(w, 5 * SECOND);
    ck_assert_int_eq(w->reports, 3); /* the verdict on the first did not reach the others */
    for (int32_t i = 0; i < 3; i++)
        ck_assert_int_eq(w->report[i].class_, FTREE_CLASS_NODE_OUTAGE);
    expect_report(w, 0, 0, FTREE_CLASS_NODE_OUTAGE, 1, FTREE_NONE);
    expect_all_told(w, 3);
}

TEST_CASE(half_of_the_job_is_lost)
{
    struct world *w = world_of(shape_binary(31, 1));

    for (int32_t n = 2; n < 31; n += 2) {
        w->node[n].off = true;
        world_wait(w, n - 1, n);
    }
    world_run(w, 20 * SECOND);
    ck_assert_int_eq(w->reports, 15);
    for (int32_t i = 0; i < w->reports; i++) {
        ck_assert_int_eq(w->report[i].class_, FTREE_CLASS_NODE_OUTAGE);
        ck_assert_int_eq(w->report[i].node % 2, 0);
    }
    expect_all_told(w, 15);
}

/* ---- a process stops ------------------------------------------------------------------------- */

TEST_CASE(the_only_process_of_a_node_is_stopped)
{
    struct world *w = world_of(shape_star(4, 1));

    w->rank[2].proc_state = 'T';
    world_all_wait(w, 2, 2);
    world_run(w, 1990 * FTREE_MS);
    EXPECT_STORY(world_trace(w));
    expect_report(w, 0, 0, FTREE_CLASS_PROCESS_STOPPED, 2, 2);
    ck_assert_int_eq(w->report[0].pid, 5002);
    expect_all_told(w, 1);
    world_run(w, MINUTE);
    ck_assert_int_eq(w->reports, 1);
    w->rank[2].proc_state = 'R';
    world_run(w, 2 * SECOND);
    ck_assert_int_eq(w->withdrawals, 1);
}

/* It is no rank, and whoever waits for one of its node waits for nothing that is at fault. */
TEST_CASES(a_stopped_agent_is_no_stopped_rank, 2)
{
    struct world *w = world_of(shape_star(4, 1 + _i));

    w->node[2].mute = true;
    world_all_wait(w, 2, 2 * (1 + _i));
    world_run(w, 20 * SECOND);
    expect_nothing_told(w);
    world_take_over(w, 2);
    w->rank[2 * (1 + _i)].proc_state = 'T';
    world_run(w, 20 * SECOND);
    ck_assert_int_eq(w->reports, 1);
    expect_report(w, 0, 0, FTREE_CLASS_PROCESS_STOPPED, 2, 2 * (1 + _i));
    ck_assert_str_eq(w->report[0].rule, "process-stopped/state-t");
}

TEST_CASE(the_agent_is_stopped_and_its_deputy_says_so)
{
    struct world *w = world_of(shape_star(4, 2));

    w->node[2].mute = true;
    w->rank[4].proc_state = 'T';
    world_all_wait(w, 2, 4);
    world_wait(w, 5, 4); /* on the same node */
    world_run(w, 1990 * FTREE_MS);
    EXPECT_STORY(world_trace(w));
    expect_report(w, 0, 0, FTREE_CLASS_PROCESS_STOPPED, 2, 4);
    ck_assert_int_eq(w->report[0].pid, 5004);
    ck_assert_str_eq(w->report[0].rule, "process-stopped/deputy-says-stopped");
    expect_victims(w, 0, "0-3 5-7");
    expect_all_told(w, 1);
    world_run(w, MINUTE);
    ck_assert_int_eq(w->reports, 1);
}

/* Nobody acts for it meanwhile: its deputy takes over, and tells what has waited for that. */
TEST_CASE(the_roots_agent_is_stopped_and_its_deputy_takes_over)
{
    struct world *w = world_of(shape_star(4, 3));
    int32_t heir = ftree_inspect_root_substitute(w->node[1].ft, 1);
    struct ftree_symptom s;

    w->node[0].mute = true;
    w->rank[0].proc_state = 'T';
    w->rank[2].phase = FTREE_PHASE_GONE;
    world_all_wait(w, 0, 0);
    ftree_symptom_init(&s, FTREE_SYMPTOM_PROCESS_EXITED, 0, 2, heir, w->now, w->now);
    ck_assert_int_eq(ftree_symptom(w->node[heir].ft, w->now, &s), FTREE_OK);
    world_run(w, 1200 * FTREE_MS); /* its deputy and the launcher have told the heir of both */
    ck_assert_int_eq(w->reports, 0);
    ck_assert(!ftree_route_is_root(w->node[heir].ft));
    world_take_over(w, 0);
    ck_assert(world_run_until_reports(w, 2, 6 * SECOND));
    for (int i = 0; i < 2; i++) {
        bool crash = w->report[i].class_ == FTREE_CLASS_PROCESS_CRASH;
        expect_report(w, i, 0, crash ? FTREE_CLASS_PROCESS_CRASH : FTREE_CLASS_PROCESS_STOPPED, 0,
                      crash ? 2 : 0);
    }
    ck_assert_int_ne(w->report[0].class_, w->report[1].class_);
    world_run(w, MINUTE);
    ck_assert_int_eq(w->reports, 2);
    expect_all_told(w, 2);
}

TEST_CASE(another_process_of_a_node_is_stopped)
{
    struct world *w = world_of(shape_star(4, 2));

    w->rank[5].proc_state = 'T';
    world_all_wait(w, 2, 5);
    world_run(w, 1990 * FTREE_MS);
    EXPECT_STORY(world_trace(w));
    expect_report(w, 0, 0, FTREE_CLASS_PROCESS_STOPPED, 2, 5);
    ck_assert_str_eq(w->report[0].rule, "process-stopped/state-t");
    expect_all_told(w, 1);
    world_run(w, MINUTE);
    ck_assert_int_eq(w->reports, 1);
}

TEST_CASE(two_stopped_processes_of_a_node_are_both_named_by_its_deputy)
{
    struct world *w = world_of(shape_star(3, 4));

    w->node[2].mute = true;
    w->rank[8].proc_state = w->rank[10].proc_state = 'T';
    world_wait(w, 0, 8);
    world_wait(w, 4, 10);
    world_run(w, 20 * SECOND);
    ck_assert_int_eq(w->reports, 2);
    expect_report(w, 0, 0, FTREE_CLASS_PROCESS_STOPPED, 2, 8);
    expect_report(w, 1, 0, FTREE_CLASS_PROCESS_STOPPED, 2, 10);
}

TEST_CASE(continued_before_the_verdict_there_is_none)
{
    struct world *w = world_of(shape_star(4, 1));

    w->node[2].mute = true;
    world_all_wait(w, 2, 2);
    world_run(w, 1500 * FTREE_MS);
    w->node[2].mute = false;
    for (int32_t r = 0; r < 4; r++)
        if (r != 2)
            world_go_on(w, r);
    world_run(w, MINUTE);
    EXPECT_STORY(world_trace(w));
    expect_nothing_told(w);
}

TEST_CASE(continued_before_anybody_waits_nobody_asks)
{
    struct world *w = world_of(shape_star(4, 2));

    w->rank[5].proc_state = 'T';
    world_all_wait(w, 2, 5);
    world_run(w, 900 * FTREE_MS);
    w->rank[5].proc_state = 'R';
    for (int32_t r = 0; r < 8; r++)
        if (r / 2 != 2)
            world_go_on(w, r);
    world_run(w, MINUTE);
    EXPECT_LINES(world_trace(w), "");
    for (int32_t n = 0; n < 4; n++)
        ck_assert_int_eq(w->node[n].sent, 0);
}

TEST_CASE(continued_while_it_settles_there_is_no_verdict)
{
    struct world *w = world_of(shape_star(4, 2));

    w->rank[5].proc_state = 'T';
    world_all_wait(w, 2, 5);
    world_run(w, 1100 * FTREE_MS); /* it was seen in state T at 1001 ms */
    w->rank[5].proc_state = 'R';
    world_run(w, 800 * FTREE_MS);
    EXPECT_STORY(world_trace(w));
    expect_nothing_told(w);
}

/* ---- a job is suspended ---------------------------------------------------------------------- */

/* Agents that run look at their ranks every now and then. */
static void run_and_look(struct world *w, int ms)
{
    for (; ms > 0; ms -= 100) {
        world_run(w, 100 * FTREE_MS);
        for (int32_t r = 0; r < w->job.size; r++)
            if (w->rank[r].proc_state == 'T' && w->now % (400 * FTREE_MS) == 0 &&
                w->node[w->rank_node[r]].asleep_until <= w->now)
                ftree_rank_stopped(w->node[w->rank_node[r]].ft, w->now);
    }
}

static void suspend(struct world *w, bool agents, bool stopped, int32_t node)
{
    for (int32_t r = w->node_first[node]; r < w->node_first[node + 1]; r++)
        w->rank[r].proc_state = stopped ? 'T' : 'R';
    if (agents)
        w->node[node].asleep_until = stopped ? w->now + HOUR : w->now;
}

/* Of a job that waits for its last rank, and that is suspended for a while: the nodes (or, ranks >
 * 0, the ranks of the last node) are resumed `apart` ms apart, or the last one `last` ms after the
 * others. */
static const struct {
    int32_t nodes, ppn;
    bool agents; /* are suspended, too */
    bool ranks;
    int from, lasts, apart, last; /* ms */
} suspensions[] = {
    {4, 2, false, false, 300, 5000, 500, 0},   {4, 2, false, false, 300, 5000, 0, 1600},
    {4, 1, false, false, 300, 5000, 500, 0},   {4, 1, false, false, 300, 5000, 0, 1600},
    {4, 2, true, false, 300, 5000, 500, 0},    {4, 2, true, false, 300, 5000, 0, 1600},
    {4, 1, true, false, 300, 5000, 500, 0},    {4, 1, true, false, 300, 5000, 0, 1600},
    {3, 4, false, true, 300, 5000, 500, 0},    {3, 4, false, true, 300, 5000, 0, 1600},
    {1, 4, false, true, 300, 5000, 500, 0},    {1, 4, false, true, 300, 60000, 0, 1600},
    {1, 16, false, true, 300, 3000, 500, 0},   {4, 1, false, false, 300, 60000, 0, 1600},
    {4, 1, true, false, 1400, 60000, 0, 1600}, {4, 2, false, false, 900, 2000, 500, 0},
    {8, 1, false, false, 0, 2000, 500, 0},     {4, 2, true, true, 300, 5000, 500, 0},
};

static void resume_ranks(struct world *w, int32_t node, int apart, int last)
{
    int32_t end = w->node_first[node + 1];

    for (int32_t r = w->node_first[node]; r < end; r++) {
        run_and_look(w, r == end - 1 ? apart + last : apart);
        w->rank[r].proc_state = 'R';
    }
}

TEST_CASES(nobody_is_accused_of_a_suspension, COUNT(suspensions))
{
    int32_t nodes = suspensions[_i].nodes;
    struct world *w = world_of(shape_tree(nodes, suspensions[_i].ppn, 32));
    const char *trace, *said;

    world_all_wait(w, FTREE_NONE, w->job.size - 1); /* that one computes */
    run_and_look(w, suspensions[_i].from);
    for (int32_t n = 0; n < nodes; n++)
        suspend(w, suspensions[_i].agents, true, n);
    run_and_look(w, suspensions[_i].lasts);
    for (int32_t n = 0; n < nodes; n++) {
        if (suspensions[_i].ranks && n == nodes - 1) {
            w->node[n].asleep_until = 0;
            resume_ranks(w, n, suspensions[_i].apart, suspensions[_i].last);
            continue;
        }
        suspend(w, suspensions[_i].agents, false, n);
        run_and_look(w, suspensions[_i].apart + (n == nodes - 2 ? suspensions[_i].last : 0));
    }
    run_and_look(w, 3000);
    for (int32_t r = 0; r < w->job.size; r++)
        world_go_on(w, r);
    run_and_look(w, 20000);
    expect_nothing_told(w);
    trace = world_trace(w);
    said = strstr(trace, "n0: all ranks of this node are stopped");
    ck_assert(suspensions[_i].agents ||
              (said && !strstr(said + 1, "n0: all ranks of this node are stopped")));
}

/* Its agent is no part of it. */
TEST_CASE(the_only_rank_of_a_node_is_stopped_and_its_agent_says_so)
{
    struct world *w = world_of(shape_star(4, 1));

    w->rank[2].proc_state = 'T';
    world_all_wait(w, 2, 2);
    run_and_look(w, 1200);
    ck_assert_int_eq(w->reports, 1);
    expect_report(w, 0, 0, FTREE_CLASS_PROCESS_STOPPED, 2, 2);
    ck_assert_str_eq(w->report[0].rule, "process-stopped/state-t");
    run_and_look(w, 60000);
    ck_assert_int_eq(w->reports, 1);
    ck_assert_int_eq(w->withdrawals, 0);
}

/* It was stopped in the wait that it is in. */
TEST_CASE(a_stopped_rank_waits_for_nobody)
{
    struct world *w = world_of(shape_star(4, 2));

    world_wait(w, 5, 0);
    w->rank[5].proc_state = 'T';
    run_and_look(w, 5000);
    expect_nothing_told(w);
    for (int32_t n = 0; n < 4; n++)
        ck_assert_int_eq(w->node[n].sent, 0);
    world_wait(w, 0, 5); /* but somebody misses it */
    run_and_look(w, 1300);
    ck_assert_int_eq(w->reports, 1);
    expect_report(w, 0, 0, FTREE_CLASS_PROCESS_STOPPED, 2, 5);
}

TEST_CASE(who_stays_stopped_after_a_suspension_is_named)
{
    struct world *w = world_of(shape_star(4, 2));

    world_all_wait(w, FTREE_NONE, 7);
    for (int32_t n = 0; n < 4; n++)
        suspend(w, false, true, n);
    run_and_look(w, 5000);
    for (int32_t n = 0; n < 4; n++)
        suspend(w, false, false, n);
    w->rank[7].proc_state = 'T';
    run_and_look(w, 4000);
    expect_nothing_told(w);
    run_and_look(w, 10000);
    ck_assert_int_eq(w->reports, 1);
    expect_report(w, 0, 0, FTREE_CLASS_PROCESS_STOPPED, 3, 7);
}

/* ---- a process stops, and its node with it --------------------------------------------------- */

TEST_CASE(agent_and_deputy_are_mute)
{
    struct world *w = world_of(shape_star(4, 2));

    w->node[2].mute = w->node[2].no_deputy = true;
    world_all_wait(w, 2, 4);
    world_run(w, 5 * SECOND);
    ck_assert_int_eq(w->reports, 1);
    expect_report(w, 0, 0, FTREE_CLASS_NODE_FROZEN, 2, FTREE_NONE);
    expect_all_told(w, 1);
}

/* ---- a process ends -------------------------------------------------------------------------- */

/* Whatever is seen of a node whose ranks have ended, and whose agent has left. */
static void all_is_seen_of(struct world *w, int32_t node)
{
    static const enum ftree_symptom_kind kinds[] = {
        FTREE_SYMPTOM_PEER_SILENT, FTREE_SYMPTOM_PEER_UNREACHABLE, FTREE_SYMPTOM_PROXY_LOST,
        FTREE_SYMPTOM_HEARTBEAT_LOST, FTREE_SYMPTOM_USER_SUSPECTS};

    for (int32_t r = 0; r < w->job.size; r++)
        if (lives(w, w->rank_node[r]))
            world_wait(w, r, r % 2 ? w->node_ranks[w->node_first[node]] : FTREE_NONE);
    for (int32_t by = 0; by < w->job.nodes; by++)
        for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]) && lives(w, by); k++)
            world_symptom(w, by, kinds[k], node);
}

TEST_CASE(the_only_process_of_a_node_has_crashed)
{
    struct world *w = world_of(shape_star(4, 1));

    world_all_wait(w, 2, 2);
    world_crash(w, 2);
    world_run(w, 990 * FTREE_MS);
    EXPECT_STORY(world_trace(w));
    expect_report(w, 0, 0, FTREE_CLASS_PROCESS_CRASH, 2, 2);
    ck_assert_int_eq(w->report[0].pid, 5002);
    ck_assert(w->node[2].gone);
    expect_all_told(w, 1);
}

/* Wherever it is in the tree, and how many they are: its agent tells of each and leaves, and then
 * nobody asks about it any more. */
TEST_CASES(all_processes_of_a_node_have_crashed, 14)
{
    int32_t ppn = 1 + _i % 2, node = _i / 2;
    struct world *w = world_of(shape_binary(7, ppn));
    int32_t heir = ftree_inspect_root_substitute(w->node[1].ft, 1);
    char suspects[32];

    world_all_wait(w, node, node * ppn);
    world_crash(w, node);
    ck_assert(world_run_until_reports(w, ppn, 5 * SECOND));
    world_run(w, 3 * SECOND);
    ck_assert(w->node[node].gone);
    for (int32_t i = 0; i < ppn; i++) {
        if (node > 0 || ppn == 1) /* who tells of the last one of the root's is its heir */
            ck_assert_int_eq(w->reporter[i], node ? 0 : heir);
        expect_report(w, i, w->reporter[i], FTREE_CLASS_PROCESS_CRASH, node, node * ppn + i);
        ck_assert_str_eq(w->report[i].rule, "process-crash/pid-gone");
    }
    expect_all_told(w, ppn);
    for (int32_t n = 0; n < 7; n++)
        ck_assert(n == node || ftree_has_failed(w->node[n].ft, node));
    snprintf(suspects, sizeof(suspects), "suspects n%d:", (int) node);
    world_trace(w);
    all_is_seen_of(w, node);
    world_run(w, 30 * SECOND);
    ck_assert_int_eq(w->reports, ppn);
    ck_assert_ptr_null(strstr(world_trace(w), suspects));
    expect_all_told(w, ppn);
}

/* The children that the root had hear of its end from its agent first, and say there who waits:
 * whoever reports instead waits until the agent has handed that on. */
TEST_CASES(victims_told_to_an_agent_that_ends_are_reported, 20)
{
    struct world *w = world_of(shape_binary(7, 1));
    int32_t heir = ftree_inspect_root_substitute(w->node[1].ft, 1);

    w->random += (uint64_t) _i;
    w->jitter = 20 * FTREE_MS;
    world_all_wait(w, 0, 0);
    world_run(w, 100 * FTREE_MS);
    world_crash(w, 0);
    ck_assert(world_run_until_reports(w, 1, 5 * SECOND));
    world_run(w, 3 * SECOND);
    ck_assert_int_eq(w->reports, 1);
    expect_report(w, 0, heir, FTREE_CLASS_PROCESS_CRASH, 0, 0);
    expect_victims(w, 0, "1-6");
}

/* The kernel refuses both ports: nothing is known of its ranks, until somebody answers there
 * again. */
TEST_CASES(agent_and_deputy_have_ended, 2)
{
    struct world *w = world_of(shape_star(4, 1 + _i));

    w->node[2].gone = w->node[2].no_deputy = true;
    world_all_wait(w, 2, 2 * (1 + _i));
    world_run(w, 20 * SECOND);
    ck_assert_int_eq(w->reports, 1);
    expect_report(w, 0, 0, FTREE_CLASS_UNKNOWN, 2, FTREE_NONE);
    ck_assert_str_eq(w->report[0].rule, "unknown/unobserved");
    ck_assert(!ftree_has_failed(w->node[0].ft, 2));
    expect_all_told(w, 1);
    world_end_process(w, 3 * (1 + _i));
    world_run(w, 5 * SECOND);
    w->node[2].no_deputy = false;
    world_take_over(w, 2);
    world_run(w, 20 * SECOND);
    ck_assert_int_eq(w->reports, 2);
    ck_assert_int_eq(w->withdrawals, 1);
    ck_assert(
        ftree_verdict_on_rank(w->node[2].ft, 3, 3 * (1 + _i))); /* it is told what it missed */
}

/* It is the launcher, or a transport, that knows of a rank then.  Until it has told of the last one
 * the verdicts go to the node, too, and so it is known that nobody is there. */
TEST_CASES(of_whom_nobody_observes_others_tell, 2)
{
    enum ftree_symptom_kind kind = _i ? FTREE_SYMPTOM_PEER_RESET : FTREE_SYMPTOM_PROCESS_EXITED;
    const char *sign =
        _i ? "process-crash/reset-and-all-ports" : "process-crash/launcher-and-all-ports";
    struct world *w = world_of(shape_star(4, 2));
    struct ftree_symptom s;

    w->node[2].gone = w->node[2].no_deputy = true;
    for (int32_t r = 5; r >= 4; r--) {
        ftree_symptom_init(&s, kind, 2, r, 1, w->now, w->now);
        ck_assert_int_eq(ftree_symptom(w->node[1].ft, w->now, &s), FTREE_OK);
        world_run(w, 5 * SECOND);
        ck_assert_int_eq(ftree_has_failed(w->node[0].ft, 2), r == 4);
    }
    ck_assert_int_eq(w->reports, 3);
    expect_report(w, 0, 0, FTREE_CLASS_PROCESS_CRASH, 2, 5);
    ck_assert_str_eq(w->report[0].rule, sign);
    expect_report(w, 1, 0, FTREE_CLASS_UNKNOWN, 2, FTREE_NONE);
    expect_report(w, 2, 0, FTREE_CLASS_PROCESS_CRASH, 2, 4);
    ck_assert_str_eq(w->report[2].rule, sign);
    world_trace(w);
    all_is_seen_of(w, 2);
    world_run(w, 30 * SECOND);
    ck_assert_int_eq(w->reports, 3);
    ck_assert_ptr_null(strstr(world_trace(w), "suspects n2:"));
}

/* What was killed with its node's agent and deputy (the proxy with them, or a limit of memory) the
 * launcher names rank by rank.  All others learn of each of these at once, though nobody waits. */
TEST_CASES(the_launcher_tells_of_several_ranks_of_a_node, 3)
{
    static const struct {
        int32_t node, first, step, reports;
    } rows[] = {
        {0, 0, 1, 1}, {1, 4, 1, 1}, {5, 21, 2, 2}}; /* all of the root's, of another's, half */
    struct world *w = world_of(shape_binary(7, 4));
    int32_t node = rows[_i].node;
    struct ftree_symptom s;

    w->node[node].gone = w->node[node].no_deputy = true;
    for (int32_t r = rows[_i].first; r < 4 * node + 4; r += rows[_i].step) {
        ftree_symptom_init(&s, FTREE_SYMPTOM_PROCESS_EXITED, node, r, 3, w->now, w->now);
        ck_assert_int_eq(ftree_symptom(w->node[3].ft, w->now, &s), FTREE_OK);
    }
    world_run(w, 500 * FTREE_MS);
    for (int32_t n = 0; n < 7; n++)
        for (int32_t r = rows[_i].first; n != node && r < 4 * node + 4; r += rows[_i].step)
            ck_assert(ftree_has_failed(w->node[n].ft, node) ||
                      ftree_verdict_on_rank(w->node[n].ft, node, r));
    ck_assert_int_eq(w->reports, rows[_i].reports);
    for (int32_t i = 0; i < w->reports; i++)
        expect_report(w, i, w->reporter[0], FTREE_CLASS_PROCESS_CRASH, node,
                      w->reports > 1 ? rows[_i].first + i * rows[_i].step : FTREE_NONE);
}

TEST_CASE(one_process_of_several_has_crashed)
{
    struct world *w = world_of(shape_star(4, 2));

    world_end_process(w, 5);
    world_run(w, 990 * FTREE_MS);
    EXPECT_STORY(world_trace(w));
    ck_assert_int_eq(w->reports, 1);
    expect_report(w, 0, 0, FTREE_CLASS_PROCESS_CRASH, 2, 5);
    ck_assert_str_eq(w->report[0].rule, "process-crash/pid-gone");
    ck_assert_int_eq(w->report[0].pid, 5005);
    expect_all_told(w, 1);
}

TEST_CASE(all_are_killed_while_it_settles_there_is_no_verdict)
{
    struct world *w = world_of(shape_star(4, 2));

    world_end_process(w, 5);
    world_run(w, 100 * FTREE_MS);
    for (int32_t n = 0; n < 4; n++)
        w->node[n].gone = w->node[n].no_deputy = true; /* as a launcher does */
    world_run(w, MINUTE);
    EXPECT_LINES(world_trace(w), "");
    expect_nothing_told(w);
}

TEST_CASE(the_agent_has_crashed_and_the_next_takes_over)
{
    struct world *w = world_of(shape_star(4, 4));

    w->node[2].gone = true; /* its deputy is on the way */
    world_all_wait(w, 2, 8);
    world_run(w, 1200 * FTREE_MS);
    world_take_over(w, 2);
    world_end_process(w, 8);
    world_run(w, 10 * SECOND);
    ck_assert_int_eq(w->reports, 1);
    expect_report(w, 0, 0, FTREE_CLASS_PROCESS_CRASH, 2, 8);
    ck_assert_str_eq(w->report[0].rule, "process-crash/pid-gone");
    expect_all_told(w, 1);
}

/* ---- a path fails ---------------------------------------------------------------------------- */

TEST_CASE(a_data_path_is_silent_and_its_node_is_not)
{
    struct world *w = world_of(shape_star(4, 1));

    w->node[2].path_down[FTREE_PATH_DATA] = true;
    world_all_wait(w, 2, 2);
    world_run(w, 8 * SECOND);
    ck_assert_int_eq(w->reports, 1);
    expect_report(w, 0, 0, FTREE_CLASS_UNKNOWN, 2, FTREE_NONE);
    ck_assert_str_eq(w->report[0].rule, "unknown/data-path-silent");
    expect_all_told(w, 1);
}

TEST_CASE(the_own_data_path_is_silent)
{
    struct world *w = world_of(shape_star(4, 1));

    w->node[0].path_down[FTREE_PATH_DATA] = true;
    world_wait(w, 0, 2);
    world_run(w, 20 * SECOND);
    ck_assert_int_eq(w->reports, 1);
    expect_report(w, 0, 0, FTREE_CLASS_UNKNOWN, 0, FTREE_NONE);
    ck_assert_str_eq(w->report[0].rule, "unknown/own-data-path-silent");
    expect_all_told(w, 1);
}

TEST_CASE(a_node_cut_off_knows_it_while_the_others_take_it_for_lost)
{
    struct world *w = world_of(shape_star(4, 1));

    w->node[2].path_down[FTREE_PATH_DATA] = w->node[2].path_down[FTREE_PATH_MGMT] = true;
    world_all_wait(w, 2, 2);
    world_wait(w, 2, 1);
    world_run(w, 20 * SECOND);
    ck_assert_int_eq(w->reports, 2);
    expect_report(w, 0, 0, FTREE_CLASS_NODE_OUTAGE, 2, FTREE_NONE);
    expect_report(w, 1, 2, FTREE_CLASS_UNKNOWN, 2, FTREE_NONE);
    ck_assert_str_eq(w->report[1].rule, "unknown/no-node-answers");
    expect_all_told(w, 1);
}

/* Others are asked to look, and find it well: it has its power, and what lies between is at fault.
 * Once it is mended the verdict is withdrawn. */
static void nothing_passes_between_the_root_and_node_2(int path)
{
    struct world *w = world_of(shape_star(6, 1));

    w->is_cut = true;
    w->cut[0] = 0;
    w->cut[1] = 2;
    w->cut_path = path;
    world_all_wait(w, 2, 2);
    world_run(w, 8 * SECOND);
    ck_assert_int_eq(w->reports, 1);
    expect_report(w, 0, 0, FTREE_CLASS_UNKNOWN, 2, FTREE_NONE);
    ck_assert_str_eq(w->report[0].rule, "unknown/silent-from-here-only");
    w->is_cut = false;
    for (int32_t r = 0; r < 6; r++)
        world_go_on(w, r);
    world_run(w, 60 * SECOND);
    ck_assert_int_eq(w->reports, 1);
    ck_assert_int_eq(w->withdrawals, 1);
    world_free(w);
}

TEST_CASE(what_is_silent_from_the_root_only_is_no_outage)
{
    nothing_passes_between_the_root_and_node_2(FTREE_PATHS);
}

TEST_CASE(a_data_path_is_silent_from_the_root_only)
{
    nothing_passes_between_the_root_and_node_2(FTREE_PATH_DATA);
}

TEST_CASES(a_job_with_one_path, 2)
{
    struct world *w = world_of(shape_star(4, 1));

    w->job.has_path[_i] = false;
    w->node[2].off = true;
    world_all_wait(w, 2, 2);
    world_run(w, 8 * SECOND);
    ck_assert_int_eq(w->reports, 1);
    expect_report(w, 0, 0, FTREE_CLASS_NODE_OUTAGE, 2, FTREE_NONE);
    ck_assert_str_eq(w->report[0].rule, "node-outage/only-path-silent");
    expect_all_told(w, 1);
}

static int32_t asks_of_root; /* this node has its handlers asked about the root */

static bool ask_handlers(void *ctx, int32_t node)
{
    int32_t rank;
    struct world *w = world_at(ctx, 0, &rank);

    if (node != 0)
        return false;
    asks_of_root = w->rank_node[rank];
    return true;
}

static const struct {
    enum ftree_symptom_kind said;
    enum ftree_class class_;
} of_root[] = {{FTREE_SYMPTOM_POWER_OFF, FTREE_CLASS_NODE_OUTAGE},
               {FTREE_SYMPTOM_PORT_DISABLED, FTREE_CLASS_LINK_FAULT},
               {FTREE_SYMPTOM_POWER_ON, FTREE_CLASS_UNKNOWN}};

/* Whatever it is: nobody reaches it, so another node acts for it, until it is back. */
TEST_CASES(the_root_is_lost_to_the_only_network, 3)
{
    struct world *w = world_of(shape_tree(4, 1, 2));
    int32_t by;

    asks_of_root = FTREE_NONE;
    w->io.handlers = ask_handlers;
    w->job.has_path[FTREE_PATH_MGMT] = false;
    w->node[0].path_down[FTREE_PATH_DATA] = true;
    world_all_wait(w, 0, 0);
    for (int i = 0; i < 50 && asks_of_root == FTREE_NONE; i++)
        world_run(w, 100 * FTREE_MS);
    by = asks_of_root;
    ck_assert_int_ge(by, 1);
    ftree_handler_said(w->node[by].ft, w->now, w->now, 0, of_root[_i].said, "it");
    ftree_handlers_done(w->node[by].ft, w->now, 0);
    ck_assert(world_run_until_reports(w, 1, 5 * SECOND));
    ck_assert_int_eq(w->report[0].class_, of_root[_i].class_);
    ck_assert_int_eq(w->report[0].node, 0);
    ck_assert_int_ge(w->reporter[0], 1);
    w->node[0].path_down[FTREE_PATH_DATA] = false;
    world_run(w, 30 * SECOND);
    ck_assert_int_eq(w->withdrawals, 1);
}

/* ---- nothing fails --------------------------------------------------------------------------- */

/* One hour in which everybody waits for somebody who computes: asked at 1, 2, 4, 8, 16 s and then
 * every 10 s, that is about 363 times. */
static void long_wait(int32_t nodes, int32_t fanout, int32_t peer, int64_t per_round)
{
    struct world *w = world_of(shape_tree(nodes, 1, fanout));

    world_all_wait(w, 2, peer);
    world_run(w, 10 * SECOND);
    ck_assert_int_le(world_busiest(w), 4 * per_round);
    world_run(w, HOUR);
    ck_assert_int_le(world_busiest(w), 366 * per_round);
    ck_assert_int_gt(world_busiest(w), 300);
    expect_nothing_told(w);
    for (int32_t n = 0; n < nodes; n++) { /* and nothing piles up */
        ck_assert_int_le(ftree_inspect_suspects(w->node[n].ft), 1);
        ck_assert_int_le(ftree_inspect_forwards(w->node[n].ft), 4);
        ck_assert_int_eq(ftree_inspect_unresponsive(w->node[n].ft), 0);
    }
    world_free(w);
}

TEST_CASE(an_hour_of_waiting_for_a_busy_peer)
{
    /* at the FLN: two symptoms and their acknowledgments, two probes and their answers */
    long_wait(4, 32, 2, 8);
}

TEST_CASE(an_hour_of_waiting_for_anybody)
{
    /* at the root: three probes, answers, rounds told and their acknowledgments */
    long_wait(4, 32, FTREE_NONE, 12);
}

TEST_CASE(a_job_at_work_sends_nothing)
{
    struct world *w = world_of(shape_tree(16, 2, 4));

    for (int turn = 0; turn < 200; turn++) {
        for (int32_t r = 0; r < 32; r++)
            world_wait(w, r, (r + 1) % 32);
        world_run(w, 990 * FTREE_MS);
        for (int32_t r = 0; r < 32; r++)
            world_go_on(w, r);
    }
    EXPECT_LINES(world_trace(w), "");
    ck_assert_int_eq(world_busiest(w), 0);
    for (int32_t n = 0; n < 16; n++)
        ck_assert(ftree_deadline(w->node[n].ft) == FTREE_NEVER);
}

/* ---- large jobs ------------------------------------------------------------------------------ */

/* A fan-out of 32; a node that acts for a lost one has that one's children, too.  For each
 * child a symptom or a round told, a verdict and its victims, each acknowledged, are 6 messages;
 * the symptoms held back follow as one, which is 2 more; a round asks each child, which is 2 more,
 * and comes again after 1 s.  Measured up to the report: 272, 454, 454, 260 and, with rounds, 396,
 * 519, 272, 263. */
static const struct {
    int32_t lost, peer; /* node; rank that all others wait for */
    int32_t children, per_child;
} storms[] = {
    {0, 0, 32, 10},
    {1, 1, 64, 8},
    {5, 5, 64, 8},
    {999, 999, 32, 10},
    {0, FTREE_NONE, 32, 15},
    {1, FTREE_NONE, 64, 10},
    {40, FTREE_NONE, 32, 10},
    {999, FTREE_NONE, 32, 10},
};

TEST_CASES(a_storm_on_a_thousand_nodes, COUNT(storms))
{
    struct world *w = world_of(shape_tree(1000, 1, 32));

    w->node[storms[_i].lost].off = true;
    world_all_wait(w, storms[_i].lost, storms[_i].peer);
    ck_assert(world_run_until_reports(w, 1, 8 * SECOND));
    ck_assert_int_le(world_busiest(w), storms[_i].per_child * storms[_i].children);
    world_run(w, 500 * FTREE_MS);
    ck_assert_int_eq(w->reports, 1);
    ck_assert_int_eq(w->report[0].class_, FTREE_CLASS_NODE_OUTAGE);
    ck_assert_int_eq(w->report[0].node, storms[_i].lost);
    ck_assert_int_eq(w->report[0].victims.count, 999);
    expect_all_told(w, 1);
}

TEST_CASES(a_healthy_storm_on_a_thousand_nodes, 2)
{
    struct world *w = world_of(shape_tree(1000, 1, 32));

    world_all_wait(w, 500, _i ? FTREE_NONE : 500);
    world_run(w, 1500 * FTREE_MS);
    expect_nothing_told(w);
    ck_assert_int_le(world_busiest(w), 5 * 32);
}

#define RACK 1000

/* Questions to the handlers of nodes, each of which takes a second. */
static struct rack {
    int n, told, together; /* told: verdicts; so many times, each time several at once */
    ftree_time last;
    struct {
        int32_t by, node;
        ftree_time answered;
    } question[2 * RACK];
} rack;

static bool ask_of_rack(void *ctx, int32_t node)
{
    int32_t rank;
    struct world *w = world_at(ctx, 0, &rank);

    ck_assert_int_lt(rack.n, 2 * RACK);
    rack.question[rack.n].by = w->rank_node[rank];
    rack.question[rack.n].node = node;
    rack.question[rack.n++].answered = w->now + SECOND;
    return true;
}

static void told_of_rack(void *ctx, const struct ftree_verdict *v)
{
    int32_t rank;
    ftree_time now = world_at(ctx, 0, &rank)->now;

    rack.together += now != rack.last;
    rack.last = now;
    ck_assert_int_eq(v->class_, FTREE_CLASS_NODE_OUTAGE);
    ck_assert_str_eq(v->rule, "node-outage/power-off");
    rack.told++;
}

/* Those that the handlers of one node are asked about now. */
static int asked_by(int32_t by, ftree_time now)
{
    int n = 0;

    for (int i = 0; i < rack.n; i++)
        n += rack.question[i].by == by && rack.question[i].answered > now;
    return n;
}

static void answer_for_rack(struct world *w, int *next)
{
    for (; *next < rack.n && rack.question[*next].answered <= w->now; ++*next) {
        struct ftree *ft = w->node[rack.question[*next].by].ft;
        int32_t node = rack.question[*next].node;
        ftree_handler_said(ft, w->now, w->now, node, FTREE_SYMPTOM_POWER_OFF, "bmc: power-off: off");
        ftree_handlers_done(ft, w->now, node);
    }
}

/* A rack loses its power: of each of its nodes one node has its handlers asked, once. */
TEST_CASE(handlers_are_asked_once_for_each_of_a_thousand)
{
    struct world *w = world_of(shape_tree(RACK + 64, 1, 32));
    bool asked[RACK + 64] = {false};
    int next = 0;

    rack = (struct rack){0};
    w->io.handlers = ask_of_rack;
    w->io.report = told_of_rack;
    w->job.has_path[FTREE_PATH_MGMT] = false;
    for (int32_t node = 32; node < 32 + RACK; node++)
        w->node[node].off = true;
    world_all_wait(w, 40, 40);
    for (int i = 0; i < 300 && rack.told < RACK; i++) {
        world_run(w, 100 * FTREE_MS);
        for (int32_t node = 0; node < 32; node++)
            ck_assert_int_le(asked_by(node, w->now), 64); /* agent/act/handlers.h */
        answer_for_rack(w, &next);
    }
    ck_assert_int_eq(rack.told, RACK);
    ck_assert_int_le(rack.together, 16);
    ck_assert_int_eq(rack.n, RACK);
    for (int i = 0; i < RACK; i++) {
        ck_assert(!asked[rack.question[i].node]);
        asked[rack.question[i].node] = true;
    }
}

static int64_t all_sent(const struct world *w)
{
    int64_t n = 0;

    for (int32_t i = 0; i < w->job.nodes; i++)
        n += w->node[i].sent;
    return n;
}

/* Each node but the root is told and acknowledges, and so is each of the two steps up. */
TEST_CASE(where_nobody_waits_a_verdict_costs_two_messages_a_node)
{
    struct world *w = world_of(shape_tree(500, 2, 32));

    world_end_process(w, 999);
    world_run(w, 990 * FTREE_MS);
    ck_assert_int_eq(w->reports, 1);
    expect_all_told(w, 1);
    ck_assert_int_eq(all_sent(w), 2 * 499 + 2 * 2);
}

TEST_CASE(fifty_that_are_found_together_are_told_together)
{
    struct world *w = world_of(shape_tree(500, 2, 32));

    for (int32_t i = 0; i < 50; i++)
        world_end_process(w, 20 * i + 1);
    world_run(w, 2 * SECOND);
    ck_assert_int_eq(w->reports, 50);
    expect_all_told(w, 50);
    ck_assert_int_le(w->node[499].received, 4); /* a leaf where nothing is wrong: not 50 */
}

TEST_CASE(the_heir_knows_why_what_the_root_has_told)
{
    struct world *w = world_of(shape_binary(7, 1));
    int32_t heir = ftree_inspect_root_substitute(w->node[1].ft, 1);
    struct ftree_verdict v;

    ck_assert_int_ne(heir, 6);
    w->node[6].off = true;
    world_all_wait(w, 6, 6);
    ck_assert(world_run_until_reports(w, 1, 5 * SECOND));
    world_run(w, SECOND);
    ck_assert(ftree_verdict_at(w->node[heir].ft, 0, &v));
    ck_assert_int_eq(v.evidences, 0);
    for (int32_t r = 0; r < 7; r++)
        world_go_on(w, r);
    w->node[0].off = true;
    world_all_wait(w, 0, 0);
    ck_assert(world_run_until_reports(w, 2, 5 * SECOND));
    world_run(w, SECOND);
    ck_assert_int_eq(w->reporter[1], heir);
    ck_assert_int_eq(w->reports, 2);
    ck_assert(ftree_verdict_at(w->node[heir].ft, 0, &v));
    ck_assert_int_eq(v.node, 6);
    ck_assert_int_gt(v.evidences, 0);
    ck_assert_str_ne(v.because, "");
}

/* ---- symptoms of other middleware ------------------------------------------------------------ */

TEST_CASE(five_hundred_symptoms_a_second_are_one_verdict)
{
    struct world *w = world_of(shape_binary(13, 1));

    w->node[9].off = true;
    for (int i = 0; i < 500; i++) { /* its FLN is 4, which 12 reaches by way of 5, 2, 0 and 1 */
        world_symptom(w, 12, FTREE_SYMPTOM_PEER_UNREACHABLE, 9);
        world_run(w, 2 * FTREE_MS);
    }
    world_run(w, 3 * SECOND);
    ck_assert_int_eq(w->reports, 1);
    expect_report(w, 0, 0, FTREE_CLASS_NODE_OUTAGE, 9, FTREE_NONE);
    ck_assert_str_eq(w->report[0].raised_by, "netmod-cannot-reach");
    ck_assert_uint_gt(w->report[0].symptoms, 1);
    expect_all_told(w, 1);
    /* two of them went that way; the rest is probes, the verdict and its acknowledgments */
    ck_assert_int_lt(world_busiest(w), 70);
}

TEST_CASE(a_healthy_node_that_many_speak_of_is_well)
{
    struct world *w = world_of(shape_binary(13, 1));

    for (int i = 0; i < 200; i++) {
        for (int kind = 0; kind < FTREE_SYMPTOM_COUNT; kind += 1 + i % 5)
            if (kind != FTREE_SYMPTOM_CARRIER_FLAPS && kind != FTREE_SYMPTOM_LINK_SLOW &&
                !base_accuses(kind)) /* two of its own, and what no question refutes */
                world_symptom(w, (i + kind) % 13, (enum ftree_symptom_kind) kind, (i / 40) * 3);
        world_run(w, 50 * FTREE_MS);
    }
    world_run(w, MINUTE);
    expect_nothing_told(w);
    for (int32_t n = 0; n < 13; n++)
        ck_assert(ftree_deadline(w->node[n].ft) == FTREE_NEVER);
}

TEST_CASE(two_faults_in_two_subtrees_are_two_verdicts)
{
    struct world *w = world_of(shape_binary(15, 2));

    w->node[9].off = true;
    w->node[13].mute = true;
    w->rank[26].proc_state = 'T';
    for (int32_t r = 0; r < 30; r++)
        if (w->rank_node[r] != 9 && r != 26)
            world_wait(w, r, r % 2 ? 18 : 26);
    world_run(w, 6 * SECOND);
    ck_assert_int_eq(w->reports, 2);
    for (int32_t i = 0; i < 2; i++) {
        bool lost = w->report[i].node == 9;
        expect_report(w, i, 0, lost ? FTREE_CLASS_NODE_OUTAGE : FTREE_CLASS_PROCESS_STOPPED,
                      lost ? 9 : 13, lost ? FTREE_NONE : 26);
        ck_assert_uint_lt(w->reported_at[i], 4 * SECOND); /* at the same time: 1 s is the start */
    }
    ck_assert_int_ne(w->report[0].node, w->report[1].node);
}

/* ---- a bad network --------------------------------------------------------------------------- */

static void expect_only(const struct world *w, int32_t culprit)
{
    for (int32_t i = 0; i < w->reports; i++)
        ck_assert_msg(w->report[i].node == culprit, "node %d is accused: %s",
                      (int) w->report[i].node, w->report[i].rule);
}

TEST_CASES(a_lossy_network_accuses_nobody, 20)
{
    struct world *w = world_of(shape_tree(12, 1, 3));

    w->random = 1000u + (uint64_t) _i;
    w->loss_percent = 5;
    world_all_wait(w, 7, _i % 2 ? FTREE_NONE : 7);
    world_run(w, 10 * MINUTE);
    expect_nothing_told(w);
}

TEST_CASES(a_lossy_network_finds_the_fault_and_tells_everybody, 20)
{
    struct world *w = world_of(shape_tree(12, 1, 3));
    int32_t lost = _i % 12;

    w->random = 2000u + (uint64_t) _i;
    w->loss_percent = 5;
    w->node[lost].off = true;
    world_all_wait(w, lost, _i % 2 ? FTREE_NONE : lost);
    ck_assert(world_run_until_reports(w, 1, 8 * SECOND));
    world_run(w, MINUTE);
    expect_only(w, lost);
    ck_assert_int_eq(w->reports, 1);
    expect_all_told(w, 1);
}

TEST_CASES(messages_come_twice_and_out_of_order, 20)
{
    struct world *w = world_of(shape_tree(12, 2, 3));
    int32_t lost = _i % 12;

    w->random = 3000u + (uint64_t) _i;
    w->dup_percent = 100;
    w->jitter = 100 * FTREE_MS;
    w->node[lost].off = true;
    world_all_wait(w, lost, _i % 2 ? FTREE_NONE : 2 * lost);
    ck_assert(world_run_until_reports(w, 1, 8 * SECOND));
    world_run(w, MINUTE);
    expect_only(w, lost);
    ck_assert_int_eq(w->reports, 1);
    expect_all_told(w, 1);
}

TEST_CASES(duplicates_accuse_nobody, 10)
{
    struct world *w = world_of(shape_tree(12, 2, 3));

    w->random = 4000u + (uint64_t) _i;
    w->dup_percent = 100;
    w->jitter = 100 * FTREE_MS;
    world_all_wait(w, 7, _i % 2 ? FTREE_NONE : 14);
    world_run(w, MINUTE);
    expect_nothing_told(w);
}

TEST_CASES(who_sleeps_accuses_nobody, 10)
{
    struct world *w = world_of(shape_tree(12, 1, 3));

    /* the one that is asked about is awake; any of the others is not, now and then */
    w->random = 5000u + (uint64_t) _i;
    world_all_wait(w, 11, 11);
    for (int turn = 0; turn < 300; turn++) {
        int32_t n = (turn * 7 + _i) % 11;
        w->node[n].asleep_until = w->now + (ftree_time) (turn * 37 % 5000) * FTREE_MS;
        world_run(w, 333 * FTREE_MS);
        for (int32_t i = 0; i < w->reports; i++)
            ck_assert_int_ne(w->report[i].node, 11);
    }
}

TEST_CASES(the_fln_sleeps_while_it_asks, 10)
{
    struct world *w = world_of(shape_star(4, 1));

    world_all_wait(w, 2, 2);
    world_run(w, 999 * FTREE_MS + (ftree_time) _i * 100 * FTREE_MS / 100);
    w->latency = 3 * FTREE_MS; /* it falls asleep before the answers come */
    world_run(w, 2 * FTREE_MS);
    w->node[0].asleep_until = w->now + (ftree_time) (100 + 200 * _i) * FTREE_MS;
    world_run(w, MINUTE);
    expect_nothing_told(w);
}

/* ---- succession ------------------------------------------------------------------------------ */

TEST_CASE(a_successor_reports_nothing_again)
{
    struct world *w = world_of(shape_star(4, 2));

    w->node[2].off = true;
    world_all_wait(w, 2, 4);
    world_run(w, 5 * SECOND);
    ck_assert_int_eq(w->reports, 1);
    for (int32_t n = 0; n < 4; n++)
        if (n != 2)
            world_succeed(w, n);
    for (int32_t r = 0; r < 8; r++)
        world_go_on(w, r);
    world_all_wait(w, 2, 4);
    world_run(w, MINUTE);
    ck_assert_int_eq(w->reports, 1);
    expect_all_told(w, 1);
}

TEST_CASE(a_successor_takes_part_in_the_next_verdict)
{
    struct world *w = world_of(shape_binary(7, 2));

    w->node[2].off = true;
    world_all_wait(w, 2, 4);
    world_run(w, 5 * SECOND);
    world_succeed(w, 0);
    world_succeed(w, 1);
    w->node[4].off = true;
    for (int32_t r = 0; r < 14; r++)
        world_go_on(w, r);
    world_all_wait(w, 4, 8);
    world_run(w, 5 * SECOND);
    ck_assert_int_eq(w->reports, 2);
    expect_report(w, 1, 0, FTREE_CLASS_NODE_OUTAGE, 4, FTREE_NONE);
    expect_all_told(w, 2);
}

/* A flood query of a successor begins at round 1 again, while all others are further. */
TEST_CASE(a_successor_is_heard_when_it_floods)
{
    struct world *w = world_of(shape_binary(7, 2));

    world_all_wait(w, 2, FTREE_NONE);
    world_run(w, MINUTE);
    expect_nothing_told(w);
    for (int32_t r = 0; r < 14; r++)
        world_go_on(w, r);
    world_succeed(w, 1);
    w->node[6].off = true;
    world_wait(w, 2, FTREE_NONE); /* a rank of node 1 alone */
    ck_assert(world_run_until_reports(w, 1, 6 * SECOND));
    expect_report(w, 0, 0, FTREE_CLASS_NODE_OUTAGE, 6, FTREE_NONE);
}

/* ---- the end of a job ------------------------------------------------------------------------ */

static void leave(struct world *w, int32_t node)
{
    for (int32_t i = w->node_first[node]; i < w->node_first[node + 1]; i++)
        w->rank[w->node_ranks[i]].phase = FTREE_PHASE_LEFT;
    ftree_leave(w->node[node].ft, w->now);
}

TEST_CASE(all_leave)
{
    struct world *w = world_of(shape_binary(4, 1));

    w->departs = true;
    for (int32_t n = 0; n < 4; n++)
        leave(w, n);
    world_run(w, MINUTE);
    EXPECT_STORY(world_trace(w));
    for (int32_t n = 0; n < 4; n++) {
        ck_assert(ftree_may_go(w->node[n].ft));
        ck_assert_int_le(w->node[n].sent, 6);
    }
    expect_nothing_told(w);
}

TEST_CASES(all_leave_one_by_one, 12)
{
    struct world *w = world_of(shape_tree(12, 1, 1 + _i % 4));

    w->departs = true;
    w->random = 6000u + (uint64_t) _i;
    w->loss_percent = _i % 3 ? 5 : 0;
    for (int32_t i = 0; i < 12; i++) {
        leave(w, (i * 5 + _i) % 12);
        world_run(w, 150 * FTREE_MS);
    }
    world_run(w, 5 * SECOND);
    for (int32_t n = 0; n < 12; n++)
        ck_assert(ftree_may_go(w->node[n].ft));
    expect_nothing_told(w);
}

/* A rank that has left for longer than anyone lingers, while others still run and wait. */
TEST_CASES(whoever_has_left_is_not_accused, 12)
{
    struct world *w = world_of(shape_tree(12, 1, 1 + _i % 4));

    w->departs = true;
    leave(w, _i);
    world_run(w, 5 * SECOND);
    ck_assert(ftree_may_go(w->node[_i].ft));
    for (int32_t r = 0; r < 12; r++)
        if (r != _i)
            world_wait(w, r, FTREE_NONE);
    world_run(w, MINUTE);
    expect_nothing_told(w);
}

TEST_CASES(who_leaves_does_not_hide_a_crash, 12)
{
    struct world *w = world_of(shape_tree(12, 1, 3));
    int32_t crashed = (_i + 5) % 12;

    w->departs = true;
    leave(w, _i);
    for (int32_t r = 0; r < 12; r++)
        if (r != _i && r != crashed)
            world_wait(w, r, crashed);
    world_crash(w, crashed);
    world_run(w, 30 * SECOND);
    expect_only(w, crashed);
    ck_assert_int_eq(w->reports, 1);
    expect_report(w, 0, w->reporter[0], FTREE_CLASS_PROCESS_CRASH, crashed, crashed);
}

TEST_CASE(a_report_is_out_before_the_root_goes)
{
    struct world *w = world_of(shape_star(4, 2));

    w->departs = true;
    world_wait(w, 6, 5);
    world_run(w, 900 * FTREE_MS);
    world_end_process(w, 5);
    w->node[3].mute = w->node[3].no_deputy = true;
    world_run(w, 155 * FTREE_MS); /* the verdict goes round, and node 3 does not answer */
    for (int32_t n = 0; n < 3; n++)
        leave(w, n);
    world_run(w, 10 * SECOND);
    ck_assert_int_eq(w->reports, 1);
    expect_report(w, 0, 0, FTREE_CLASS_PROCESS_CRASH, 2, 5);
}

TEST_CASE(a_lost_node_holds_nobody_longer_than_linger)
{
    struct world *w = world_of(shape_binary(7, 1));

    w->departs = true;
    w->node[5].off = true;
    for (int32_t n = 0; n < 7; n++)
        if (n != 5)
            leave(w, n);
    world_run(w, w->cfg.linger + 500 * FTREE_MS);
    for (int32_t n = 0; n < 7; n++)
        if (n != 5)
            ck_assert(ftree_may_go(w->node[n].ft));
    expect_nothing_told(w);
}

TEST_CASE(a_node_known_to_be_lost_holds_nobody)
{
    struct world *w = world_of(shape_binary(7, 1));

    w->departs = true;
    w->node[2].off = true;
    world_all_wait(w, 2, 2);
    world_run(w, 5 * SECOND);
    ck_assert_int_eq(w->reports, 1);
    for (int32_t n = 0; n < 7; n++)
        if (n != 2)
            leave(w, n);
    world_run(w, 100 * FTREE_MS);
    for (int32_t n = 0; n < 7; n++)
        if (n != 2)
            ck_assert(ftree_may_go(w->node[n].ft));
    ck_assert_int_eq(w->reports, 1);
}

/* Where MPI_Finalize waits for nobody, who leaves remains; but not once all have left. */
static const struct {
    int32_t nodes, fanout, off, crashed, at_once; /* nodes; -1: none */
    int32_t at[7]; /* when each leaves, in ms */
} lasts[] = {
    {3, 1, -1, -1, -1, {70000, 0, 70000}}, /* the minute of one is over before */
    {3, 2, 1, -1, -1, {0, 0, 0}},
    {7, 2, 1, -1, -1, {2500, 0, 2500, 100, 400, 1600, 1800}},
    {4, 1, -1, 2, -1, {3000, 1000, 0, 3500}},
    {3, 1, -1, -1, 1, {3000, 3100, 0}},
    {5, 1, -1, -1, 1, {26000, 28500, 18500, 6500, 3700}},
};

TEST_CASES(nobody_remains_once_all_have_left, COUNT(lasts))
{
    struct world *w = world_new(lasts[_i].nodes, 1, lasts[_i].fanout);

    ranks_of(w);
    w->departs = true;
    if (lasts[_i].crashed >= 0)
        world_crash(w, lasts[_i].crashed);
    if (lasts[_i].off >= 0)
        w->node[lasts[_i].off].off = true;
    for (int32_t ms = 0; ms <= (_i ? 30000 : 70000); ms += 100) {
        for (int32_t n = 0; n < w->job.nodes; n++)
            if (lasts[_i].at[n] == ms && n == lasts[_i].at_once)
                ftree_leave_at_once(w->node[n].ft, w->now);
            else if (lasts[_i].at[n] == ms && n != lasts[_i].off && n != lasts[_i].crashed)
                leave(w, n);
        world_run(w, 100 * FTREE_MS);
    }
    world_run(w, 3 * SECOND);
    for (int32_t n = 0; n < w->job.nodes; n++)
        ck_assert_msg(n == lasts[_i].off || ftree_may_go(w->node[n].ft), "node %d remains", n);
}

/* ---- anything, anywhere ---------------------------------------------------------------------- */

/* A job, some faults and a network drawn by the row's number.  Whatever happens: nobody healthy is
 * named, whoever is waited for is, nothing is reported twice, and everybody hears the same. */
struct chance {
    struct world *w;
    uint64_t random;
};

static int32_t draw(struct chance *c, int32_t below)
{
    c->random = c->random * 6364136223846793005u + 1442695040888963407u;
    return (int32_t) ((c->random >> 33) % (uint64_t) below);
}

static void break_node(struct chance *c, int32_t n)
{
    switch (draw(c, 4)) {
        case 0:
            c->w->node[n].off = true;
            break;
        case 1:
            c->w->node[n].gone = c->w->node[n].no_deputy = true;
            break;
        case 2:
            world_crash(c->w, n);
            break;
        default:
            c->w->node[n].mute = c->w->node[n].no_deputy = true;
            break;
    }
}

static void wait_for_the_broken(struct chance *c, const int32_t *broken, int32_t n, int32_t ppn)
{
    for (int32_t r = 0; r < c->w->job.size; r++)
        if (lives(c->w, c->w->rank_node[r]) && !c->w->node[c->w->rank_node[r]].crashed)
            world_wait(c->w, r, ppn * broken[draw(c, n)] + draw(c, ppn));
}

/* It is lost, or nobody observes it. */
static bool is_known(const struct ftree *ft, int32_t node)
{
    return ftree_has_failed(ft, node) ||
           ftree_verdict_find(ft, FTREE_CLASS_UNKNOWN, node, FTREE_NONE);
}

static int32_t count_living(const struct world *w)
{
    int32_t n = 0;

    for (int32_t i = 0; i < w->job.nodes; i++)
        n += lives(w, i);
    return n;
}

static void expect_each_once(const struct world *w)
{
    for (int32_t i = 0; i < w->reports; i++) {
        if (strcmp(w->report[i].rule, "unknown/no-node-answers") == 0 && count_living(w) == 1)
            continue; /* the last one cannot know that it is not the one cut off */
        ck_assert(!lives(w, w->report[i].node));
        for (int32_t j = 0; j < i; j++)
            ck_assert(w->report[i].node != w->report[j].node ||
                      w->report[i].rank != w->report[j].rank);
    }
}

TEST_CASES(whatever_happens, 200)
{
    struct chance c = {.random = 77u + (uint64_t) _i};
    int32_t nodes = 4 + draw(&c, 40), ppn = 1 + draw(&c, 3), n = 1 + draw(&c, 3), broken[3];
    struct world *w = world_of(shape_tree(nodes, ppn, 1 + draw(&c, 8)));

    c.w = w;
    w->loss_percent = draw(&c, 3) * 3;
    w->random = c.random;
    w->jitter = (ftree_time) draw(&c, 2) * 50 * FTREE_MS;
    w->dup_percent = draw(&c, 2) * 30;
    for (int32_t i = 0; i < n; i++) {
        broken[i] = draw(&c, nodes);
        if (lives(w, broken[i]))
            break_node(&c, broken[i]);
    }
    wait_for_the_broken(&c, broken, n, ppn);
    world_run(w, 40 * SECOND);
    expect_each_once(w);
    for (int32_t r = 0; r < w->job.size; r++)
        if (lives(w, w->rank_node[r]) && count_living(w) > 1)
            ck_assert(is_known(w->node[w->rank_node[r]].ft, w->rank_node[w->rank[r].peer]));
    expect_all_told(w, w->reports);
}

/* Two leaf switches with four hosts each; of those from `first` to `last` the data port has no carrier, as
 * the kernel of each says. */
static struct world *carriers_lost(int32_t first, int32_t last)
{
    struct ftree_tree_error e;
    static struct ftree_tree *tree;
    struct world *w;
    int32_t ranks;

    ck_assert_int_eq(ftree_tree_synthetic("switch:2 node:4", 32, &tree, &ranks, &e), FTREE_OK);
    w = world_new_tree(tree, tree->nodes, 1, 32);
    world_all_wait(w, FTREE_NONE, last);
    for (int32_t n = first; n <= last; n++) {
        w->node[n].path_down[FTREE_PATH_DATA] = true;
        w->state[n].link = FTREE_LINK_NO_CARRIER;
        ftree_own_link(w->node[n].ft, w->now, false);
    }
    world_run(w, 400 * FTREE_MS);
    for (int32_t n = first; n <= last; n++)
        world_symptom(w, n, FTREE_SYMPTOM_CARRIER_LOST, n);
    ck_assert(world_run_until_reports(w, 1, 4 * SECOND));
    return w;
}

TEST_CASE(one_port_without_carrier_is_a_link_at_once)
{
    struct world *w = carriers_lost(6, 6);

    ck_assert_str_eq(w->report[0].rule, "link-fault/no-carrier");
    ck_assert_int_eq(w->report[0].node, 6);
    ck_assert_uint_le(w->reported_at[0], 1600 * FTREE_MS); /* 600 ms after the loss */
    world_run(w, 5 * SECOND);
    ck_assert_int_eq(w->reports, 1);
    world_free(w);
}

/* Its head, or the root, is one of those without a path, and cannot tell how others behind it are. */
TEST_CASES(a_switch_without_power_is_one_fault, 2)
{
    struct world *w = carriers_lost(_i ? 0 : 4, _i ? 3 : 7);

    world_run(w, 5 * SECOND);
    for (int32_t i = 0; i < w->reports; i++)
        ck_assert_str_eq(w->report[i].rule, "switch-fault/data-behind-silent");
    ck_assert_int_eq(w->reports, 1);
    ck_assert_int_eq(w->withdrawals, 0);
    world_free(w);
}
