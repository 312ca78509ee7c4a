/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_QUERY_H_INCLUDED
#define FAULTLOC_QUERY_H_INCLUDED

#include "mpidimpl.h"

#include "faultloc/board/board.h"

/* What the program asks of faultloc: mpi/query.c; and what that asks of mpi/init.c. */

/* Purpose: this node's board; NULL: faultloc is off or disabled, or the rank has left. */
struct faultloc_board *MPIDI_faultloc_board(void);

/* Purpose: the job in words of the core; NULL: there is none. */
const struct ftree_job *MPIDI_faultloc_job(void);

/* Purpose: what the job is called; a board knows it, too. */
void MPIDI_faultloc_read_job_id(char *out, size_t room);

/* Purpose: raises an event for each verdict that this process has not been told of.  In the rank's
 * own thread, inside MPI.  Nothing to do costs two loads. */
void MPIDI_faultloc_raise_events(const struct faultloc_board *b);

#endif /* FAULTLOC_QUERY_H_INCLUDED */
