/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc_keepalive.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

static const struct {
    int level, name, value;
} options[HYD_FAULTLOC_KEEPALIVE_OPTIONS] = {
    {IPPROTO_TCP, TCP_KEEPIDLE, 1}, /* s */
    {IPPROTO_TCP, TCP_KEEPINTVL, 1}, /* s */
    {IPPROTO_TCP, TCP_KEEPCNT, 1},
    /* none: it would count from when the connection was last used, which may be long ago */
    {IPPROTO_TCP, TCP_USER_TIMEOUT, 0},
    {SOL_SOCKET, SO_KEEPALIVE, 1}, /* the last: the timer begins with the others' values */
};

static bool save(struct HYD_faultloc_keepalive *k, int fd)
{
    for (int i = 0; i < HYD_FAULTLOC_KEEPALIVE_OPTIONS; i++) {
        socklen_t len = sizeof(k->before[i]);
        if (getsockopt(fd, options[i].level, options[i].name, &k->before[i], &len))
            return false;
    }
    return true;
}

void HYD_faultloc_keepalive_set(struct HYD_faultloc_keepalive *k, int fd, bool on)
{
    if (on == k->on || (on && !save(k, fd)))
        return;
    k->on = on;
    for (int i = 0; i < HYD_FAULTLOC_KEEPALIVE_OPTIONS; i++)
        (void) setsockopt(fd, options[i].level, options[i].name,
                          on ? &options[i].value : &k->before[i], sizeof(int));
}
