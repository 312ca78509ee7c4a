/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/waits/waits_int.h"

#include <string.h>

/*
 * What goes up: items, each of which can be understood alone, so that they may be divided among
 * messages anywhere.  Ranks that are in the same situation are one item, a run: ranks at equal
 * distances that wait for the same rank, or each for one at the same distance of itself.  A ring of
 * a thousand ranks is two items, a storm of a million to one rank is one.
 */

enum item {
    ITEM_COMM,
    ITEM_POSITION,
    ITEM_RANKS,
    ITEMS
};

/* ---- what goes up ---------------------------------------------------------------------------- */

/* What it goes up as. */
static uint8_t sent_as(const struct entry *e)
{
    return e->is_open ? WAITS_UNDECIDED : e->what;
}

static void need_comms(struct waits *w, const struct entry *e)
{
    if (sent_as(e) != WAITS_UNDECIDED)
        return;
    for (int32_t i = e->term; i < e->term + e->terms; i++) {
        const struct term *t = &w->terms.items[i];
        int32_t comm = waits_has_comm(t->type) ? waits_find_comm(w, t->key) : FTREE_NONE;
        if (comm != FTREE_NONE)
            w->comm_goes_up[comm] = true;
    }
}

/* A communicator of which all have spoken, and nobody undecided waits for it, was dealt with
 * here, unless the other ranks of the job must tell who is odd. */
bool waits_choose_comms(struct waits *w)
{
    w->comm_goes_up = ftree_alloc(w->ft, NULL, (size_t) w->comms.n + 1);
    if (!w->comm_goes_up)
        return false;
    for (int32_t i = 0; i < w->comms.n; i++) {
        const struct waits_comm *c = &w->comms.items[i];
        int32_t spoken = waits_end_position(w, c->key) - waits_first_position(w, c->key, 0);
        w->comm_goes_up[i] = spoken < c->size;
    }
    FTREE_EACH(const struct entry, e, w->entries)
        need_comms(w, e);
    FTREE_EACH(const struct waits_mismatch, m, w->mismatches)
        if (m->is_tie && waits_find_comm(w, m->comm) != FTREE_NONE)
            w->comm_goes_up[waits_find_comm(w, m->comm)] = true;
    return true;
}

/* ---- runs of ranks --------------------------------------------------------------------------- */

/* Numbers of an entry that may be the same in a run, or go with the rank: the ranks in its terms,
 * or its core.  Bit 0 is the first. */
struct shape {
    uint32_t fixed, moves;
    int32_t step;
};

static bool same_kind(const struct waits *w, const struct entry *a, const struct entry *b)
{
    if (sent_as(a) != sent_as(b) || a->is_core != b->is_core ||
        a->thread != b->thread || a->threads != b->threads)
        return false;
    if (sent_as(a) != WAITS_UNDECIDED)
        return true;
    if (a->mode != b->mode || a->polls != b->polls || a->terms != b->terms)
        return false;
    for (int32_t i = 0; i < a->terms; i++) {
        const struct term *x = &w->terms.items[a->term + i], *y = &w->terms.items[b->term + i];
        if (x->type != y->type || x->number != y->number || key_compare(x->key, y->key))
            return false;
    }
    return true;
}

/* The i-th of these numbers. */
static int32_t number_of(const struct waits *w, const struct entry *e, int32_t i)
{
    return sent_as(e) == WAITS_UNDECIDED ? w->terms.items[e->term + i].rank : e->of;
}

/* Whether b continues the run that begins with a. */
static bool joins(const struct waits *w, const struct entry *a, const struct entry *b,
                  struct shape *shape)
{
    int32_t numbers = sent_as(a) == WAITS_UNDECIDED ? a->terms : 1;
    struct shape s = *shape;

    if (!same_kind(w, a, b))
        return false;
    for (int32_t i = 0; i < numbers; i++) {
        int64_t x = number_of(w, a, i), y = number_of(w, b, i);
        if (x != y)
            s.fixed &= ~(1u << i);
        if (y - x != (int64_t) b->rank - a->rank)
            s.moves &= ~(1u << i);
        if (!((s.fixed | s.moves) >> i & 1))
            return false;
    }
    *shape = s;
    return true;
}

