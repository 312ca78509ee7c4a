/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "sim/run.h"

#include "ftree/state/state.h"
#include "sim/stage.h"

#include <stdlib.h>

/* What follows once a handle was called, and the waits of ranks, of which their handle hears. */

/* ---- handles --------------------------------------------------------------------------------- */

/* True for a leaf whose first rank does not wait: it is called a few times and has little.  All
 * others are called so often that they stay where they are. */
static bool is_idle(const struct sim_run *r, int32_t node)
{
    int32_t first;

    return !r->rank[sim_first_rank(r->options->topology, node)].since &&
           ftree_topo_children(&r->topo, node, &first) == 0;
}

static void clear_stage(struct sim_run *r)
{
    if (r->on_stage) {
        r->on_stage->ft = sim_stage_pack();
        r->on_stage->packed = true;
    }
    r->on_stage = NULL;
    sim_stage_clear();
}

static void make(struct sim_run *r, int32_t node)
{
    struct sim_node *n = &r->node[node];
    struct ftree *ft;

    if (sim_stage_exists() && is_idle(r, node)) {
        clear_stage(r);
        r->on_stage = n;
    }
    r->memory -= r->idle;
    if (ftree_create(&r->job, node, &r->cfg, &r->io, n, &ft)) {
        fprintf(stderr, "faultloc simulate: node %d: no handle\n", (int) node);
        exit(2);
    }
    n->ft = ft;
}

struct ftree *sim_handle(struct sim_run *r, int32_t node)
{
    struct sim_node *n = &r->node[node];

    if (!n->ft)
        make(r, node);
    if (n->packed) {
        clear_stage(r);
        n->ft = sim_stage_unpack(n->ft);
        n->packed = false;
        r->on_stage = n;
    }
    return n->ft;
}

void sim_handle_end(struct sim_run *r, int32_t node)
{
    struct sim_node *n = &r->node[node];

    if (n->ft)
        ftree_destroy(sim_handle(r, node));
    if (r->on_stage == n)
        r->on_stage = NULL;
    n->ft = NULL;
}

bool sim_handle_runs(const struct sim_run *r, int32_t node)
{
    const struct sim_node *n = &r->node[node];

    return !n->off && !n->gone && n->asleep_until <= r->now;
}

/* If all ranks of a node have crashed, its agent leaves once that is reported, and its deputy
 * too. */
static void leave(struct sim_run *r, int32_t node)
{
    struct sim_node *n = &r->node[node];

    if (!n->crashed || !sim_handle_runs(r, node) || ftree_has_unannounced(n->ft))
        return;
    if (!ftree_is_leaving(n->ft)) {
        if (r->options->trace)
            sim_trace_in(r, node, "leave", FTREE_NONE);
        ftree_leave_at_once(n->ft, r->now);
    }
    n->gone = ftree_may_go(n->ft);
}

/* A tick that is too early finds that, and waits further: most of those that are put off never have
 * to be. */
void sim_handle_due(struct sim_run *r, int32_t node, ftree_time at)
{
    struct sim_event e = {.kind = SIM_TICK, .at = at, .to = node};

    r->node[node].due = at;
    if (at >= r->node[node].tick_at)
        return;
    r->node[node].tick_at = at;
    sim_queue_push(&r->queue, &e);
}

void sim_handle_touch(struct sim_run *r, int32_t node)
{
    struct sim_node *n = &r->node[node];
    ftree_time at = FTREE_NEVER;

    if (!n->ft)
        return;
    sim_handle(r, node);
    leave(r, node);
    if (r->options->check && !r->broken) {
        r->broken = ftree_check(n->ft);
        r->broken_node = node;
    }
    if (n->tick_queued)
        return; /* it has a place in the queue of its CPU, and keeps that */
    if (!n->off && !n->gone && n->asleep_until != FTREE_NEVER)
        at = ftree_deadline(n->ft);
    if (at < n->asleep_until)
        at = n->asleep_until;
    if (at < r->now)
        at = r->now; /* it was due while the node had no power: time never goes back */
    sim_handle_due(r, node, at);
}

/* ---- waits ----------------------------------------------------------------------------------- */

void sim_handle_wait(struct sim_run *r, int32_t rank, int32_t peer, ftree_time within)
{
    struct sim_rank *k = &r->rank[rank];
    int32_t node = rank / r->options->topology->ranks_per_node;
    struct sim_event e = {.kind = SIM_STALL, .to = node, .from = rank};

    if (k->since || rank == peer || r->node[node].off || r->node[node].crashed)
        return;
    k->since = r->now + 1 + draw_below(&r->draw, within);
    k->stamp++;
    k->peer = peer;
    e.at = k->since + r->cfg.stall;
    sim_queue_push(&r->queue, &e);
}

void sim_handle_goes_on(struct sim_run *r, int32_t rank)
{
    int32_t node = rank / r->options->topology->ranks_per_node;

    r->rank[rank].since = r->rank[rank].until = 0;
    r->rank[rank].stamp++;
    if (r->node[node].off || r->node[node].gone)
        return;
    if (r->options->trace)
        sim_trace_in(r, node, "stall-over", rank);
    ftree_stall_over(sim_handle(r, node), r->now, rank);
    sim_handle_touch(r, node);
}
