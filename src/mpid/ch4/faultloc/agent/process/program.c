/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/agent/process/program.h"

#include "faultloc/base/syscalls.h"
#include "faultloc/io/loop.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LISTEN_PAUSE (20 * FTREE_MS)
#define LISTEN_PAUSE_MAX (1000 * FTREE_MS)
#define OLD_KERNEL_FDS 65536 /* before Linux 5.9 each descriptor is closed by itself */

int faultloc_program_init(struct faultloc_program *p, const struct faultloc_start *start)
{
    int rc;

    *p = (struct faultloc_program){.board_fd = start->board_fd, .start = -1, .epoll = -1};
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
    int fd[FTREE_PATHS + 2], next = STDERR_FILENO + 1;

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

/* ---- the channel ----------------------------------------------------------------------------- */

int faultloc_line_open(struct faultloc_line *line, struct faultloc_program *p,
                       enum ftree_role role, const struct faultloc_channel_callbacks *callbacks,
                       void *ctx)
{
    struct faultloc_channel_config cfg = {.self = p->self,
                                          .nodes = p->board->nodes,
                                          .table = faultloc_board_addresses(p->board),
                                          .callbacks = *callbacks,
                                          .ctx = ctx};
    int rc;

    *line = (struct faultloc_line){.p = p, .role = role};
    if (p->board->nodes == 1)
        return 0;
    memcpy(cfg.key, p->key, sizeof(cfg.key));
    rc = faultloc_channel_create(&cfg, &line->channel);
    explicit_bzero(cfg.key, sizeof(cfg.key));
    return rc ? rc : faultloc_loop_add(p->epoll, faultloc_channel_fd(line->channel),
                                       FAULTLOC_TAG_WAKE);
}

/* The kernel may not have closed the port of the process before, or somebody else has it. */
bool faultloc_line_listen(struct faultloc_line *line, ftree_time now)
{
    struct faultloc_ports *ports = &line->p->ports[line->role];
    int rc;

    if (!line->channel || now < line->listen_at)
        return false;
    rc = ports->port ? faultloc_channel_adopt(line->channel, line->role, ports)
                     : faultloc_channel_listen(line->channel, line->role);
    ports->port = 0;
    if (rc == 0) {
        line->listen_at = FTREE_NEVER;
        return true;
    }
    if (line->pause == 0)
        line->pause = LISTEN_PAUSE;
    else if (line->pause < LISTEN_PAUSE_MAX)
        line->pause *= 2;
    line->listen_at = now + line->pause;
    return false;
}

void faultloc_line_turn(struct faultloc_line *line, ftree_time now)
{
    if (line->channel)
        faultloc_channel_process(line->channel, now);
}

ftree_time faultloc_line_deadline(const struct faultloc_line *line)
{
    return line->channel ? faultloc_loop_earlier(faultloc_channel_deadline(line->channel),
                                                 line->listen_at)
                         : FTREE_NEVER;
}
