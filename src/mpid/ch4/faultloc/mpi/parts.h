/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_PARTS_H_INCLUDED
#define FAULTLOC_PARTS_H_INCLUDED

#include "mpidimpl.h"

#include "faultloc/board/board.h"
#include "faultloc/seam/faultloc_sums.h"
#include "ftree/waits/waits.h"

/*
 * What the files of this folder ask of each other.  They are the only ones that include MPICH's
 * headers.  What patches call is declared in the seam.  From the ground up, each knows those before
 * it:
 *
 *     settings.c   the control variables
 *     objects.c    all communicators, windows or requests of MPICH
 *     collectives.c  the last collective operation of each communicator
 *     rank.c       this rank: its board, its slot
 *     peer.c       whom a request is about
 *     onesided.c   whom a wait of one-sided communication is for
 *     waits.c      what this rank waits for, when its agent asks; in parts: waits_comms.c,
 *                  waits_requests.c, waits_collective.c, waits_onesided.c, waits_record.c,
 *                  waits_messages.c, waits_threads.c, waits_polls.c (waits_parts.h)
 *     transport.c  what the transport says of peers, and requests that it has ended
 *     query.c      what the program asks of faultloc
 *     failed.c     ranks that are given up: what is for them fails
 *     wait.c       a wait that lasts
 *     pt2pt.c      sends, receives and probes where faultloc is on
 *     abort.c      a rank that is about to abort waits for the verdict
 *     place.c      who is where, when a job starts (place.h)
 *     init.c       the start
 */

/* ---- settings.c ------------------------------------------------------------------------------ */

/* Purpose: says, on rank 0, which numbers of the user's are none, and what is used instead. */
void MPIDI_faultloc_say_unread(void);

/* Purpose: what the user has set, for the agent of this node. */
void MPIDI_faultloc_read_settings(struct faultloc_settings *s, const char *job_id,
                                  const char *node);

/* Purpose: children of a node in the tree, where nothing else says how many. */
int32_t MPIDI_faultloc_read_fanout(void);

/* Purpose: what the job is called; a board knows it, too. */
void MPIDI_faultloc_read_job_id(char *out, size_t room);

/* Purpose: what this node is called; `name` has FAULTLOC_NAME_SIZE bytes, the rest are 0. */
void MPIDI_faultloc_read_node_name(char *name);

/* ---- objects.c ------------------------------------------------------------------------------- */

/* Purpose: calls `f` for each object of the pool, freed ones among them.  `per_block`: how many are
 * in a block that MPICH has added: HANDLE_NUM_INDICES, of requests REQUEST_NUM_INDICES. */
void MPIDI_faultloc_each_object(const MPIR_Object_alloc_t * pool, int per_block,
                                void (*f) (void *object, void *arg), void *arg);

/* ---- collectives.c --------------------------------------------------------------------------- */

/* Purpose: faultloc is on: from now on the collectives of the world are counted. */
void MPIDI_faultloc_begin_collectives(void);

/* Purpose: the last collective that this rank has begun on a communicator, and the one before it.
 * Left out is what members need not agree upon: of intercommunicators all but the function. */
void MPIDI_faultloc_last_collective(MPIR_Comm *comm, struct waits_collective *last);
void MPIDI_faultloc_collective_before(MPIR_Comm *comm, struct waits_collective *before);

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

/* ---- rank.c ---------------------------------------------------------------------------------- */

/* Purpose: this node's board; NULL: faultloc is off or disabled, or the rank has left. */
struct faultloc_board *MPIDI_faultloc_board(void);

/* Purpose: the job in words of the core; NULL likewise. */
const struct ftree_job *MPIDI_faultloc_job(void);

/* Purpose: where this rank says what it waits for; NULL: faultloc is off or disabled. */
struct faultloc_wait_area *MPIDI_faultloc_wait_area(void);

/* Purpose: how long a verdict is waited for, ns. */
ftree_time MPIDI_faultloc_grace(void);

/* Purpose: the board as long as it is mapped, from within MPI_Init on. */
struct faultloc_board *MPIDI_faultloc_mapped_board(void);

/* Purpose: in MPI_Init: this rank has a board, whatever comes of it. */
void MPIDI_faultloc_take_board(struct faultloc_board *b);

/* Purpose: maps the rank's slot of its board, which is behind `fd`, and says there who it is.
 * Returns false, and says why, where that cannot be. */
bool MPIDI_faultloc_map_slot(int fd, int32_t slot);

/* Purpose: lets the agent have this process traced, where it asks for that. */
void MPIDI_faultloc_permit_tracer(void);

/* Purpose: in a child of fork(): it goes on as the rank, if that has ended. */
void MPIDI_faultloc_go_on(void);

/* Purpose: all ranks agree: faultloc is on, or it is disabled, and there is no board any more. */
void MPIDI_faultloc_begin(bool on);

/* ---- peer.c ---------------------------------------------------------------------------------- */

/* Purpose: the request that does the work of a persistent one; others are their own. */
MPIR_Request *MPIDI_faultloc_real(MPIR_Request * req);

/* Purpose: true for a request of the active message layer, as all of shared memory are. */
bool MPIDI_faultloc_is_am(MPIR_Request * req);

/* Purpose: the rank of the world that an address is of, or a row of the sums (faultloc_sums.h):
 * what requests note of their peers; FTREE_NONE: it is of another world, or neither. */
int32_t MPIDI_faultloc_rank_at(const void *peer);

/* Purpose: the rank of the world that a send or receive is about; FTREE_NONE: not known, or any. */
int32_t MPIDI_faultloc_peer(MPIR_Request * req);

/* Purpose: calls `f` for each request of the process that is pending and is a send, a receive or a
 * collective's, the internal ones among them. */
