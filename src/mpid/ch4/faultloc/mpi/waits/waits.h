/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_WAITS_H_INCLUDED
#define FAULTLOC_WAITS_H_INCLUDED

#include "faultloc/mpi/observe/observe.h"

/* What this rank waits for, when its agent asks. */

/* ---- waits_comms.c --------------------------------------------------------------------------- */

/* Purpose: the rank of the world that a rank of the communicator is, of an intercommunicator one of
 * the other group; FTREE_NONE: of another world. */
int32_t MPIDI_faultloc_world_rank(MPIR_Comm * comm, int rank);

/* ---- waits_collective.c ---------------------------------------------------------------------- */

/* Purpose: the communicator in whose context for collectives a send or receive is, which may be a part
 * of the program's; NULL: it is in none, or not known. */
MPIR_Comm *MPIDI_faultloc_collective_comm(MPIR_Request * req);

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
    bool room; /* for room for a send: `source` is its rank of the world */
    uintptr_t sp, pc; /* where the wait returns to; 0: not known */
    /* of waits_threads.c, with many threads: */
    MPIR_Request *req; /* that stands for all; NULL: none does */
    ftree_time since; /* when it began; 0: it has not lasted */
    pid_t thread;
    uint32_t call; /* identifier of its MPI function */
    struct MPIDI_faultloc_wait *next, **at;
};

/* Purpose: in MPI_Init, before OFI begins, and once the transport has begun. */
void MPIDI_faultloc_ofi_begins(void);
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

#endif /* FAULTLOC_WAITS_H_INCLUDED */
