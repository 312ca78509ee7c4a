/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FTREE_BASE_SYMPTOM_H_INCLUDED
#define FTREE_BASE_SYMPTOM_H_INCLUDED

#include "ftree/ftree.h"

#pragma GCC visibility push(hidden)

/* The one form of a symptom, and what the state of a rank says. */

void ftree_symptom_init(struct ftree_symptom *s, enum ftree_symptom_kind kind, int32_t node,
                        int32_t rank, int32_t reporter, ftree_time first, ftree_time last);
void ftree_symptom_merge(struct ftree_symptom *s, const struct ftree_symptom *more);
bool ftree_symptom_is_end(const struct ftree_symptom *s);
bool ftree_symptom_may_be_path(const struct ftree_symptom *s);
bool ftree_symptom_is_trouble(const struct ftree_rank_state *s);
bool ftree_symptom_is_victim(const struct ftree_rank_state *s, ftree_time limit);

#pragma GCC visibility pop

#endif /* FTREE_BASE_SYMPTOM_H_INCLUDED */
