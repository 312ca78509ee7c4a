/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_LANE_H_INCLUDED
#define FAULTLOC_LANE_H_INCLUDED

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What may block is done in a lane: a bounded queue of jobs and one thread that does them in order.
 * The thread is started with the first job.  A full pipe, a dead file system or a FIFO without a
 * reader then holds that thread, and nobody else: no function here waits for it.
 *
 * A lane is a member of what its owner and its thread share.  Either may be done with that first,
 * so it is freed by the last of them: see `ended`.
 */

/* One thing to do, the first member of what is allocated for it. */
struct faultloc_task {
    struct faultloc_task *next;
    size_t bytes; /* what it counts for in the queue's limit */
};

struct faultloc_lane;

struct faultloc_lane_ops {
    const char *name; /* of the thread, at most 15 bytes */
    bool newest; /* a job takes the place of one that waits: only the newest matters */
    /* Each is called in the thread. */
    void (*run)(struct faultloc_lane *lane, struct faultloc_task *job); /* the job is the callee's */
    void (*lost)(struct faultloc_lane *lane, uint32_t jobs); /* so many were dropped before */
    void (*ended)(struct faultloc_lane *lane); /* the thread uses the lane no more */
    /* In any thread: a job that will not be done; NULL: it is a part of the owner. */
    void (*drop)(struct faultloc_task *job);
};

struct faultloc_lane {
    const struct faultloc_lane_ops *ops;
    void *owner; /* for `ops` */
    pthread_mutex_t lock; /* never held while a job runs */
    struct faultloc_task *first, **last;
    size_t bytes; /* of those that wait */
    uint32_t lost; /* and not told yet */
    bool started, starting, busy, stopping;
    int wake; /* eventfd, the thread's: a job, or the end; -1: not started */
    int told; /* eventfd of the owner's: the lane has become idle; -1: none */
};

/* Purpose: prepares a lane; cannot fail.  `ops` must stay; `told` stays the caller's. */
void faultloc_lane_init(struct faultloc_lane *lane, const struct faultloc_lane_ops *ops,
                        void *owner, int told);

/* Purpose: starts the thread, if it does not run: all signals blocked, a small stack.  After it,
 * and only if it returns 0, ops->ended() will be called once.
 * Errors: an errno; it may be tried again at any time. */
int faultloc_lane_start(struct faultloc_lane *lane);

/* Purpose: takes over a job (NULL: there was no memory for it).  Where more than `limit` bytes
 * would wait it is dropped and counted; one alone is always taken.  Starts the thread; if that
 * cannot be, the job waits until it can.  False: dropped. */
bool faultloc_lane_add(struct faultloc_lane *lane, struct faultloc_task *job, size_t limit);

/* Purpose: true if nothing waits or runs, and no thread is being started.  Then the owner may read what
 * jobs have written.  Else it tries again to start a thread that could not be started. */
bool faultloc_lane_idle(struct faultloc_lane *lane);

/* Purpose: true if the end was ordered; for a job that waits (on `wake`, among others). */
bool faultloc_lane_stopping(struct faultloc_lane *lane);

/* Purpose: no further job is begun, and the thread ends when it can.  Returns at once; true if
 * there is a thread, and ops->ended() is thus still to be called. */
bool faultloc_lane_stop(struct faultloc_lane *lane);

/* Purpose: frees what the lane itself has, when neither owner nor thread uses it any more. */
void faultloc_lane_destroy(struct faultloc_lane *lane);

/* Purpose: eventfds: makes it readable; not readable. */
void faultloc_lane_ring(int fd);
void faultloc_lane_hush(int fd);

#endif /* FAULTLOC_LANE_H_INCLUDED */
