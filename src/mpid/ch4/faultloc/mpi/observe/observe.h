/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_OBSERVE_H_INCLUDED
#define FAULTLOC_OBSERVE_H_INCLUDED

#include "faultloc/mpi/rank/rank.h"

#include "faultloc/seam/faultloc_sums.h"
#include "ftree/waits/waits.h"

/* What communicators, requests, windows and the transport say of others.  Each file knows those
 * before it. */

/* ---- collectives.c --------------------------------------------------------------------------- */

/* Purpose: faultloc is on: from now on the collectives of the world are counted; the first one, of a
 * communicator that was made before. */
void MPIDI_faultloc_note_comm(MPIR_Comm *comm);
void MPIDI_faultloc_begin_collectives(void);

/* Purpose: the last collective that this rank has begun on a communicator, and the one before it.
 * Left out is what members need not agree upon: of intercommunicators all but the function. */
void MPIDI_faultloc_last_collective(MPIR_Comm *comm, struct waits_collective *last);
void MPIDI_faultloc_collective_before(MPIR_Comm *comm, struct waits_collective *before);

/* Purpose: true if the program may wait on it: it is no part of another that MPICH has made for
 * itself, nor of this rank alone. */
bool MPIDI_faultloc_is_programs(const MPIR_Comm *comm);

/* Purpose: the communicator is freed. */
void MPIDI_faultloc_forget_collectives(MPIR_Comm *comm);

/* Purpose: true if its collectives are noted, as those of all communicators are that were made
 * since faultloc began, and those of the world. */
bool MPIDI_faultloc_is_comm_noted(const MPIR_Comm *comm);

/* Purpose: the communicators of this rank, `most` of them: those on which it has begun collectives,
 * those used last first, then others.  Returns how many. */
int MPIDI_faultloc_comms(MPIR_Comm **comms, int most);

/* Purpose: the communicator that this one is MPICH's own part of, its ranks of a node for example;
 * the same one, if it is none. */
MPIR_Comm *MPIDI_faultloc_whole_of(MPIR_Comm *comm);

/* Purpose: the communicator of the blocking collective that this rank is in; NULL: it is in none.
 * With many threads NULL, too, unless only one of them is in MPI. */
MPIR_Comm *MPIDI_faultloc_collective_now(void);

/* Purpose: the communicator of which a request is the collective, the *number-th there, 0: a
 * persistent one, which has no place in the order; NULL: it is none, or not started. */
MPIR_Comm *MPIDI_faultloc_collective_of(MPIR_Request *req, uint32_t *number);

/* Purpose: what a wait in that MPI function is for, where it is no request: WAITS_RMA, WAITS_OTHER,
 * WAITS_COLLECTIVE if it is the blocking collective that this rank is in; FTREE_NONE: another. */
int MPIDI_faultloc_call_kind(uint32_t call);

/* ---- request_peer.c -------------------------------------------------------------------------- */

/* Purpose: the request that does the work of a persistent one; others are their own. */
MPIR_Request *MPIDI_faultloc_real(MPIR_Request * req);

/* Purpose: true for a request of the active message layer, as all of shared memory are. */
bool MPIDI_faultloc_is_am(MPIR_Request * req);

/* Purpose: true for a pending send or receive of which it was noted what it is about.  Others are
 * MPICH's own: the other half of a receive from any source, a message that nobody receives yet. */
bool MPIDI_faultloc_is_message(MPIR_Request * req);

/* Purpose: the rank of the world that an address is of, or a row of the sums (faultloc_sums.h):
 * what requests note of their peers; FTREE_NONE: it is of another world, or neither. */
int32_t MPIDI_faultloc_rank_at(const void *peer);

/* Purpose: the rank of the world that a send or receive is about; FTREE_NONE: not known, or any. */
int32_t MPIDI_faultloc_peer(MPIR_Request * req);

/* Purpose: calls `f` for each request of the process that is pending and is a send, a receive or a
 * collective's, the internal ones among them. */
void MPIDI_faultloc_each_pending(void (*f) (MPIR_Request * req, void *arg), void *arg);

/* Purpose: true if that rank is given up; and for good: nothing of it is on its way any more. */
bool MPIDI_faultloc_is_given_up(int32_t rank);
bool MPIDI_faultloc_has_ended(int32_t rank);

/* Purpose: an error of class MPIX_ERR_PROC_FAILED that names the rank; an operation fails by it. */
int MPIDI_faultloc_failed_error(int32_t rank);

/* Purpose: MPICH's share in a request is over, as where its transport ends an operation. */
static inline void MPIDI_faultloc_complete(MPIR_Request * req)
{
    int incomplete;

    MPIR_cc_decr(req->cc_ptr, &incomplete);
    if (incomplete)
        return;
    if (MPIDI_FAULTLOC_NOTIFICATION(req))
        MPIR_cc_dec(MPIDI_FAULTLOC_NOTIFICATION(req));
    MPIDI_CH4_REQUEST_FREE(req);
}

/* Purpose: the status of a request that ends with an error, no matter who its peer was to be. */
void MPIDI_faultloc_set_error(MPIR_Request * req, int error);

/* ---- onesided.c ------------------------------------------------------------------------------ */

