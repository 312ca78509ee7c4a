/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_RESENDS_H_INCLUDED
#define FAULTLOC_RESENDS_H_INCLUDED

#include "faultloc/board/board.h"
#include "faultloc/net/delivery.h"

#include "ftree/base/symptom.h"

/*
 * Packets that were lost, as kernels say that send them again.  A link that loses some slows a job
 * although no rank ever waits for long.  At each look numbers of the node are read; only where they
 * have grown are the ranks' own connections asked for which node that was.  One to which packets are
 * lost at two looks, within a few seconds, is a symptom, after which packets are counted
 * (examine/burst.c): no more than a question, for healthy networks lose some, too.
 *
 * Source: the line Tcp of /proc/net/snmp, RetransSegs and OutSegs; net/delivery.h.
 */

#define FAULTLOC_RESENDS_NODES 8

struct faultloc_resends {
    const struct faultloc_board *board;
    const char *proc_root; /* NULL: /proc */
    uint64_t all, sent; /* of the node, at the last look: sent again, and in all */
    bool known; /* they are */
    struct faultloc_sent *total; /* [3 * nodes]: of now, of the look before, and when one was counted
                                  * last; NULL: not asked yet */
    bool open; /* some may turn out not to be lost */
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

/* Purpose: what more was lost to a node, from the totals of this look and of the one before, and is no
 * exception; 0: nothing.  *counted: the totals when something was counted last.  What the other end may
 * still say that it had already is not counted: it has said so by the next look. */
uint32_t faultloc_resends_more(const struct faultloc_sent *now, const struct faultloc_sent *before,
                               struct faultloc_sent *counted);

/* Purpose: so many more to the node were lost; true: that is a symptom. */
bool faultloc_resends_add(struct faultloc_resends *r, ftree_time now, int32_t node, uint32_t more,
                          struct ftree_symptom *s);

#endif /* FAULTLOC_RESENDS_H_INCLUDED */
