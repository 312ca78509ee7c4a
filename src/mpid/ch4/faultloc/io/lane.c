/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/io/lane.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

/* hwloc and json-c run in it.  What is not used costs addresses only. */
#define STACK_BYTES (256 * 1024)

/* The count of an eventfd only ever says "look", so it does not matter if it cannot take more. */
void faultloc_lane_ring(int fd)
{
    uint64_t one = 1;
    ssize_t n = write(fd, &one, sizeof(one));

    (void) n;
}

void faultloc_lane_hush(int fd)
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
    STEP_SLEEP
};

static struct faultloc_task *pop(struct faultloc_lane *lane)
{
    struct faultloc_task *job = lane->first;

    lane->first = job->next;
    if (!lane->first)
        lane->last = &lane->first;
    lane->bytes -= job->bytes;
    return job;
}

static enum step next_step(struct faultloc_lane *lane, struct faultloc_task **job, uint32_t *lost)
{
    enum step step = STEP_SLEEP;
    bool was_busy;

    pthread_mutex_lock(&lane->lock);
    was_busy = lane->busy;
    if (lane->stopping) {
        step = STEP_END;
    } else if (lane->first) {
        step = STEP_JOB;
        *job = pop(lane);
    } else if (lane->lost) {
        step = STEP_LOST;
        *lost = lane->lost;
        lane->lost = 0;
    }
    lane->busy = step == STEP_JOB || step == STEP_LOST;
    lane->starting = false;
    pthread_mutex_unlock(&lane->lock);
    if (was_busy && step == STEP_SLEEP && lane->told >= 0)
        faultloc_lane_ring(lane->told);
    return step;
}

static void *lane_main(void *arg)
{
    struct faultloc_lane *lane = arg;
    struct pollfd p = {.fd = lane->wake, .events = POLLIN};
    struct faultloc_task *job;
    enum step step;
    uint32_t lost;

    prctl(PR_SET_NAME, lane->ops->name, 0, 0, 0);
    while ((step = next_step(lane, &job, &lost)) != STEP_END) {
        if (step == STEP_JOB) {
            lane->ops->run(lane, job);
        } else if (step == STEP_LOST) {
            lane->ops->lost(lane, lost);
        } else {
            poll(&p, 1, -1);
            faultloc_lane_hush(lane->wake);
        }
    }
    lane->ops->ended(lane);
    return NULL;
}

static int start_thread(struct faultloc_lane *lane)
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
    rc = pthread_create(&thread, &attr, lane_main, lane);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    return rc;
}

/* ---- its users ------------------------------------------------------------------------------- */

void faultloc_lane_init(struct faultloc_lane *lane, const struct faultloc_lane_ops *ops,
                        void *owner, int told)
{
    *lane = (struct faultloc_lane){.ops = ops, .owner = owner, .wake = -1, .told = told};
    lane->last = &lane->first;
    pthread_mutex_init(&lane->lock, NULL);
}

static int start_locked(struct faultloc_lane *lane)
{
    int rc = 0;

    if (lane->started)
        return 0;
    if (lane->stopping)
        return ECANCELED;
    if (lane->wake < 0)
        lane->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    rc = lane->wake < 0 ? errno : start_thread(lane);
    lane->started = rc == 0;
    lane->starting = lane->started;
    return rc;
}

int faultloc_lane_start(struct faultloc_lane *lane)
{
    int rc;

    pthread_mutex_lock(&lane->lock);
    rc = start_locked(lane);
    pthread_mutex_unlock(&lane->lock);
    return rc;
}

static void drop_all(const struct faultloc_lane *lane, struct faultloc_task *job)
{
    struct faultloc_task *next;

    for (; job; job = next) {
        next = job->next;
        if (lane->ops->drop)
            lane->ops->drop(job);
    }
}

/* What waits is no longer in the lane. */
static struct faultloc_task *take_all(struct faultloc_lane *lane)
{
    struct faultloc_task *all = lane->first;

    lane->first = NULL;
    lane->last = &lane->first;
    lane->bytes = 0;
    return all;
}

static void append(struct faultloc_lane *lane, struct faultloc_task *job)
{
    job->next = NULL;
    *lane->last = job;
    lane->last = &job->next;
    lane->bytes += job->bytes;
}

bool faultloc_lane_add(struct faultloc_lane *lane, struct faultloc_task *job, size_t limit)
{
    struct faultloc_task *dropped = NULL;
    bool fits;

    pthread_mutex_lock(&lane->lock);
    if (job && lane->ops->newest)
        dropped = take_all(lane);
    fits = job && (!lane->first || lane->bytes + job->bytes <= limit);
    if (fits)
        append(lane, job);
    else
        lane->lost++;
    if (start_locked(lane) == 0)
        faultloc_lane_ring(lane->wake);
    pthread_mutex_unlock(&lane->lock);
    drop_all(lane, dropped);
    if (job && !fits && lane->ops->drop)
        lane->ops->drop(job);
    return fits;
}

bool faultloc_lane_idle(struct faultloc_lane *lane)
{
    bool idle;

    pthread_mutex_lock(&lane->lock);
    idle = !lane->first && !lane->lost && !lane->busy && !lane->starting;
    if (!idle)
        start_locked(lane);
    pthread_mutex_unlock(&lane->lock);
    return idle;
}

bool faultloc_lane_stopping(struct faultloc_lane *lane)
{
    bool stopping;

    pthread_mutex_lock(&lane->lock);
    stopping = lane->stopping;
    pthread_mutex_unlock(&lane->lock);
    return stopping;
}

bool faultloc_lane_stop(struct faultloc_lane *lane)
{
    bool started;

    pthread_mutex_lock(&lane->lock);
    lane->stopping = true;
    started = lane->started;
    if (started)
        faultloc_lane_ring(lane->wake);
    pthread_mutex_unlock(&lane->lock);
    return started;
}

void faultloc_lane_destroy(struct faultloc_lane *lane)
{
    drop_all(lane, take_all(lane));
    if (lane->wake >= 0)
        close(lane->wake);
    pthread_mutex_destroy(&lane->lock);
}
