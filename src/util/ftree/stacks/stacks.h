/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FTREE_STACKS_H_INCLUDED
#define FTREE_STACKS_H_INCLUDED

#include "ftree/base/base.h"
#include "ftree/survey/query.h"

#pragma GCC visibility push(hidden)

/*
 * Stacks of many ranks as one prefix tree: each function that is on a stack, at its line, below
 * those that called it, with the ranks whose stacks have it.  Ranks that do the same are one line
 * however many they are.  Trees of several nodes are merged; one that travels is bounded by
 * dropping what the fewest ranks have.
 *
 * Source: STAT (Arnold et al., "Stack Trace Analysis for Large Scale Debugging", IPDPS 2007).
 */

#define FTREE_STACKS_MAX 512 /* calls of a tree that travels, */
#define FTREE_STACKS_BYTES (88 * 1024) /* and so many bytes of it */
#define FTREE_STACKS_RUNS 16 /* of the set of ranks of each */

/* Purpose: adds the stack of a rank: n calls, the outermost first.  A rank may have several, of its
 * threads.  False: out of memory; a part may be in. */
bool ftree_stacks_add(struct ftree *ft, struct ftree_stacks *s, int32_t rank,
                      const struct ftree_call *call, int32_t n);

/* Purpose: keeps a text about one rank, at most FTREE_DETAIL_BYTES; no more than FTREE_DETAILS_MAX
 * are kept.  False: out of memory. */
bool ftree_stacks_add_detail(struct ftree *ft, struct ftree_stacks *s, int32_t rank,
                             const void *text, size_t len);

/* Purpose: adds all of another.  False: out of memory; a part may be in. */
bool ftree_stacks_merge(struct ftree *ft, struct ftree_stacks *s, const struct ftree_stacks *more);

void ftree_stacks_clear(struct ftree *ft, struct ftree_stacks *s);

/* Purpose: writes it, bounded as above, or reads it. */
struct wire_codec;
void ftree_stacks_wire(struct wire_codec *c, struct ftree_stacks *s);

#pragma GCC visibility pop

#endif /* FTREE_STACKS_H_INCLUDED */
