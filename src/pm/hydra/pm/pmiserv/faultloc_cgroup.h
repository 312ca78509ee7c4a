/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_CGROUP_H_INCLUDED
#define FAULTLOC_CGROUP_H_INCLUDED

#include <stdbool.h>
#include <sys/types.h>

/* Purpose: notes how many processes the kernel has killed for memory so far in this process's
 * control group, so that only a later one counts.  Called for each process once it is started. */
void HYD_faultloc_cgroup_note(pid_t pid);

/* Purpose: true if the kernel has killed a process for memory in the control group of `pid` since
 * it was last asked or noted.  The process has ended by SIGKILL, and must not have been waited for:
 * then it is not known any more where it was. */
bool HYD_faultloc_cgroup_killed(pid_t pid);

#endif /* FAULTLOC_CGROUP_H_INCLUDED */
