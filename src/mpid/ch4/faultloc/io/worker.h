/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_WORKER_H_INCLUDED
#define FAULTLOC_WORKER_H_INCLUDED

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What may block is done in a worker: a bounded queue of jobs and one thread that does them in
 * order. The thread is started with the first job. A full pipe, a dead file system or a FIFO
 * without a reader then holds that thread, and nobody else: no function here waits for it.
 *
 * A worker is a member of what its owner and its thread share.  Either may be done with that first,
 * so it is freed by the last of them: see `ended`.
 */

/* One thing to do, the first member of what is allocated for it. */
struct faultloc_task {
    struct faultloc_task *next;
    size_t bytes; /* what it counts for in the queue's limit */
};

struct faultloc_worker;

struct faultloc_worker_ops {
    const char *name; /* of the thread, at most 15 bytes */
    bool leaves; /* the thread ends when nothing is to be done; the next job has another one */
    bool newest; /* a job takes the place of one that waits: only the newest matters */
    /* Each is called in the thread. */
    void (*run)(struct faultloc_worker *worker, struct faultloc_task *job); /* which it owns */
    void (*lost)(struct faultloc_worker *worker, uint32_t jobs); /* so many were dropped before */
    /* at the end of all: the thread uses the worker no more */
    void (*ended)(struct faultloc_worker *worker);
    /* In any thread: a job that will not be done; NULL: it is a part of the owner. */
    void (*drop)(struct faultloc_task *job);
};

struct faultloc_worker {
    const struct faultloc_worker_ops *ops;
    void *owner; /* for `ops` */
    pthread_mutex_t lock; /* never held while a job runs */
    struct faultloc_task *first, **last;
    size_t bytes; /* of those that wait */
    uint32_t lost; /* and not reported yet */
    bool started, starting, busy, stopping;
    int wake; /* eventfd, the thread's: a job, or the end; -1: not started */
    int notify; /* eventfd of the owner's: the worker has become idle; -1: none */
};

/* Purpose: prepares a worker; cannot fail.  `ops` must stay; `notify` stays the caller's. */
void faultloc_worker_init(struct faultloc_worker *worker, const struct faultloc_worker_ops *ops,
                          void *owner, int notify);

/* Purpose: starts the thread, if it does not run: all signals blocked, a small stack.  After it,
 * and only if it returns 0, ops->ended() will be called once.
 * Errors: an errno; it may be tried again at any time. */
int faultloc_worker_start(struct faultloc_worker *worker);

/* Purpose: takes over a job (NULL: there was no memory for it).  Where more than `limit` bytes
 * would wait it is dropped and counted; one alone is always taken.  Starts the thread; if that
 * cannot be, the job waits until it can.  False: dropped. */
bool faultloc_worker_add(struct faultloc_worker *worker, struct faultloc_task *job, size_t limit);

/* Purpose: takes back the first job that waits, if no thread could be started to do it; the caller
 * owns it then.  NULL: none is. */
struct faultloc_task *faultloc_worker_take_back(struct faultloc_worker *worker);

/* Purpose: true if nothing waits or runs, and no thread is being started. Then the owner may read
 * what jobs have written. Else it tries again to start a thread that could not be started. */
bool faultloc_worker_idle(struct faultloc_worker *worker);

/* Purpose: true if the end was ordered; for a job that waits (on `wake`, among others). */
bool faultloc_worker_stopping(struct faultloc_worker *worker);

/* Purpose: no further job is begun, and the thread ends when it can.  Returns at once; true if
 * there is a thread, and ops->ended() is thus still to be called. */
bool faultloc_worker_stop(struct faultloc_worker *worker);

/* Purpose: frees what the worker itself has, when neither owner nor thread uses it any more. */
void faultloc_worker_destroy(struct faultloc_worker *worker);

/* Purpose: eventfds: makes it readable; not readable. */
void faultloc_eventfd_signal(int fd);
void faultloc_eventfd_clear(int fd);

#endif /* FAULTLOC_WORKER_H_INCLUDED */
