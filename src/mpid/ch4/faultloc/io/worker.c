/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/io/worker.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

/* json-c runs in it.  What is not used costs addresses only. */
#define STACK_BYTES (256 * 1024)

/* The count of an eventfd only ever says "look", so it does not matter if it cannot take more. */
void faultloc_eventfd_signal(int fd)
{
    uint64_t one = 1;
    ssize_t n = write(fd, &one, sizeof(one));

    (void) n;
}

void faultloc_eventfd_clear(int fd)
{
    uint64_t count;
    ssize_t n = read(fd, &count, sizeof(count));

    (void) n;
}

/* ---- the thread ------------------------------------------------------------------------------ */

enum step {
    STEP_END,
    STEP_JOB,
    STEP_LOST,
    STEP_LEAVE,
    STEP_SLEEP
};

static struct faultloc_task *pop(struct faultloc_worker *worker)
{
    struct faultloc_task *job = worker->first;

    worker->first = job->next;
    if (!worker->first)
        worker->last = &worker->first;
    worker->bytes -= job->bytes;
    return job;
}

static enum step next_step(struct faultloc_worker *worker, struct faultloc_task **job,
                           uint32_t *lost)
{
    enum step step = worker->ops->leaves ? STEP_LEAVE : STEP_SLEEP;
    bool was_busy;

    pthread_mutex_lock(&worker->lock);
    was_busy = worker->busy;
    if (worker->stopping) {
        step = STEP_END;
    } else if (worker->first) {
        step = STEP_JOB;
        *job = pop(worker);
    } else if (worker->lost) {
        step = STEP_LOST;
        *lost = worker->lost;
        worker->lost = 0;
    }
    worker->busy = step == STEP_JOB || step == STEP_LOST;
    worker->starting = false;
    worker->started = step != STEP_LEAVE;
    /* under the lock: who finds no thread may free the worker */
    if (was_busy && (step == STEP_SLEEP || step == STEP_LEAVE) && worker->notify >= 0)
        faultloc_eventfd_signal(worker->notify);
    pthread_mutex_unlock(&worker->lock);
    return step;
}

static void *worker_main(void *arg)
{
    struct faultloc_worker *worker = arg;
    struct pollfd p = {.fd = worker->wake, .events = POLLIN};
    struct faultloc_task *job;
    enum step step;
    uint32_t lost;

    prctl(PR_SET_NAME, worker->ops->name, 0, 0, 0);
    while ((step = next_step(worker, &job, &lost)) != STEP_END) {
        if (step == STEP_JOB) {
            worker->ops->run(worker, job);
        } else if (step == STEP_LOST) {
            worker->ops->lost(worker, lost);
        } else if (step == STEP_LEAVE) {
            return NULL;
        } else {
            poll(&p, 1, -1);
            faultloc_eventfd_clear(worker->wake);
        }
    }
    worker->ops->ended(worker);
    return NULL;
}

static int start_thread(struct faultloc_worker *worker)
{
    pthread_attr_t attr;
    pthread_t thread;
    sigset_t all, old;
    int rc = pthread_attr_init(&attr);

    if (rc)
        return rc;
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    /* none is delivered here, nor does one that this thread brings about (SIGPIPE) do anything */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    rc = pthread_create(&thread, &attr, worker_main, worker);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    return rc;
}

/* ---- its users ------------------------------------------------------------------------------- */

void faultloc_worker_init(struct faultloc_worker *worker, const struct faultloc_worker_ops *ops,
                          void *owner, int notify)
{
    *worker = (struct faultloc_worker){.ops = ops, .owner = owner, .wake = -1, .notify = notify};
    worker->last = &worker->first;
    pthread_mutex_init(&worker->lock, NULL);
}

static int start_locked(struct faultloc_worker *worker)
{
    int rc = 0;

    if (worker->started)
        return 0;
    if (worker->stopping)
        return ECANCELED;
    if (worker->wake < 0)
        worker->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    rc = worker->wake < 0 ? errno : start_thread(worker);
    worker->started = rc == 0;
    worker->starting = worker->started;
    return rc;
}

int faultloc_worker_start(struct faultloc_worker *worker)
{
    int rc;

    pthread_mutex_lock(&worker->lock);
    rc = start_locked(worker);
    pthread_mutex_unlock(&worker->lock);
    return rc;
}

static void drop_all(const struct faultloc_worker *worker, struct faultloc_task *job)
{
    struct faultloc_task *next;

    for (; job; job = next) {
        next = job->next;
        if (worker->ops->drop)
            worker->ops->drop(job);
    }
}

/* What waits is no longer in the worker. */
static struct faultloc_task *take_all(struct faultloc_worker *worker)
{
    struct faultloc_task *all = worker->first;

    worker->first = NULL;
    worker->last = &worker->first;
    worker->bytes = 0;
    return all;
}

static void append(struct faultloc_worker *worker, struct faultloc_task *job)
{
    job->next = NULL;
    *worker->last = job;
    worker->last = &job->next;
    worker->bytes += job->bytes;
}

bool faultloc_worker_add(struct faultloc_worker *worker, struct faultloc_task *job, size_t limit)
{
    struct faultloc_task *dropped = NULL;
    bool fits;

    pthread_mutex_lock(&worker->lock);
    if (job && worker->ops->newest)
        dropped = take_all(worker);
    fits = job && (!worker->first || worker->bytes + job->bytes <= limit);
    if (fits)
        append(worker, job);
    else
        worker->lost++;
    if (start_locked(worker) == 0)
        faultloc_eventfd_signal(worker->wake);
    pthread_mutex_unlock(&worker->lock);
    drop_all(worker, dropped);
    if (job && !fits && worker->ops->drop)
        worker->ops->drop(job);
    return fits;
}

struct faultloc_task *faultloc_worker_take_back(struct faultloc_worker *worker)
{
    struct faultloc_task *job = NULL;

    pthread_mutex_lock(&worker->lock);
    if (!worker->started && worker->first)
        job = pop(worker);
    pthread_mutex_unlock(&worker->lock);
    return job;
}

bool faultloc_worker_idle(struct faultloc_worker *worker)
{
    bool idle;

    pthread_mutex_lock(&worker->lock);
    idle = !worker->first && !worker->lost && !worker->busy && !worker->starting;
    if (!idle)
        start_locked(worker);
    pthread_mutex_unlock(&worker->lock);
    return idle;
}

bool faultloc_worker_stopping(struct faultloc_worker *worker)
{
    bool stopping;

    pthread_mutex_lock(&worker->lock);
    stopping = worker->stopping;
    pthread_mutex_unlock(&worker->lock);
    return stopping;
}

bool faultloc_worker_stop(struct faultloc_worker *worker)
{
    bool started;

    pthread_mutex_lock(&worker->lock);
    worker->stopping = true;
    started = worker->started;
    if (started)
        faultloc_eventfd_signal(worker->wake);
    pthread_mutex_unlock(&worker->lock);
    return started;
}

void faultloc_worker_destroy(struct faultloc_worker *worker)
{
    drop_all(worker, take_all(worker));
    if (worker->wake >= 0)
        close(worker->wake);
    pthread_mutex_destroy(&worker->lock);
}
