/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_CONNECT_H_INCLUDED
#define FAULTLOC_CONNECT_H_INCLUDED

/*
 * Connections that a process asks for in vain, as the kernel says.  In MPI_Init nobody else can tell:
 * there are no agents yet, and the process itself may be blocked in connect(2).
 *
 * Source: proc(5), /proc/PID/net/tcp and /proc/PID/fd.
 */

#define HYD_FAULTLOC_CONNECTS_MAX 8
#define HYD_FAULTLOC_CONNECT_TO 112

struct HYD_faultloc_connect {
    unsigned long inode; /* of its socket */
    int tries; /* how often it has asked */
    char to[HYD_FAULTLOC_CONNECT_TO]; /* "10.0.0.2 (h2), port 41523" */
};

/* Purpose: the connections for which process `pid`, or the child that it waits for, has asked four
 * times at least without any answer.  proc: where that is mounted; hosts: "/etc/hosts".  Returns how
 * many there are, HYD_FAULTLOC_CONNECTS_MAX at the most. */
int HYD_faultloc_connects(const char *proc, const char *hosts, int pid,
                          struct HYD_faultloc_connect c[HYD_FAULTLOC_CONNECTS_MAX]);

#endif /* FAULTLOC_CONNECT_H_INCLUDED */
