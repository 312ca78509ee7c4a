/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_LOOP_H_INCLUDED
#define FAULTLOC_LOOP_H_INCLUDED

#include "ftree.h"

/* Waiting for events, as the agent's and the deputy's loop do it. */

/* Purpose: adds a descriptor to an epoll set with `tag` as its data.  Errors: an errno. */
int faultloc_loop_add(int epoll, int fd, uint64_t tag);

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
