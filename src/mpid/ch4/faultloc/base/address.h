/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_ADDRESS_H_INCLUDED
#define FAULTLOC_ADDRESS_H_INCLUDED


#include "faultloc/base/port.h"
#include "ftree/base/types.h"

#include <stdint.h>

/*
 * Where the agents of a job are found.  Plain data without pointers, so that the nodes can exchange
 * it with one allgather.
 */

/* One internet address.  family: AF_INET, AF_INET6, or 0 for "none".  bytes: network order; an
 * IPv4 address is in the first four, the others are 0. */
struct faultloc_inet {
    uint16_t family;
    uint8_t bytes[16];
};

/* Bytes of the job's key: who knows it is of the job (net/frame.h). */
#define FAULTLOC_KEY_SIZE 32

/* One node.  A path that the node does not have has family 0; a role that nobody holds there has
 * port 0.  Ports are in host order; a role has the same port on every path. */
struct faultloc_address {
    struct faultloc_inet path[FTREE_PATHS];
    uint16_t port[FTREE_ROLES];
    uint32_t mbps; /* the speed of its data interface when the job began; 0: not known */
    char iface[16]; /* its name; "": not known */
    char adapter[FAULTLOC_PORT_SIZE]; /* the port that the data pass: "mlx5_0:1"; "": not known */
    uint16_t lid; /* as a subnet manager knows it; 0: none */
    uint64_t guid; /* likewise */
};

#endif /* FAULTLOC_ADDRESS_H_INCLUDED */
