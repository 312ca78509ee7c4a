/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/waits/waits_int.h"

/* The life of a reduction: its memory, and the steps of reducing in their order. */

struct waits *ftree_waits_create(struct ftree *ft)
{
    struct waits *w = ftree_alloc_zeroed(ft, sizeof(*w));

    if (w)
        w->ft = ft;
    return w;
}

void ftree_waits_destroy(struct waits *w)
{
    if (!w)
        return;
    waits_graph_free(w);
    ftree_alloc(w->ft, w->entries.items, 0);
    ftree_alloc(w->ft, w->terms.items, 0);
    ftree_alloc(w->ft, w->comms.items, 0);
    ftree_alloc(w->ft, w->comm_goes_up, 0);
    ftree_alloc(w->ft, w->positions.items, 0);
    ftree_alloc(w->ft, w->cores.items, 0);
    ftree_alloc(w->ft, w->core_ranks.items, 0);
    ftree_alloc(w->ft, w->mismatches.items, 0);
    ftree_alloc(w->ft, w, 0);
}

int ftree_waits_reduce(struct waits *w, bool is_top)
{
    waits_sort(w);
    return waits_graph_build(w) && waits_decide(w, is_top) && waits_find_mismatches(w) &&
                   waits_choose_comms(w)
               ? FTREE_OK
               : FTREE_ERR_NOMEM;
}

struct waits *ftree_waits_reduced(struct waits *w, bool is_top, int rc)
{
    if (!rc && !ftree_waits_reduce(w, is_top))
        return w;
    ftree_waits_destroy(w);
    return NULL;
}
