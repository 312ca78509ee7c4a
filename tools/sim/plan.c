/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "sim/run.h"

#include "sim/sim_memory.h"

#include <stdlib.h>
#include <string.h>

/* Which nodes and switches the lines of a script are about; what they leave open is drawn. */

static void add_node(struct sim_hit *h, int32_t node)
{
    h->node = sim_realloc(h->node, (size_t) h->nodes + 1, sizeof(*h->node));
    h->node[h->nodes++] = node;
}

/* The switch, and the nodes behind it. */
static void add_switch(const struct sim_run *r, struct sim_hit *h, int32_t s)
{
    h->switch_ = sim_realloc(h->switch_, (size_t) h->switches + 1, sizeof(*h->switch_));
    h->switch_[h->switches++] = s;
    for (int32_t n = 0; n < r->job.nodes; n++)
        if (ftree_tree_is_behind(r->job.tree, s, n))
            add_node(h, n);
}

static bool has(const int32_t *list, int32_t n, int32_t item)
{
    for (int32_t i = 0; i < n; i++)
        if (list[i] == item)
            return true;
    return false;
}

static void add_ranges(const struct sim_run *r, struct sim_hit *h, const struct sim_target *t)
{
    bool nodes = t->kind == SIM_NODES;
    uint8_t *seen = sim_calloc((size_t) (nodes ? r->job.nodes : r->job.tree->switches), 1);

    for (int32_t i = 0; i < t->ranges; i++)
        for (int32_t k = t->range[i].first; k <= t->range[i].last; k++) {
            if (!seen[k] && nodes)
                add_node(h, k);
            else if (!seen[k])
                add_switch(r, h, k);
            seen[k] = 1;
        }
    free(seen);
}

static void add_root(const struct topo *topo, struct sim_hit *h, int32_t substitutes)
{
    for (int32_t k = 0; k <= substitutes; k++) {
        int32_t n = ftree_topo_root_substitute(topo, k);
        if (n != FTREE_NONE)
            add_node(h, n);
    }
}

/* True if a line before this one is about the node: what two faults of one node should be called
 * depends on which comes first. */
static bool is_taken(const struct sim_run *r, const struct sim_hit *h, int32_t node)
{
    for (const struct sim_hit *before = r->hit; before < h; before++)
        if (has(before->node, before->nodes, node))
            return true;
    return false;
}

static bool any_is_taken(const struct sim_run *r, const struct sim_hit *h, int32_t switch_)
{
    for (const struct sim_hit *before = r->hit; before < h; before++)
        for (int32_t i = 0; i < before->nodes; i++)
            if (ftree_tree_is_behind(r->job.tree, switch_, before->node[i]))
                return true;
    return false;
}

#define DRAWS_MAX 1000 /* for one that is not taken; then any will do */

static void draw_nodes(struct sim_run *r, struct sim_hit *h, int32_t count)
{
    for (int draws = 0; h->nodes < count && h->nodes < r->job.nodes; draws++) {
        int32_t n = (int32_t) draw_below(&r->draw, (uint64_t) r->job.nodes);
        if (has(h->node, h->nodes, n) || (draws < DRAWS_MAX && is_taken(r, h, n)))
            continue;
        add_node(h, n);
        draws = 0;
    }
}

static void draw_switches(struct sim_run *r, struct sim_hit *h, int32_t count)
{
    for (int draws = 0; h->switches < count && h->switches < r->job.tree->switches; draws++) {
        int32_t s = (int32_t) draw_below(&r->draw, (uint64_t) r->job.tree->switches);
        if (has(h->switch_, h->switches, s) || (draws < DRAWS_MAX && any_is_taken(r, h, s)))
            continue;
        add_switch(r, h, s);
        draws = 0;
    }
}

/* An inner node, not the root where there is another, and one of its children. */
static void draw_fln(struct sim_run *r, struct sim_hit *h)
{
    const struct topo *topo = &r->topo;
    int32_t first, n = 0, children = 0;
    bool taken = true;

    if (r->job.nodes < 2) {
        add_node(h, 0);
        return;
    }
    for (int i = 0; i < 100000 && (children == 0 || (i < DRAWS_MAX && taken)); i++) {
        n = (int32_t) draw_below(&r->draw, (uint64_t) r->job.nodes);
        n = n && ftree_topo_parent(topo, n) > 0 ? ftree_topo_parent(topo, n) : n;
        children = n ? ftree_topo_children(topo, n, &first) : 0;
        taken = is_taken(r, h, n);
    }
    if (children == 0)
        children = ftree_topo_children(topo, n = 0, &first);
    add_node(h, n);
    taken = true;
    for (int i = 0; i < DRAWS_MAX && taken; i++) {
        n = first + (int32_t) draw_below(&r->draw, (uint64_t) children);
        taken = is_taken(r, h, n);
    }
    add_node(h, n);
}

static void copy_hit(struct sim_hit *to, const struct sim_hit *from)
{
    *to = *from;
    to->node = sim_copy(from->node, (size_t) from->nodes * sizeof(*from->node));
    to->switch_ = sim_copy(from->switch_, (size_t) from->switches * sizeof(*from->switch_));
    to->hang = (struct sim_hang){0};
}

static void resolve(struct sim_run *r, int32_t line)
{
    const struct sim_target *t = &r->options->script->fault[line].target;
    struct sim_hit *h = &r->hit[line];

    switch (t->kind) {
        case SIM_NODES:
        case SIM_SWITCHES:
            add_ranges(r, h, t);
            break;
        case SIM_ROOT:
            add_root(&r->topo, h, t->count);
            break;
        case SIM_RANDOM_NODES:
            draw_nodes(r, h, t->count);
            break;
        case SIM_RANDOM_SWITCHES:
            draw_switches(r, h, t->count);
            break;
        case SIM_RANDOM_FLN:
            draw_fln(r, h);
            break;
        case SIM_IT:
            copy_hit(h, &r->hit[line - 1]);
            break;
        case SIM_ONE_OF_IT:
            if (h[-1].nodes > 0)
                add_node(h, h[-1].node[draw_below(&r->draw, (uint64_t) h[-1].nodes)]);
            break;
    }
    if (r->options->script->fault[line].verb == SIM_HANG)
        sim_hang_plan(r, line);
}

void sim_fault_plan(struct sim_run *r)
{
    const struct sim_script *s = r->options->script;

    r->hit = sim_calloc((size_t) s->n, sizeof(*r->hit));
    for (int32_t i = 0; i < s->n; i++) {
        struct sim_event e = {.kind = SIM_FAULT, .at = r->now + s->fault[i].at, .to = i};
        resolve(r, i);
        sim_queue_push(&r->queue, &e);
        r->faults_left++;
        if (s->fault[i].lasts == FTREE_NEVER)
            continue;
        e.at += s->fault[i].lasts;
        e.from = 1;
        sim_queue_push(&r->queue, &e);
        r->faults_left++;
    }
}
