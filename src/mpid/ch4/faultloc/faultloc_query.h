/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_QUERY_H_INCLUDED
#define FAULTLOC_QUERY_H_INCLUDED

#include "mpidimpl.h"

#include "faultloc_agent.h"

/* What the program asks of faultloc: faultloc_query.c; and what that asks of faultloc_init.c. */

/* Purpose: this node's board; NULL: faultloc is off, stands aside, or has stopped. */
struct faultloc_board *MPIDI_faultloc_board(void);

/* Purpose: the job as the helper thread knows it; NULL: there is none. */
const struct ftree_job *MPIDI_faultloc_job(void);

/* Purpose: what the job is called; a board knows it, too. */
void MPIDI_faultloc_read_job_id(char *out, size_t room);

/* Purpose: makes the MPI_T event known, unless it is; at MPI_Init. */
void MPIDI_faultloc_register_event(void);

/* Purpose: raises an event for each verdict that this process has not been told of.  In the rank's
 * own thread, inside MPI.  Nothing to do costs two loads. */
void MPIDI_faultloc_raise_events(const struct faultloc_board *b);

#endif /* FAULTLOC_QUERY_H_INCLUDED */
