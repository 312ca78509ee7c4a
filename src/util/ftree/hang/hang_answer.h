/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FTREE_HANG_ANSWER_H_INCLUDED
#define FTREE_HANG_ANSWER_H_INCLUDED

#include "ftree/base/base.h"
#include "ftree/hang/hang.h"

#pragma GCC visibility push(hidden)

/*
 * What nodes say of their samples and of their ranks outside MPI, added up on the way to the root,
 * and the history that the root makes of it.  A sum for each instant is as long for a million ranks
 * as for ten, so S_out is of all ranks; ParaStack takes ten of them because it must look at each by
 * ptrace.
 */

/* Instants that the clocks of nodes may be apart.  One that stands while a virtual machine is paused
 * is late from then on. */
#define HANG_APART 64

struct hang_sum {
    int32_t out; /* ranks outside MPI, */
    int32_t known; /* to so many nodes */
};

struct hang_answer {
    uint64_t last; /* number of the last instant; 0: nobody has sampled */
    int32_t ahead; /* to so many instants up to `last` not all of them have come yet, HANG_APART at the most */
    int32_t nodes; /* that sample */
    FTREE_ARRAY(struct hang_sum) sums; /* of the instants up to `last`, HANG_HISTORY_MAX at the most */
    uint64_t progress; /* calls that all ranks have ended */
    int32_t inside, familiar; /* ranks that are in MPI now; so many of them in a call that is known there */
    ftree_time longest; /* stay outside MPI before, of any rank */
    int32_t outside, in_disk_sleep; /* ranks that are outside MPI now; so many of them in disk sleep */
    FTREE_ARRAY(struct ftree_stay) stays; /* the lowest HANG_RANKS_MAX of those outside, ascending */
};

/* Purpose: what this node says, from instant `first` on, in an answer that is all 0.  These return
 * false if out of memory; then a part is in. */
bool ftree_hang_answer_own(struct ftree *ft, struct hang_answer *a, uint64_t first);
bool ftree_hang_answer_merge(struct ftree *ft, struct hang_answer *a, const struct hang_answer *more);
void ftree_hang_answer_clear(struct ftree *ft, struct hang_answer *a);

/* All 0: nothing is known. */
struct hang_history {
    uint64_t first, last; /* instants; 0: none */
    int64_t outside; /* samples at which a rank was outside MPI, also those that are gone here */
    int32_t sample[HANG_HISTORY_MAX]; /* by the instant's number */
};

/* Purpose: adds what was answered; a sample that too few nodes know is HANG_UNKNOWN. */
void ftree_hang_history_add(struct hang_history *h, const struct hang_answer *a);

/* Purpose: the samples, oldest first, into room for HANG_HISTORY_MAX; returns how many.  The last
 * one is of instant h->last. */
int32_t ftree_hang_history_of(const struct hang_history *h, int32_t *sample);

/* Purpose: at how many samples a rank was outside MPI, but for those of the last n instants. */
int64_t ftree_hang_history_before(const struct hang_history *h, uint64_t n);

/* Purpose: true if all ranks of the job are outside MPI, and in disk sleep. */
bool ftree_hang_is_disk_sleep_of_all(const struct hang_answer *a);

/* Purpose: the ranks outside MPI now; too many to be named where not each of them is there, unless
 * all ranks are in disk sleep.  All of *out is filled in, but for the room behind its ranks. */
void ftree_hang_sweep_of(const struct hang_answer *a, struct hang_sweep *out);

#pragma GCC visibility pop

#endif /* FTREE_HANG_ANSWER_H_INCLUDED */
