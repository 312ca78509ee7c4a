/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/base/ports.h"

#include "faultloc/base/sock.h"

#include <errno.h>
#include <unistd.h>

/* Tries to find a port that is free on every path. */
#define PICK_TRIES 32

void faultloc_ports_close(struct faultloc_ports *ports)
{
    for (unsigned path = 0; path < FAULTLOC_PATHS; path++) {
        if (ports->fd[path] >= 0)
            close(ports->fd[path]);
        ports->fd[path] = -1;
    }
    ports->port = 0;
}

/* One try: the kernel picks the port on the first path, the others must have it free too. */
static int pick_once(const struct faultloc_inet own[FAULTLOC_PATHS], struct faultloc_ports *ports)
{
    int rc = 0;

    for (unsigned path = 0; path < FAULTLOC_PATHS && rc == 0; path++) {
        if (own[path].family == 0)
            continue;
        rc = faultloc_sock_listen(&own[path], ports->port, &ports->fd[path]);
        if (rc == 0 && ports->port == 0)
            ports->port = faultloc_sock_port(ports->fd[path]);
    }
    if (rc)
        faultloc_ports_close(ports);
    return rc;
}

int faultloc_channel_pick_ports(const struct faultloc_inet own[FAULTLOC_PATHS],
                                struct faultloc_ports *ports)
{
    int rc = EADDRINUSE;
    unsigned paths = 0;

    ports->port = 0;
    for (unsigned path = 0; path < FAULTLOC_PATHS; path++) {
        ports->fd[path] = -1;
        paths += own[path].family != 0;
        for (unsigned other = 0; other < path; other++)
            if (own[path].family && faultloc_inet_equal(&own[path], &own[other]))
                return EINVAL;
    }
    if (paths == 0)
        return EINVAL;
    for (int i = 0; i < PICK_TRIES && rc == EADDRINUSE; i++)
        rc = pick_once(own, ports);
    return rc;
}
