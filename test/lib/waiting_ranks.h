/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef WAITING_RANKS_H_INCLUDED
#define WAITING_RANKS_H_INCLUDED

#include "ftree/waits/waits.h"
#include "world.h"

/*
 * Ranks that say what they wait for: a small model of an MPI program that hangs, behind io->waits.
 * What a rank has sent and received is counted as MPICH does it; requests are those of its present
 * wait.
 */

#define RANKS_MAX 64
#define WORLD_CONTEXT 0 /* of MPI_COMM_WORLD; other contexts have all ranks, too, if no members are set */

/* Calls, by their numbers. */
#define CALLS(X) \
    X(CALL_NONE, "?") \
    X(CALL_RECV, "MPI_Recv") \
    X(CALL_SSEND, "MPI_Ssend") \
    X(CALL_WAITALL, "MPI_Waitall") \
    X(CALL_WAITANY, "MPI_Waitany") \
    X(CALL_TEST, "MPI_Test") \
    X(CALL_IPROBE, "MPI_Iprobe") \
    X(CALL_BARRIER, "MPI_Barrier") \
    X(CALL_ALLREDUCE, "MPI_Allreduce") \
    X(CALL_BCAST, "MPI_Bcast") \
    X(CALL_REDUCE, "MPI_Reduce") \
    X(CALL_MERGE, "MPI_Intercomm_merge") \
    X(CALL_WIN_LOCK, "MPI_Win_lock") \
    X(CALL_WIN_START, "MPI_Win_start")

enum call {
#define CALL_ENUM(id, text) id,
    CALLS(CALL_ENUM)
#undef CALL_ENUM
};

struct ranks {
    struct world *w;
    int looks; /* that were answered */
    /* A rank that is asked for the n-th time goes on just before it answers; 0: never. */
    int moves_at[RANKS_MAX];
#define RANKS_MOVE_ALWAYS (-1)
    int asked[RANKS_MAX];
    ftree_time answers_after[RANKS_MAX]; /* how long a look takes; FTREE_NEVER: it is never answered */
    struct rank_model {
        bool outside; /* MPI */
        struct waits_record record;
        struct waits_sum sent[RANKS_MAX], received[RANKS_MAX]; /* by peer */
        struct waits_flow last[WAITS_LAST_MAX];
        int32_t lasts;
        struct waits_flow post[WAITS_FLOWS_MAX];
        int32_t posts;
    } rank[RANKS_MAX];
};

/* The ranks of a world, all outside MPI; they end with it. */
struct ranks *ranks_of(struct world *w);

/* A rank begins to wait now, for nothing yet; requests are added. */
void ranks_wait(struct ranks *r, int32_t rank, enum call call, enum waits_mode mode);
void ranks_recv(struct ranks *r, int32_t rank, int32_t from, int32_t tag, uint32_t context);
void ranks_ssend(struct ranks *r, int32_t rank, int32_t to, int32_t tag, uint32_t context);
void ranks_rma(struct ranks *r, int32_t rank, int32_t peer);
/* It waits in its n-th collective of that communicator; for all members. */
void ranks_collective(struct ranks *r, int32_t rank, uint32_t number, enum call call, int32_t root,
                      uint64_t bytes, uint32_t context);
/* It has begun its n-th collective there, and waits for something else. */
void ranks_begun(struct ranks *r, int32_t rank, uint32_t number, enum call call, uint32_t context);
void ranks_poll(struct ranks *r, int32_t rank);
/* Messages: begun, and received (both sides). */
void ranks_sent(struct ranks *r, int32_t from, int32_t to, int32_t tag, uint32_t context);
void ranks_received(struct ranks *r, int32_t from, int32_t to, int32_t tag, uint32_t context);
/* The members of the communicators of a rank's record with that context. */
void ranks_members(struct ranks *r, int32_t rank, uint32_t context, int32_t first, int32_t step,
                   int32_t count);
/* It has called MPI_Finalize. */
void ranks_finalize(struct ranks *r, int32_t rank);
/* And has written a last page; what it has begun is said behind that. */
void ranks_last_word(struct ranks *r, int32_t rank);
/* It goes on: outside MPI. */
void ranks_go_on(struct ranks *r, int32_t rank);

#endif /* WAITING_RANKS_H_INCLUDED */
