/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "sim/run.h"

#include "ftree/state/state.h"
#include "sim/pool.h"
#include "sim/sim_memory.h"
#include "sim/stage.h"

#include <stdlib.h>

#define PROGRESS_EVERY 65536

/* ---- life ------------------------------------------------------------------------------------ */

static void make_network(struct sim_run *r)
{
    const struct sim_options *o = r->options;

    sim_network_init(&r->network, r->job.nodes, r->job.tree);
    r->network.draw = draw_stream(r->seed, 1);
    r->network.link = o->link;
    r->network.loss = o->loss;
    r->network.duplicate = o->duplicate;
    r->network.delay = o->delay;
    r->network.delay_max = o->delay_max;
}

static void make_nodes(struct sim_run *r)
{
    r->io = sim_agent_io(r->options);
    r->node = sim_pool_zeroed((size_t) r->job.nodes, sizeof(*r->node));
    r->rank = sim_calloc((size_t) r->job.size, sizeof(*r->rank)); /* of most nothing is written */
    for (int32_t n = 0; n < r->job.nodes; n++) {
        r->node[n].run = r;
        r->node[n].due = r->node[n].tick_at = FTREE_NEVER;
    }
    sim_handle(r, 0);
    r->idle = r->memory;
    r->memory = r->memory_most = r->idle * (uint64_t) r->job.nodes;
}

static void make(struct sim_run *r, const struct sim_options *options, uint64_t seed)
{
    *r = (struct sim_run){.options = options,
                          .job = options->topology->job,
                          .seed = seed,
                          .now = SIM_BEGINS,
                          .draw = draw_stream(seed, 2)};
    r->job.seed = draw_mix(seed + 3);
    r->topo = ftree_topo_of(&r->job);
    ftree_config_default(&r->cfg);
    make_network(r);
    if (options->trace)
        sim_trace_begin(r);
    make_nodes(r);
    sim_fault_plan(r);
}

static void free_nodes(struct sim_run *r)
{
    free(r->rank);
    if (sim_pool_drop()) {
        sim_stage_drop();
        return;
    }
    for (int32_t n = 0; n < r->job.nodes; n++)
        sim_handle_end(r, n);
    sim_pool_free(r->node);
}

void sim_run_free(struct sim_run *r)
{
    sim_fault_free(r);
    sim_queue_free(&r->queue);
    free_nodes(r);
    sim_network_free(&r->network);
    sim_truth_free(&r->truth);
    free(r->phase);
}

/* ---- time ------------------------------------------------------------------------------------ */

static void tick(struct sim_run *r, int32_t node)
{
    struct sim_node *n = &r->node[node];

    if (n->tick_at != r->now)
        return; /* an earlier one took its place */
    n->tick_at = FTREE_NEVER;
    if (n->due > r->now) {
        if (n->due != FTREE_NEVER)
            sim_handle_due(r, node, n->due);
        return;
    }
    n->due = FTREE_NEVER;
    if (n->busy_until > r->now && !n->tick_queued) {
        n->tick_queued = true;
        sim_handle_due(r, node, n->busy_until);
        return;
    }
    n->tick_queued = false;
    if (sim_handle_runs(r, node)) {
        r->ticks++;
        sim_agent_tick(r, node);
    }
    sim_handle_touch(r, node);
}

#define CACHE_LINE 64
#define PACKED 256 /* bytes of a handle, about */

/* What an event needs is on its way from memory while those before it are worked on: most of the
 * time of a large run is waiting for that.  First what leads to a handle, */
static void come_near(const void *ctx, const struct sim_event *e)
{
    const struct sim_run *r = ctx;

    if (e->kind == SIM_FAULT)
        return;
    __builtin_prefetch(e->bytes);
    __builtin_prefetch(&r->node[e->to]);
    __builtin_prefetch(&r->rank[sim_first_rank(r->options->topology, e->to)]);
}

