/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/agent/process/partner.h"

#include "faultloc/base/proc.h"
#include "faultloc/base/say.h"
#include "faultloc/io/loop.h"

#include <errno.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define FORK_PAUSE (1000 * FTREE_MS) /* between two deputies */
#define FORK_PATIENCE (1000 * FTREE_MS) /* for threads that do something; then it may take long */
#define STOPPED_FOR (1000 * FTREE_MS)

static bool has_ended(const struct faultloc_partner *partner)
{
    struct pollfd p = {.fd = partner->fd, .events = POLLIN};

    if (partner->fd >= 0)
        return poll(&p, 1, 0) > 0;
    return faultloc_proc_fate(NULL, partner->pid, 0) == FAULTLOC_PROC_GONE;
}

bool faultloc_partner_look(struct faultloc_partner *partner, ftree_time now, ftree_time late)
{
    struct faultloc_proc proc;

    if (has_ended(partner))
        return true;
    if (late > FAULTLOC_LATE || faultloc_proc_read(NULL, partner->pid, &proc) || proc.state != 'T')
        partner->stopped = 0;
    else if (!partner->stopped)
        partner->stopped = now;
    else if (now - partner->stopped >= STOPPED_FOR)
        kill(partner->pid, SIGKILL);
    return false;
}

/* ---- the agent's deputy ---------------------------------------------------------------------- */

/* All that is the agent's: what it sends and hears must not be a second process's, too. */
static void keep_own(const struct faultloc_program *p)
{
    const struct faultloc_ports *own = &p->ports[FTREE_ROLE_DEPUTY];
    int kept[FTREE_PATHS + 1] = {p->board_fd};
    size_t n = 1;

    for (int path = 0; own->port && path < FTREE_PATHS; path++)
        if (own->fd[path] >= 0)
            kept[n++] = own->fd[path];
    faultloc_program_close_others(kept, n);
}

/* A lock that another thread holds at that moment would never be given back in the child.  One that
 * is held up by a file system for long holds none. */
static bool is_good_moment(struct faultloc_second *s, struct faultloc_writer *writer,
                           ftree_time now)
{
    if (!s->fork_by)
        s->fork_by = now + FORK_PATIENCE;
    if (now < s->fork_by && !faultloc_writer_idle(writer)) {
        s->fork_at = now + FTREE_MS;
        return false;
    }
    s->fork_by = 0;
    return true;
}

static void begin(struct faultloc_second *s, struct faultloc_program *p, pid_t pid)
{
    faultloc_ports_close(&p->ports[FTREE_ROLE_DEPUTY]);
    s->deputy = (struct faultloc_partner){.pid = pid, .fd = faultloc_proc_pidfd(pid)};
    s->fork_at = FTREE_NEVER;
    s->failed = false;
    p->board->deputy_pid = (int32_t) pid;
    if (s->deputy.fd >= 0)
        faultloc_loop_add(p->epoll, s->deputy.fd, FAULTLOC_TAG_PARTNER);
}

static void fail(struct faultloc_second *s, const struct faultloc_program *p, int error)
{
    if (!s->failed)
        faultloc_say("node %s: its agent has no deputy: %s; the node is monitored as long as its "
                     "agent runs",
                     p->job.names[p->self], strerror(error));
    s->failed = true;
    s->fork_at = s->forked + FORK_PAUSE;
}

/* Nine tenths of the heap are free once rules and topology are read, and the deputy would have them,
 * too. */
static void give_back(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

bool faultloc_second_fork(struct faultloc_second *s, struct faultloc_program *p,
                          struct faultloc_writer *writer, ftree_time now)
{
    pid_t agent = getpid(), pid;

    if (now < s->fork_at || !is_good_moment(s, writer, now))
        return false;
    s->forked = now;
    give_back();
    pid = faultloc_writer_fork();
    if (pid == 0) {
        keep_own(p);
        p->agent = agent;
        p->start = -1;
        p->ports[FTREE_ROLE_AGENT].port = 0;
        return true;
    }
    if (pid > 0)
        begin(s, p, pid);
    else
        fail(s, p, errno);
    return false;
}

void faultloc_second_look(struct faultloc_second *s, ftree_time now, ftree_time late)
{
    if (!s->deputy.pid || !faultloc_partner_look(&s->deputy, now, late))
        return;
    if (s->deputy.fd >= 0)
        close(s->deputy.fd);
    s->deputy = (struct faultloc_partner){.fd = -1};
    s->fork_at = now + (now - s->forked < FORK_PAUSE ? FORK_PAUSE : 0);
}