/* How many entries from `at` on are one item. */
static int32_t run_length(const struct waits *w, int32_t at, struct shape *shape)
{
    const struct entry *first = &w->entries.items[at];
    int32_t n = 1;

    *shape = (struct shape){.fixed = ~0u, .moves = ~0u, .step = 1};
    if (at + 1 < w->entries.n)
        shape->step = first[1].rank - first->rank;
    while (at + n < w->entries.n && first[n].rank - first[n - 1].rank == shape->step &&
           joins(w, first, &first[n], shape))
        n++;
    return n;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* A number of an item, for the i-th rank of its run. */
struct number {
    bool moves;
    int64_t value;
};

struct item_term {
    struct term t;
    struct number rank;
};

struct item_ranks {
    struct waits_run run;
    uint8_t what, thread, threads, mode;
    bool is_core, polls;
    struct number of;
    int32_t terms;
    struct item_term term[TERMS_MAX];
};

static void wire_number(struct wire_codec *c, const struct waits_run *run, struct number *n)
{
    int64_t most = c->job->size - 1, last = run->first + (int64_t) run->step * (run->count - 1);

    WIRE_NUMBER(c, n->moves, 1, 2);
    WIRE_WITHIN(c, n->value, n->moves ? -run->first : 0, n->moves ? most - last : most);
}

static void wire_term(struct wire_codec *c, const struct waits_run *run, struct item_term *t)
{
    WIRE_NUMBER(c, t->t.type, 1, TERM_TYPES);
    if (waits_has_rank(t->t.type))
        wire_number(c, run, &t->rank);
    if (waits_has_comm(t->t.type))
        waits_wire_key(c, &t->t.key);
    if (t->t.type == TERM_ALL || t->t.type == TERM_FIRST)
        WIRE_PACKED(c, t->t.number, UINT32_MAX);
}

#define HAS_THREADS 0x80
#define POLLS 0x40

static void wire_head(struct wire_codec *c, struct item_ranks *item)
{
    uint8_t byte = (uint8_t) (item->what | (item->threads > 1 ? HAS_THREADS : 0u) |
                              (item->polls ? POLLS : 0u));

    WIRE_NUMBER(c, byte, 1, 0);
    if (c->reads) {
        item->what = byte & (POLLS - 1);
        item->polls = (byte & POLLS) != 0;
        item->threads = 1;
    }
    if (!(byte & HAS_THREADS))
        return;
    WIRE_NUMBER(c, item->thread, 1, WAITS_THREADS_MAX);
    WIRE_NUMBER(c, item->threads, 1, 0);
}

static void wire_ranks(struct wire_codec *c, struct item_ranks *item)
{
    waits_wire_run(c, &item->run, c->job->size);
    wire_head(c, item);
    if (item->what == WAITS_SILENT || item->what > WAITS_DONE || item->thread >= item->threads) {
        c->bad = true;
    } else if (item->what == WAITS_DONE) {
        WIRE_NUMBER(c, item->is_core, 1, 2);
        item->of.moves = true;
    } else if (item->what != WAITS_UNDECIDED) {
        wire_number(c, &item->run, &item->of);
    } else {
        item->of.moves = true;
        WIRE_NUMBER(c, item->mode, 1, WAITS_MODE_COUNT);
        WIRE_WITHIN(c, item->terms, 1, TERMS_MAX);
        for (int32_t i = 0; i < item->terms && !c->bad; i++)
            wire_term(c, &item->run, &item->term[i]);
    }
}

static void wire_positions(struct wire_codec *c, struct waits_run *run, struct position *p)
{
    waits_wire_run(c, run, c->job->size);
    waits_wire_key(c, &p->key);
    waits_wire_last(c, &p->last, &p->before);
}

/* ---- writing --------------------------------------------------------------------------------- */

static struct number number_in(const struct waits *w, const struct entry *e,
                               const struct shape *shape, int32_t i)
{
    bool moves = !(shape->fixed >> i & 1);

    return (struct number){.moves = moves, .value = number_of(w, e, i) - (moves ? e->rank : 0)};
}

/* Each returns how many entries, or positions, are in it. */
static int32_t put_ranks(struct wire_codec *out, const struct waits *w, int32_t at)
{
    const struct entry *e = &w->entries.items[at];
    bool open = sent_as(e) == WAITS_UNDECIDED;
    struct shape shape;
    struct item_ranks item = {.run = {.first = e->rank, .count = run_length(w, at, &shape)},
                              .what = sent_as(e),
                              .thread = e->thread,
                              .threads = e->threads,
                              .mode = e->mode,
                              .is_core = e->is_core,
                              .polls = e->polls && open,
                              .terms = open ? e->terms : 0};

    item.run.step = shape.step;
    if (!open)
        item.of = number_in(w, e, &shape, 0);
    for (int32_t i = 0; i < item.terms; i++)
        item.term[i] =
            (struct item_term){w->terms.items[e->term + i], number_in(w, e, &shape, i)};
    ftree_wire_number(out, ITEM_RANKS, 1, 0);
    wire_ranks(out, &item);
    return item.run.count;
}

static int32_t put_positions(struct wire_codec *out, const struct waits *w, int32_t at)
{
    struct position *p = &w->positions.items[at];
    int32_t comm;
    struct waits_run run = {.first = p->rank, .step = 1, .count = 1};

    for (; at + run.count < w->positions.n; run.count++) {
        const struct position *next = &p[run.count];
        if (run.count == 1)
            run.step = next->rank - p->rank;
        if (key_compare(p->key, next->key) || next->rank - next[-1].rank != run.step ||
            waits_compare_collectives(&p->last, &next->last) ||
            waits_compare_collectives(&p->before, &next->before))
            break;
    }
    comm = waits_find_comm(w, p->key);
    if (comm == FTREE_NONE || w->comm_goes_up[comm]) {
        ftree_wire_number(out, ITEM_POSITION, 1, 0);
        wire_positions(out, &run, p);
    }
    return run.count;
}

bool ftree_waits_items(const struct waits *w, struct ftree_bytes *bytes)
{
    struct wire_codec out = ftree_wire_writer(w->ft, 0, bytes);

    for (int32_t i = 0; i < w->comms.n; i++)
        if (w->comm_goes_up[i]) {
            ftree_wire_number(&out, ITEM_COMM, 1, 0);
            waits_wire_members(&out, &w->comms.items[i]);
        }
    for (int32_t i = 0; i < w->positions.n;)
        i += put_positions(&out, w, i);
    for (int32_t i = 0; i < w->entries.n;)
        i += put_ranks(&out, w, i);
    return !out.nomem;
}

/* ---- reading --------------------------------------------------------------------------------- */

static int32_t value_of(const struct number *n, int32_t rank)
{
    return (int32_t) (n->moves ? rank + n->value : n->value);
}

static void add_rank(struct waits *w, const struct item_ranks *item, int32_t rank)
{
    struct entry *e = waits_put_entry(w, rank, (enum waits_what) item->what);

    if (!e)
        return;
    e->thread = item->thread;
    e->threads = item->threads;
    e->mode = item->mode;
    e->is_core = item->is_core;
    e->polls = item->polls;
    e->of = value_of(&item->of, rank);
    for (int32_t i = 0; i < item->terms; i++) {
        struct term t = item->term[i].t;
        t.rank =
            waits_has_rank(t.type) ? value_of(&item->term[i].rank, rank) : FTREE_NONE;
        waits_put_term(w, e, &t);
    }
}

static int merge_ranks(struct waits *w, struct wire_codec *r)
{
    struct item_ranks item = {0};

    wire_ranks(r, &item);
    if (r->bad || w->entries.n + (int64_t) item.run.count > most_entries(w))
        return FTREE_ERR_MALFORMED;
    for (int32_t i = 0; i < item.run.count && !w->nomem; i++)
        add_rank(w, &item, item.run.first + i * item.run.step);
    return FTREE_OK;
}

static int merge_positions(struct waits *w, struct wire_codec *r)
{
    struct position p = {0};
    struct waits_run run = {0};
    int rc = FTREE_OK;

    wire_positions(r, &run, &p);
    if (r->bad)
        return FTREE_ERR_MALFORMED;
    for (int32_t i = 0; i < run.count && !rc; i++) {
        p.rank = run.first + i * run.step;
        rc = waits_put_position(w, &p);
    }
    return rc;
}

static int merge_comm(struct waits *w, struct wire_codec *r)
{
    struct waits_comm comm = {0};

    waits_wire_members(r, &comm);
    return r->bad ? FTREE_ERR_MALFORMED : waits_put_comm(w, &comm);
}

int ftree_waits_merge(struct waits *w, const uint8_t *bytes, size_t len)
{
    struct wire_codec r = ftree_wire_reader(w->ft, 0, bytes, len);
    int rc = FTREE_OK;

    while (r.at < r.len && !rc && !w->nomem) {
        switch (ftree_wire_number(&r, 0, 1, ITEMS)) {
            case ITEM_COMM:
                rc = r.bad ? FTREE_ERR_MALFORMED : merge_comm(w, &r);
                break;
            case ITEM_POSITION:
                rc = merge_positions(w, &r);
                break;
            default:
                rc = merge_ranks(w, &r);
                break;
        }
    }
    return w->nomem ? FTREE_ERR_NOMEM : rc;
}
