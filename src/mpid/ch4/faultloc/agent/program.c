/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "faultloc/agent/program.h"

#include "faultloc/base/proc.h"
#include "faultloc/base/syscalls.h"
#include "faultloc/io/writer.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define LISTEN_PAUSE (20 * FTREE_MS)
#define LISTEN_PAUSE_MAX (1000 * FTREE_MS)
#define OLD_KERNEL_FDS 65536 /* before Linux 5.9 each descriptor is closed by itself */

int faultloc_program_init(struct faultloc_program *p, const struct faultloc_start *start)
{
    int rc;

    *p = (struct faultloc_program){.board_fd = start->board_fd, .start = -1};
    memcpy(p->key, start->key, sizeof(p->key));
    memcpy(p->ports, start->ports, sizeof(p->ports));
    rc = faultloc_board_map(p->board_fd, &p->board);
    if (!rc)
        rc = faultloc_job_describe(p->board, &p->job);
    if (rc)
        return rc;
    p->self = p->board->self;
    p->watch.board = p->board;
    p->watch.seen = calloc((size_t) p->board->slots, sizeof(*p->watch.seen));
    return p->watch.seen ? 0 : ENOMEM;
}

int faultloc_program_channel(const struct faultloc_program *p,
                             const struct faultloc_channel_callbacks *callbacks, void *ctx,
                             struct faultloc_channel **out)
{
    struct faultloc_channel_config cfg = {.self = p->self,
                                          .nodes = p->board->nodes,
                                          .table = faultloc_board_addresses(p->board),
                                          .callbacks = *callbacks,
                                          .ctx = ctx};
    int rc;

    *out = NULL;
    if (p->board->nodes == 1)
        return 0;
    memcpy(cfg.key, p->key, sizeof(cfg.key));
    rc = faultloc_channel_create(&cfg, out);
    explicit_bzero(cfg.key, sizeof(cfg.key));
    return rc;
}

/* The kernel may not have closed the port of the process before, or somebody else has it. */
bool faultloc_program_listen(struct faultloc_program *p, struct faultloc_channel *channel,
                             enum faultloc_role role, ftree_time now, struct faultloc_retry *retry)
{
    int rc;

    if (!channel || now < retry->at)
        return false;
    rc = p->ports[role].port ? faultloc_channel_adopt(channel, role, &p->ports[role])
                             : faultloc_channel_listen(channel, role);
    p->ports[role].port = 0;
    if (rc == 0) {
        retry->at = FTREE_NEVER;
        return true;
    }
    retry->pause = retry->pause == 0                ? LISTEN_PAUSE
                   : retry->pause < LISTEN_PAUSE_MAX ? 2 * retry->pause
                                                     : retry->pause;
    retry->at = now + retry->pause;
    return false;
}

/* ---- agent and deputy, each as seen by the other --------------------------------------------- */

#define STOPPED_FOR (1000 * FTREE_MS)

static bool has_ended(const struct faultloc_partner *partner)
{
    struct pollfd p = {.fd = partner->fd, .events = POLLIN};
    enum faultloc_proc_fate fate;

    if (partner->fd >= 0)
        return poll(&p, 1, 0) > 0;
    return faultloc_proc_fate(NULL, partner->pid, 0, &fate) == 0 && fate == FAULTLOC_PROC_GONE;
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

/* ---- the deputy's process -------------------------------------------------------------------- */

static void close_range_of(int first, int last)
{
    if (first > last || syscall(SYS_close_range, first, last, 0) == 0)
        return;
    for (int fd = first; fd <= last && fd < OLD_KERNEL_FDS; fd++)
        close(fd);
}

static int by_number(const void *a, const void *b)
{
    return *(const int *) a - *(const int *) b;
}

void faultloc_program_close_others(const int *kept, size_t n)
{
    int fd[FAULTLOC_PATHS + 2], next = STDERR_FILENO + 1;

    n = n < sizeof(fd) / sizeof(fd[0]) ? n : sizeof(fd) / sizeof(fd[0]);
    if (n > 0)
        memcpy(fd, kept, n * sizeof(*fd));
    qsort(fd, n, sizeof(*fd), by_number);
    for (size_t i = 0; i < n; i++) {
        close_range_of(next, fd[i] - 1);
        next = fd[i] >= next ? fd[i] + 1 : next;
    }
    close_range_of(next, INT_MAX);
}

/* All that is the agent's: what it sends and hears must not be a second process's, too. */
static void keep_own(const struct faultloc_program *p)
{
    const struct faultloc_ports *own = &p->ports[FAULTLOC_ROLE_DEPUTY];
    int kept[FAULTLOC_PATHS + 1] = {p->board_fd};
    size_t n = 1;

    for (int path = 0; own->port && path < FAULTLOC_PATHS; path++)
        if (own->fd[path] >= 0)
            kept[n++] = own->fd[path];
    faultloc_program_close_others(kept, n);
}

static void run_deputy(struct faultloc_program *p, pid_t agent)
{
    keep_own(p);
    p->start = -1;
    p->ports[FAULTLOC_ROLE_AGENT].port = 0;
    prctl(PR_SET_NAME, FAULTLOC_PROGRAM_DEPUTY, 0, 0, 0);
    faultloc_program_deputy(p, agent);
    _exit(0);
}

int faultloc_program_fork(struct faultloc_program *p, struct faultloc_partner *deputy)
{
    pid_t agent = getpid();

    *deputy = (struct faultloc_partner){.fd = -1, .pid = faultloc_writer_fork()};
    if (deputy->pid == 0)
        run_deputy(p, agent);
    if (deputy->pid < 0) {
        deputy->pid = 0;
        return errno;
    }
    faultloc_ports_close(&p->ports[FAULTLOC_ROLE_DEPUTY]);
    deputy->fd = faultloc_proc_pidfd(deputy->pid);
    p->board->deputy_pid = (int32_t) deputy->pid;
    return 0;
}
