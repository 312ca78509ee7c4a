/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc_reader.h"

#include "faultloc_clock.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

struct faultloc_reader {
    struct faultloc_rules rules; /* the thread's own */
    struct faultloc_rules_news news; /* full: the owner's; not: the thread's */
    atomic_bool full;
    int told; /* eventfd to the owner: look at `full` */
    int wake; /* eventfd to the thread: look at `full` and `stopping` */
    atomic_bool stopping;
    atomic_bool abandoned; /* set by the first of owner and thread that is done with it */
};

static void free_reader(struct faultloc_reader *r)
{
    if (r->full)
        ftree_rules_free(r->news.base);
    if (r->told >= 0)
        close(r->told);
    if (r->wake >= 0)
        close(r->wake);
    free(r);
}

static void let_go(struct faultloc_reader *r)
{
    if (atomic_exchange(&r->abandoned, true))
        free_reader(r);
}

/* The count of an eventfd only ever says "look", so it does not matter if it cannot take more. */
static void ring(int fd)
{
    uint64_t one = 1;
    ssize_t n = write(fd, &one, sizeof(one));

    (void) n;
}

static void hush(int fd)
{
    uint64_t count;
    ssize_t n = read(fd, &count, sizeof(count));

    (void) n;
}

/* ---- the thread ------------------------------------------------------------------------------ */

/* False: there is nothing to wait on any more, for the program has closed it. */
static bool wait_for_change(struct faultloc_reader *r)
{
    bool full = r->full; /* and until it is not, what changes is left in the kernel */
    ftree_time now = faultloc_now(), at = full ? FTREE_NEVER : r->rules.look_at;
    struct pollfd p[] = {{.fd = r->wake, .events = POLLIN},
                         {.fd = full ? -1 : r->rules.inotify, .events = POLLIN}};
    int ms = -1;

    if (at != FTREE_NEVER)
        ms = at > now ? (int) ((at - now + FTREE_MS - 1) / FTREE_MS) : 0;
    if (poll(p, 2, ms) < 0 && errno != EINTR)
        return false;
    hush(r->wake);
    return !((p[0].revents | p[1].revents) & POLLNVAL);
}

static void *reader_main(void *arg)
{
    struct faultloc_reader *r = arg;

    prctl(PR_SET_NAME, "faultloc-rules", 0, 0, 0);
    do {
        if (r->full || !faultloc_rules_refresh(&r->rules, faultloc_now(), &r->news))
            continue;
        r->full = true;
        ring(r->told);
    } while (wait_for_change(r) && !r->stopping);
    faultloc_rules_close(&r->rules);
    let_go(r);
    return NULL;
}

/* No signal is delivered in it. */
static int faultloc_thread_start(pthread_t *thread, void *(*body)(void *), void *arg)
{
    sigset_t all, old;
    int rc;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    rc = pthread_create(thread, NULL, body, arg);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return rc;
}

/* ---- its owner ------------------------------------------------------------------------------- */

int faultloc_reader_start(const char *path, const char *node, bool tells,
                          struct faultloc_reader **out)
{
    struct faultloc_reader *r = calloc(1, sizeof(*r));
    pthread_t thread;
    int rc = 0;

    *out = NULL;
    if (!r)
        return ENOMEM;
    faultloc_rules_init(&r->rules, path, node, tells);
    r->told = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    r->wake = r->told < 0 ? -1 : eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (r->wake < 0)
        rc = errno;
    if (!rc)
        rc = faultloc_thread_start(&thread, reader_main, r);
    if (rc) {
        free_reader(r);
        return rc;
    }
    pthread_detach(thread);
    *out = r;
    return 0;
}

int faultloc_reader_fd(const struct faultloc_reader *r)
{
    return r->told;
}

bool faultloc_reader_take(struct faultloc_reader *r, struct faultloc_rules_news *news)
{
    hush(r->told);
    if (!r->full)
        return false;
    *news = r->news;
    r->full = false;
    ring(r->wake);
    return true;
}

void faultloc_reader_stop(struct faultloc_reader *r)
{
    if (!r)
        return;
    r->stopping = true;
    ring(r->wake);
    let_go(r);
}
