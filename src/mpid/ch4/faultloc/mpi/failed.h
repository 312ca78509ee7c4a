/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_FAILED_H_INCLUDED
#define FAULTLOC_FAILED_H_INCLUDED

#include "faultloc/board/board.h"

/*
 * What the files share that include MPICH's headers.
 *
 *     failed.c     ranks that are given up: what is for them fails
 *     transport.c  what the transport says of peers, and requests that it has ended
 *     abort.c      a rank that is about to abort waits for the verdict
 */

/* Purpose: the board; NULL: faultloc is off. */
struct faultloc_board *MPIDI_faultloc_board(void);

/* Purpose: the job in words of the core; NULL: faultloc is off. */
const struct ftree_job *MPIDI_faultloc_job(void);

/* Purpose: how long a verdict is waited for, ns. */
ftree_time MPIDI_faultloc_grace(void);

/* Purpose: the request that does the work of a persistent one; others are their own. */
MPIR_Request *MPIDI_faultloc_real(MPIR_Request * req);

/* Purpose: the rank of the world at an address; FTREE_NONE: it is of another world. */
int32_t MPIDI_faultloc_rank_at(const MPIDI_av_entry_t * av);

/* Purpose: the rank of the world that a send or receive is about; FTREE_NONE: not known, or any. */
int32_t MPIDI_faultloc_peer(MPIR_Request * req);

/* Purpose: true if that rank is given up. */
bool MPIDI_faultloc_is_given_up(int32_t rank);

/* Purpose: an error of class MPIX_ERR_PROC_FAILED that names the rank. */
int MPIDI_faultloc_failed_error(int32_t rank);

/* Purpose: completes a pending request with an error, whatever the transport does with it. */
void MPIDI_faultloc_fail(MPIR_Request * req, int error);

/* Purpose: the turn of a wait for `req`: a receive from any source that can no longer come true
 * fails, or the wait does.  Returns an error for the wait. */
int MPIDI_faultloc_wait_any(MPIR_Request * req);

/* Purpose: tells the agent that the transport has lost a rank; error: an errno. */
void MPIDI_faultloc_tell_lost(int32_t rank, int error);

/* Purpose: true if the transport has lost any rank so far. */
bool MPIDI_faultloc_has_lost(void);

/* Purpose: true if the request is one of those that the next function will end. */
bool MPIDI_faultloc_is_held(const MPIR_Request * req);

/* Purpose: requests that the transport has ended with an error fail once the verdict about their peer
 * is known, or has not come in time.  Returns true while there are others. */
bool MPIDI_faultloc_settle_held(void);

#endif /* FAULTLOC_FAILED_H_INCLUDED */
