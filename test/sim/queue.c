/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "queue.h"

#include "sim_memory.h"

#include <stdlib.h>

/* Four children a place: half as deep as two. */
#define WAYS 4

static bool before(const struct sim_key *a, const struct sim_key *b)
{
    return a->at != b->at ? a->at < b->at : (int32_t) (a->seq - b->seq) < 0;
}

static void grow(struct sim_queue *q)
{
    size_t room = q->room ? 2 * q->room : 1024;

    q->heap = sim_realloc(q->heap, room, sizeof(*q->heap));
    q->slot = sim_realloc(q->slot, room, sizeof(*q->slot));
    q->free_slot = sim_realloc(q->free_slot, room, sizeof(*q->free_slot));
    for (size_t i = q->room; i < room; i++)
        q->free_slot[room - 1 - i] = (uint32_t) i; /* all others are in use */
    q->room = room;
}

void sim_queue_push(struct sim_queue *q, const struct sim_event *e)
{
    struct sim_key key = {.at = e->at};
    size_t i, up;

    if (q->n == q->room)
        grow(q);
    key.seq = q->seq++;
    key.slot = q->free_slot[q->room - q->n - 1];
    q->slot[key.slot] = *e;
    for (i = q->n++; i > 0; i = up) {
        up = (i - 1) / WAYS;
        if (!before(&key, &q->heap[up]))
            break;
        q->heap[i] = q->heap[up];
    }
    q->heap[i] = key;
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
    struct sim_key last;
    size_t i = 0, child;

    if (q->n == 0)
        return false;
    *e = q->slot[q->heap[0].slot];
    q->free_slot[q->room - q->n] = q->heap[0].slot;
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
        free(q->slot[q->heap[i].slot].bytes);
    free(q->heap);
    free(q->slot);
    free(q->free_slot);
    *q = (struct sim_queue){0};
}