/* then the handle of the next one. */
static void look_ahead(const struct sim_run *r)
{
    const struct sim_event *e = sim_queue_peek(&r->queue);
    const char *ft = e && e->kind != SIM_FAULT ? (const char *) r->node[e->to].ft : NULL;

    for (uint64_t i = 0; ft && i < (r->node[e->to].packed ? PACKED : r->idle); i += CACHE_LINE)
        __builtin_prefetch(ft + i);
}

static void event(struct sim_run *r, struct sim_event *e)
{
    look_ahead(r);
    r->events += e->kind != SIM_TICK;
    switch (e->kind) {
        case SIM_MESSAGE:
            sim_agent_message(r, e);
            break;
        case SIM_REACH:
            sim_agent_reach(r, e);
            break;
        case SIM_STALL:
            sim_agent_stall(r, e);
            break;
        case SIM_OVER:
            sim_fault_over(r, e);
            break;
        case SIM_FAULT:
            sim_fault_event(r, e);
            break;
        case SIM_TICK:
            tick(r, e->to);
            break;
    }
}

/* Once all faults are found, a while more shows what is reported in excess. */
static void set_end(struct sim_run *r)
{
    if (r->faults_left > 0)
        r->end = FTREE_NEVER;
    else if (sim_truth_is_complete(&r->truth))
        r->end = r->now + r->options->grace;
    else
        r->end = r->last_fault + r->options->limit;
}

/* When what set_end() looks at has changed. */
static uint64_t progress(const struct sim_run *r)
{
    return (uint64_t) r->faults_left + (uint64_t) r->truth.reports + r->truth.withdrawals +
           (uint64_t) r->truth.notes +
           ((uint64_t) r->last_fault << 8);
}

static void go(struct sim_run *r)
{
    uint64_t before = progress(r);
    struct sim_event e;

    r->queue.near = come_near;
    r->queue.ctx = r;
    set_end(r);
    for (uint64_t i = 1; !r->broken && sim_queue_pop(&r->queue, &e); i++) {
        if (e.at > r->end) {
            sim_pool_unshare(e.bytes);
            break;
        }
        r->now = e.at;
        event(r, &e);
        if (progress(r) != before) {
            set_end(r);
            before = progress(r);
        }
        if (i % PROGRESS_EVERY == 0 && r->options->progress)
            r->options->progress(r->options->progress_ctx, r);
    }
}

static bool knows(const struct ftree *ft, const struct sim_report *p)
{
    return ft && ftree_verdict_find(ft, p->v.class_, p->v.node, p->v.rank);
}

/* Each node that runs and can be reached should know what was reported and is in force. */
static void count_unaware(struct sim_run *r, int32_t node)
{
    for (int32_t i = 0; i < r->truth.reports; i++) {
        struct sim_report *p = &r->truth.report[i];
        if (!p->withdrawn && !p->v.local_only && p->at + r->options->grace <= r->end &&
            (sim_network_works(&r->network, p->reporter, node, FTREE_PATH_DATA) ||
             sim_network_works(&r->network, p->reporter, node, FTREE_PATH_MGMT)))
            p->unaware += !knows(r->node[node].ft ? sim_handle(r, node) : NULL, p);
    }
}

#define LOOKED_BACK_AT 10000

/* Of more nodes than that some are looked at: a hundred verdicts of a million nodes take longer to
 * compare than the run. */
static void look_back(struct sim_run *r)
{
    int32_t step = r->job.nodes / LOOKED_BACK_AT;

    if (r->truth.reports > 10)
        step *= 10;
    for (int32_t n = 0; n<r->job.nodes; n += step> 0 ? step : 1)
        if (sim_handle_runs(r, n) && r->node[n].asleep_until + r->options->grace < r->now)
            count_unaware(r, n);
}

void sim_run(struct sim_run *r, const struct sim_options *options, uint64_t seed)
{
    make(r, options, seed);
    go(r);
    look_back(r);
    sim_run_note(r, r->events);
    sim_run_note(r, r->messages);
    if (options->trace)
        sim_trace_end(r);
}
