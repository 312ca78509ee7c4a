/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_LOOP_H_INCLUDED
#define FAULTLOC_LOOP_H_INCLUDED

#include "ftree/base/types.h"

/* Waiting for events, as the agent's and the deputy's loop do it. */

/* Purpose: adds a descriptor to an epoll set with `tag` as its data.  Errors: an errno. */
int faultloc_loop_add(int epoll, int fd, uint64_t tag);

/*
 * Anybody on the host may send to some sockets.  One on which only rubbish has come is not listened
 * to for a while: what comes then waits in the kernel, ten datagrams or so, and the next sender is
 * held up, or loses his.  So a flood costs its sender's time, not that of the ranks' cores; what is
 * real is read FAULTLOC_LOOP_PAUSE later at most, if the flood leaves room for it.
 */
#define FAULTLOC_LOOP_PAUSE (50 * FTREE_MS)

struct faultloc_pause {
    ftree_time until; /* 0: it is listened to */
};

/* Purpose: a descriptor of the set, with its tag, is not listened to until a while after `now`. */
void faultloc_pause_begin(struct faultloc_pause *p, ftree_time now, int epoll, int fd);

/* Purpose: to be called in each turn: listens again when it is time. */
void faultloc_pause_turn(struct faultloc_pause *p, ftree_time now, int epoll, int fd, uint64_t tag);

/* Purpose: when that is; FTREE_NEVER: it is listened to. */
static inline ftree_time faultloc_pause_deadline(const struct faultloc_pause *p)
{
    return p->until ? p->until : FTREE_NEVER;
}

/* Purpose: how long poll(2) is to wait until `deadline` (ns; FTREE_NEVER: for ever), ms; at most an
 * hour. */
int faultloc_loop_ms(ftree_time deadline);

/* Purpose: waits for the set until `deadline` (ns; FTREE_NEVER: for ever); returns how many tags
 * are ready, at most `room` and 16. */
int faultloc_loop_wait(int epoll, ftree_time deadline, uint64_t *tags, int room);

/* Purpose: the earlier of two times. */
static inline ftree_time faultloc_loop_earlier(ftree_time a, ftree_time b)
{
    return a < b ? a : b;
}

#endif /* FAULTLOC_LOOP_H_INCLUDED */
