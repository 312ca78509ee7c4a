/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_WAIT_AREA_H_INCLUDED
#define FAULTLOC_WAIT_AREA_H_INCLUDED

#include "faultloc/board/launcher.h"
#include "ftree/waits/waits.h"

#include <stdatomic.h>
#include <stdint.h>

/*
 * What the agent asks a local rank about its wait, and the answer: memory of the board, one area a
 * slot, which the rank maps for writing.
 *
 *     agent   fills in `with`, sets `asked` to the number of the look, then slot->news
 *     rank    wherever MPICH turns its progress and finds `news` set, and asked != answered:
 *             writing + 1, the page, answered = asked, writing + 1
 *     agent   reads while `writing` is even, and unchanged afterwards
 *
 * A rank that does not answer is not in MPI's progress.
 */
struct faultloc_wait_area {
    _Atomic uint32_t asked; /* the agent's; 0: never */
    int32_t with_n; /* the agent's: ranks of the world whose messages are wanted */
    int32_t with[WAITS_PEERS_MAX];
    _Atomic uint32_t writing; /* the rank's: odd while it writes */
    _Atomic uint32_t answered; /* the rank's: the look that the page is of */
    /* The rank's and its fork children's: how often they have called fork(), and how many children
     * have begun; and the last of these, which may go on as the rank when that ends (mpi/rank/rank.c) */
    _Atomic uint32_t forks, born;
    _Atomic int32_t heir; /* 0: none */
    /* The rank's, before it ends: why, as of a sentence that begins with its name; of an error that is
     * fatal for a part of the job, too.  "": it has not said. */
    char reason[FAULTLOC_REASON_SIZE];
    uint64_t call; /* the rank's: the slot's word of the call when it wrote the page */
    struct waits_page page; /* the rank's */
};

#endif /* FAULTLOC_WAIT_AREA_H_INCLUDED */
