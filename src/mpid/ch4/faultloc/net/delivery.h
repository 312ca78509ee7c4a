/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_DELIVERY_H_INCLUDED
#define FAULTLOC_DELIVERY_H_INCLUDED

#include "faultloc/base/address.h"
#include "ftree/base/io.h"

#include <stdbool.h>

/*
 * Whether the ranks' own messages come through, as the kernel says of their TCP connections.  A
 * path on which questions are not answered in time may be slow, not lost: they wait behind the
 * data.
 *
 * Source: sock_diag(7), tcp_info of linux/tcp.h.  Every user may read it.
 */

/* Purpose: true if a TCP connection of this user, between the own address `self` on the path and
 * that of `node` (FTREE_NONE: of any other), got data or an acknowledgment of data in the last
 * `within` ns, and if it took `rtt` ns to send some and have it acknowledged.  Those of agents and
 * deputies do not count: their kernels acknowledge what nobody reads.  table[nodes]: addresses and
 * ports of all. False where that is not so or cannot be known, as with a transport that is not
 * TCP. */
bool faultloc_delivers(const struct faultloc_address *table, int32_t nodes, int32_t self,
                       int32_t node, enum ftree_path path, ftree_time within, ftree_time rtt);

/* A connection of which nothing has been acknowledged for long, though it was sent again and again. */
struct faultloc_stuck {
    struct ftree_connection c; /* whose rank is not known */
    uint32_t inode; /* of the socket, as /proc/PID/fd has it */
};

/* Purpose: those of this user's processes, but for agents, from this node to others over that path;
 * returns how many there are, `room` at the most.  A peer whose process does not read is none: its
 * kernel acknowledges.  What cannot be asked is not there.  Reads 65,536 connections at the most. */
int32_t faultloc_stuck(const struct faultloc_address *table, int32_t nodes, int32_t self,
                       enum ftree_path path, struct faultloc_stuck *stuck, int32_t room);

/* What connections have sent to a node since they began, in packets: all; and lost, which is what was
 * sent again, but for what the other end says it had already (DSACK, RFC 2883): where a host is busy
 * acknowledgments are late, and nothing is lost. */
struct faultloc_sent {
    uint32_t packets, lost;
};

/* Purpose: adds that of such connections to total[nodes].  Before Linux 4.19 lost is all that was sent
 * again.  False: the kernel did not tell of all. */
bool faultloc_sent(const struct faultloc_address *table, int32_t nodes, int32_t self,
                   enum ftree_path path, struct faultloc_sent *total);

#endif /* FAULTLOC_DELIVERY_H_INCLUDED */
