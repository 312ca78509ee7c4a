/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/waits/waits_int.h"

#include <stdlib.h>
#include <string.h>

/* A reduction: what is known of ranks and communicators, from the own records and from below. */

/* ---- adding ---------------------------------------------------------------------------------- */

int waits_put_comm(struct waits *w, const struct waits_comm *comm)
{
    if (w->comms.n >= WAITS_COMMS_MAX * most_entries(w))
        return FTREE_ERR_MALFORMED;
    w->nomem = w->nomem || !FTREE_ADD(w->ft, w->comms, *comm);
    return FTREE_OK;
}

int waits_put_position(struct waits *w, const struct position *position)
{
    if (w->positions.n >= WAITS_COMMS_MAX * most_entries(w))
        return FTREE_ERR_MALFORMED;
    w->nomem = w->nomem || !FTREE_ADD(w->ft, w->positions, *position);
    return FTREE_OK;
}

struct entry *waits_put_entry(struct waits *w, int32_t rank, enum waits_what what)
{
    struct entry e = {.rank = rank, .threads = 1, .what = what, .of = rank, .term = w->terms.n};

    w->nomem = w->nomem || !FTREE_ADD(w->ft, w->entries, e);
    return w->nomem ? NULL : &w->entries.items[w->entries.n - 1];
}

void waits_put_term(struct waits *w, struct entry *e, const struct term *t)
{
    w->nomem = w->nomem || !FTREE_ADD(w->ft, w->terms, *t);
    e->terms += !w->nomem;
}

/* ---- a record -------------------------------------------------------------------------------- */

/* True if it waits for nothing that waits itself. */
static bool goes_on(const struct waits_request *q)
{
    if (q->kind == WAITS_COLLECTIVE)
        return false; /* positions say that */
    return q->fate == WAITS_COMES || q->fate == WAITS_PEER_LOST || q->kind == WAITS_IO;
}

static struct term collective_term(const struct waits_record *r, const struct waits_request *q)
{
    bool all = q->peer < 0;

    return (struct term){.type = all ? TERM_ALL : TERM_FIRST,
                         .key = r->comm[q->comm].key,
                         .number = q->number,
                         .rank = all ? FTREE_NONE : q->peer};
}

static struct term term_of(const struct waits_record *r, const struct waits_request *q)
{
    if (q->kind == WAITS_COLLECTIVE && q->comm >= 0 && q->number > 0)
        return collective_term(r, q);
    if (q->kind == WAITS_TARGET && q->peer >= 0)
        return (struct term){.type = TERM_TURNS, .rank = q->peer};
    if (q->kind == WAITS_COLLECTIVE || (q->fate != WAITS_OPEN && q->fate != WAITS_NEVER))
        return (struct term){.type = TERM_UNKNOWN};
    if (q->peer >= 0)
        return (struct term){.type = TERM_RANK, .rank = q->peer};
    if (q->peer == WAITS_ANY && q->comm >= 0)
        return (struct term){.type = TERM_ANY, .key = r->comm[q->comm].key};
    return (struct term){.type = TERM_UNKNOWN};
}

static void add_terms(struct waits *w, const struct waits_record *r, struct entry *e)
{
    static const struct term unknown = {.type = TERM_UNKNOWN};
    bool goes = false;

    for (int32_t i = 0; i < r->requests; i++) {
        struct term t = term_of(r, &r->request[i]);
        if (!goes_on(&r->request[i]))
            waits_put_term(w, e, &t);
        else
            goes = true;
    }
    if (r->more || r->requests == 0 || r->mode == WAITS_FOR_NONE)
        waits_put_term(w, e, &unknown);
    if (goes && (e->mode == WAITS_FOR_ONE || e->terms == 0)) {
        e->what = WAITS_FREE;
        w->terms.n -= e->terms;
        e->terms = 0;
    }
}

