/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FTREE_BASE_RANKS_H_INCLUDED
#define FTREE_BASE_RANKS_H_INCLUDED

#include "ftree/ftree.h"

#pragma GCC visibility push(hidden)

/* Sets of ranks. */

void ftree_ranks_add(struct ftree_ranks *set, int32_t first, int32_t last);
void ftree_ranks_merge(struct ftree_ranks *set, const struct ftree_ranks *more);

#pragma GCC visibility pop

#endif /* FTREE_BASE_RANKS_H_INCLUDED */
