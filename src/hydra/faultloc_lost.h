/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_LOST_H_INCLUDED
#define FAULTLOC_LOST_H_INCLUDED

#include "faultloc_hydra.h"
#include "hydra.h"

/* Purpose: true if there is a connection to the proxy. */
bool HYD_faultloc_is_connected(const struct HYD_proxy *proxy);

/* Purpose: sends a message to a proxy that is connected.  False: it was not sent. */
bool HYD_faultloc_send(struct HYD_proxy *proxy, const struct HYD_faultloc_msg *msg);

/* Purpose: true if the connection has ended, and all that came was read.  `*error` is 0 where the
 * other side closed it. */
bool HYD_faultloc_is_closed(int fd, int *error);

/* Purpose: true if the other side reads no more, though there may be something of it to read. */
bool HYD_faultloc_is_leaving(int fd);

/* Purpose: true if the host at the other side has not acknowledged what was sent: the kernel of one
 * that lives does so within milliseconds, whatever its processes do. */
bool HYD_faultloc_is_silent(int fd);

/* Purpose: a proxy with a rank that a standing verdict says is gone is noticed within seconds where
 * its host answers nothing; any other is not.  To be called when verdicts have changed.  A healthy
 * job sends no packets for this, and a trouble of the network that passes ends no job. */
void HYD_faultloc_watch(const struct HYD_proxy *proxy, bool on);

/* Purpose: a launcher that ended badly before the proxy that it was to start has called; its wait()
 * status is put into `*status`.  NULL: there is none.  To be asked after the end of a child. */
const struct HYD_proxy *HYD_faultloc_failed_launcher(int *status);

/* Purpose: waits up to `ms` for the launchers (ssh) to end, then ends them: one to a host that is
 * lost would stay for ever. */
void HYD_faultloc_end_launchers(int ms);

#endif /* FAULTLOC_LOST_H_INCLUDED */
