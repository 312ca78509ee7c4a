/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/agent/note.h"

#include "faultloc/node/watch.h"

#include <stdio.h>

void faultloc_note_begin(struct faultloc_note *n, const struct ftree_waiting *w)
{
    n->waiting = *w;
    n->asked = false;
}

static void tell(struct faultloc_note *n)
{
    faultloc_reporter_waiting(n->reporter, &n->waiting);
    n->waiting.count = 0;
}

void faultloc_note_turn(struct faultloc_note *n, ftree_time now)
{
    if (n->waiting.count == 0 || n->asked)
        return;
    n->asked = true;
    if (ftree_query(n->reporter->p->ft, now, FTREE_QUERY_STATUS, NULL, 0, &n->number))
        tell(n);
}

void faultloc_note_answered(struct faultloc_note *n, const struct ftree_query_result *r)
{
    if (n->waiting.count == 0 || !n->asked || r->number != n->number ||
        r->kind != FTREE_QUERY_STATUS)
        return;
    faultloc_note_classes(&n->waiting, &r->classes);
    tell(n);
}

void faultloc_note_classes(struct ftree_waiting *w, const struct ftree_rank_classes *c)
{
    w->classes = 0;
    for (int32_t i = 0; i < c->n && w->classes < FTREE_WAITING_CLASSES_MAX; i++) {
        const struct ftree_rank_class *of = &c->items[i];
        int k = w->classes;

        if (of->state != FTREE_DOES_WAIT)
            continue;
        snprintf(w->class_[k].call, sizeof(w->class_[k].call), "%s",
                 of->call ? faultloc_call_name(of->call) : "MPI");
        snprintf(w->class_[k].comm, sizeof(w->class_[k].comm), "%s", of->comm);
        w->class_[k].count = of->count;
        w->class_[k].example = of->example;
        w->classes++;
    }
}
