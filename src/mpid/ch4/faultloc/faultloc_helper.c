/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* pthread_timedjoin_np */
#endif

#include "faultloc_helper.h"

#include "faultloc_report.h"
#include "tree.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define STACK_BYTES (512 * 1024)
#define LISTEN_PAUSE (20 * FTREE_MS)
#define LISTEN_PAUSE_MAX (1000 * FTREE_MS)

int faultloc_epoll_add(int epoll, int fd, uint64_t tag)
{
    struct epoll_event e = {.events = EPOLLIN, .data.u64 = tag};

    return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) ? errno : 0;
}

int faultloc_epoll_wait(int epoll, ftree_time deadline, uint64_t *tags, int room)
{
    struct epoll_event events[16];
    ftree_time now = faultloc_now();
    int timeout = -1, n;

    if (deadline != FTREE_NEVER) {
        /* rounded up, else the last fraction of a millisecond is spent turning */
        ftree_time ms = deadline > now ? (deadline - now + FTREE_MS - 1) / FTREE_MS : 0;
        timeout = ms < 3600000 ? (int) ms : 3600000;
    }
    n = epoll_wait(epoll, events, room < 16 ? room : 16, timeout);
    for (int i = 0; i < n; i++)
        tags[i] = events[i].data.u64;
    /* else a program that closes descriptors that are not its own would have us turn for ever */
    return n < 0 && errno == EINTR ? 0 : n;
}

int faultloc_helper_channel(struct faultloc_helper *h,
                            const struct faultloc_channel_callbacks *callbacks, void *ctx,
                            struct faultloc_channel **out)
{
    struct faultloc_channel_config cfg = {.self = h->self,
                                          .nodes = h->job.nodes,
                                          .table = faultloc_board_addresses(h->board),
                                          .callbacks = *callbacks,
                                          .ctx = ctx};

    *out = NULL;
    if (h->job.nodes == 1)
        return 0;
    memcpy(cfg.key, h->board->key, sizeof(cfg.key));
    int rc = faultloc_channel_create(&cfg, out);
    h->channel = *out;
    return rc;
}

void faultloc_helper_channel_end(struct faultloc_helper *h, struct faultloc_channel *channel)
{
    h->channel = NULL;
    faultloc_channel_destroy(channel);
}

/* The kernel may not have buried who had the port before, or somebody else has it. */
bool faultloc_helper_listen(struct faultloc_channel *channel, enum faultloc_role role,
                            ftree_time now, ftree_time *at, ftree_time *pause)
{
    if (!channel || now < *at)
        return false;
    if (faultloc_channel_listen(channel, role) == 0) {
        *at = FTREE_NEVER;
        return true;
    }
    *pause = *pause == 0 ? LISTEN_PAUSE : *pause < LISTEN_PAUSE_MAX ? 2 * *pause : *pause;
    *at = now + *pause;
    return false;
}

void faultloc_helper_ready(struct faultloc_helper *h, int error)
{
    h->error = error;
    sem_post(&h->ready);
}

int faultloc_office_take(pthread_mutex_t *office, bool wait)
{
    int rc = wait ? pthread_mutex_lock(office) : pthread_mutex_trylock(office);

    /* what the mutex protects is the office itself, which is never half held */
    return rc == EOWNERDEAD ? pthread_mutex_consistent(office) : rc;
}

/* ---- the thread ---------------------------------------------------------------------------- */

/* The program may fork processes that outlive it (workers of a pool, say) and do not call exec. */
static _Atomic(struct faultloc_helper *) of_this_process;

static void on_fork(void)
{
    struct faultloc_helper *h = of_this_process;
    struct faultloc_channel *channel = h ? h->channel : NULL;

    if (channel)
        faultloc_channel_forked(channel);
    /* else it would look as if somebody still listened there */
    if (h && h->door >= 0)
        close(h->door);
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, on_fork);
}

static void free_helper(struct faultloc_helper *h)
{
    struct faultloc_helper *own = h;

    atomic_compare_exchange_strong(&of_this_process, &own, NULL);
    faultloc_ports_close(&h->ports);
    close(h->wake);
    sem_destroy(&h->ready);
    free(h->watch.seen);
    free(h->names);
    ftree_tree_free(h->tree);
    free(h);
}

static void serve_as_agent(struct faultloc_helper *h)
{
    faultloc_agent_serve(h);
    pthread_mutex_unlock(&h->board->agent);
}

static void serve_as_first_agent(struct faultloc_helper *h)
{
    int rc = faultloc_office_take(&h->board->agent, true);

    if (rc) {
        faultloc_helper_ready(h, rc);
        return;
    }
    h->board->agent_pid = (int32_t) getpid();
    h->has_office = true;
    serve_as_agent(h);
}

