/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef QUEUE_H_INCLUDED
#define QUEUE_H_INCLUDED

#include "ftree/base/types.h"

/*
 * What will happen: events by time, and those of one time in the order in which they were put in,
 * but for ticks, which come last; so that a run is the same each time.
 *
 * Time never goes back, so this is a radix heap (Ahuja, Mehlhorn, Orlin, Tarjan 1990): an event is
 * in a list by the highest digit in which its time differs from the present one, and by that digit.
 * Once the first list of a level has its turn, its events move to lower levels, most of them once.
 */

enum sim_event_kind {
    SIM_MESSAGE, /* for the agent or the deputy of node `to` */
    SIM_REACH, /* node `to` learns what the kernel of node `from` says */
    SIM_STALL, /* the wait of a rank of node `to` is as long as the limit; `from`: the rank */
    SIM_OVER, /* a wait of a rank of node `to` that has a limit is over; `from`: the rank */
    SIM_FAULT, /* `to`: number of the fault; `from`: 0 it begins, 1 it ends, 2 it goes on */
    SIM_TICK /* the handle of node `to` may be due */
};

struct sim_event {
    ftree_time at;
    uint8_t *bytes; /* of a message: from the pool; freed by the one that pops it */
    int32_t to, from;
    int16_t error;
    uint16_t len;
    uint8_t kind, path, role;
    uint8_t reach : 7;
    bool queued : 1; /* it has waited for the agent's CPU already */
};

#define SIM_PART 16 /* events of a list that lie side by side, which is how memory is fast */
#define SIM_BLOCK (1u << 15) /* events that are allocated at once, and never move */
#define SIM_DIGIT 11 /* bits; 2 us are two digits of a time */
#define SIM_LEVELS 6
#define SIM_DIGITS (1 << SIM_DIGIT)

/* The lists of one level, by digit; the numbers of their first and last event. */
struct sim_level {
    struct {
        uint32_t first, last;
    } list[SIM_DIGITS];
    uint64_t used[SIM_DIGITS / 64]; /* a bit for each list: it has events */
};

struct sim_queue {
    struct sim_event **block; /* [room / SIM_BLOCK]: where they lie; number 0 is none */
    uint32_t *next; /* [room / SIM_PART]: the part that follows, of a list or of those not in use */
    uint32_t room, free; /* free: the first part of those that are not in use */
    uint64_t last; /* the key of the event that was popped last */
    uint32_t seen, seen_digit, ahead; /* the last one that `near` was called for, 0: none; its list;
                                       * so many, at least, are between it and the next one */
    size_t n; /* in it */
    /* Called for an event that is near, so that what it needs is fetched meanwhile; may be NULL. */
    void (*near)(const void *ctx, const struct sim_event *e);
    const void *ctx;
    struct sim_level *level; /* [SIM_LEVELS] */
};

/* Purpose: puts a copy of *e in, for a time that is not past; e->bytes becomes the queue's. */
void sim_queue_push(struct sim_queue *q, const struct sim_event *e);

/* Purpose: takes the next event out; false: there is none. */
bool sim_queue_pop(struct sim_queue *q, struct sim_event *e);

/* Purpose: the next one, which stays in, if it is near; else NULL. */
const struct sim_event *sim_queue_peek(const struct sim_queue *q);

/* Purpose: frees the queue and the bytes in it; all zero again. */
void sim_queue_free(struct sim_queue *q);

#endif /* QUEUE_H_INCLUDED */