/* Purpose: the ranks of the world that the RMA call in which this rank waits needs, and the
 * communicator of the window.  `rank` has room for `most`.  *must_act: they must call something;
 * else it suffices that they turn their progress.  *mode: it needs all of them, or at least one: some
 * have acted, nobody knows which.  Returns how many, 0: not known, and *mode is not set. */
int MPIDI_faultloc_rma_peers(uint32_t call, MPIR_Comm **comm, int32_t *rank, int most,
                             bool *must_act, enum waits_mode *mode);

/* Purpose: one of the ranks that this rank waits for in one-sided communication, and that is given
 * up; FTREE_NONE: there is none. */
int32_t MPIDI_faultloc_rma_lost(void);

/* Purpose: the target of the program's one-sided operation if it is given up, and the operation may
 * fail; FTREE_NONE: it has to be waited for. */
int32_t MPIDI_faultloc_rma_lost_target(MPIR_Request * req);

struct MPIDI_faultloc_lock {
    MPIR_Win *win;
    int32_t target;             /* rank of the world; FTREE_NONE: those of all targets */
    bool exclusive;
};

/* Purpose: the lock that this rank waits for in that call; false: for none. */
bool MPIDI_faultloc_lock_awaited(uint32_t call, struct MPIDI_faultloc_lock *lock);

/* Purpose: the locks that were granted to this rank, and that it cannot give back before that call,
 * in which it waits, has returned.  Returns how many of them are in `lock`, `most` at most. */
int MPIDI_faultloc_locks_held(uint32_t call, struct MPIDI_faultloc_lock *lock, int most);

/* Purpose: the communicators of the windows in whose memory this rank may look for what others have
 * stored or put there: of shared memory, and those of which it holds a lock.  Only those that have
 * other members, too.  Returns how many there are; the first `most` are in `comm`. */
int MPIDI_faultloc_shared_windows(MPIR_Comm **comm, int most);

/* ---- transport.c ----------------------------------------------------------------------------- */

/* Purpose: false if a rank of the world is known in which faultloc is off; else true, where the
 * network's addresses say nothing of it, too.  All ranks in which it is on come to the same.
 * *first_on and *first_off: the first rank of either kind. */
bool MPIDI_faultloc_is_on_in_all(int *first_on, int *first_off);

/* Purpose: true if the transport has lost any rank so far, or an operation failed because one is
 * given up. */
bool MPIDI_faultloc_has_lost(void);

/* Purpose: an address of that rank came, with `room` bytes; the first one says by a mark
 * (base/mark.h) whether faultloc is on there. */
void MPIDI_faultloc_read_mark(const void *address, size_t room, int rank);

/* Purpose: the transport has lost a rank of the world, as that errno says; the agent hears of it. */
void MPIDI_faultloc_report_lost(int32_t rank, int error);

/* Purpose: the error of what the transport has ended, where no verdict says why. */
int MPIDI_faultloc_transport_error(int32_t peer, int error);

/* Purpose: the transport has ended an operation toward that rank with an error: it is held until it
 * is known why.  Then `release` gives the transport back what is its own.  False: no memory. */
bool MPIDI_faultloc_hold(MPIR_Request * req, int32_t peer, int error, void *transport,
                         void (*release) (void *transport));

/* Purpose: what the transport takes to other nodes, as UCX_NET_DEVICES names it: devices of UCX, in the order
 * in which it uses them; the address of OFI's endpoint, and its domain.  *text stays as it is where that is
 * not known. */
void MPIDI_faultloc_ucx_devices(char *text, size_t room);
void MPIDI_faultloc_ofi_devices(char *text, size_t room);

/* Purpose: the rank of the world for which the operation is that OFI has refused last; FTREE_NONE: a
 * receive, or of another world. */
int32_t MPIDI_faultloc_ofi_refused(void);

/* Purpose: whether what OFI has returned of an operation that begins says that its peer is lost; if
 * so, that is reported. */
bool MPIDI_faultloc_ofi_says_lost(int32_t peer, int code);

/* Purpose: that operation will not begin, or those of a window that OFI has lost will not end: MPICH
 * waits for them no more. `given_up`: a rank is; else a verdict may still come. True: there were any. */
void MPIDI_faultloc_ofi_forget_refused(void);
bool MPIDI_faultloc_ofi_forget(const MPIR_Win * win, bool given_up);

/* Purpose: what OFI has chosen for this rank's data, as board.h has it; "": it is not OFI. */
void MPIDI_faultloc_ofi_over(char *over, size_t room);

/* Purpose: OFI may never be done with a request that has failed: it is kept, and what comes of it
 * later, which is `awaited` times at most, changes nothing.  False: it is not OFI's. */
bool MPIDI_faultloc_ofi_leave(MPIR_Request * req, int awaited);

/* Purpose: true if the request is one of those that the next function will end. */
bool MPIDI_faultloc_is_held(const MPIR_Request * req);

/* Purpose: requests that the transport has ended with an error fail once the verdict about their
 * peer is known, or has not come in time. Returns true while there are others. */
bool MPIDI_faultloc_settle_held(void);

#endif /* FAULTLOC_OBSERVE_H_INCLUDED */