static void add_wait(struct waits *w, const struct waits_record *r)
{
    struct entry *e = waits_put_entry(w, r->rank, WAITS_UNDECIDED);

    if (!e)
        return;
    e->thread = r->thread;
    e->threads = r->threads > 1 ? r->threads : 1;
    e->polls = r->polls || r->sleepers;
    e->mode = r->mode == WAITS_FOR_ONE ? WAITS_FOR_ONE : WAITS_FOR_ALL;
    add_terms(w, r, e);
    for (int32_t i = 0; i < r->requests; i++)
        if (r->request[i].fate == WAITS_NEVER && r->request[i].peer >= 0)
            waits_put_entry(w, r->request[i].peer, WAITS_DONE);
}

/* What a rank has begun stays begun while it goes on; but a lock may be given back at any time. */
static int add_comms(struct waits *w, const struct waits_record *r, bool goes_on)
{
    int rc = FTREE_OK;

    for (int32_t i = 0; i < r->comms && !rc; i++) {
        const struct waits_comm *c = &r->comm[i];
        struct position p = {c->key, c->last, c->before, r->rank};
        if (goes_on && ftree_waits_is_lock(c->key))
            continue;
        rc = waits_put_comm(w, c);
        if (!rc)
            rc = waits_put_position(w, &p);
    }
    return rc;
}

int ftree_waits_add_done(struct waits *w, int32_t rank)
{
    return waits_put_entry(w, rank, WAITS_DONE) ? FTREE_OK : FTREE_ERR_NOMEM;
}

int ftree_waits_add(struct waits *w, const struct waits_record *r)
{
    bool waits = r->state == WAITS_WAITING;
    bool done = r->state == WAITS_FINALIZING || r->state == WAITS_FINALIZED;
    int rc;

    if (ftree_waits_record_check(w->ft->job, r))
        return FTREE_ERR_INVALID;
    if (waits)
        add_wait(w, r);
    else if (done)
        waits_put_entry(w, r->rank, WAITS_DONE);
    rc = add_comms(w, r, !waits && !done);
    return w->nomem ? FTREE_ERR_NOMEM : rc;
}

/* ---- order ----------------------------------------------------------------------------------- */

static int by_thread(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    WAITS_ORDER(x->thread, y->thread);
    WAITS_ORDER(x->rank, y->rank);
    return 0;
}

/* A rank stands twice where a peer has called MPI_Finalize; what is final comes first. */
static int by_rank(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int order = by_thread(a, b);

    if (order)
        return order;
    WAITS_ORDER(y->what, x->what);
    return y->is_core - x->is_core;
}

static int by_key(const void *a, const void *b)
{
    return key_compare(((const struct waits_comm *) a)->key, ((const struct waits_comm *) b)->key);
}

