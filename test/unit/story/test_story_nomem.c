/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "base.h"
#include "ftree_int.h"
#include "suite.h"
#include "waiting_ranks.h"
#include "world.h"

/*
 * The n-th allocation fails, for n = 1, 2, 3, ... until a story runs through without: nothing
 * crashes or leaks, every invariant holds after every step, and nobody healthy is accused.
 */

#define SECOND (1000 * FTREE_MS)
#define ALLOCATIONS_MAX 5000

static struct world *a_node_is_lost(void)
{
    struct world *w = world_of(shape_binary(7, 1));

    w->node[5].off = true;
    world_all_wait(w, 5, 5);
    return w;
}

static struct world *the_root_is_lost(void)
{
    struct world *w = world_of(shape_binary(7, 1));

    w->node[0].off = true;
    world_all_wait(w, 0, 0);
    return w;
}

static struct world *two_are_lost_and_nobody_is_waited_for(void)
{
    struct world *w = world_of(shape_binary(7, 1));

    w->node[1].off = w->node[3].off = true;
    for (int32_t r = 0; r < 7; r++)
        if (r != 1 && r != 3)
            world_wait(w, r, FTREE_NONE);
    return w;
}

static struct world *an_agent_is_stopped(void)
{
    struct world *w = world_of(shape_binary(4, 2));

    w->node[3].mute = true;
    w->rank[6].proc_state = 'T';
    world_all_wait(w, 3, 6);
    return w;
}

static struct world *a_process_ends(void)
{
    struct world *w = world_of(shape_binary(4, 2));

    w->rank[7].phase = FTREE_PHASE_GONE;
    world_all_wait(w, 3, 7);
    return w;
}

/* And with them the agent, once it has told. */
static struct world *all_of_a_node_end(void)
{
    struct world *w = world_of(shape_binary(4, 2));

    world_all_wait(w, 3, 7);
    world_crash(w, 3);
    return w;
}

static struct world *all_wait_and_nothing_is_wrong(void)
{
    struct world *w = world_of(shape_binary(7, 1));

    world_all_wait(w, FTREE_NONE, 6);
    return w;
}

/* Found, told, over, withdrawn: told or not. */
static struct world *a_node_is_frozen_for_a_while(void)
{
    struct world *w = world_of(shape_binary(7, 1));

    w->node[3].asleep_until = w->now + 4 * SECOND;
    w->node[3].no_deputy = true;
    world_all_wait(w, 3, 3);
    return w;
}

/* Other middleware speaks of many nodes at once, and one of them is lost. */
static struct world *everybody_has_symptoms(void)
{
    struct world *w = world_of(shape_binary(13, 1));

    w->node[9].off = true;
    for (int32_t n = 0; n < 13; n++)
        for (int kind = 0; kind < FTREE_SYMPTOM_COUNT; kind += 3)
            if (!base_accuses(kind))
                world_symptom(w, (n + kind) % 13, (enum ftree_symptom_kind) kind, n);
    world_all_wait(w, 9, 9);
    return w;
}

/* And a third is their victim. */
static struct world *two_wait_for_each_other(void)
{
    struct world *w = world_of(shape_binary(7, 1));
    struct ranks *r = ranks_of(w);

    for (int32_t rank = 4; rank <= 6; rank++) {
        ranks_wait(r, rank, CALL_RECV, WAITS_FOR_ALL);
        ranks_recv(r, rank, rank == 5 ? 4 : 5, 7, WORLD_CONTEXT);
    }
    return w;
}

static struct world *one_is_in_another_collective(void)
{
    struct world *w = world_of(shape_binary(4, 2));
    struct ranks *r = ranks_of(w);

    for (int32_t rank = 0; rank < 8; rank++) {
        enum call call = rank == 5 ? CALL_REDUCE : CALL_BARRIER;
        ranks_wait(r, rank, call, WAITS_FOR_ALL);
        ranks_collective(r, rank, 3, call, -1, 8, WORLD_CONTEXT);
    }
    return w;
}

/* They are asked for whom others wait, and nothing is found. */
static struct world *all_wait_for_one_that_computes(void)
{
    struct world *w = world_of(shape_binary(7, 1));
    struct ranks *r = ranks_of(w);

    for (int32_t rank = 0; rank < 6; rank++) {
        ranks_wait(r, rank, CALL_RECV, WAITS_FOR_ALL);
        ranks_recv(r, rank, rank + 1, 7, WORLD_CONTEXT);
    }
    return w;
}

static const struct {
    struct world *(*begin)(void);
    int32_t culprit[2]; /* nodes */
} stories[] = {
    {a_node_is_lost, {5, 5}},
    {the_root_is_lost, {0, 0}},
    {two_are_lost_and_nobody_is_waited_for, {1, 3}},
    {an_agent_is_stopped, {3, 3}},
    {a_process_ends, {3, 3}},
    {all_of_a_node_end, {3, 3}},
    {all_wait_and_nothing_is_wrong, {-1, -1}},
    {a_node_is_frozen_for_a_while, {3, 3}},
    {everybody_has_symptoms, {9, 9}},
    {two_wait_for_each_other, {4, 4}},
    {one_is_in_another_collective, {2, 2}},
    {all_wait_for_one_that_computes, {-1, -1}},
};

static void expect_no_other(const struct world *w, int story, int n)
{
    for (int32_t i = 0; i < w->reports; i++)
        if (w->report[i].node != stories[story].culprit[0] &&
            w->report[i].node != stories[story].culprit[1])
            ck_abort_msg("with allocation %d failing node %d is accused", n,
                         (int) w->report[i].node);
}

static bool may_all_go(const struct world *w)
{
    for (int32_t n = 0; n < w->job.nodes; n++)
        if (!w->node[n].off && !w->node[n].mute && !ftree_may_go(w->node[n].ft))
            return false;
    return true;
}

/* The job goes on and ends: leaving takes memory, too; who does not know that another has left remains
 * for a minute. */
static void end_of_job(struct world *w)
{
    for (int32_t n = 0; n < w->job.nodes; n++)
        if (!w->node[n].off && !w->node[n].mute)
            ftree_leave(w->node[n].ft, w->now);
    for (int s = 0; s < 66 && !may_all_go(w); s++)
        world_run(w, SECOND);
    REQUIRE(may_all_go(w));
}

/* Returns whether an allocation failed. */
static bool tell(int story, int n, bool and_all_that_follow)
{
    struct world *w = stories[story].begin();
    bool failed;

    w->fail_alloc_in = n;
    w->fail_on = and_all_that_follow;
    world_run(w, 8 * SECOND);
    expect_no_other(w, story, n);
    if (!and_all_that_follow && stories[story].culprit[0] >= 0 && w->reports == 0)
        ck_abort_msg("with allocation %d failing nothing is found", n);
    end_of_job(w);
    expect_no_other(w, story, n);
    failed = and_all_that_follow ? w->fail_alloc_in == 1 : w->fail_alloc_in == 0;
    world_free(w);
    return failed;
}

static void tell_all(int story, bool and_all_that_follow)
{
    int n = 1;

    while (tell(story, n, and_all_that_follow))
        n++;
    ck_assert_int_gt(n, 20);
    ck_assert_int_lt(n, ALLOCATIONS_MAX);
}

TEST_CASES(one_allocation_fails, COUNT(stories))
{
    tell_all(_i, false);
}

TEST_CASES(memory_runs_out, COUNT(stories))
{
    tell_all(_i, true);
}
