/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_CLOCK_H_INCLUDED
#define FAULTLOC_CLOCK_H_INCLUDED


#include "ftree/base/types.h"

#include <time.h>

/*
 * The two clocks of the glue, each with its only use.  The core is given the first; both are read
 * through the vDSO, without a system call (some 20 ns).
 */

/* Purpose: CLOCK_MONOTONIC, ns: for all that is measured or waited for.  One for all processes of
 * a node. */
static inline ftree_time faultloc_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (ftree_time) t.tv_sec * 1000000000u + (ftree_time) t.tv_nsec;
}

/* Purpose: CLOCK_REALTIME, ms since 1970-01-01 UTC: for people and reports alone, for it may be set
 * back. */
static inline int64_t faultloc_unix_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t) t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

#endif /* FAULTLOC_CLOCK_H_INCLUDED */
