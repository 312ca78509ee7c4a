/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_PORT_H_INCLUDED
#define FAULTLOC_PORT_H_INCLUDED

#include "ftree/base/io.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A port of an InfiniBand, RoCE or Omni-Path adapter, by the name that UCX has for it: "mlx5_0:1".
 * The job's data pass it, whatever the state of a network interface on it.
 *
 * sys_root everywhere: NULL: /sys.  A port that is not there, a file that is missing or makes no sense:
 * not known.  Source: ABI/stable/sysfs-class-infiniband of Linux.
 */

#define FAULTLOC_PORT_SIZE 32

/* Purpose: the port that a network interface is on; "": on none.  Source: sysfs-class-net, dev_port. */
void faultloc_port_of_iface(const char *sys_root, const char *iface, char port[FAULTLOC_PORT_SIZE]);

/* Purpose: the first port that UCX_NET_DEVICES names and this host has; "": none.  devices may be
 * NULL. */
void faultloc_port_named(const char *sys_root, const char *devices, char port[FAULTLOC_PORT_SIZE]);

/* Purpose: true where its link is InfiniBand's, and not Ethernet. */
bool faultloc_port_is_infiniband(const char *sys_root, const char *port);

/* Purpose: its link now.  One that is up and that no subnet manager has made active carries nothing:
 * FTREE_LINK_NO_CARRIER. */
enum ftree_link faultloc_port_link(const char *sys_root, const char *port);

/* Purpose: the same for people, of at most `room` bytes: "DOWN, Polling"; "": not known. */
void faultloc_port_words(const char *sys_root, const char *port, char *buf, size_t room);

/* Purpose: Mbit/s, of all lanes; 0: not known. */
uint32_t faultloc_port_speed(const char *sys_root, const char *port);

/* Purpose: by what a subnet manager and a switch know it: its LID and its GUID; 0: not
 * known, or not of InfiniBand. */
uint16_t faultloc_port_lid(const char *sys_root, const char *port);
uint64_t faultloc_port_guid(const char *sys_root, const char *port);

/* Purpose: a counter since the adapter was started, as "symbol_error"; UINT64_MAX: not known. */
uint64_t faultloc_port_counter(const char *sys_root, const char *port, const char *name);

#endif /* FAULTLOC_PORT_H_INCLUDED */
