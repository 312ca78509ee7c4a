/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_CGROUP_H_INCLUDED
#define FAULTLOC_CGROUP_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * The control groups of another process of this node, of version 1 (a hierarchy for each
 * controller), of version 2 (one for all), or of both beside each other.  Nothing here waits or
 * allocates.
 *
 * Source: cgroups(7); Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/freezer-subsystem.rst of
 * Linux.
 */

#define FAULTLOC_CGROUP_PATH 512

/* Is given a folder with files of a process's group, which it may change; its first `top` bytes are
 * where the hierarchy is mounted. */
typedef void faultloc_cgroup_visitor(void *ctx, char folder[FAULTLOC_CGROUP_PATH], size_t top);

/* Purpose: visits the folder of the process's group in the hierarchy of `controller`, and that in the
 * hierarchy of version 2, as far as these are mounted.  The roots are where /proc and /sys are,
 * NULL: there. */
void faultloc_cgroup_visit(const char *proc_root, const char *sys_root, pid_t pid,
                           const char *controller, faultloc_cgroup_visitor *visit, void *ctx);

/* Purpose: true if its group, or one above it, has been frozen, so that the process does nothing: in
 * /proc/PID/stat it is in state D (version 1) or S (version 2), with the wait channel that it had.
 * The roots as above. */
bool faultloc_cgroup_is_frozen(const char *proc_root, const char *sys_root, pid_t pid);

#endif /* FAULTLOC_CGROUP_H_INCLUDED */
