/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/node/wait_limit.h"

#include "ftree/base/base.h"

/* Computing times have a tail of 1 / x: of n waits, the next one is so much longer than any of them
 * with a probability of 1 / (4 n). */
#define TIMES_LONGEST 4
#define LEAST (200 * FTREE_MS) /* for a busy machine, and a retransmission of TCP */
#define CONNECTING (1000 * FTREE_MS)
#define LEARNING (2000 * FTREE_MS) /* five looks and more */
#define PERIOD (60 * 1000 * FTREE_MS)
#define PERIOD_MOST (1024 * PERIOD)

void faultloc_wait_limit_begin(struct faultloc_wait_limit *w, ftree_time now)
{
    *w = (struct faultloc_wait_limit){
        .from = now + CONNECTING, .period = PERIOD, .ends = now + PERIOD};
}

static void turn_period(struct faultloc_wait_limit *w, ftree_time now)
{
    if (w->vain)
        w->period = ftree_min(2 * w->period, PERIOD_MOST);
    w->before = w->longest;
    w->longest = 0;
    w->vain = false;
    w->ends = now + w->period;
}

void faultloc_wait_limit_look(struct faultloc_wait_limit *w, struct faultloc_waited *rank,
                              ftree_time now, ftree_time waiting)
{
    ftree_time since = waiting ? now - waiting : 0;

    if (now >= w->ends)
        turn_period(w, now);
    if (!since || since > rank->since + FTREE_MS) { /* two readings of a clock */
        if (rank->since >= w->from)
            w->longest = ftree_max(w->longest, rank->lasted);
        w->vain |= rank->asked;
        *rank = (struct faultloc_waited){.since = since};
    }
    rank->lasted = waiting;
}

ftree_time faultloc_wait_limit(const struct faultloc_wait_limit *w, ftree_time now,
                               ftree_time waiting, ftree_time stall)
{
    ftree_time longest = ftree_max(w->longest, w->before);

    if (now < w->from + LEARNING || waiting <= longest || longest >= stall / TIMES_LONGEST)
        return stall;
    return ftree_min(ftree_max(TIMES_LONGEST * longest, LEAST), stall);
}
