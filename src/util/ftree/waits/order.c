/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/waits/waits_int.h"

#include <stdlib.h>
#include <string.h>

/* A core as a person reads it: round a shortest cycle through its lowest rank, then the others. */

struct walk {
    const struct waits *w;
    int32_t core;
    int32_t *from; /* [nodes] by which node a node was reached; FTREE_NONE: not yet */
    int32_t *queue;
};

/* Walks from node to node until the first is met again; the node from which it is, or
 * FTREE_NONE. */
static int32_t close_cycle(struct walk *k, int32_t start)
{
    const struct graph *g = &k->w->graph;
    int32_t head = 0, tail = 0;

    k->queue[tail++] = start;
    while (head < tail) {
        int32_t v = k->queue[head++];
        for (int32_t i = g->in_first[v]; i < g->in_first[v + 1]; i++) {
            int32_t u = g->in[i];
            if (u == start)
                return v;
            if (k->w->core_of[u] != k->core || k->from[u] != FTREE_NONE)
                continue;
            k->from[u] = v;
            k->queue[tail++] = u;
        }
    }
    return FTREE_NONE;
}

/* The ranks of the cycle, which ends in node v; gates are left out. */
static int32_t write_cycle(const struct walk *k, int32_t start, int32_t v, int32_t *rank)
{
    int32_t n = 0;

    for (;; v = k->from[v]) {
        if (v < k->w->graph.entries)
            rank[n++] = k->w->entries.items[v].rank;
        if (v == start || v == FTREE_NONE)
            break;
    }
    for (int32_t i = 0; i < n / 2; i++) {
        int32_t last = rank[n - 1 - i];
        rank[n - 1 - i] = rank[i];
        rank[i] = last;
    }
    return n;
}

static int compare(const void *a, const void *b)
{
    int32_t x = *(const int32_t *) a, y = *(const int32_t *) b;

    return (x > y) - (x < y);
}

/* Behind the n of the cycle; `sorted` has room for these. */
static void write_others(const struct waits_core *core, int32_t *sorted, int32_t *rank, int32_t n)
{
    int32_t cycle = n;

    memcpy(sorted, rank, (size_t) n * sizeof(*rank));
    qsort(sorted, (size_t) n, sizeof(*sorted), compare);
    for (int32_t i = 0, k = 0; i < core->ranks; i++) {
        while (k < cycle && sorted[k] < core->rank[i])
            k++;
        if (k == cycle || sorted[k] != core->rank[i])
            rank[n++] = core->rank[i];
    }
}

static int32_t write_order(struct walk *k, int32_t *rank)
{
    struct waits_core core;
    int32_t start, end, n = 0;

    ftree_waits_core_at(k->w, k->core, &core);
    start = waits_node_of(k->w, core.id);
    for (int32_t v = 0; v < k->w->graph.nodes; v++)
        k->from[v] = FTREE_NONE;
    end = close_cycle(k, start);
    if (end != FTREE_NONE)
        n = write_cycle(k, start, end, rank);
    write_others(&core, k->queue, rank, n);
    return n ? n : 1;
}

int32_t ftree_waits_order(const struct waits *w, int32_t i, int32_t *rank)
{
    size_t n = (size_t) w->graph.nodes + 1;
    struct walk k = {.w = w, .core = i};
    int32_t cycle = 0;

    k.from = ftree_alloc(w->ft, NULL, n * sizeof(*k.from));
    k.queue = ftree_alloc(w->ft, NULL, n * sizeof(*k.queue));
    if (k.from && k.queue && i >= 0 && i < w->cores.n)
        cycle = write_order(&k, rank);
    ftree_alloc(w->ft, k.from, 0);
    ftree_alloc(w->ft, k.queue, 0);
    return cycle;
}
