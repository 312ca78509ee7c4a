/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_CLEANUP_H_INCLUDED
#define FAULTLOC_CLEANUP_H_INCLUDED

#define HYD_FAULTLOC_CLEANUP_MAX 4096 /* names that are looked at in one cleanup */

/* Purpose: removes the sockets ("*.sock") in a folder at which nobody listens any more: of agents,
 * and of proxies of older versions, that were killed. The folder must be a directory, not a link,
 * of this user and closed to all others (mode 0700): else nothing in it is touched.
 * Returns how many were removed; -1: there is no such folder, or it is not to be trusted. */
int HYD_faultloc_cleanup(const char *folder);

/* Purpose: has `cleanup` done by a process of its own, without descriptors, of which the caller
 * sees no signal and no child; waits for it at most `ms` and then kills it: the folder may be on a
 * file system that does not answer. */
void HYD_faultloc_cleanup_in_child(void (*cleanup)(void), int ms);

#endif /* FAULTLOC_CLEANUP_H_INCLUDED */