void MPIDI_faultloc_each_pending(void (*f) (MPIR_Request * req, void *arg), void *arg);

/* Purpose: true if that rank is given up. */
bool MPIDI_faultloc_is_given_up(int32_t rank);

/* Purpose: an error of class MPIX_ERR_PROC_FAILED that names the rank; an operation fails by it. */
int MPIDI_faultloc_failed_error(int32_t rank);

/* Purpose: the status of a request that ends with an error, whoever was to be its peer. */
void MPIDI_faultloc_set_error(MPIR_Request * req, int error);

/* ---- onesided.c ------------------------------------------------------------------------------ */

/* Purpose: the ranks of the world that the RMA call in which this rank waits needs, and the
 * communicator of the window.  `rank` has room for `most`.  *must_act: they must call something;
 * else it suffices that they turn their progress.  *mode: it needs all of them, or at least one: some
 * have acted, nobody knows which.  Returns how many, 0: not known, and *mode is not set. */
int MPIDI_faultloc_rma_peers(uint32_t call, MPIR_Comm **comm, int32_t *rank, int most,
                             bool *must_act, enum waits_mode *mode);

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

/* ---- waits_comms.c --------------------------------------------------------------------------- */

/* Purpose: the rank of the world that a rank of the communicator is, of an intercommunicator one of
 * the other group; FTREE_NONE: of another world. */
int32_t MPIDI_faultloc_world_rank(MPIR_Comm * comm, int rank);

/* Purpose: the program frees this communicator.  How far this rank has come there is kept, until it
 * has freed eight others. */
void MPIDI_faultloc_keep_comm(MPIR_Comm *comm);

/* ---- waits_threads.c ------------------------------------------------------------------------- */

/* What the calling thread waits for, beside the collective that it may be in. */
struct MPIDI_faultloc_wait {
    enum waits_mode mode; /* WAITS_FOR_NONE: it is not known */
    bool polls;
    bool other; /* for what is none of these, and nothing is to be claimed of */
    int n;
    MPIR_Request **reqs; /* NULL, complete and inactive ones are passed over */
    MPIR_Comm *comm; /* of a probe; NULL: it is none */
    int context_offset, source, tag; /* of a probe */
    uintptr_t sp, pc; /* where the wait returns to; 0: not known */
    /* of waits_threads.c, with many threads: */
    MPIR_Request *req; /* that stands for all; NULL: none does */
    ftree_time since; /* when it began; 0: it has not lasted */
    pid_t thread;
    uint32_t call; /* identifier of its MPI function */
    struct MPIDI_faultloc_wait *next, **at;
};

/* Purpose: in MPI_Init, once UCX has begun. */
void MPIDI_faultloc_begin_waits(void);

/* Purpose: a number that is the same as long as no call of MPI begins or ends in any thread, but
 * those that ask in vain, no message begins, and no receive ends. */
uint64_t MPIDI_faultloc_moment(void);

/* Purpose: of many threads, the calling one turns in its wait, for which `req` stands: sets
 * wait->since, which is the same as long as its call is, and what it waits for there. */
void MPIDI_faultloc_begin_turn(MPIR_Request * req, struct MPIDI_faultloc_wait *wait);

/* Purpose: after that, the wait that began first: that one, or one of another thread that is not
 * over.  NULL: none lasts. */
const struct MPIDI_faultloc_wait *MPIDI_faultloc_first_wait(const struct MPIDI_faultloc_wait *wait);

/* Purpose: lets other threads have MPICH's global lock, if there may be any.  Meanwhile they can
 * say what this one waits for: `wait` and its requests stay as they are. */
void MPIDI_faultloc_yield(struct MPIDI_faultloc_wait *wait);

/* ---- waits.c --------------------------------------------------------------------------------- */

/* Purpose: takes notice that the agent has asked, if it has; from within progress.  Who waits, or
 * has asked in vain, answers then; if nobody does for a while this does as well as it can. */
void MPIDI_faultloc_take_question(void);

/* Purpose: answers, if the agent has asked; the second one at the end of a call that asks in
 * vain. */
void MPIDI_faultloc_answer(struct MPIDI_faultloc_wait *wait);
void MPIDI_faultloc_answer_poll(struct MPIDI_faultloc_wait *wait);

/* ---- transport.c ----------------------------------------------------------------------------- */

/* Purpose: false if a rank of the world is known in which faultloc is off; else true, where the
 * network's addresses say nothing of it, too.  All ranks in which it is on come to the same.
 * *first_on and *first_off: the first rank of either kind. */
bool MPIDI_faultloc_is_on_in_all(int *first_on, int *first_off);

/* Purpose: true if the transport has lost any rank so far, or an operation failed because one is
 * given up. */
bool MPIDI_faultloc_has_lost(void);

/* Purpose: true if the request is one of those that the next function will end. */
bool MPIDI_faultloc_is_held(const MPIR_Request * req);

/* Purpose: requests that the transport has ended with an error fail once the verdict about their
 * peer is known, or has not come in time. Returns true while there are others. */
bool MPIDI_faultloc_settle_held(void);

/* ---- query.c --------------------------------------------------------------------------------- */

/* Purpose: raises an event for each verdict that this process has not been notified of. In the
 * rank's own thread, inside MPI. Nothing to do costs two loads. */
void MPIDI_faultloc_raise_events(const struct faultloc_board *b);

/* ---- failed.c -------------------------------------------------------------------------------- */

/* Purpose: the turn of a wait for `req`: a receive from any source that can no longer come true
 * fails, or the wait does.  Returns an error for the wait. */
int MPIDI_faultloc_wait_any(MPIR_Request * req);

#endif /* FAULTLOC_PARTS_H_INCLUDED */
