/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_CGROUP_H_INCLUDED
#define FAULTLOC_CGROUP_H_INCLUDED

#include <stdbool.h>
#include <sys/types.h>

/* Purpose: in which control group a process is, and how many the kernel has killed there for memory
 * so far: only a later one counts.  It is to be asked while the process lives: of one that has
 * ended the kernel does not always know it.  Returns a number for the group; -1: unknown. */
int HYD_faultloc_cgroup_of(pid_t pid);

/* Purpose: after a process of that group ended by SIGKILL: true if the kernel did it, for memory;
 * each of its kills there answers for one process. */
bool HYD_faultloc_cgroup_killed(int group);

#endif /* FAULTLOC_CGROUP_H_INCLUDED */
