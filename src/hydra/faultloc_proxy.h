/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_PROXY_H_INCLUDED
#define FAULTLOC_PROXY_H_INCLUDED

#include "hydra.h"
#include "common.h"
#include "faultloc_hydra.h"

/* The proxy's part.  All but those that say so are only called where HYD_faultloc_on. */

/* Purpose: before processes are started, with the environment that they will have: finds out
 * whether FaultLoc is on. If it is, makes the socket for the agent's messages, adds its name to
 * `env`, and has the end of a process, and that of the proxy, noticed at once. Failures are
 * reported, and the processes run without it. Anywhere. */
HYD_status HYD_faultloc_proxy_begin(struct HYD_env **env);

/* Purpose: after they were started; instead of the proxy's loop: returns when all have ended, at
 * once where FaultLoc is off. Anywhere. */
HYD_status HYD_faultloc_proxy_wait(void);

/* Purpose: a PMI command of a process that has not been handled yet.  True: it needs no further
 * handling; it was an abort, which was reported to mpiexec with the rank that sent it. Anywhere. */
bool HYD_faultloc_proxy_pmi(int fd, const char *cmd, char *args[]);

/* Purpose: the PMI connection of this process, by its local number, was closed at the other end, by
 * all who had it, before it finalized. Returns whether FaultLoc is on. Anywhere. */
bool HYD_faultloc_proxy_closed(int local);

/* Purpose: all processes are about to be sent this signal.  Anywhere. */
void HYD_faultloc_proxy_signals(int signum);

/* Purpose: a message from mpiexec is there, behind its header. */
HYD_status HYD_faultloc_proxy_cmd(int fd);

#endif /* FAULTLOC_PROXY_H_INCLUDED */
