/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_PROXY_H_INCLUDED
#define FAULTLOC_PROXY_H_INCLUDED

#include "hydra.h"
#include "faultloc_hydra.h"

struct pmip_pg;

/* The proxy's part.  All but those that say so are only called where HYD_faultloc_on.  `pg` is the
 * process group, NULL where a proxy has only one. */

/* Purpose: before processes are started, with the environment that they will have: finds out
 * whether FaultLoc is on. If it is, makes the socket for the agent's messages, adds its name to
 * `env`, and has the end of a process, and that of the proxy, noticed at once. Failures are
 * reported, and the processes run without it. Anywhere. */
HYD_status HYD_faultloc_proxy_begin(const struct pmip_pg *pg, struct HYD_env **env);

/* Purpose: after they were started; instead of the proxy's loop: returns when all have ended, at
 * once where FaultLoc is off. Anywhere. */
HYD_status HYD_faultloc_proxy_wait(void);

/* Purpose: a PMI command of a process that has not been handled yet, with its arguments, one by one
 * or all in a text.  True: it needs no further handling; it was an abort, which was reported to
 * mpiexec with the rank that sent it. Anywhere. */
bool HYD_faultloc_proxy_pmi(int fd, const char *cmd, char *args[]);

/* Purpose: this PMI connection of a process was closed at the other end, by all who had it. Returns
 * whether FaultLoc is on. Anywhere. */
bool HYD_faultloc_proxy_closed(int fd);

/* Purpose: all processes are about to be sent this signal.  Anywhere. */
void HYD_faultloc_proxy_signals(int signum);

/* Purpose: a message from mpiexec is there, behind its header. */
HYD_status HYD_faultloc_proxy_cmd(const struct pmip_pg *pg, int fd);

#endif /* FAULTLOC_PROXY_H_INCLUDED */
