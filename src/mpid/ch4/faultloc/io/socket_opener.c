/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/io/socket_opener.h"

#include "faultloc/base/clock.h"
#include "faultloc/io/loop.h"
#include "faultloc/io/worker.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define TRY_PAUSE_MS 100 /* while the kernel has not closed the socket of the agent before */

struct faultloc_socket_opener {
    struct faultloc_worker worker;
    struct faultloc_task opening, closing; /* the symptom socket */
    atomic_bool quit; /* it is not to be opened any more */
    struct faultloc_symptom_socket sock; /* the owner's while the worker is idle */
    const char *job_id;
    bool taken; /* the owner's */
    int notify; /* eventfd to the owner: it is open or given up; it is closed */
    atomic_int holders; /* owner and thread: the last frees */
};

static void let_go(struct faultloc_socket_opener *p)
{
    if (atomic_fetch_sub(&p->holders, 1) > 1)
        return;
    faultloc_worker_destroy(&p->worker);
    close(p->notify);
    free(p);
}

/* ---- the thread ------------------------------------------------------------------------------ */

static void open_socket(struct faultloc_worker *worker)
{
    struct faultloc_socket_opener *p = worker->owner;
    struct pollfd wake = {.fd = worker->wake, .events = POLLIN};

    while (!p->quit && !faultloc_worker_stopping(worker) &&
           !faultloc_symptom_socket_open(&p->sock, faultloc_now(), p->job_id) &&
           !p->sock.given_up) {
        poll(&wake, 1, TRY_PAUSE_MS);
        faultloc_eventfd_clear(worker->wake);
    }
}

static void run(struct faultloc_worker *worker, struct faultloc_task *job)
{
    struct faultloc_socket_opener *p = worker->owner;

    if (job == &p->opening)
        open_socket(worker);
    else
        faultloc_symptom_socket_close(&p->sock);
}

static void ended(struct faultloc_worker *worker)
{
    struct faultloc_socket_opener *p = worker->owner;

    faultloc_symptom_socket_close(&p->sock);
    faultloc_eventfd_signal(p->notify);
    let_go(p);
}

static const struct faultloc_worker_ops ops = {
    .name = "faultloc-socket", .leaves = true, .run = run, .ended = ended};

/* ---- its owner ------------------------------------------------------------------------------- */

int faultloc_socket_opener_start(const struct ftree_job *job, int32_t self, const char *job_id,
                                 int number, struct faultloc_socket_opener **out)
{
    struct faultloc_socket_opener *p = calloc(1, sizeof(*p));
    int rc;

    *out = NULL;
    if (!p)
        return ENOMEM;
    p->notify = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (p->notify < 0) {
        rc = errno;
        free(p);
        return rc;
    }
    p->holders = 2;
    p->job_id = job_id;
    faultloc_symptom_socket_init(&p->sock, job, self);
    p->sock.number = number;
    faultloc_worker_init(&p->worker, &ops, p, p->notify);
    faultloc_worker_add(&p->worker, &p->opening, 1);
    *out = p;
    return 0;
}

int faultloc_socket_opener_fd(const struct faultloc_socket_opener *p)
{
    return p->notify;
}

bool faultloc_socket_opener_take(struct faultloc_socket_opener *p,
                                 struct faultloc_symptom_socket *sock)
{
    if (p->taken)
        return false;
    faultloc_eventfd_clear(p->notify);
    if (!faultloc_worker_idle(&p->worker) || p->sock.fd < 0)
        return false;
    *sock = p->sock;
    p->taken = true;
    return true;
}

bool faultloc_socket_opener_is_busy(struct faultloc_socket_opener *p)
{
    return !faultloc_worker_idle(&p->worker);
}

void faultloc_socket_opener_stop(struct faultloc_socket_opener *p, int patience_ms)
{
    ftree_time by = faultloc_now() + (ftree_time) patience_ms * FTREE_MS;
    struct pollfd notify = {.events = POLLIN};

    if (!p)
        return;
    notify.fd = p->notify;
    p->quit = true;
    faultloc_worker_add(&p->worker, &p->closing, 1);
    while (!faultloc_worker_idle(&p->worker) && faultloc_now() < by) {
        poll(&notify, 1, faultloc_loop_ms(by));
        faultloc_eventfd_clear(p->notify);
    }
    if (!faultloc_worker_stop(&p->worker)) {
        /* there is no thread, and perhaps none was to be had */
        faultloc_symptom_socket_close(&p->sock);
        let_go(p);
    }
    let_go(p);
}
