/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/agent/program.h"

#include "faultloc/base/clock.h"
#include "faultloc/io/loop.h"
#include "faultloc/base/proc.h"
#include "faultloc/base/say.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <unistd.h>

/*
 * The deputy is asked only when the agent connects but does not answer, or does not even connect,
 * and says how the processes of its node are.  It learns from a pidfd that the agent has ended, and
 * looks once per stall limit whether it is stopped; then it ends it, and is the next agent.
 */

enum tag {
    TAG_CHANNEL,
    TAG_AGENT
};

struct deputy {
    struct faultloc_program *p;
    struct faultloc_channel *channel;
    int epoll;
    struct faultloc_partner agent;
    ftree_time look_at;
    struct faultloc_retry listen;
    struct ftree_rank_state *states; /* [slots] */
};

static void on_message(void *ctx, int32_t from, enum faultloc_path path, enum faultloc_role role,
                       uint64_t conn, const void *bytes, size_t len)
{
    struct deputy *d = ctx;
    uint8_t answer[FTREE_MESSAGE_MAX];
    size_t room = sizeof(answer);
    ftree_time now = faultloc_now();
    int32_t n = d->p->board->slots;

    (void) from;
    (void) path;
    (void) role;
    for (int32_t i = 0; i < n; i++)
        faultloc_watch_look(&d->p->watch, now, i, true, &d->states[i]);
    if (ftree_deputy_answer(&d->p->job.job, d->p->board->settings.stall, bytes, len, d->states, n,
                            answer, &room) == FTREE_OK &&
        room > 0)
        faultloc_channel_reply(d->channel, now, conn, answer, room);
}

static void on_reach(void *ctx, int32_t node, enum faultloc_path path, enum faultloc_role role,
                     enum faultloc_channel_reach reach, int error)
{
    (void) ctx, (void) node, (void) path, (void) role, (void) reach, (void) error;
}

static bool open_deputy(struct deputy *d, struct faultloc_program *p, pid_t agent)
{
    static const struct faultloc_channel_callbacks callbacks = {.message = on_message,
                                                                .reach = on_reach};

    *d = (struct deputy){.p = p,
                         .epoll = epoll_create1(EPOLL_CLOEXEC),
                         .agent = {.pid = agent, .fd = faultloc_proc_pidfd(agent)},
                         .look_at = faultloc_now() + p->board->settings.stall};
    d->states = malloc((size_t) p->board->slots * sizeof(*d->states));
    if (d->epoll < 0 || !d->states)
        return false;
    if (d->agent.fd >= 0)
        faultloc_loop_add(d->epoll, d->agent.fd, TAG_AGENT);
    if (faultloc_program_channel(p, &callbacks, d, &d->channel) == 0 && d->channel)
        faultloc_loop_add(d->epoll, faultloc_channel_fd(d->channel), TAG_CHANNEL);
    return true;
}

static void close_deputy(struct deputy *d)
{
    faultloc_channel_destroy(d->channel);
    free(d->states);
    if (d->agent.fd >= 0)
        close(d->agent.fd);
    if (d->epoll >= 0)
        close(d->epoll);
}

static ftree_time next_event(const struct deputy *d)
{
    ftree_time t = d->look_at;

    if (!d->channel)
        return t;
    t = faultloc_loop_earlier(t, faultloc_channel_deadline(d->channel));
    return faultloc_loop_earlier(t, d->listen.at);
}

/* Waits for one event and handles it; true: the agent has ended. */
static bool turn(struct deputy *d)
{
    uint64_t tags[8];
    ftree_time now, late;
    bool ended = false;
    int n;

    faultloc_program_listen(d->p, d->channel, FAULTLOC_ROLE_DEPUTY, faultloc_now(), &d->listen);
    n = faultloc_loop_wait(d->epoll, next_event(d), tags, 8);
    now = faultloc_now();
    if (d->channel)
        faultloc_channel_process(d->channel, now);
    for (int i = 0; i < n; i++)
        ended |= tags[i] == TAG_AGENT;
    if (ended || now < d->look_at)
        return ended;
    late = now - d->look_at;
    d->look_at = now + d->p->board->settings.stall;
    return faultloc_partner_look(&d->agent, now, late);
}

void faultloc_program_deputy(struct faultloc_program *p, pid_t agent)
{
    struct deputy d;

    /* its number may be another's already: whose child this is tells */
    if (!open_deputy(&d, p, agent))
        _exit(1); /* the agent forks another one, later */
    while (getppid() == agent && !turn(&d))
        ;
    close_deputy(&d);
    prctl(PR_SET_NAME, FAULTLOC_PROGRAM_NAME, 0, 0, 0);
    faultloc_program_agent(p);
}
