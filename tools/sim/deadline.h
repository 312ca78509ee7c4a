/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef DEADLINE_H_INCLUDED
#define DEADLINE_H_INCLUDED

#include "ftree/base/types.h"

/*
 * When whose tick is due: one heap, in which each node has at most one entry, so that a million
 * idle nodes cost nothing.  Equal times are in the order of the nodes' numbers.
 */
struct sim_deadlines {
    ftree_time *at; /* [nodes]; FTREE_NEVER: it is not in the heap */
    int32_t *place; /* [nodes] */
    int32_t *heap; /* nodes */
    int32_t n;
};

void sim_deadlines_init(struct sim_deadlines *d, int32_t nodes);
void sim_deadlines_free(struct sim_deadlines *d);

/* Purpose: the node's tick is due at `at`, and no more when it was; FTREE_NEVER: not at all. */
void sim_deadlines_set(struct sim_deadlines *d, int32_t node, ftree_time at);

/* Purpose: the node whose tick is next, FTREE_NONE: nobody's; and when. */
int32_t sim_deadlines_first(const struct sim_deadlines *d, ftree_time *at);

#endif /* DEADLINE_H_INCLUDED */
