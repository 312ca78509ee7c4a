/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_SUMS_H_INCLUDED
#define FAULTLOC_SUMS_H_INCLUDED

#include "faultloc/seam/faultloc_base.h"
#include "faultloc/seam/faultloc_seam.h"

/*
 * The messages between this rank and each other one of the world since MPI_Init, in any
 * communicator: how many were begun, and how many receives of theirs are complete, and the sums of
 * their marks.  Those of other worlds go into one row behind the last, which nobody reads.
 *
 * A receive notes the row of its peer, so that the row is at hand when the message has come.  To be
 * included where MPICH's table of addresses is known.
 */

#if defined(ENABLE_FAULTLOC)

struct MPIDI_faultloc_sums {
    uint64_t sent_sum, received_sum;
    uint32_t sent, received;
    uint64_t spare;             /* 32 bytes: a rank is found by a shift */
};

extern struct MPIDI_faultloc_sums_table {
    struct MPIDI_faultloc_sums *row;    /* one for each rank of the world, and one; NULL: off */
    const MPIDI_av_entry_t *first;      /* where the world's addresses are */
    uintptr_t ranks;
    uint64_t factor, flips, key; /* of marks: in memory they need no instructions of their own */
    uint64_t received;          /* of all ranks */
} MPIDI_faultloc_sums MPIDI_FAULTLOC_HIDDEN;

static inline struct MPIDI_faultloc_sums *MPIDI_faultloc_sums_of(const MPIDI_av_entry_t * av)
{
    uintptr_t rank = ((uintptr_t) av - (uintptr_t) MPIDI_faultloc_sums.first) / sizeof(*av);

    if (unlikely(rank > MPIDI_faultloc_sums.ranks))
        rank = MPIDI_faultloc_sums.ranks;
    return &MPIDI_faultloc_sums.row[rank];
}

/* Most messages are those of the world, or of a communicator that is ordered alike: there an
 * address is not needed. */
static inline struct MPIDI_faultloc_sums *MPIDI_faultloc_sums_in(MPIR_Comm * comm, int rank)
{
    if (likely(MPIDI_FAULTLOC_IS_LIKE_WORLD(comm)))
        return &MPIDI_faultloc_sums.row[rank];
    return MPIDI_faultloc_sums_of(MPIDIU_comm_rank_to_av(comm, rank));
}

static inline uint64_t MPIDI_faultloc_mark(uint64_t key)
{
    uint64_t x = (key * MPIDI_faultloc_sums.factor) ^ MPIDI_faultloc_sums.flips;

    return x * x;
}

/* Sends are counted before MPICH has a lock, where it has one for each VCI. */
#if defined(__GNUC__) && MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI
#define MPIDI_FAULTLOC_COUNT(to, n) \
    do { \
        if (unlikely(MPIR_IS_THREADED)) \
            (void) __atomic_fetch_add(&(to), n, __ATOMIC_RELAXED); \
        else \
            (to) += (n); \
    } while (0)
#else
#define MPIDI_FAULTLOC_COUNT(to, n) ((to) += (n))
#endif

static inline void MPIDI_faultloc_count_sent(struct MPIDI_faultloc_sums *row, uint64_t key)
{
    MPIDI_FAULTLOC_COUNT(row->sent_sum, MPIDI_faultloc_mark(key));
    MPIDI_FAULTLOC_COUNT(row->sent, 1);
}

static inline void MPIDI_faultloc_count_received(struct MPIDI_faultloc_sums *row, uint64_t key)
{
    MPIDI_FAULTLOC_COUNT(row->received_sum, MPIDI_faultloc_mark(key));
    MPIDI_FAULTLOC_COUNT(row->received, 1);
    MPIDI_FAULTLOC_COUNT(MPIDI_faultloc_sums.received, 1);
}

#endif /* ENABLE_FAULTLOC */

#endif /* FAULTLOC_SUMS_H_INCLUDED */
