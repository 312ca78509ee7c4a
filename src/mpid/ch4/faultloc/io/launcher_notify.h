/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_LAUNCHER_NOTIFY_H_INCLUDED
#define FAULTLOC_LAUNCHER_NOTIFY_H_INCLUDED

#include "faultloc/board/launcher.h"
#include "ftree.h"

/* The agent's side of board/launcher.h. */

/* Purpose: the message with the path of the agent's symptom socket. */
void faultloc_launcher_hello(const char *symptom_socket, struct faultloc_launcher_message *w);

/* Purpose: the message about a verdict, or about its withdrawal.  Ranks for which there are too few
 * ranges are counted alone. */
void faultloc_launcher_verdict(const struct ftree_job *job, const struct ftree_verdict *v,
                               struct faultloc_launcher_message *w);

/* Purpose: the message that this job is ended because of verdict `v` (action abort), by a signal to
 * `rank`, process `pid`; or, with FTREE_NONE and 0, by the ranks in MPI, which call MPI_Abort. It is
 * to be sent right before that: then the launcher takes the end of the rank for what it is, and
 * cleans up. */
void faultloc_launcher_ending(const struct ftree_job *job, const struct ftree_verdict *v,
                              int32_t rank, int32_t pid, struct faultloc_launcher_message *w);

/* Purpose: begins the message that ranks of the node are in MPI_Finalize: none so far. */
void faultloc_launcher_finalizing(struct faultloc_launcher_message *w);

#endif /* FAULTLOC_LAUNCHER_NOTIFY_H_INCLUDED */
