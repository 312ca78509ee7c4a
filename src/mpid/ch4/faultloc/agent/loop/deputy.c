/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/agent/process/partner.h"
#include "faultloc/base/clock.h"
#include "faultloc/base/proc.h"
#include "faultloc/io/loop.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <unistd.h>

/*
 * The deputy is asked only when the agent connects but does not answer, or does not even connect,
 * and says how the processes of its node are.  It learns from a pidfd that the agent has ended, and
 * looks from time to time whether it is stopped, at once where it is asked itself; then it ends it,
 * and is the next agent.
 */

#define LOOKS_APART 5 /* in stall limits; one where the agent was stopped: a look wakes a CPU */

struct deputy {
    struct faultloc_program *p;
    struct faultloc_line line;
    struct faultloc_partner agent;
    ftree_time look_at;
    struct ftree_rank_state *states; /* [slots] */
};

static void on_message(void *ctx, int32_t from, enum ftree_path path, enum ftree_role role,
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
    d->look_at = now;
    for (int32_t i = 0; i < n; i++)
        faultloc_watch_look(&d->p->watch, now, i, true, &d->states[i]);
    if (ftree_deputy_answer(&d->p->job.job, d->p->board->settings.stall, bytes, len, d->states, n,
                            answer, &room) == FTREE_OK &&
        room > 0)
        faultloc_channel_reply(d->line.channel, now, conn, answer, room);
}

static void on_reach(void *ctx, int32_t node, enum ftree_path path, enum ftree_role role,
                     enum faultloc_channel_reach reach, int error)
{
    (void) ctx, (void) node, (void) path, (void) role, (void) reach, (void) error;
}

static bool open_deputy(struct deputy *d, struct faultloc_program *p)
{
    static const struct faultloc_channel_callbacks callbacks = {.message = on_message,
                                                                .reach = on_reach};

    p->epoll = epoll_create1(EPOLL_CLOEXEC);
    *d = (struct deputy){.p = p,
                         .agent = {.pid = p->agent, .fd = faultloc_proc_pidfd(p->agent)},
                         .look_at = faultloc_now() + p->board->settings.stall,
                         .states = malloc((size_t) p->board->slots * sizeof(*d->states))};
    if (p->epoll < 0 || !d->states)
        return false;
    if (d->agent.fd >= 0)
        faultloc_loop_add(p->epoll, d->agent.fd, FAULTLOC_TAG_PARTNER);
    faultloc_line_open(&d->line, p, FTREE_ROLE_DEPUTY, &callbacks, d);
    return true;
}

static void close_deputy(struct deputy *d)
{
    faultloc_channel_destroy(d->line.channel);
    free(d->states);
    if (d->agent.fd >= 0)
        close(d->agent.fd);
    close(d->p->epoll);
}

/* Waits for one event and handles it; true: the agent has ended. */
static bool turn(struct deputy *d)
{
    uint64_t tags[8];
    ftree_time now, late;
    bool ended = false;
    int n;

    faultloc_line_listen(&d->line, faultloc_now());
    n = faultloc_loop_wait(d->p->epoll,
                           faultloc_loop_earlier(d->look_at, faultloc_line_deadline(&d->line)),
                           tags, 8);
    now = faultloc_now();
    faultloc_line_turn(&d->line, now);
    for (int i = 0; i < n; i++)
        ended |= tags[i] == FAULTLOC_TAG_PARTNER;
    if (ended || now < d->look_at)
        return ended;
    late = now - d->look_at;
    ended = faultloc_partner_look(&d->agent, now, late);
    d->look_at = now + (d->agent.stopped ? 1 : LOOKS_APART) * d->p->board->settings.stall;
    return ended;
}

void faultloc_deputy_run(struct faultloc_program *p)
{
    struct deputy d;

    prctl(PR_SET_NAME, FAULTLOC_PROGRAM_DEPUTY, 0, 0, 0);
    if (!open_deputy(&d, p))
        _exit(1); /* the agent forks another one, later */
    /* its number may be another's already: whose child this is tells */
    while (getppid() == p->agent && !turn(&d))
        ;
    close_deputy(&d);
    prctl(PR_SET_NAME, FAULTLOC_PROGRAM_NAME, 0, 0, 0);
}
