/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/base/base.h"

#include <string.h>

int32_t ftree_ranks_listed(const struct ftree_ranks *set)
{
    int32_t n = 0;

    for (int32_t i = 0; i < set->ranges; i++)
        n += set->range[i].last - set->range[i].first + 1;
    return n;
}

/* Ranges stay sorted and apart; one that finds no room is counted but not listed. */
void ftree_ranks_add(struct ftree_ranks *set, int32_t first, int32_t last)
{
    int32_t from = 0, to, unlisted = set->count - ftree_ranks_listed(set);

    while (from < set->ranges && set->range[from].last + 1 < first)
        from++;
    for (to = from; to < set->ranges && set->range[to].first <= last + 1; to++) {
        first = set->range[to].first < first ? set->range[to].first : first;
        last = set->range[to].last > last ? set->range[to].last : last;
    }
    if (to == from && set->ranges == FTREE_RANGES_MAX) {
        set->count += last - first + 1;
        return;
    }
    memmove(&set->range[from + 1], &set->range[to],
            (size_t) (set->ranges - to) * sizeof(set->range[0]));
    set->ranges += 1 - (to - from);
    set->range[from].first = first;
    set->range[from].last = last;
    set->count = ftree_ranks_listed(set) + unlisted;
}

bool ftree_ranks_has(const struct ftree_ranks *set, int32_t rank)
{
    for (int32_t i = 0; i < set->ranges; i++)
        if (rank >= set->range[i].first && rank <= set->range[i].last)
            return true;
    return false;
}

void ftree_ranks_merge(struct ftree_ranks *set, const struct ftree_ranks *more)
{
    for (int32_t i = 0; i < more->ranges; i++)
        ftree_ranks_add(set, more->range[i].first, more->range[i].last);
    set->count += more->count - ftree_ranks_listed(more);
}
