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
 * communicator, is a wait for it, and the graph's business; unless it has called MPI_Finalize: then
 * it has made fewer than those who are blocked.
 *
 * Numbers say who is odd: the fewer are.  Where two are as many, those are who others wait
 * for elsewhere; or, as MPI_Finalize is for all ranks of the job, the fewer of these.
 */

/* ---- classes --------------------------------------------------------------------------------- */

/* What a rank did at the number that is compared. */
struct part {
    struct waits_collective did;
    int32_t rank;
    bool gone; /* and has begun the next one */
    bool runs; /* it does not wait: it may not answer when it is asked */
    bool done; /* it has called MPI_Finalize, and this was its last */
};

static int compare_parts(const struct part *x, const struct part *y)
{
    return x->done != y->done ? x->done - y->done : waits_compare_collectives(&x->did, &y->did);
}

static int by_did(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    int order = compare_parts(x, y);

    return order ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

/* FTREE_NONE: it is not known, or there is none. */
static int32_t root_of(const struct waits_comm *c, int32_t root)
{
    bool is_known = c && c->runs == 1 && c->run[0].first == c->key.first && root >= 0 &&
                    root < c->run[0].count;

    return is_known ? c->run[0].first + root * c->run[0].step : FTREE_NONE;
}

/* The first of those that are most likely in it still; a root may leave when no other does. */
static int32_t choose_example(const struct waits_comm *c, const struct part *p, int32_t n)
{
    int32_t root = root_of(c, p->did.root), best = 0, least = INT32_MAX;

    for (int32_t k = 0; k < n; k++) {
        int32_t worth = 4 * p[k].runs + 2 * p[k].gone + (p[k].rank == root);
        if (worth < least)
            best = k;
        least = worth < least ? worth : least;
    }
    return p[best].rank;
}

static void add_class(struct waits_mismatch *m, const struct waits_comm *c, const struct part *p,
                      int32_t n)
{
    int32_t i = m->classes < WAITS_CLASSES_MAX ? m->classes : WAITS_CLASSES_MAX - 1;

    m->classes++;
    if (m->classes > WAITS_CLASSES_MAX && n <= m->class_[i].count)
        return;
    for (; i > 0 && n > m->class_[i - 1].count; i--)
        m->class_[i] = m->class_[i - 1];
    memset(&m->class_[i], 0, sizeof(m->class_[i]));
    m->class_[i].comm = m->comm;
    m->class_[i].did = p->did;
    m->class_[i].done = p->done;
    m->class_[i].count = n;
    m->class_[i].example = choose_example(c, p, n);
    for (int32_t k = 0; k < n; k++) {
        ftree_ranks_add(&m->class_[i].ranks, p[k].rank, p[k].rank);
        m->class_[i].gone += p[k].gone;
    }
}

static void add_classes(struct waits_mismatch *m, const struct waits_comm *c, struct part *part,
                        int32_t parts)
{
    int32_t class_;

    qsort(part, (size_t) parts, sizeof(*part), by_did);
    for (int32_t i = 0; i < parts; i += class_) {
        class_ = 1;
        while (i + class_ < parts && compare_parts(&part[i], &part[i + class_]) == 0)
            class_++;
        add_class(m, c, part + i, class_);
    }
}

/* ---- positions ------------------------------------------------------------------------------- */

/* How many positions from p on have the same number. */
static int32_t same_number(const struct position *p, int32_t most)
{
    int32_t n = 1;

    while (n < most && p->last.begun == p[n].last.begun)
        n++;
    return n;
}

/* n positions at the number of the first and the next one. */
static bool all_agree(const struct position *p, int32_t n)
{
    const struct waits_collective *what;

    for (int32_t i = 1; i < n; i++) {
        what = waits_did(&p[i], p->last.begun);
        if (what && waits_compare_collectives(&p->last, what))
            return false;
    }
    return true;
}

static enum waits_what what_is(const struct waits *w, int32_t rank)
{
    int32_t of;

    return ftree_waits_of(w, rank, &of);
}

static int32_t list_different(const struct waits *w, const struct position *p, int32_t n,
                              struct part *part)
{
    int32_t parts = 0;

    for (int32_t i = 0; i < n; i++) {
        const struct waits_collective *what = waits_did(&p[i], p->last.begun);
        if (what)
            part[parts++] = (struct part){.did = *what,
                                          .rank = p[i].rank,
                                          .gone = what == &p[i].before,
                                          .runs = what_is(w, p[i].rank) == WAITS_SILENT};
    }
    return parts;
}

/* The first that somebody has begun who is blocked, and that a member lacks who has called
 * MPI_Finalize; 0: there is none. */
static uint32_t first_lacked(const struct waits *w, const struct position *p, int32_t n)
{
    const struct position *least = NULL;

    for (int32_t i = 0; i < n; i++) {
        if (!least && what_is(w, p[i].rank) == WAITS_DONE)
            least = &p[i];
        else if (least && p[i].last.begun > least->last.begun &&
                 what_is(w, p[i].rank) == WAITS_BLOCKED)
            return p[i].last.begun;
    }
    return 0;
}

/* Those who lack it, and those who have begun it; who may still come is neither. */
static int32_t list_uneven(const struct waits *w, const struct position *p, int32_t n,
                           uint32_t number, struct part *part)
{
    int32_t parts = 0;

    for (int32_t i = 0; i < n; i++) {
        bool begun = p[i].last.begun >= number, done = what_is(w, p[i].rank) == WAITS_DONE;
        const struct waits_collective *what = begun ? waits_did(&p[i], number) : NULL;
        if (begun == done)
            continue;
        part[parts++] = (struct part){.did = what ? *what : p[i].last,
                                      .rank = p[i].rank,
                                      .gone = begun && p[i].last.begun > number,
                                      .runs = what_is(w, p[i].rank) == WAITS_SILENT,
                                      .done = done};
    }
    return parts;
}

/* ---- who is odd ------------------------------------------------------------------------------ */

#define TIES_MAX 16 /* that are looked at: each takes a walk through all ranks */

/* Ranks of which anything is known, and how many of them have called MPI_Finalize. */
static int32_t count_known(const struct waits *w, int32_t *done)
{
    int32_t known = 0;

    *done = 0;
    FTREE_EACH(const struct entry, e, w->entries) {
        known += e->thread == 0;
        *done += e->what == WAITS_DONE;
    }
    return known;
}

int32_t ftree_waits_class_of(const struct waits_mismatch *m, int32_t rank)
{
    for (int32_t i = 0; i < m->classes && i < WAITS_CLASSES_MAX; i++)
        if (ftree_ranks_has(&m->class_[i].ranks, rank))
            return i;
    return FTREE_NONE;
}

/* The class of which others want something who are in none: its ranks are not where they should
 * be.  FTREE_NONE: there is no such class, or more than one. */
static int32_t class_waited_for(const struct waits *w, const struct waits_mismatch *m)
{
    int32_t found = FTREE_NONE;

    FTREE_EACH(const struct entry, e, w->entries) {
        if (e->terms == 0 || ftree_waits_class_of(m, e->rank) != FTREE_NONE)
            continue;
        for (int32_t i = e->term; i < e->term + e->terms; i++) {
            const struct term *t = &w->terms.items[i];
            int32_t in = waits_has_rank(t->type) ? ftree_waits_class_of(m, t->rank) : FTREE_NONE;
            if (in != FTREE_NONE && found != FTREE_NONE && in != found)
                return FTREE_NONE;
            found = in != FTREE_NONE ? in : found;
        }
    }
    return found;
}

static void add_odd(struct waits_mismatch *m, int32_t class_)
{
    ftree_ranks_merge(&m->odd, &m->class_[class_].ranks);
}

/* All but the many, if these are more than any other class. */
static void find_odd_different(const struct waits *w, struct waits_mismatch *m)
{
    int32_t only = FTREE_NONE;

    m->is_tie = m->classes > 1 && m->class_[0].count == m->class_[1].count;
    m->is_settled =
        m->classes < 2 || m->class_[0].count >= m->class_[1].count + m->silent + m->is_tie;
    if (m->is_tie && w->mismatches.n <= TIES_MAX)
        only = class_waited_for(w, m);
    for (int32_t i = m->is_tie ? 0 : 1; i < m->classes && i < WAITS_CLASSES_MAX; i++)
        if (only == FTREE_NONE || i == only)
            add_odd(m, i);
}

/* Those who have called MPI_Finalize, so many of so many, against all others, also those who may
 * still come.  0: nobody knows, as long as `silent` ranks may have done either; 1: they are odd; -1:
 * the others are. */
static int vote(int32_t done, int32_t silent, int32_t size)
{
    return 2 * done > size ? -1 : 2 * (done + silent) < size;
}

static void find_odd_uneven(const struct waits *w, struct waits_mismatch *m, int32_t done)
{
    int32_t size = m->size > 0 ? m->size : m->reported, known;
    int odd = vote(done, m->silent, size);

    m->is_settled = odd != 0;
    m->is_tie = 2 * done == size;
    if (m->is_tie && w->mismatches.n <= TIES_MAX) {
        known = count_known(w, &done);
        size = w->ft->job->size;
        odd = vote(done, size - known, size);
    } else if (odd == 0) {
        odd = vote(done, 0, m->reported); /* of those that have spoken */
    }
    for (int32_t i = 0; i < m->classes && i < WAITS_CLASSES_MAX; i++)
        if (odd == 0 || m->class_[i].done == (odd > 0))
            add_odd(m, i);
}

static void find_odd(const struct waits *w, struct waits_mismatch *m, const struct part *part,
                     int32_t parts)
{
    int32_t done = 0;

    m->silent = m->size > 0 ? m->size - m->reported : 1;
    for (int32_t i = 0; i < parts; i++)
        done += part[i].done;
    if (m->how == WAITS_DIFFER_COUNT)
        find_odd_uneven(w, m, done);
    else
        find_odd_different(w, m);
    if (m->is_tie && w->mismatches.n <= TIES_MAX)
        m->silent = w->ft->job->size - count_known(w, &done);
}

/* ---- mismatches ------------------------------------------------------------------------------ */

/* Who goes on, and has not come to that number, may yet do so, and make others the odd ones. */
static int32_t count_reported(const struct waits *w, const struct position *p, int32_t n,
                              uint32_t number)
{
    int32_t reported = 0;

    for (int32_t i = 0; i < n; i++)
        reported += p[i].last.begun >= number || what_is(w, p[i].rank) != WAITS_SILENT;
    return reported;
}

/* Of n positions of one communicator, `reported` of which are known.  lacked: the number that some
 * lack, 0: what differs are those at the number of the first. */
static void add_mismatch(struct waits *w, const struct position *p, int32_t n, int32_t reported,
                         uint32_t lacked)
{
    struct waits_mismatch *m = FTREE_PUSH(w->ft, w->mismatches);
    struct part *part = m ? ftree_alloc(w->ft, NULL, (size_t) n * sizeof(*part)) : NULL;
    const struct waits_comm *c = ftree_waits_comm(w, p->key);
    int32_t parts;

    if (!part) {
        w->nomem = true;
        return;
    }
    m->how = lacked ? WAITS_DIFFER_COUNT : WAITS_DIFFER;
    m->comm = p->key;
    m->size = c ? c->size : 0;
    m->reported = reported;
    parts = lacked ? list_uneven(w, p, n, lacked, part) : list_different(w, p, n, part);
    add_classes(m, c, part, parts);
    find_odd(w, m, part, parts);
    ftree_alloc(w->ft, part, 0);
}

/* The positions of one communicator, n of them. */
static void find_in_comm(struct waits *w, const struct position *p, int32_t n)
{
    int32_t same, both;
    uint32_t lacked;

    for (int32_t i = 0; i < n; i += same) {
        same = both = same_number(p + i, n - i);
        if (p[i].last.begun == 0)
            continue;
        if (i + same < n && p[i + same].last.begun == p[i].last.begun + 1)
            both += same_number(p + i + same, n - i - same);
        if (all_agree(p + i, both))
            continue;
        add_mismatch(w, p + i, both, count_reported(w, p, n, p[i].last.begun), 0);
        return;
    }
    lacked = ftree_waits_is_lock(p->key) ? 0 : first_lacked(w, p, n);
    if (lacked)
        add_mismatch(w, p, n, count_reported(w, p, n, lacked), lacked);
}

bool waits_find_mismatches(struct waits *w)
{
    int32_t n;

    for (int32_t i = 0; i < w->positions.n; i += n) {
        n = waits_end_position(w, w->positions.items[i].key) - i;
        find_in_comm(w, &w->positions.items[i], n);
    }
    return !w->nomem;
}

bool ftree_waits_mismatch_at(const struct waits *w, int32_t i, struct waits_mismatch *m)
{
    if (i < 0 || i >= w->mismatches.n)
        return false;
    *m = w->mismatches.items[i];
    return true;
}
