/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_SERVER_H_INCLUDED
#define FAULTLOC_SERVER_H_INCLUDED

#include "hydra.h"

/* mpiexec's part.  All but those that say so are only called where HYD_faultloc_on. */

/* Purpose: `mpiexec -faultloc`: FaultLoc is turned on for the processes.  Before the next one. */
HYD_status HYD_faultloc_server_option(void);

/* Purpose: finds out whether FaultLoc is on, from the environment that the processes will have, and
 * for how long cleaning up may wait. */
HYD_status HYD_faultloc_server_init(struct HYD_exec *execs);

/* Purpose: a message from a proxy is there, behind its header. */
HYD_status HYD_faultloc_server_cmd(struct HYD_proxy *proxy);

/* Purpose: true if nothing more comes from this proxy, which was noted; then it is to be closed.
 * Anywhere. */
bool HYD_faultloc_server_is_lost(struct HYD_proxy *proxy);

/* Purpose: true if this proxy, which hands standard input on, has ended: then mpiexec reads no more
 * of it.  Anywhere. */
bool HYD_faultloc_server_reads_for_nobody(const struct HYD_proxy *proxy);

/* Purpose: after `status` was an error of reading or writing: HYD_SUCCESS where that is no wonder,
 * as a proxy was lost or all is being ended.  Anywhere. */
HYD_status HYD_faultloc_server_forgive(HYD_status status);

/* Purpose: after each event: what is due.  Nothing is in a callback then, so that sockets can be
 * closed.  Returns `status`, or the error that there was.  Anywhere. */
HYD_status HYD_faultloc_server_turn(HYD_status status);

/* Purpose: all proxies have ended.  Where a process ended badly: ends what is left of the
 * launchers, says what happened, and returns true.  Anywhere. */
bool HYD_faultloc_server_finish(void);

/* Purpose: mpiexec's exit code; -1: no process ended badly, it is hydra's own.  Anywhere. */
int HYD_faultloc_server_code(void);

/* Purpose: true if no proxy is at the other end of `fd` any more: what PMI would send there, because
 * one of its processes waited, is for nobody. */
bool HYD_faultloc_server_is_gone(int fd);

#endif /* FAULTLOC_SERVER_H_INCLUDED */
