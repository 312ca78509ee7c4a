/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_FAIL_H_INCLUDED
#define FAULTLOC_FAIL_H_INCLUDED

#include "faultloc/mpi/waits/waits.h"

/*
 * What a rank does about verdicts and errors:
 *
 *     query.c   tells the program of verdicts, which it may ask for
 *     failed.c  ranks that are given up: what is for them fails
 *     abort.c   a rank that is about to abort waits for the verdict
 *     where.c   where in the program's code the calling thread has called MPI
 */

/* ---- query.c --------------------------------------------------------------------------------- */

/* Purpose: raises an event for each verdict that this process has not been notified of. In the
 * rank's own thread, inside MPI. Nothing to do costs two loads. */
void MPIDI_faultloc_raise_events(const struct faultloc_board *b);

/* ---- failed.c -------------------------------------------------------------------------------- */

/* Purpose: the turn of a wait for `req`: a receive from any source that can no longer come true
 * fails, or the wait does.  Returns an error for the wait. */
int MPIDI_faultloc_wait_any(MPIR_Request * req);

/* Purpose: the error of a wait in one-sided communication for a rank that is given up. */
int MPIDI_faultloc_rma_error(void);

/* ---- where.c --------------------------------------------------------------------------------- */

/* Purpose: "main(), app.c:12", or "app+0x1234" where no line is known or nobody can tell within a
 * second.  False: not even that is known. */
bool MPIDI_faultloc_where(char *out, size_t room);

#endif /* FAULTLOC_FAIL_H_INCLUDED */
