/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_SAMPLES_H_INCLUDED
#define FAULTLOC_SAMPLES_H_INCLUDED

#include "faultloc/node/watch.h"
#include "ftree/hang/hang.h"
#include "ftree/hang/lag.h"

/*
 * How many ranks of this node are outside MPI, at instants that all nodes know without a message:
 * their distances, `sample` on the average and at least half of that, follow from the job's seed,
 * and the first one is counted from the job's start exchange, which ends in all nodes within a
 * round trip or so.
 *
 * If the instants of two nodes are some milliseconds apart S_out is a sum of states that many
 * milliseconds apart.  Each rank's state has the same distribution then; shorter phases that ranks
 * have in common look less common than they are, in the history as in what is compared with it; and
 * while a job hangs nothing changes from one instant to the next.  Monotonic clocks that nobody
 * disciplines drift some seconds a day apart, and one that stands while a virtual machine is paused
 * is late by that from then on; the first samples of a hang are then of no use until all nodes have
 * seen it, and beyond HANG_APART instants nothing is said of one.
 *
 * An instant is sampled once, by the look that comes next; if that is late by half of `sample`, or
 * a rank was seen stopped, it is not known.  Time without samples counts for nobody.
 */

#define FAULTLOC_SAMPLES 2048 /* instants that are kept, 4 bytes each; the core wants no more */


/* What a rank did at the samples of each block. */
struct faultloc_share {
    struct ftree_block block[FTREE_BLOCKS_MAX]; /* newest first */
    struct ftree_block present; /* that is not over */
    uint64_t calls; /* that it had ended at the last sample, but for those that asked in vain */
    uint64_t waited; /* ns that it had waited for a CPU at the end of the last block */
    uint64_t outside, before; /* samples at which it was outside MPI, or without progress; and of these those
                               * before the stay that the last one was of, */
    uint64_t stay; /* which followed so many calls */
    struct { /* whom it awaits, which takes long to find out, since when it does nothing at all */
        ftree_time since; /* 0: never */
        bool does;
        char whom[FTREE_WHOM_MAX];
    } awaits;
};

struct faultloc_samples {
    struct faultloc_watch *watch;
    struct faultloc_share *share; /* [slots], the caller's, zeroed; NULL: none are kept */
    int32_t known, blocks; /* samples of the present block that are known; blocks that are kept */
    uint64_t instant; /* number of the next one, from 1 */
    ftree_time at; /* when it is */
    ftree_time ended; /* when the last block was over */
    int32_t out[FAULTLOC_SAMPLES]; /* by the instant's number; -1: not known */
};

/* Purpose: begins, at the first instant after `now`. */
void faultloc_samples_begin(struct faultloc_samples *s, struct faultloc_watch *watch,
                            ftree_time now);

/* Purpose: to be called by a look at the board that has just been made, as faultloc_watch_look()
 * has said; out: how many ranks are outside MPI, -1: that cannot be known.  Does nothing if no
 * instant is due.  True: a block of samples is over, and of each rank one small file of /proc was
 * read. */
bool faultloc_samples_take(struct faultloc_samples *s, ftree_time now, int32_t out);

/* Purpose: the last n samples, oldest first, -1 where one is not known.  Returns the number of the
 * instant that the last one is of. */
uint64_t faultloc_samples_last(const struct faultloc_samples *s, int32_t *out, int32_t n);

/* Purpose: the last n blocks of local rank i, newest first; returns how many there are. */
int32_t faultloc_samples_blocks(const struct faultloc_samples *s, int32_t i,
                                struct ftree_block *block, int32_t n);

/* Purpose: local rank i's present stay outside MPI; true: it is outside.  Of one that is not only
 * `rank`, `calls`, `longest` and `familiar` are set.  Reads five small files of /proc, and
 * of one that sleeps three of each thread. */
bool faultloc_samples_stay(struct faultloc_samples *s, ftree_time now, int32_t i,
                           struct ftree_stay *stay);

#endif /* FAULTLOC_SAMPLES_H_INCLUDED */
