/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/waits/waits_int.h"

#include <string.h>

/*
 * Collectives that do not match.  The n-th collective of a communicator must be the same for all of
 * its members, in all that waits_collective has.  Positions are sorted, so ranks in the same one
 * are neighbours: a class.  That a member is behind, in no collective of that communicator, is a
 * wait for it, and the graph's business.
 */

static void add_class(struct waits_mismatch *m, const struct position *p, int32_t n)
{
    int32_t i = m->classes < WAITS_CLASSES_MAX ? m->classes : WAITS_CLASSES_MAX - 1;

    m->classes++;
    if (m->classes > WAITS_CLASSES_MAX && n <= m->class_[i].count)
        return;
    for (; i > 0 && n > m->class_[i - 1].count; i--)
        m->class_[i] = m->class_[i - 1];
    memset(&m->class_[i], 0, sizeof(m->class_[i]));
    m->class_[i].last = p->last;
    m->class_[i].count = n;
    m->class_[i].example = p->rank;
    for (int32_t k = 0; k < n; k++)
        ftree_ranks_add(&m->class_[i].ranks, p[k].rank, p[k].rank);
}

/* How many positions from p on have the same communicator, number or class. */
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

static int32_t same_class(const struct position *p, int32_t most)
{
    int32_t n = 1;

    while (n < most && waits_compare_collectives(&p->last, &p[n].last) == 0)
        n++;
    return n;
}

static void fill_in(const struct waits *w, struct waits_mismatch *m, const struct position *p,
                    int32_t n)
{
    const struct waits_comm *c = ftree_waits_comm(w, p->key);
    int32_t class_;

    m->comm = p->key;
    m->size = c ? c->size : 0;
    for (int32_t i = 0; i < n; i += class_) {
        class_ = same_class(p + i, n - i);
        add_class(m, p + i, class_);
    }
}

/* The positions of one communicator, n of them. */
static int find_in_comm(struct waits *w, const struct position *p, int32_t n)
{
    struct waits_mismatch *m;
    int32_t same;

    for (int32_t i = 0; i < n; i += same) {
        same = same_number(p + i, n - i);
        if (p[i].last.begun == 0 || same_class(p + i, same) == same)
            continue;
        m = FTREE_PUSH(w->ft, w->mismatches);
        if (!m)
            return FTREE_ERR_NOMEM;
        fill_in(w, m, p + i, same);
        m->told = n;
        break;
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
