/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef WAITERS_H_INCLUDED
#define WAITERS_H_INCLUDED

#include "ftree/base/base.h"
#include "ftree/waits/waits.h"

/*
 * Ranks that wait, and a tree that reduces their records: on each node those of its own ranks, as
 * bytes, and the items of its children; up to the root.
 */

#define WAITERS_CONTEXT 4 /* of MPI_COMM_WORLD */

struct waiters {
    struct ftree_job job;
    struct ftree ft;
    int32_t nodes;
    const int32_t *rank_node; /* NULL: rank r is on node r */
    const int32_t *parent; /* of node v, less than v; NULL: complete, by job.fanout */
    /* Fills in what a thread of a rank does; false: nothing to speak of.  It is asked for thread 0,
     * then for the others that r->threads says there are. */
    bool (*record)(void *ctx, int32_t rank, int32_t thread, struct waits_record *r);
    /* Called for each node that has something to say, after it has reduced. */
    void (*reduced)(void *ctx, int32_t node, const struct waits *w);
    void *ctx;
    int64_t messages, bytes; /* that went up */
    int64_t most; /* bytes that came to one node */
};

/* Purpose: a job of so many ranks and nodes, memory from the C library; fields may be changed. */
void waiters_init(struct waiters *k, int32_t size, int32_t nodes, int32_t fanout);

/* Purpose: all of it; returns the root's reduction, to be ended by ftree_waits_destroy(). */
struct waits *waiters_reduce(struct waiters *k);

/* Purpose: an empty record of a rank that waits for all of its requests, with MPI_COMM_WORLD. */
void waiters_begin(const struct waiters *k, struct waits_record *r, int32_t rank, uint32_t call);

/* Purpose: appends a request on communicator 0; the fate is WAITS_OPEN. */
struct waits_request *waiters_add(struct waits_record *r, int kind, int32_t peer, int32_t tag);

/* Purpose: a record as bytes, into room for FTREE_MESSAGE_MAX; returns how many. */
size_t waiters_put(const struct ftree_job *job, const struct waits_record *r, uint8_t *bytes);

/* Purpose: reads one, and says in *used how long it was.  Errors: FTREE_ERR_MALFORMED. */
int waiters_get(const struct ftree_job *job, const uint8_t *bytes, size_t len,
                struct waits_record *r, size_t *used);

#endif /* WAITERS_H_INCLUDED */
