/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_CGROUP_H_INCLUDED
#define FAULTLOC_CGROUP_H_INCLUDED

#include <stddef.h>
#include <stdint.h>

/*
 * The control groups of a process.
 *
 * Source: Documentation/admin-guide/cgroup-v2.rst and cgroup-v1 of Linux.
 */

#define FAULTLOC_CGROUP_LEVELS 16 /* above one another; of further ones nothing is read */

/* Purpose: calls `level` for the group of process `pid` that has this controller ("cpu"), and for
 * those above it, to the root, which in a container has the container's limits.  Two mounts may show
 * the same group.  `dir` is where the hierarchy is mounted, `path` the group's below it: its files are
 * in dir/path.  proc, sys: where these are mounted, NULL: /proc, /sys. */
void faultloc_cgroups(const char *proc, const char *sys, int32_t pid, const char *controller,
                      void (*level)(void *ctx, const char *dir, const char *path), void *ctx);

/* Purpose: how much memory the group of the process may use, and does, in words: of it and those
 * above it the one that is the fullest.  "": none of them has a limit, or it cannot be read. */
void faultloc_cgroup_memory(const char *proc, const char *sys, int32_t pid, char *text, size_t room);

#endif /* FAULTLOC_CGROUP_H_INCLUDED */
