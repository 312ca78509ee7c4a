/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "queue.h"

#include "memory.h"

#include <stdlib.h>

/* Four children a place: half as deep as two, and they share a cache line or two. */
#define WAYS 4

static bool before(const struct sim_event *a, const struct sim_event *b)
{
    return a->at != b->at ? a->at < b->at : a->seq < b->seq;
}

void sim_queue_push(struct sim_queue *q, const struct sim_event *e)
{
    struct sim_event item = *e;
    size_t i, up;

    if (q->n == q->room) {
        q->room = q->room ? 2 * q->room : 1024;
        q->heap = sim_realloc(q->heap, q->room, sizeof(*q->heap));
    }
    item.seq = q->seq++;
    for (i = q->n++; i > 0; i = up) {
        up = (i - 1) / WAYS;
        if (!before(&item, &q->heap[up]))
            break;
        q->heap[i] = q->heap[up];
    }
    q->heap[i] = item;
    if (q->n > q->most)
        q->most = q->n;
}

/* The least of the children of place i; q->n: it has none. */
static size_t least_child(const struct sim_queue *q, size_t i)
{
    size_t first = WAYS * i + 1, best = first;

    for (size_t c = first + 1; c < first + WAYS && c < q->n; c++)
        if (before(&q->heap[c], &q->heap[best]))
            best = c;
    return best < q->n ? best : q->n;
}

bool sim_queue_pop(struct sim_queue *q, struct sim_event *e)
{
    struct sim_event last;
    size_t i = 0, child;

    if (q->n == 0)
        return false;
    *e = q->heap[0];
    last = q->heap[--q->n];
    while ((child = least_child(q, i)) < q->n && before(&q->heap[child], &last)) {
        q->heap[i] = q->heap[child];
        i = child;
    }
    q->heap[i] = last;
    return true;
}

ftree_time sim_queue_next(const struct sim_queue *q)
{
    return q->n ? q->heap[0].at : FTREE_NEVER;
}

void sim_queue_free(struct sim_queue *q)
{
    for (size_t i = 0; i < q->n; i++)
        free(q->heap[i].bytes);
    free(q->heap);
    *q = (struct sim_queue){0};
}
