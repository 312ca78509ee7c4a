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

/* Purpose: before the processes are started: the socket for the agent's words, and what makes the
 * end of a process, and that of the proxy, be noticed at once.  What cannot be is said; then the
 * processes run without it. */
HYD_status HYD_faultloc_proxy_begin(void);

/* Purpose: tells the processes where the socket is.  Does nothing where FaultLoc is off. */
HYD_status HYD_faultloc_proxy_env(struct HYD_env **env);

/* Purpose: after they were started; instead of the proxy's loop: returns when all have ended. */
HYD_status HYD_faultloc_proxy_wait(void);

/* Purpose: the process behind this PMI socket has said that it finalizes.  Anywhere. */
void HYD_faultloc_proxy_finalized(int fd);

/* Purpose: the PMI connection of this process, by its local number, was closed at the other end, by all
 * who had it, before it finalized. */
void HYD_faultloc_proxy_closed(int local);

/* Purpose: all processes are about to be sent this signal.  Anywhere. */
void HYD_faultloc_proxy_signals(int signum);

/* Purpose: true if nobody is at the other end of this PMI socket or pipe any more, and FaultLoc is
 * on: then nothing is to be written to it.  Anywhere. */
bool HYD_faultloc_proxy_is_gone(int fd);

/* Purpose: true if this PMI command is an abort, which was handed to mpiexec with the rank that
 * sent it.  Anywhere. */
bool HYD_faultloc_proxy_aborts(int fd, const char *cmd, char *args[]);

/* Purpose: a message from mpiexec is there, behind its header. */
HYD_status HYD_faultloc_proxy_cmd(int fd);

#endif /* FAULTLOC_PROXY_H_INCLUDED */