static int by_position(const void *a, const void *b)
{
    const struct position *x = a, *y = b;
    int order = key_compare(x->key, y->key);

    if (!order)
        order = waits_compare_collectives(&x->last, &y->last);
    if (!order)
        order = waits_compare_collectives(&x->before, &y->before);
    return order ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

int waits_by_member(const void *a, const void *b)
{
    const struct position *x = a, *y = b;
    int order = key_compare(x->key, y->key);

    return order ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

/* What a rank said last of a communicator comes first.  A lock is taken and given back, so that
 * what was said last is not known of it. */
static int by_newest(const void *a, const void *b)
{
    const struct position *x = a, *y = b;
    int order = waits_by_member(a, b);

    return order ? order : waits_compare_collectives(&y->last, &x->last);
}

static bool differ_in_member(const void *a, const void *b)
{
    const struct position *x = a, *y = b;

    return waits_by_member(a, b) ||
           (ftree_waits_is_lock(x->key) && x->last.begun != y->last.begun);
}

void waits_sort_positions(struct waits *w)
{
    if (w->positions.n > 0)
        qsort(w->positions.items, (size_t) w->positions.n, sizeof(*w->positions.items),
              by_position);
}

void waits_sort(struct waits *w)
{
    WAITS_SORT(w->entries, by_rank, by_thread);
    WAITS_SORT(w->comms, by_key, by_key);
    WAITS_SORT(w->positions, by_newest, differ_in_member);
    waits_sort_positions(w);
}

/* ---- finding -------------------------------------------------------------------------------- */

#define FIND(array, wanted, compare) \
    ((array).n == 0 ? NULL \
                    : bsearch(&(wanted), (array).items, (size_t) (array).n, \
                              sizeof(*(array).items), compare))

int32_t waits_find(const struct waits *w, int32_t rank, int32_t thread)
{
    struct entry wanted = {.rank = rank, .thread = (uint8_t) thread};
    const struct entry *e = FIND(w->entries, wanted, by_thread);

    return e ? (int32_t) (e - w->entries.items) : FTREE_NONE;
}

/* Free is better than undecided, and that than blocked. */
static bool is_better(int what, int than)
{
    return what == WAITS_FREE ? than != WAITS_FREE
                              : what == WAITS_UNDECIDED && than == WAITS_BLOCKED;
}

/* Of several threads the one that is best off says what the rank is; one that is not recorded may
 * be well. */
enum waits_what ftree_waits_of(const struct waits *w, int32_t rank, int32_t *of)
{
    static const struct entry unknown = {.what = WAITS_UNDECIDED, .of = FTREE_NONE};
    int32_t first = waits_find(w, rank, 0);
    const struct entry *best = first == FTREE_NONE ? NULL : &w->entries.items[first];

    for (int32_t thread = 1; first != FTREE_NONE && thread < w->entries.items[first].threads;
         thread++) {
        int32_t i = waits_find(w, rank, thread);
        const struct entry *e = i == FTREE_NONE ? &unknown : &w->entries.items[i];
        if (is_better(e->what, best->what))
            best = e;
    }
    *of = best ? best->of : FTREE_NONE;
    return best ? (enum waits_what) best->what : WAITS_SILENT;
}

int32_t waits_find_comm(const struct waits *w, struct waits_key key)
{
    const struct waits_comm *c = ftree_waits_comm(w, key);

    return c ? (int32_t) (c - w->comms.items) : FTREE_NONE;
}

const struct waits_comm *ftree_waits_comm(const struct waits *w, struct waits_key key)
{
    struct waits_comm wanted = {.key = key};

    return FIND(w->comms, wanted, by_key);
}

/* The first position at or behind (key, begun). */
int32_t waits_first_position(const struct waits *w, struct waits_key key, uint32_t begun)
{
    int32_t low = 0, high = w->positions.n;

    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        const struct position *p = &w->positions.items[middle];
        int order = key_compare(p->key, key);
        if (order < 0 || (order == 0 && p->last.begun < begun))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct waits_collective *waits_did(const struct position *p, uint32_t number)
{
    return p->last.begun == number ? &p->last : p->before.begun == number ? &p->before : NULL;
}

int32_t waits_end_position(const struct waits *w, struct waits_key key)
{
    int32_t i = waits_first_position(w, key, UINT32_MAX);

    while (i < w->positions.n && key_compare(w->positions.items[i].key, key) == 0)
        i++; /* those at the last number */
    return i;
}

bool waits_has_member(const struct waits_comm *c, int32_t rank)
{
    for (int32_t i = 0; c && i < c->runs; i++) {
        const struct waits_run *run = &c->run[i];
        int32_t from = rank - run->first;
        if (from >= 0 && from % run->step == 0 && from / run->step < run->count)
            return true;
    }
    return false;
}

bool ftree_waits_core_at(const struct waits *w, int32_t i, struct waits_core *core)
{
    if (i < 0 || i >= w->cores.n)
        return false;
    *core = w->cores.items[i].c;
    core->rank = w->core_ranks.items + w->cores.items[i].first;
    return true;
}

bool ftree_waits_rank_at(const struct waits *w, int32_t i, int32_t *rank)
{
    if (i < 0 || i >= w->entries.n || w->entries.items[i].thread != 0)
        return false;
    *rank = w->entries.items[i].rank;
    return true;
}
