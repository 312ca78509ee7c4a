/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/io/reader.h"

#include "faultloc/base/clock.h"
#include "faultloc/io/worker.h"
#include "faultloc/io/loop.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct faultloc_reader {
    struct faultloc_worker worker;
    struct faultloc_task job; /* to read until there is news */
    struct faultloc_rules rules;
    struct faultloc_rules_news news; /* the owner's while the worker is idle */
    int notify; /* eventfd to the owner: there is news */
};

/* ---- the thread ------------------------------------------------------------------------------ */

static void wait_for_change(struct faultloc_reader *r)
{
    struct pollfd p = {.fd = r->worker.wake, .events = POLLIN};

    poll(&p, 1, faultloc_loop_ms(r->rules.look_at));
    faultloc_eventfd_clear(r->worker.wake);
}

static void read_news(struct faultloc_worker *worker, struct faultloc_task *job)
{
    struct faultloc_reader *r = worker->owner;

    (void) job;
    while (!faultloc_rules_refresh(&r->rules, faultloc_now(), &r->news))
        wait_for_change(r);
}

static const struct faultloc_worker_ops ops = {.name = "faultloc-rules", .run = read_news};

/* ---- its owner ------------------------------------------------------------------------------- */

int faultloc_reader_start(const char *path, const char *node, bool confirms,
                          struct faultloc_reader **out)
{
    struct faultloc_reader *r = calloc(1, sizeof(*r));
    int rc;

    *out = NULL;
    if (!r)
        return ENOMEM;
    r->notify = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    rc = r->notify < 0 ? errno : 0;
    faultloc_rules_init(&r->rules, path, node, confirms);
    faultloc_worker_init(&r->worker, &ops, r, r->notify);
    if (!rc)
        rc = faultloc_worker_start(&r->worker);
    if (rc) {
        faultloc_worker_destroy(&r->worker);
        if (r->notify >= 0)
            close(r->notify);
        free(r);
        return rc;
    }
    faultloc_worker_add(&r->worker, &r->job, 0);
    *out = r;
    return 0;
}

int faultloc_reader_fd(const struct faultloc_reader *r)
{
    return r->notify;
}

bool faultloc_reader_take(struct faultloc_reader *r, struct faultloc_rules_news *news)
{
    faultloc_eventfd_clear(r->notify);
    if (!faultloc_worker_idle(&r->worker))
        return false;
    *news = r->news;
    r->news.base = NULL;
    faultloc_worker_add(&r->worker, &r->job, 0);
    return true;
}
