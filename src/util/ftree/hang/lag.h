/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FTREE_HANG_LAG_H_INCLUDED
#define FTREE_HANG_LAG_H_INCLUDED

#include "ftree/base/types.h"

struct ftree;

#pragma GCC visibility push(hidden)

/*
 * A few ranks are slow, and the others wait for them again and again: what nodes say of their
 * ranks, added up on the way to the root, and what follows from it.  Nothing here has a clock,
 * memory or state.
 *
 * All ranks are sums; those that their kernel hinders have a place each, as many as a large node
 * has ranks, for a node may be slow as a whole.  So an answer is bounded however many ranks there
 * are, and short where few are hindered.
 */

#define FTREE_BLOCK_SAMPLES 8 /* that are known */
#define FTREE_BLOCKS_MAX 128

/* At how many samples of a block a rank was outside MPI, and at how many it went on: was outside MPI,
 * or had ended a call since the sample before. */
struct ftree_block {
    uint8_t outside, goes_on;
    uint8_t waits; /* percent of its time in which the rank waited for a CPU */
};

#define FTREE_LAG_FAULTS_MAX 1000000

/* What its kernel says that hinders a rank, since it was last asked.  Shares are in 1/1000; threads
 * but the first one are not known. */
struct ftree_lag {
    int32_t rank;
    uint16_t before, now; /* share of samples in which it was outside MPI; the core's, as are: */
    bool has_lost; /* time, than which it never lost as much */
    bool waits_more; /* for a CPU, than before: ftree_lag_waits_more() */
    bool asks; /* what its node's kernel and GPU say is about to be known: ftree_ask_home() */
    bool measured; /* the kernel was asked twice, some seconds apart, and the rest is known: */
    uint16_t wants; /* share of time in which it ran, or waited for a CPU; */
    uint16_t gets; /* share of that in which it ran; 1000: it wanted none */
    uint16_t throttled; /* share of its cgroup's periods in which its quota was used up */
    uint16_t stolen; /* share of its CPU's time that another virtual machine had */
    uint16_t stall; /* share of time in which tasks of its node waited for memory */
    uint16_t clock; /* of its CPU, of the nominal one; 0: not known */
    uint32_t faults; /* pages a second that it waited for a disk for; FTREE_LAG_FAULTS_MAX at most */
    int32_t beside; /* another rank that is bound to the same one core, FTREE_NONE */
};

#define LAG_RANKS_MAX 256
#define LAG_UNKNOWN UINT16_MAX /* of a share */

/* Purpose: sets what its blocks, newest first, say of a rank.  It has lost time if it is outside MPI
 * less in the last two than in any two before, or in the last 4, 8, 16 or 32 than in any so many, or
 * goes on less, and the last two are no better: by a tenth at least, and if that were chance it had a
 * probability of less than alpha (Fisher's exact test).  It may have, by the square root of alpha: that
 * is seconds sooner, and seldom so of a healthy rank, because the least of many windows is compared.
 * `now` is its share in the window in which it may have lost time, and
 * in the last two blocks where there is none; `before` that of all blocks before; `waits_more` as below.
 * Pure. */
void ftree_lag_read(const struct ftree_block *block, int32_t n, double alpha, struct ftree_lag *l);
/* Purpose: whether it may have lost time, for which a node asks the others.  Pure. */
bool ftree_lag_may_have_lost(const struct ftree_block *block, int32_t n, double alpha);
/* Purpose: whether it waits for a CPU in the last block for a quarter of the time more than in the mean
 * of all blocks before, for which a node asks, too.  Pure. */
bool ftree_lag_waits_more(const struct ftree_block *block, int32_t n);

/* What nodes say.  Shares are in 1/1000. */
struct lag_answer {
    int32_t ranks; /* with a history: */
    int32_t lost; /* so many of these: ftree_lag_read() */
    int64_t before, now; /* sums of their shares of time outside MPI */
    int32_t measured; /* ranks of which the kernel was asked twice: */
    int64_t wants, runs, stolen, faults, stall; /* sums, as in struct ftree_lag */
    int32_t clocks; /* ranks on a busy core of which the clock is known: */
    int64_t clock; /* sum */
    bool all_answer; /* no node is missing that is not lost: of the one that asked */
    int32_t n;
    struct ftree_lag lag[LAG_RANKS_MAX]; /* those hindered most, most first */
};

/* Purpose: adds a rank that may have a place. */
void ftree_lag_add(struct lag_answer *a, const struct ftree_lag *l);
/* Purpose: adds what other nodes say. */
void ftree_lag_merge(struct lag_answer *a, const struct lag_answer *more);

/* What slows a rank, l: in words, of the rank, a number, and the percentage of the time that its node
 * was short of memory; and that number. */
#define LAG_CAUSES(X) \
    X(LAG_QUOTA, "rank %d: its cgroup's quota of CPU time used up in %d %% of the periods", \
      l->throttled / 10) \
    X(LAG_SHARED_CORE, "rank %d: bound to the same core as rank %d", l->beside) \
    X(LAG_PREEMPTED, "rank %d: others run on its core", 0) \
    X(LAG_STOLEN, "rank %d: another virtual machine has its core for %d %% of the time", \
      l->stolen / 10) \
    X(LAG_PAGING, "rank %d: %d pages a second from a disk, memory short for %d %% of the time", \
      l->faults) \
    X(LAG_SLOW_CLOCK, "rank %d: its core's clock at %d %% of the nominal one", l->clock / 10)

#define LAG_CAUSE(name, words, number) name,
enum lag_cause {
    LAG_NOTHING,
    LAG_CAUSES(LAG_CAUSE)
};
#undef LAG_CAUSE

struct lag_found {
    struct ftree_lag lag;
    uint8_t cause; /* enum lag_cause */
    int32_t slowed; /* percent: how much slower than the others it therefore is */
    bool is_clear; /* slowed far beyond the others, which wait for it; else half of that */
    bool is_again, is_found; /* ftree_lag_confirm() */
    bool is_sure; /* what a new verdict needs: a quarter of all ranks have lost time; or, where it is a
                   * quota or a shared core, and the rank waits more for a CPU than before, all
                   * others have on the mean */
};

struct lag_finding {
    int32_t before, now, lost; /* of the ranks that are not slow: mean shares, 1/1000; percent of
                                * the time outside MPI that they have lost */
    int32_t gets; /* 1/1000 of the CPU time that they want */
    int32_t n;
    struct lag_found found[LAG_RANKS_MAX];
};

/* Purpose: the ranks that are slow, and what slows each.  Clear are those for which the others wait,
 * slowed far beyond these.  A rank that has lost time itself waits, so it is none of them; nor is any
 * where more than half of all ranks would be.  Where something has been found before, half of that
 * suffices, and neither how many they are nor whether the others wait for them now and then more or
 * less matters.  Pure. */
void ftree_lag_judge(const struct lag_answer *a, struct lag_finding *out);

/* Purpose: finds those that are clearly slow by the same as the time before.  Of others of their node
 * that the same slows less suffices: else ranks near the bound are named now and not then, and the
 * verdict is announced anew each time.  No more than half of all `ranks` are found. */
void ftree_lag_confirm(const struct ftree *ft, const struct lag_finding *before, int32_t ranks,
                       struct lag_finding *now);

/* Purpose: a rank that is slow; NULL: it is not. */
const struct lag_found *ftree_lag_find(const struct lag_finding *f, int32_t rank);

#pragma GCC visibility pop

#endif /* FTREE_HANG_LAG_H_INCLUDED */
