/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_WAIT_PAGE_H_INCLUDED
#define FAULTLOC_WAIT_PAGE_H_INCLUDED

#include "faultloc/node/watch.h"

/*
 * What the own node's ranks say of their waits when they are asked, by the areas of the board
 * (board/wait_area.h): the callback `waits` of the core.  A rank may write into its area by
 * mistake, so its page is copied, and believed only if every number is within its bounds.
 */

struct faultloc_wait_asked {
    uint32_t look; /* the core's number */
    uint32_t number; /* the area's: a successor's looks begin anew; 0: never asked */
    uint64_t call, polls; /* of the slot, when it was asked */
    ftree_time patience; /* so long it may be outside MPI */
    ftree_time at;
};

struct faultloc_wait_page {
    const struct faultloc_watch *watch;
    const struct ftree_job *job;
    int32_t self; /* this node */
    struct faultloc_wait_asked *asked; /* [slots], the caller's, zeroed */
    struct waits_page page; /* the copy */
};

/* Purpose: what local rank i says at look number `look`, as the core's callback asks for it; *page
 * is w->page where it is READY.  Of more than WAITS_PEERS_MAX ranks in `with` the first are asked
 * about.  The page that a rank wrote when it called MPI_Finalize, where it did, is the answer to
 * all later looks.  UNABLE: the rank has left or is gone, or has been outside MPI for 10 ms since
 * it was asked (a loop around MPI_Test leaves MPI all the time), or for 200 ms if it has polled
 * since the question before (such loops may sleep), or what it wrote is no page. */
enum ftree_waits_look faultloc_wait_page_look(struct faultloc_wait_page *w, ftree_time now,
                                              int32_t i, uint32_t look, const int32_t *with,
                                              int32_t n, const struct waits_page **page);

/* Purpose: NULL, or the first thing of a page of `rank` that is out of its bounds.  What is only
 * unprintable or no boolean is set right. */
const char *faultloc_wait_page_check(const struct ftree_job *job, int32_t rank,
                                     struct waits_page *page);

#endif /* FAULTLOC_WAIT_PAGE_H_INCLUDED */
