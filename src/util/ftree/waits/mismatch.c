/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/waits/waits_int.h"

#include <stdlib.h>
#include <string.h>

/*
 * Collectives that do not match.  The n-th collective of a communicator must be the same for all of
 * its members, in all that waits_collective has.  Positions are sorted, so those at the n-th are
 * neighbours, and behind them are those at the next one, who have done the n-th before: what
 * somebody is in is compared with both.  That a member is behind, in no collective of that
 * communicator, is a wait for it, and the graph's business.
 */

/* ---- classes --------------------------------------------------------------------------------- */

/* What a rank did at the number that is compared. */
struct part {
    struct waits_collective did;
    int32_t rank;
    bool gone; /* and has begun the next one */
};

static int by_did(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    int order = waits_compare_collectives(&x->did, &y->did);

    return order ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

static void add_class(struct waits_mismatch *m, const struct part *p, int32_t n)
{
    int32_t i = m->classes < WAITS_CLASSES_MAX ? m->classes : WAITS_CLASSES_MAX - 1;

    m->classes++;
    if (m->classes > WAITS_CLASSES_MAX && n <= m->class_[i].count)
        return;
    for (; i > 0 && n > m->class_[i - 1].count; i--)
        m->class_[i] = m->class_[i - 1];
    memset(&m->class_[i], 0, sizeof(m->class_[i]));
    m->class_[i].did = p->did;
    m->class_[i].count = n;
    m->class_[i].example = p->rank;
    for (int32_t k = 0; k < n; k++) {
        ftree_ranks_add(&m->class_[i].ranks, p[k].rank, p[k].rank);
        m->class_[i].gone += p[k].gone;
    }
}

static int32_t same_class(const struct part *p, int32_t most)
{
    int32_t n = 1;

    while (n < most && waits_compare_collectives(&p->did, &p[n].did) == 0)
        n++;
    return n;
}

/* ---- positions ------------------------------------------------------------------------------- */

/* How many positions from p on have the same communicator, or number. */
static int32_t same_comm(const struct position *p, int32_t most)
{
    int32_t n = 1;

    while (n < most && key_compare(p->key, p[n].key) == 0)
        n++;
    return n;
}

static int32_t same_number(const struct position *p, int32_t most)
{
    int32_t n = 1;

    while (n < most && p->last.begun == p[n].last.begun)
        n++;
    return n;
}

/* What it did at a number; NULL: that is not known. */
static const struct waits_collective *did(const struct position *p, uint32_t number)
{
    return p->last.begun == number ? &p->last : p->before.begun == number ? &p->before : NULL;
}

/* n positions at the number of the first and the next one. */
static bool all_agree(const struct position *p, int32_t n)
{
    const struct waits_collective *what;

    for (int32_t i = 1; i < n; i++) {
        what = did(&p[i], p->last.begun);
        if (what && waits_compare_collectives(&p->last, what))
            return false;
    }
    return true;
}

static int32_t list_parts(const struct position *p, int32_t n, struct part *part)
{
    int32_t parts = 0;

    for (int32_t i = 0; i < n; i++) {
        const struct waits_collective *what = did(&p[i], p->last.begun);
        if (what)
            part[parts++] = (struct part){*what, p[i].rank, what == &p[i].before};
    }
    qsort(part, (size_t) parts, sizeof(*part), by_did);
    return parts;
}

static int add_mismatch(struct waits *w, const struct position *p, int32_t n, int32_t told)
{
    struct waits_mismatch *m = FTREE_PUSH(w->ft, w->mismatches);
    struct part *part = m ? ftree_alloc(w->ft, NULL, (size_t) n * sizeof(*part)) : NULL;
    const struct waits_comm *c = ftree_waits_comm(w, p->key);
    int32_t parts, class_;

    if (!part)
        return FTREE_ERR_NOMEM;
    m->comm = p->key;
    m->size = c ? c->size : 0;
    m->told = told;
    parts = list_parts(p, n, part);
    for (int32_t i = 0; i < parts; i += class_) {
        class_ = same_class(part + i, parts - i);
        add_class(m, part + i, class_);
    }
    ftree_alloc(w->ft, part, 0);
    return FTREE_OK;
}

/* The positions of one communicator, n of them. */
static int find_in_comm(struct waits *w, const struct position *p, int32_t n)
{
    int32_t same, both;

    for (int32_t i = 0; i < n; i += same) {
        same = both = same_number(p + i, n - i);
        if (p[i].last.begun == 0)
            continue;
        if (i + same < n && p[i + same].last.begun == p[i].last.begun + 1)
            both += same_number(p + i + same, n - i - same);
        if (!all_agree(p + i, both))
            return add_mismatch(w, p + i, both, n);
    }
    return FTREE_OK;
}

int waits_find_mismatches(struct waits *w)
{
    int32_t n;
    int rc = FTREE_OK;

    for (int32_t i = 0; i < w->positions.n && !rc; i += n) {
        n = same_comm(&w->positions.items[i], w->positions.n - i);
        rc = find_in_comm(w, &w->positions.items[i], n);
    }
    return rc;
}

bool ftree_waits_mismatch_at(const struct waits *w, int32_t i, struct waits_mismatch *m)
{
    if (i < 0 || i >= w->mismatches.n)
        return false;
    *m = w->mismatches.items[i];
    return true;
}
