/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_ENDING_H_INCLUDED
#define FAULTLOC_ENDING_H_INCLUDED


#include "ftree/hang/hang.h"

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

/* Purpose: whether the first thread of process `pid` sleeps until a process outside the job does
 * something, or any thread until what it prints is read; and that in words: "standard output is not
 * read", "process 123 (driver) by a socket".  ranks: the n processes of the job on this node.  Reads
 * the descriptors of other processes where it waits in a pipe or a socket.  root as above.
 * Allocates.
 * Sources: also proc(5), /proc/PID/net/tcp, /proc/locks; sock_diag(7). */
bool faultloc_awaits(const char *root, pid_t pid, const pid_t *ranks, int n, char *whom, size_t room);

/* Purpose: whether process `pid` and a child wait for each other for ever: the first thread waits for the
 * child's end, or in a pipe for the child, and the child in a pipe that nobody but the ranks has the other
 * end of, or each of its threads for another one; whom: that in words.  The rest as above. */
bool faultloc_is_stuck_with_child(const char *root, pid_t pid, const pid_t *ranks, int n, char *whom,
                                  size_t room);

#endif /* FAULTLOC_ENDING_H_INCLUDED */