static void serve_as_deputy(struct faultloc_helper *h)
{
    bool agent;

    if (faultloc_office_take(&h->board->deputy, true))
        return;
    h->has_office = true;
    agent = !h->stopping && faultloc_deputy_serve(h);
    pthread_mutex_unlock(&h->board->deputy);
    if (agent)
        serve_as_agent(h);
}

static void *helper_main(void *arg)
{
    struct faultloc_helper *h = arg;

    prctl(PR_SET_NAME, "faultloc", 0, 0, 0);
    if (h->slot == 0)
        serve_as_first_agent(h);
    else
        serve_as_deputy(h);
    if (atomic_exchange(&h->abandoned, true))
        free_helper(h);
    return NULL;
}

int faultloc_thread_start(pthread_t *thread, void *(*body)(void *), void *arg)
{
    pthread_attr_t attr;
    sigset_t all, old;
    int rc = pthread_attr_init(&attr);

    if (rc)
        return rc;
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    /* signals are the program's, and hydra's: none may be delivered here */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    rc = pthread_create(thread, &attr, body, arg);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    return rc;
}

static bool describe_job(struct faultloc_helper *h)
{
    const struct faultloc_board *b = h->board;

    h->self = b->self;
    h->names = malloc((size_t) b->nodes * sizeof(*h->names));
    h->watch.seen = calloc((size_t) b->slots, sizeof(*h->watch.seen));
    if (!h->names || !h->watch.seen)
        return false;
    if (b->tree_bytes && ftree_tree_unpack(faultloc_board_tree(b), b->tree_bytes, &h->tree))
        return false;
    h->watch.board = b;
    for (int32_t i = 0; i < b->nodes; i++)
        h->names[i] = faultloc_board_name(b, i);
    h->job = (struct ftree_job){.nodes = b->nodes,
                                .size = b->size,
                                .fanout = b->fanout,
                                .tree = h->tree,
                                .seed = b->seed,
                                .node_name = h->names,
                                .rank_node = faultloc_board_rank_node(b),
                                .node_first = faultloc_board_node_first(b),
                                .node_ranks = faultloc_board_node_ranks(b),
                                .rank_pid = faultloc_board_rank_pid(b)};
    memcpy(h->job.has_path, b->has_path, sizeof(h->job.has_path));
    return true;
}

/* Slot 0's thread says so once it serves as agent, or why it cannot. */
static int wait_until_ready(struct faultloc_helper *h)
{
    if (h->slot > 0)
        return 0;
    while (sem_wait(&h->ready) && errno == EINTR)
        ;
    if (h->error)
        pthread_join(h->thread, NULL);
    return h->error;
}

int faultloc_helper_start(struct faultloc_board *board, int32_t slot,
                          const struct faultloc_settings *settings, struct faultloc_ports *ports,
                          struct faultloc_helper **out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct faultloc_helper *h = calloc(1, sizeof(*h));
    int rc;

    *out = NULL;
    if (!h) {
        if (ports)
            faultloc_ports_close(ports);
        return ENOMEM;
    }
    h->board = board;
    h->slot = slot;
    h->settings = *settings;
    h->ports = (struct faultloc_ports){.fd = {-1, -1}};
    h->door = -1;
    if (ports)
        h->ports = *ports;
    sem_init(&h->ready, 0, 0);
    h->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_once(&once, watch_forks);
    of_this_process = h;
    rc = h->wake < 0 ? errno : ENOMEM;
    if (h->wake >= 0 && describe_job(h))
        rc = faultloc_thread_start(&h->thread, helper_main, h);
    if (!rc)
        rc = wait_until_ready(h);
    if (rc)
        free_helper(h);
    else
        *out = h;
    return rc;
}

const struct ftree_job *faultloc_helper_job(const struct faultloc_helper *h)
{
    return &h->job;
}

void faultloc_helper_stop(struct faultloc_helper *h)
{
    uint64_t one = 1;

    /* A sleeper cannot be woken from a mutex: it is left behind and ends when it wakes.  It may
     * just be waking, hence the order: stopping before has_office is read here, has_office before
     * stopping is read there; and whoever is done last frees. */
    h->stopping = true;
    if (!h->has_office) {
        pthread_detach(h->thread);
        if (atomic_exchange(&h->abandoned, true))
            free_helper(h);
        return;
    }
    if (write(h->wake, &one, sizeof(one)) < 0)
        faultloc_say("cannot wake the helper thread: %s", strerror(errno));
    pthread_join(h->thread, NULL);
    free_helper(h);
}

void faultloc_helper_quit(struct faultloc_helper *h, int patience_ms)
{
    uint64_t one = 1;
    struct timespec until;

    h->quitting = true;
    h->stopping = true;
    if (!h->has_office || write(h->wake, &one, sizeof(one)) < 0)
        return;
    until = faultloc_unix_in(patience_ms);
    /* it may still run then: nothing is freed, for the process ends */
    pthread_timedjoin_np(h->thread, NULL, &until);
}
