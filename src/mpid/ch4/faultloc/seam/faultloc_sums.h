/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_SUMS_H_INCLUDED
#define FAULTLOC_SUMS_H_INCLUDED

#include "faultloc/seam/faultloc_seam.h"

/*
 * The messages between this rank and each other one of the world since MPI_Init, in any
 * communicator: how many were begun, and how many receives of theirs are complete, and the sums of
 * their marks.  Those of other worlds go into one row behind the last, which nobody reads.
 *
 * To be included where MPICH's table of addresses is known, which has a row for each rank, too: its
 * rows are half as long, so that one address follows from the other by an addition.
 */

#if defined(ENABLE_FAULTLOC)

union MPIDI_faultloc_sums {
    struct {
        uint64_t sent_sum, received_sum;
        uint32_t sent, received;
    } of;
    char room[2 * sizeof(MPIDI_av_entry_t)];
};

extern struct MPIDI_faultloc_sums_table {
    union MPIDI_faultloc_sums *row; /* one for each rank of the world, and one; NULL: off */
    uintptr_t first, bytes;     /* where the world's addresses are */
} MPIDI_faultloc_sums MPIDI_FAULTLOC_HIDDEN;

/* That of a rank of the world, which needs no address. */
static inline union MPIDI_faultloc_sums *MPIDI_faultloc_sums_at(int rank)
{
    return &MPIDI_faultloc_sums.row[rank];
}

static inline union MPIDI_faultloc_sums *MPIDI_faultloc_sums_behind(uintptr_t offset)
{
    return (union MPIDI_faultloc_sums *) (void *) ((char *) MPIDI_faultloc_sums.row + 2 * offset);
}

static inline union MPIDI_faultloc_sums *MPIDI_faultloc_sums_of(const void *av)
{
    uintptr_t offset = (uintptr_t) av - MPIDI_faultloc_sums.first;

    if (unlikely(offset >= MPIDI_faultloc_sums.bytes))
        offset = MPIDI_faultloc_sums.bytes;
    return MPIDI_faultloc_sums_behind(offset);
}

static inline void MPIDI_faultloc_count_sent(union MPIDI_faultloc_sums *row, uint64_t key)
{
    row->of.sent_sum += faultloc_mark(key);
    row->of.sent++;
}

static inline void MPIDI_faultloc_count_received(union MPIDI_faultloc_sums *row, uint64_t key)
{
    row->of.received_sum += faultloc_mark(key);
    row->of.received++;
}

#endif /* ENABLE_FAULTLOC */

#endif /* FAULTLOC_SUMS_H_INCLUDED */
