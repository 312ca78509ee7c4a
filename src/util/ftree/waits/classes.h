/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef WAITS_CLASSES_H_INCLUDED
#define WAITS_CLASSES_H_INCLUDED

#include "ftree/base/base.h"
#include "ftree/survey/query.h"
#include "ftree/waits/waits.h"

#pragma GCC visibility push(hidden)

/*
 * Ranks by what they do: those in the same state, in the same MPI function, on a communicator of
 * the same name are one class, of which it is known how many they are, which, for how long, and for
 * whom they wait.  Classes of several nodes are merged; they are bounded by dropping the smallest.
 *
 * Sources: that ranks which do the same are one line however many they are is STAT's idea (Arnold
 * et al. 2007), which merges call stacks along a tree.
 */

#define FTREE_CLASSES_MAX 512

/* What a rank does, by its record; `waiting`: for how long, ns.  Of a rank with several threads the
 * first that waits counts. */
void ftree_classes_of_record(const struct waits_record *record, int32_t records,
                             ftree_time waiting, struct ftree_rank_class *out);

/* Adds one rank that does what *what says (state, call, comm; shortest is its wait); it waits for
 * the ranks that its records say, 0 of them: for `peer` (FTREE_NONE: not known).  False: out of
 * memory. */
bool ftree_classes_add(struct ftree *ft, struct ftree_rank_classes *c,
                       const struct ftree_rank_class *what, int32_t rank,
                       const struct waits_record *record, int32_t records, int32_t peer);

/* Adds all of another.  False: out of memory, a part may be in. */
bool ftree_classes_merge(struct ftree *ft, struct ftree_rank_classes *c,
                         const struct ftree_rank_classes *more);

/* Sorts: the largest first.  Of more than `most` (FTREE_CLASSES_MAX at the most) the smallest are
 * only counted. */
void ftree_classes_bound(struct ftree *ft, struct ftree_rank_classes *c, int32_t most);

void ftree_classes_clear(struct ftree *ft, struct ftree_rank_classes *c);

/* Writes or reads them, and a set of numbers 0 .. most - 1; runs: so many of each set are written at
 * the most, 0: all. */
struct wire_codec;
void ftree_classes_wire(struct wire_codec *c, struct ftree_rank_classes *all, int32_t runs);
void ftree_classes_wire_spans(struct wire_codec *c, struct ftree_spans *s, int32_t most,
                              int32_t runs);

#pragma GCC visibility pop

#endif /* WAITS_CLASSES_H_INCLUDED */
