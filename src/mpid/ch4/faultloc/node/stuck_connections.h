/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_STUCK_CONNECTIONS_H_INCLUDED
#define FAULTLOC_STUCK_CONNECTIONS_H_INCLUDED

#include "faultloc/board/board.h"

/*
 * Which ranks have connections that are stuck (net/delivery.h): the kernel knows them by the number
 * of the socket, and so do the descriptors of a process.
 *
 * Source: proc(5), /proc/PID/fd.
 */

/* Purpose: the connections of local ranks over the data path (or the management path, where there is
 * none) that are stuck, n at the most; returns how many.  proc_root: NULL for /proc.  Reads the
 * descriptors of ranks only if there is any. */
int32_t faultloc_connections(const struct faultloc_board *b, const char *proc_root,
                             struct ftree_connection *c, int32_t n);

#endif /* FAULTLOC_STUCK_CONNECTIONS_H_INCLUDED */
