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

/* Purpose: of the threads of process `pid`, but the n of `known`, what may end the sleep of the
 * first that input, a timeout or a signal may wake; if there is none, FTREE_ENDING_UNKNOWN of one
 * of which it is not known, also where the kernel tells nothing (Yama, a process that cannot be
 * dumped); else FTREE_ENDING_THREAD.  root: where proc is mounted, NULL for "/proc".  Allocates. */
enum ftree_ending faultloc_ending(const char *root, pid_t pid, const pid_t *known, int n);

#endif /* FAULTLOC_ENDING_H_INCLUDED */
