/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_SERVER_H_INCLUDED
#define FAULTLOC_SERVER_H_INCLUDED

#include "hydra.h"
#include "faultloc_hydra.h"

/* mpiexec's part.  All but those that say so are only called where HYD_faultloc_on. */

/* Purpose: `mpiexec -faultloc`: FaultLoc is turned on for the processes. The arguments, which every
 * option of mpiexec has, are not used. Before HYD_faultloc_server_init. */
HYD_status HYD_faultloc_server_option(char *arg, char ***argv);
void HYD_faultloc_server_help(void);

/* Purpose: finds out whether FaultLoc is on, from the environment that the processes will have, and
 * for how long cleaning up may wait; informs the proxies.  Anywhere. */
HYD_status HYD_faultloc_server_init(struct HYD_exec *execs);

/* Purpose: a message from a proxy is there, behind its header; there is none where FaultLoc is
 * off. */
HYD_status HYD_faultloc_server_cmd(struct HYD_proxy *proxy);

/* Purpose: the user has sent mpiexec this signal, which the processes get as well: SIGUSR1 also has
 * the status of the job printed.  Anywhere. */
void HYD_faultloc_server_signal(int signum);

/* Purpose: true if there is nothing to be read from `fd`: it is the connection to this proxy, and
 * was lost, which is noted, and then `close` was called for the proxy, whose result is in *status;
 * or it is standard input, which this proxy handed on, and has ended. Anywhere. */
bool HYD_faultloc_server_is_over(int fd, struct HYD_proxy *proxy,
                                 HYD_status (*close) (struct HYD_proxy *), HYD_status *status);

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

#endif /* FAULTLOC_SERVER_H_INCLUDED */
