/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_PORTS_H_INCLUDED
#define FAULTLOC_PORTS_H_INCLUDED

#include "faultloc/base/address.h"

/* The ports of a node: picked by its first rank, listened at by its agent and its deputy. */

/* The listening sockets of one role, bound before the job's addresses are known. */
struct faultloc_ports {
    uint16_t port; /* host order */
    int fd[FAULTLOC_PATHS]; /* -1 where the node has no such path */
};

/* Purpose: picks a port that is free on each of a node's own addresses, and listens there: who
 * connects from now on waits in the kernel.  *ports is the caller's, who gives it to
 * faultloc_channel_adopt() or faultloc_ports_close().
 * Errors: EINVAL (no path, or the same address twice), EADDRINUSE (no port is free on all), those
 * of socket(2), bind(2), listen(2). */
int faultloc_channel_pick_ports(const struct faultloc_inet own[FAULTLOC_PATHS],
                                struct faultloc_ports *ports);

/* Purpose: closes what faultloc_channel_pick_ports() opened. */
void faultloc_ports_close(struct faultloc_ports *ports);

#endif /* FAULTLOC_PORTS_H_INCLUDED */
