/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_ARRIVAL_H_INCLUDED
#define FAULTLOC_ARRIVAL_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

/*
 * When mpiexec asks about the ranks that do not come to a barrier, and when it says so: first once
 * nobody has come for HYD_FAULTLOC_QUIET_MS, and again at intervals that double.  A barrier to
 * which all come soon costs nothing but the time of each arrival.  Pure: times are milliseconds of
 * mpiexec's clock.
 */

#define HYD_FAULTLOC_QUIET_MS 10000
#define HYD_FAULTLOC_QUIET_MOST_MS 600000 /* between two notes, at most */
#define HYD_FAULTLOC_ANSWER_MS 2000 /* for proxies to answer */

struct HYD_faultloc_arrival {
    int barrier; /* the present one or, between two, the next: from 1; 0: nobody has come so far */
    bool open; /* some have come, and not all */
    int64_t first, last; /* when the first and the last came */
    int64_t awake; /* mpiexec was stopped itself until then; 0: it was not */
    bool asking;
    int64_t asked; /* when proxies were, last */
    int notes; /* that were said of this barrier */
    int64_t noted; /* when the last was */
};

enum HYD_faultloc_arrival_step {
    HYD_FAULTLOC_ARRIVAL_WAIT,
    HYD_FAULTLOC_ARRIVAL_ASK, /* the late ones' proxies */
    HYD_FAULTLOC_ARRIVAL_SAY /* what they answered */
};

/* Purpose: ranks came at `first` and `last`, times that may have passed since. */
void HYD_faultloc_arrival_come(struct HYD_faultloc_arrival *a, int64_t first, int64_t last);

/* Purpose: all have come.  True if there were notes: that they are over is to be said. */
bool HYD_faultloc_arrival_all(struct HYD_faultloc_arrival *a);

/* Purpose: when HYD_faultloc_arrival_step() has something to do, at the earliest;
 * HYD_FAULTLOC_NEVER: nothing. */
int64_t HYD_faultloc_arrival_due(const struct HYD_faultloc_arrival *a);

/* Purpose: what is to be done now, once.  `answered`: all who were asked. */
enum HYD_faultloc_arrival_step HYD_faultloc_arrival_step(struct HYD_faultloc_arrival *a,
                                                         int64_t now, bool answered);

#endif /* FAULTLOC_ARRIVAL_H_INCLUDED */
