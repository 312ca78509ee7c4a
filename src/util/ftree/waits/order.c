/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/waits/waits_int.h"

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

/* The ranks of the cycle, which ends in node v; gates are left out.  What was written is marked. */
static int32_t write_cycle(const struct walk *k, int32_t start, int32_t v, bool *written,
                           int32_t *rank)
{
    int32_t n = 0;

    for (;; v = k->from[v]) {
        written[v] = true;
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

static void write_others(const struct waits *w, const struct waits_core *core, const bool *written,
                         int32_t *rank, int32_t n)
{
    for (int32_t i = 0; i < core->ranks; i++)
        if (!written[waits_find(w, core->rank[i])])
            rank[n++] = core->rank[i];
}

static int32_t write_order(struct walk *k, bool *written, int32_t *rank)
{
    struct waits_core core;
    int32_t start, end, n = 0;

    ftree_waits_core_at(k->w, k->core, &core);
    start = waits_find(k->w, core.id);
    for (int32_t v = 0; v < k->w->graph.nodes; v++)
        k->from[v] = FTREE_NONE;
    end = close_cycle(k, start);
    if (end != FTREE_NONE)
        n = write_cycle(k, start, end, written, rank);
    write_others(k->w, &core, written, rank, n);
    return n ? n : 1;
}

int32_t ftree_waits_order(const struct waits *w, int32_t i, int32_t *rank)
{
    size_t n = (size_t) w->graph.nodes;
    struct walk k = {.w = w, .core = i};
    bool *written = ftree_alloc(w->ft, NULL, n * sizeof(*written));
    int32_t cycle = 0;

    k.from = ftree_alloc(w->ft, NULL, n * sizeof(*k.from));
    k.queue = ftree_alloc(w->ft, NULL, n * sizeof(*k.queue));
    if (written && k.from && k.queue && i >= 0 && i < w->cores.n) {
        memset(written, 0, n * sizeof(*written));
        cycle = write_order(&k, written, rank);
    }
    ftree_alloc(w->ft, written, 0);
    ftree_alloc(w->ft, k.from, 0);
    ftree_alloc(w->ft, k.queue, 0);
    return cycle;
}
