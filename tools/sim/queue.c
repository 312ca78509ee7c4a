/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "sim/queue.h"

#include "sim/pool.h"
#include "sim/sim_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Four children a place: half as deep as two. */
#define WAYS 4
#define CACHE_LINE 64

/* By time, then in their order.  As one large number a key is compared without a branch, of which
 * no processor could guess the way. */
static bool before(const struct sim_key *a, const struct sim_key *b)
{
    __extension__ typedef unsigned __int128 large;

    return ((large) a->at << 64 | a->order) < ((large) b->at << 64 | b->order);
}

/* Where the event of place i of the heap lies. */
static uint32_t slot_of(const struct sim_queue *q, size_t i)
{
    return (uint32_t) (q->heap[i].order & (((uint64_t) 1 << SIM_SLOT_BITS) - 1));
}

static struct sim_event *event_of(const struct sim_queue *q, size_t i)
{
    return &q->slot[slot_of(q, i)];
}

/* The first child of a place is place 1, 5, 9, ...: there a cache line begins. */
static void grow_heap(struct sim_queue *q, size_t room)
{
    uint8_t *memory = sim_realloc(NULL, room + 2 * WAYS, sizeof(*q->heap));
    size_t before_line = (CACHE_LINE - ((uintptr_t) memory & (CACHE_LINE - 1))) & (CACHE_LINE - 1);
    struct sim_key *heap =
        (struct sim_key *) (void *) (memory + before_line + CACHE_LINE - sizeof(*heap));

    if (q->n)
        memcpy(heap, q->heap, q->n * sizeof(*heap));
    free(q->heap_memory);
    q->heap_memory = memory;
    q->heap = heap;
}

static void grow(struct sim_queue *q)
{
    size_t room = q->room ? 2 * q->room : 1024;

    if (room > (size_t) 1 << SIM_SLOT_BITS) {
        fprintf(stderr, "faultloc simulate: too many events at once\n");
        exit(2);
    }
    grow_heap(q, room);
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
    uint32_t slot;

    if (q->n == q->room)
        grow(q);
    slot = q->free_slot[q->room - q->n - 1];
    key.order = q->seq++ << SIM_SLOT_BITS | slot;
    q->slot[slot] = *e;
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
        best = before(&q->heap[c], &q->heap[best]) ? c : best;
    return best < q->n ? best : q->n;
}

bool sim_queue_pop(struct sim_queue *q, struct sim_event *e)
{
    struct sim_key last;
    size_t i = 0, child;

    if (q->n == 0)
        return false;
    *e = *event_of(q, 0);
    q->free_slot[q->room - q->n] = slot_of(q, 0);
    last = q->heap[--q->n];
    while ((child = least_child(q, i)) < q->n && before(&q->heap[child], &last)) {
        q->heap[i] = q->heap[child];
        i = child;
    }
    q->heap[i] = last;
    /* one of these is the first after the next pop; by then it is here */
    for (i = 1; i <= WAYS && i < q->n; i++)
        __builtin_prefetch(event_of(q, i));
    return true;
}

const struct sim_event *sim_queue_peek(const struct sim_queue *q)
{
    return q->n ? event_of(q, 0) : NULL;
}

ftree_time sim_queue_next(const struct sim_queue *q)
{
    return q->n ? q->heap[0].at : FTREE_NEVER;
}

void sim_queue_free(struct sim_queue *q)
{
    for (size_t i = 0; i < q->n; i++)
        sim_pool_free(event_of(q, i)->bytes);
    free(q->heap_memory);
    free(q->slot);
    free(q->free_slot);
    *q = (struct sim_queue){0};
}
