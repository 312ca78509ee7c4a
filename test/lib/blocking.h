/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef BLOCKING_H_INCLUDED
#define BLOCKING_H_INCLUDED

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The calls of Linux in which a thread waits, by system call and by the C library, without and with a
 * timeout, with a part transferred, under a system call filter, with signals that come; and loops of
 * calls that hardly wait.  What a call has returned and stored is the same each time, so a run that
 * was disturbed differs from one that was not.
 *
 * Who calls and who lets it go on are two processes or two threads; the case is in shared memory.
 */

#define BLOCKING_SAID_MAX 256

struct blocking_case {
    /* who calls: set by blocking_call() */
    _Atomic pid_t pid, tid;
    atomic_bool done, stop; /* stop: a loop is to end */
    bool timed;
    /* what the rows need */
    int fd[2], other[2];
    char path[64];
    uint32_t word, turns;
    _Alignas(4096) char page[4096]; /* read-only after prepare */
    sem_t sem;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    pthread_rwlock_t rwlock;
    pthread_barrier_t barrier;
    /* what came of it */
    atomic_int n;
    int64_t said[BLOCKING_SAID_MAX];
};

struct blocking {
    const char *name;
    void (*prepare)(struct blocking_case *c); /* by who lets it go on; NULL: nothing */
    void (*call)(struct blocking_case *c);
    void (*release)(struct blocking_case *c); /* NULL: it ends by itself, or by `stop` */
    int kind; /* 0: it waits until it is released, or for a time of its own */
};

enum {
    BLOCKING_TIMED = 1, /* by BLOCKING_MS at most */
    BLOCKING_RUNS = 2, /* until it is told to stop */
    /* It needs a process of its own, for a lock is the process's; or a filter of system calls stays. */
    BLOCKING_OWN = 4,
    BLOCKING_FILTERED = 8
};

#ifndef BLOCKING_MS /* how long a call with a timeout takes */
#define BLOCKING_MS 400
#endif

extern const struct blocking blocking[];
extern const int blocking_count;

/* Purpose: a case for a row, prepared.  NULL: this kernel or machine has not what it needs. */
struct blocking_case *blocking_prepare(const struct blocking *b);

/* Purpose: the call, by the thread that is to be looked at. */
void blocking_call(const struct blocking *b, struct blocking_case *c);

/* Purpose: true once the thread waits, or runs its loop; waits for that. */
bool blocking_await(const struct blocking *b, struct blocking_case *c);

/* Purpose: lets it go on, and waits for its end where that needs something done. */
void blocking_release(const struct blocking *b, struct blocking_case *c);
void blocking_end(struct blocking_case *c);

#endif /* BLOCKING_H_INCLUDED */
