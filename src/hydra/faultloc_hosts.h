/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_HOSTS_H_INCLUDED
#define FAULTLOC_HOSTS_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Many hosts or ranks in few words, as the users of clusters are used to read them.  Pure; nothing
 * allocates.
 */

#define HYD_FAULTLOC_HOSTS 64 /* bytes that `room` is at least */

struct HYD_faultloc_range {
    int32_t first, last;
};

/* Purpose: "h[1-3,7],login": the names in order, each once.  Names that differ in the last number
 * of their first label share a pair of brackets; a number keeps its zeros.  What does not fit into
 * `room` bytes is counted: "h[1-3],... (12 more)".  Sorts `name`.  Returns `out`. */
const char *HYD_faultloc_hosts(const char **name, int count, char *out, size_t room);

/* Purpose: "0-1, 3" of ranges in any order, which it sorts and joins.  `more`: there are ranks that
 * have no range; they, and what does not fit, become "...".  Returns `out`. */
const char *HYD_faultloc_ranks(struct HYD_faultloc_range *range, int count, bool more, char *out,
                               size_t room);

#endif /* FAULTLOC_HOSTS_H_INCLUDED */
