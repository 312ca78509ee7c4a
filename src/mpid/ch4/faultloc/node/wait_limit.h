/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_WAIT_LIMIT_H_INCLUDED
#define FAULTLOC_WAIT_LIMIT_H_INCLUDED

#include "ftree/ftree.h"

/*
 * From which length on a wait on this node is unusual: the stall limit is one for all programs, and
 * where waits last milliseconds somebody can be asked long before it.  The history is what the looks
 * at the ranks see, so it costs these nothing: of each wait that is over how long it had lasted at the
 * last look.
 *
 * A long wait counts for a period and the next one, and the periods double by each one in which
 * somebody was asked for nothing: what is unusual, but comes again and again, leads to ever fewer
 * questions, and a program whose waits are long to none before the stall limit.
 */

/* A rank at the last look. */
struct faultloc_waited {
    ftree_time since, lasted; /* its wait; since 0: it did not wait */
    bool asked; /* somebody was asked about it before the stall limit */
};

struct faultloc_wait_limit {
    ftree_time from; /* what began before does not count: connections were made */
    ftree_time longest, before; /* in this period, and in the one before */
    ftree_time period, ends;
    bool vain; /* in this period a wait ended that somebody was asked about */
};

/* Purpose: the ranks communicate from now on. */
void faultloc_wait_limit_begin(struct faultloc_wait_limit *w, ftree_time now);

/* Purpose: at a look a rank has waited for so long; 0: it does not wait. */
void faultloc_wait_limit_look(struct faultloc_wait_limit *w, struct faultloc_waited *rank,
                              ftree_time now, ftree_time waiting);

/* Purpose: the length from which on a wait is unusual, at most the stall limit; that itself of one
 * that has lasted no longer than others yet: it is not worth a further look. */
ftree_time faultloc_wait_limit(const struct faultloc_wait_limit *w, ftree_time now,
                               ftree_time waiting, ftree_time stall);

#endif /* FAULTLOC_WAIT_LIMIT_H_INCLUDED */
