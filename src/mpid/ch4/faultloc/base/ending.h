/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_ENDING_H_INCLUDED
#define FAULTLOC_ENDING_H_INCLUDED

#include "ftree.h"

#include <sys/types.h>

/*
 * What may end the sleep of another process of this node: a person, a timeout, a signal, another of
 * its threads.  The call that a thread sleeps in, with its arguments, says so.  The memory of the
 * process is read of one thing alone: which descriptors a poll or a select is about.
 *
 * Sources: proc(5), /proc/PID/task/TID/syscall, /proc/PID/fd, /proc/PID/status; futex(2).
 */

/* Purpose: what may end the sleep of any thread of process `pid`, but the n of `known`: the last in
 * the order of the enumeration.  FTREE_ENDING_UNKNOWN also where the kernel tells nothing (Yama, a
 * process that cannot be dumped).  root: where proc is mounted, NULL for "/proc".  Allocates. */
enum ftree_ending faultloc_ending(const char *root, pid_t pid, const pid_t *known, int n);

#endif /* FAULTLOC_ENDING_H_INCLUDED */
