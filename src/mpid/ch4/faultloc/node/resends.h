/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_RESENDS_H_INCLUDED
#define FAULTLOC_RESENDS_H_INCLUDED

#include "faultloc/board/board.h"

#include "ftree/base/symptom.h"

/*
 * Packets that kernels send again.  A link that loses some slows a job although no rank ever waits
 * for long.  At each look numbers of the node are read; only where they have grown are the ranks' own
 * connections asked for which node that was.  One to which this happens at three looks, within a few
 * seconds, is a symptom, after which packets are counted (examine/burst.c): no more than a question,
 * for healthy networks lose some, too.
 *
 * Source: the line Tcp of /proc/net/snmp, RetransSegs and OutSegs; net/delivery.h.
 */

#define FAULTLOC_RESENDS_NODES 8

struct faultloc_resends {
    const struct faultloc_board *board;
    const char *proc_root; /* NULL: /proc */
    uint64_t all, sent; /* of the node, at the last look: sent again, and in all */
    bool known; /* they are */
    uint32_t *total; /* [2 * nodes], those of now and of before; NULL: not asked yet */
    ftree_time asked, rest; /* so long not again */
    struct faultloc_resent {
        int32_t node;
        int32_t looks; /* at which there were more */
        uint32_t count;
        ftree_time first, last;
        ftree_time pause, again; /* it is no symptom before, so much later than the last one */
    } seen[FAULTLOC_RESENDS_NODES];
    int32_t n;
};

/* Purpose: one look; true: there is a symptom, *s, of this node. */
bool faultloc_resends_look(struct faultloc_resends *r, ftree_time now, struct ftree_symptom *s);

/* Purpose: so many more were sent to the node again; true: that is a symptom. */
bool faultloc_resends_add(struct faultloc_resends *r, ftree_time now, int32_t node, uint32_t more,
                          struct ftree_symptom *s);

#endif /* FAULTLOC_RESENDS_H_INCLUDED */
