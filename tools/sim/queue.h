/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef QUEUE_H_INCLUDED
#define QUEUE_H_INCLUDED

#include "ftree/base/types.h"

#define SIM_SLOT_BITS 28 /* the other 36 bits of sim_key.order are enough for a year's events */

/*
 * What will happen: a heap of events by time, and events of one time in the order in which they
 * were put in, so that a run is the same each time.  The heap has keys of 16 bytes, of which four
 * share a cache line; the events lie beside it and do not move.
 */

enum sim_event_kind {
    SIM_MESSAGE, /* for the agent or the deputy of node `to` */
    SIM_REACH, /* node `to` learns what the kernel of node `from` says */
    SIM_STALL, /* the wait of a rank of node `to` is as long as the limit; `from`: the rank */
    SIM_OVER, /* a wait of a rank of node `to` that has a limit is over; `from`: the rank */
    SIM_FAULT /* `to`: number of the fault; `from`: 0 it begins, 1 it ends, 2 it goes on */
};

struct sim_event {
    ftree_time at;
    int32_t to, from;
    uint8_t kind, path, role, reach;
    bool queued; /* it has waited for the agent's CPU already */
    int16_t error;
    uint16_t len;
    uint8_t *bytes; /* of a message: from the pool; whoever pops it frees it */
};

struct sim_key {
    uint64_t order; /* how many were put in before it, and in its low bits where the event is */
    ftree_time at;
};

struct sim_queue {
    struct sim_key *heap; /* [n]; the children of each are in one cache line */
    void *heap_memory;
    struct sim_event *slot; /* [room] */
    uint32_t *free_slot; /* [room - n]: those that are not in use */
    size_t n, room;
    uint64_t seq; /* how many were put in */
    size_t most; /* that were in it at once */
};

/* Purpose: puts a copy of *e in, in O(log n); e->bytes becomes the queue's. */
void sim_queue_push(struct sim_queue *q, const struct sim_event *e);

/* Purpose: takes the next event out; false: there is none. */
bool sim_queue_pop(struct sim_queue *q, struct sim_event *e);

/* Purpose: the next one, which stays in; NULL: there is none. */
const struct sim_event *sim_queue_peek(const struct sim_queue *q);

/* Purpose: when the next one is; FTREE_NEVER: there is none. */
ftree_time sim_queue_next(const struct sim_queue *q);

/* Purpose: frees the queue and the bytes in it; all zero again. */
void sim_queue_free(struct sim_queue *q);

#endif /* QUEUE_H_INCLUDED */
