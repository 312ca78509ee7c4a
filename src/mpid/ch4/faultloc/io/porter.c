/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/io/porter.h"

#include "faultloc/base/clock.h"
#include "faultloc/io/lane.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define TRY_PAUSE_MS 100 /* while the kernel has not closed the socket of the agent before */

struct faultloc_porter {
    struct faultloc_lane lane;
    struct faultloc_task job; /* to open the door */
    struct faultloc_door door; /* the owner's while the lane is idle */
    const char *job_id;
    bool taken; /* the owner's */
    int told; /* eventfd to the owner: it is open or given up; it is closed */
    atomic_int holders; /* owner and thread: the last frees */
};

static void let_go(struct faultloc_porter *p)
{
    if (atomic_fetch_sub(&p->holders, 1) > 1)
        return;
    faultloc_lane_destroy(&p->lane);
    close(p->told);
    free(p);
}

/* ---- the thread ------------------------------------------------------------------------------ */

static void open_door(struct faultloc_lane *lane, struct faultloc_task *job)
{
    struct faultloc_porter *p = lane->owner;
    struct pollfd wake = {.fd = lane->wake, .events = POLLIN};

    (void) job;
    while (!faultloc_lane_stopping(lane) &&
           !faultloc_door_open(&p->door, faultloc_now(), p->job_id) && !p->door.given_up) {
        poll(&wake, 1, TRY_PAUSE_MS);
        faultloc_lane_hush(lane->wake);
    }
}

static void ended(struct faultloc_lane *lane)
{
    struct faultloc_porter *p = lane->owner;

    faultloc_door_close(&p->door);
    faultloc_lane_ring(p->told);
    let_go(p);
}

/* It is a part of the porter. */
static void drop(struct faultloc_task *job)
{
    (void) job;
}

static const struct faultloc_lane_ops ops = {
    .name = "faultloc-door", .run = open_door, .ended = ended, .drop = drop};

/* ---- its owner ------------------------------------------------------------------------------- */

int faultloc_porter_start(const struct ftree_job *job, int32_t self, const char *job_id,
                          struct faultloc_porter **out)
{
    struct faultloc_porter *p = calloc(1, sizeof(*p));
    int rc;

    *out = NULL;
    if (!p)
        return ENOMEM;
    p->told = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (p->told < 0) {
        rc = errno;
        free(p);
        return rc;
    }
    p->holders = 2;
    p->job_id = job_id;
    faultloc_door_init(&p->door, job, self);
    faultloc_lane_init(&p->lane, &ops, p, p->told);
    faultloc_lane_add(&p->lane, &p->job, 0);
    *out = p;
    return 0;
}

int faultloc_porter_fd(const struct faultloc_porter *p)
{
    return p->told;
}

bool faultloc_porter_take(struct faultloc_porter *p, struct faultloc_door *door)
{
    if (p->taken)
        return false;
    faultloc_lane_hush(p->told);
    if (!faultloc_lane_idle(&p->lane) || p->door.fd < 0)
        return false;
    *door = p->door;
    p->taken = true;
    return true;
}

bool faultloc_porter_is_busy(struct faultloc_porter *p)
{
    return !faultloc_lane_idle(&p->lane);
}

void faultloc_porter_stop(struct faultloc_porter *p, int patience_ms)
{
    struct pollfd told = {.events = POLLIN};

    if (!p)
        return;
    told.fd = p->told;
    faultloc_lane_hush(p->told);
    if (faultloc_lane_stop(&p->lane))
        poll(&told, 1, patience_ms);
    else
        let_go(p); /* there never was a thread */
    let_go(p);
}
