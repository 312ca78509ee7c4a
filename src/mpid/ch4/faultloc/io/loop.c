/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/io/loop.h"

#include "faultloc/base/clock.h"

#include <errno.h>
#include <sys/epoll.h>

#define EVENTS 16

int faultloc_loop_add(int epoll, int fd, uint64_t tag)
{
    struct epoll_event e = {.events = EPOLLIN, .data.u64 = tag};

    return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) ? errno : 0;
}

/* No event at all: what has come meanwhile is there when it is listened to again. */
void faultloc_pause_begin(struct faultloc_pause *p, ftree_time now, int epoll, int fd)
{
    struct epoll_event none = {.events = 0};

    if (!epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &none))
        p->until = now + FAULTLOC_LOOP_PAUSE;
}

void faultloc_pause_turn(struct faultloc_pause *p, ftree_time now, int epoll, int fd, uint64_t tag)
{
    struct epoll_event e = {.events = EPOLLIN, .data.u64 = tag};

    if (p->until && now >= p->until && !epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &e))
        p->until = 0;
}

/* Rounded up, else the last fraction of a millisecond is spent turning. */
int faultloc_loop_ms(ftree_time deadline)
{
    ftree_time now = faultloc_now();
    ftree_time ms = deadline > now ? (deadline - now + FTREE_MS - 1) / FTREE_MS : 0;

    return deadline == FTREE_NEVER ? -1 : ms < 3600000 ? (int) ms : 3600000;
}

int faultloc_loop_wait(int epoll, ftree_time deadline, uint64_t *tags, int room)
{
    struct epoll_event events[EVENTS];
    int n = epoll_wait(epoll, events, room < EVENTS ? room : EVENTS, faultloc_loop_ms(deadline));

    for (int i = 0; i < n; i++)
        tags[i] = events[i].data.u64;
    return n < 0 ? 0 : n;
}
