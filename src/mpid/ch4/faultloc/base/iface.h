/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_IFACE_H_INCLUDED
#define FAULTLOC_IFACE_H_INCLUDED

#include "faultloc/base/address.h"
#include "faultloc/base/port.h"
#include "ftree/base/io.h"

#include <stdbool.h>
#include <stddef.h>
#include <net/if.h>

/*
 * Which of a host's addresses are its data and its management path.
 *
 * Data path, the first that there is of:
 *   1. what MPIR_CVAR_FAULTLOC_DATA_IFACE names;
 *   2. the first interface of those that the transport of the ranks has taken, if it is up and no
 *      loopback nor one of containers, and then in UCX_NET_DEVICES, that this host has ("eth0", "ib0:1"), or that is on a port named there
 *      ("mlx5_0:1"); "all" says nothing about an interface, "^..." excludes;
 *   3. the first interface on an InfiniBand port, else the first, by index, with an IPv4 address, else
 *      with an IPv6 address; one that containers and virtual machines use comes last;
 *   4. the loopback interface; then there is no management path.
 *
 * Management path: what MPIR_CVAR_FAULTLOC_MGMT_IFACE names; else the first interface, by index,
 * that is not the data path's, not of containers or virtual machines, and in another subnet, where
 * an address of the data path's family goes first; else none.
 *
 * Found by themselves (3, 4 and the management path) are only interfaces that are up and have a
 * carrier, and no link-local addresses.  By name an interface is taken as it is.
 *
 * A name is "eth0", a subnet "10.1.0.0/16" or "fd00:1::/64", an address "10.1.0.7" (where there is
 * one host only, as in a test), or for the management path "none".
 */

/* Enough for a host with many addresses; more are not looked at. */
#define FAULTLOC_IFACES_MAX 128

/* One address of one interface; an interface without addresses appears once, with family 0. */
struct faultloc_iface {
    char name[IF_NAMESIZE];
    unsigned index;
    bool loopback;
    bool up; /* IFF_UP: the administrator wants it up */
    bool running; /* IFF_RUNNING: it has a carrier */
    struct faultloc_inet inet;
    uint8_t prefix; /* bits of the subnet */
    bool infiniband; /* its port is */
    char port[FAULTLOC_PORT_SIZE]; /* of the adapter that it is on; "": of none */
};

/* What is asked for.  NULL or "" : find it. */
struct faultloc_iface_wish {
    const char *data; /* MPIR_CVAR_FAULTLOC_DATA_IFACE */
    const char *mgmt; /* MPIR_CVAR_FAULTLOC_MGMT_IFACE */
    const char *taken; /* by the transport: names as in UCX_NET_DEVICES, or its address */
    const char *ucx_net_devices; /* UCX_NET_DEVICES */
    const char *sys_root; /* NULL: /sys */
};

/* Purpose: chooses the paths among `list`.  A pure function.  chosen[path] is an entry of `list`,
 * NULL where there is no such path.
 * Returns 0; or EINVAL when a name names nothing: then error[size] says which variable, its value,
 * and what interfaces there are; or ENODEV when there is no address at all. */
int faultloc_iface_choose(const struct faultloc_iface *list, size_t count,
                          const struct faultloc_iface_wish *wish,
                          const struct faultloc_iface *chosen[FTREE_PATHS], char *error,
                          size_t size);

/* Purpose: this host's interfaces, ordered by index, at most `room`, into `list`; *count: how many.
 * sys_root NULL: /sys.  Errors: those of getifaddrs(3). */
int faultloc_iface_list(const char *sys_root, struct faultloc_iface *list, size_t room, size_t *count);

/* Purpose: both at once: this host's paths.  found[path].inet has family 0 where there is none.
 * found[FTREE_PATH_DATA].port is also one that the transport has taken, or UCX_NET_DEVICES names, and
 * that no interface is on.
 * Errors: as the two above, with error[size] always written then. */
int faultloc_iface_find(const struct faultloc_iface_wish *wish,
                        struct faultloc_iface found[FTREE_PATHS], char *error, size_t size);

/* Purpose: the state of the own interface `name` now.  Does not allocate. */
enum ftree_link faultloc_iface_link(const char *name);

/* Purpose: its speed now, in Mbit/s; 0: not known.  sys_root NULL: /sys.  Source: sysfs,
 * class/net/NAME/speed. */
uint32_t faultloc_iface_speed(const char *sys_root, const char *name);

/* Purpose: the speed that the node's data interface should have: what three of four others have,
 * three at the least; else what it had itself when the job began.  0: not known. */
uint32_t faultloc_iface_speed_due(const struct faultloc_address *table, int32_t nodes,
                                  int32_t self);

#endif /* FAULTLOC_IFACE_H_INCLUDED */
