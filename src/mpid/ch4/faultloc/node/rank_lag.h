/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_RANK_LAG_H_INCLUDED
#define FAULTLOC_RANK_LAG_H_INCLUDED

#include "faultloc/node/cgroup.h"
#include "faultloc/node/watch.h"
#include "ftree/hang/lag.h"

/*
 * What slows a rank, as the kernel says: from one question to the next.  Nothing is read, and there
 * is no memory for it, before somebody asks.
 *
 * Sources: proc(5); Documentation/scheduler/sched-stats.rst, sched-bwc.rst, accounting/psi.rst and
 * admin-guide/cgroup-v2.rst of Linux.
 */

/* What was counted of a rank, and of its node, up to a question. */
struct faultloc_lag_seen {
    ftree_time at; /* 0: never */
    uint64_t ran, waited; /* ns on a CPU and for one, of the first thread */
    uint64_t faults; /* major page faults */
    struct {
        uint64_t periods, throttled;
    } level[FAULTLOC_CGROUP_LEVELS]; /* its cgroup and those above it */
    int32_t levels;
    uint64_t busy, stolen; /* clock ticks of all CPUs of the node, stolen ones among them */
};

struct faultloc_lags {
    struct faultloc_watch *watch; /* its proc_root is used for the node's files, too */
    const char *sys_root; /* NULL: /sys */
    struct faultloc_lag_seen *seen; /* [slots]; NULL before the first question */
    int32_t *core; /* [slots] that each rank is bound to alone, -1: none; behind `seen` */
    ftree_time at; /* when the next ones were read: */
    uint64_t busy, stolen;
    uint16_t stall; /* 1/1000 */
    ftree_time clocks; /* ns that reading clocks has taken since */
};

/* Purpose: what has slowed local rank i since the last question about it, which is to be some
 * samples ago; else it is not measured, and the next one may.  `before`, `now` and `rank` are left
 * alone.  Reads a dozen small files. */
void faultloc_lag_look(struct faultloc_lags *l, ftree_time now, int32_t i, struct ftree_lag *lag);

#endif /* FAULTLOC_RANK_LAG_H_INCLUDED */
