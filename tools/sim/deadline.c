/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "sim/deadline.h"

#include "sim/sim_memory.h"

#include <stdlib.h>

#define WAYS 4

void sim_deadlines_init(struct sim_deadlines *d, int32_t nodes)
{
    d->at = sim_calloc((size_t) nodes, sizeof(*d->at));
    d->place = sim_calloc((size_t) nodes, sizeof(*d->place));
    d->heap = sim_calloc((size_t) nodes, sizeof(*d->heap));
    d->n = 0;
    for (int32_t i = 0; i < nodes; i++)
        d->at[i] = FTREE_NEVER;
}

void sim_deadlines_free(struct sim_deadlines *d)
{
    free(d->at);
    free(d->place);
    free(d->heap);
    *d = (struct sim_deadlines){0};
}

static bool before(const struct sim_deadlines *d, int32_t a, int32_t b)
{
    return d->at[a] != d->at[b] ? d->at[a] < d->at[b] : a < b;
}

static void put(struct sim_deadlines *d, int32_t place, int32_t node)
{
    d->heap[place] = node;
    d->place[node] = place;
}

static int32_t rise(struct sim_deadlines *d, int32_t i, int32_t node)
{
    while (i > 0 && before(d, node, d->heap[(i - 1) / WAYS])) {
        put(d, i, d->heap[(i - 1) / WAYS]);
        i = (i - 1) / WAYS;
    }
    return i;
}

static int32_t sink(struct sim_deadlines *d, int32_t i, int32_t node)
{
    for (;;) {
        int64_t first = (int64_t) WAYS * i + 1, best = first;
        for (int64_t c = first + 1; c < first + WAYS && c < d->n; c++)
            if (before(d, d->heap[c], d->heap[best]))
                best = c;
        if (best >= d->n || !before(d, d->heap[best], node))
            return i;
        put(d, i, d->heap[best]);
        i = (int32_t) best;
    }
}

/* The node belongs at place i or above or below it. */
static void settle(struct sim_deadlines *d, int32_t i, int32_t node)
{
    put(d, sink(d, rise(d, i, node), node), node);
}

void sim_deadlines_set(struct sim_deadlines *d, int32_t node, ftree_time at)
{
    bool was_in = d->at[node] != FTREE_NEVER;
    int32_t place = d->place[node], last;

    if (d->at[node] == at)
        return;
    d->at[node] = at;
    if (at != FTREE_NEVER) {
        settle(d, was_in ? place : d->n++, node);
        return;
    }
    last = d->heap[--d->n];
    if (last != node)
        settle(d, place, last);
}

int32_t sim_deadlines_first(const struct sim_deadlines *d, ftree_time *at)
{
    *at = d->n ? d->at[d->heap[0]] : FTREE_NEVER;
    return d->n ? d->heap[0] : FTREE_NONE;
}
