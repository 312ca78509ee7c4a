/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc_helper.h"

#include "faultloc_bell.h"
#include "faultloc_proc.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

/*
 * The deputy is asked only when the agent connects but does not answer, or does not even connect,
 * and says how the processes of its node are.  It watches the agent's process by a pidfd, and its bell
 * in case it leaves its office before, so that it sleeps in the kernel, too; the mutex then says who
 * succeeds.  Only where the node is the whole
 * job does it wake by itself, once per stall limit: no other node would ask why the agent is mute.
 */

#define WATCH_NS (1000 * FTREE_MS) /* where the kernel has no pidfd */
#define RETRY_NS (5 * FTREE_MS)

enum tag {
    TAG_CHANNEL,
    TAG_WAKE,
    TAG_AGENT,
    TAG_BELL
};

struct deputy {
    struct faultloc_helper *h;
    struct faultloc_channel *channel;
    int epoll, agent_fd;
    int bell; /* the agent's; -1: it has none yet */
    ftree_time bell_at; /* when to look for it, FTREE_NEVER: it is found */
    bool broken; /* has nothing to wait on any more */
    ftree_time retry; /* when to try for the office, FTREE_NEVER: when the agent's process ends */
    ftree_time look; /* when to see whether the agent is stopped, FTREE_NEVER: others would ask */
    ftree_time listen, listen_pause; /* when to try for the port again */
    struct ftree_rank_state *states; /* [slots] */
};

static void on_message(void *ctx, int32_t from, enum faultloc_path path, enum faultloc_role role,
                       uint64_t conn, const void *bytes, size_t len)
{
    struct deputy *d = ctx;
    uint8_t answer[FTREE_MESSAGE_MAX];
    size_t room = sizeof(answer);
    ftree_time now = faultloc_now();
    int32_t n = d->h->board->slots;

    (void) from;
    (void) path;
    (void) role;
    for (int32_t i = 0; i < n; i++)
        faultloc_watch_look(&d->h->watch, now, i, true, &d->states[i]);
    if (ftree_deputy_answer(&d->h->job, d->h->settings.stall, bytes, len, d->states, n, answer,
                            &room) == FTREE_OK &&
        room > 0)
        faultloc_channel_reply(d->channel, now, conn, answer, room);
}

static void on_reach(void *ctx, int32_t node, enum faultloc_path path, enum faultloc_role role,
                     enum faultloc_channel_reach reach, int error)
{
    (void) ctx, (void) node, (void) path, (void) role, (void) reach, (void) error;
}

static bool open_deputy(struct deputy *d, struct faultloc_helper *h)
{
    static const struct faultloc_channel_callbacks callbacks = {.message = on_message,
                                                                .reach = on_reach};

    *d = (struct deputy){.h = h,
                         .epoll = epoll_create1(EPOLL_CLOEXEC),
                         .retry = FTREE_NEVER,
                         .bell = -1,
                         .look = h->job.nodes == 1 ? faultloc_now() : FTREE_NEVER};
    d->agent_fd = -1;
    d->states = malloc((size_t) h->board->slots * sizeof(*d->states));
    if (d->epoll < 0 || !d->states || faultloc_epoll_add(d->epoll, h->wake, TAG_WAKE))
        return false;
    if (faultloc_helper_channel(h, &callbacks, d, &d->channel) == 0 && d->channel)
        faultloc_epoll_add(d->epoll, faultloc_channel_fd(d->channel), TAG_CHANNEL);
    d->agent_fd = faultloc_proc_pidfd(h->board->agent_pid);
    if (d->agent_fd >= 0)
        faultloc_epoll_add(d->epoll, d->agent_fd, TAG_AGENT);
    else
        d->retry = faultloc_now() + (errno == ESRCH ? 0 : WATCH_NS);
    return true;
}

/* The agent may not have it yet. */
static void watch_bell(struct deputy *d, ftree_time now)
{
    struct epoll_event e = {.events = 0, .data.u64 = TAG_BELL};

    d->bell = faultloc_bell_watch(d->h->board);
    d->bell_at = d->bell < 0 ? now + WATCH_NS : FTREE_NEVER;
    if (d->bell >= 0)
        epoll_ctl(d->epoll, EPOLL_CTL_ADD, d->bell, &e);
}

static void close_deputy(struct deputy *d)
{
    if (d->bell >= 0)
        close(d->bell);
    faultloc_helper_channel_end(d->h, d->channel);
    free(d->states);
    if (d->agent_fd >= 0)
        close(d->agent_fd);
    if (d->epoll >= 0)
        close(d->epoll);
}

static ftree_time next_event(const struct deputy *d)
{
    ftree_time t = d->retry < d->look ? d->retry : d->look, due;

    t = d->bell_at < t ? d->bell_at : t;
    if (!d->channel)
        return t;
    due = faultloc_channel_deadline(d->channel);
    t = due < t ? due : t;
    return d->listen < t ? d->listen : t;
}

/* Waits for one event and handles it; true: the office is ours. */
static bool turn(struct deputy *d)
{
    uint64_t tags[8];
    ftree_time now;
    int n;

    faultloc_helper_listen(d->channel, FAULTLOC_ROLE_DEPUTY, faultloc_now(), &d->listen,
                           &d->listen_pause);
    n = faultloc_epoll_wait(d->epoll, next_event(d), tags, 8);
    now = faultloc_now();
    d->broken = n < 0;
    if (d->channel)
        faultloc_channel_process(d->channel, now);
    for (int i = 0; i < n; i++)
        if (tags[i] == TAG_AGENT || tags[i] == TAG_BELL) {
            epoll_ctl(d->epoll, EPOLL_CTL_DEL, tags[i] == TAG_AGENT ? d->agent_fd : d->bell, NULL);
            /* at the end of the job all leave, and nobody is to succeed */
            if (tags[i] == TAG_AGENT || !faultloc_watch_all_left(&d->h->watch))
                d->retry = now;
        }
    if (now >= d->bell_at)
        watch_bell(d, now);
    if (now >= d->look) {
        faultloc_agent_stand_in(d->h);
        d->look = faultloc_now() + d->h->settings.stall;
    }
    if (now < d->retry)
        return false;
    if (faultloc_office_take(&d->h->board->agent, false) == 0)
        return true;
    /* the process is seen to end before its mutex is handed on, or it is another's by now */
    d->retry = now + (d->agent_fd >= 0 ? RETRY_NS : WATCH_NS);
    return false;
}

bool faultloc_deputy_serve(struct faultloc_helper *h)
{
    struct deputy d;
    bool agent = false;

    if (open_deputy(&d, h))
        while (!h->stopping && !agent && !d.broken)
            agent = turn(&d);
    close_deputy(&d);
    if (agent)
        h->board->agent_pid = (int32_t) getpid();
    return agent;
}
