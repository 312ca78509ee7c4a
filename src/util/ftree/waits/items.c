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

#define ENTRY_BYTES \
    (1 + 15 + 5 + 6 + TERMS_MAX * (2 + 14 + 5 + 5)) /* run, head, end or core, terms */
_Static_assert(ENTRY_BYTES <= WAITS_ITEM_BYTES, "the largest wait is an item");
_Static_assert(1 + 19 + WAITS_NAME_MAX + 5 + 15 * WAITS_RUNS_MAX <= WAITS_ITEM_BYTES,
               "and so is the largest communicator");

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
        bool is_of_comm =
            t->type == TERM_ANY || t->type == TERM_ALL || t->type == TERM_FIRST;
        int32_t comm = is_of_comm ? waits_find_comm(w, t->key) : FTREE_NONE;
        if (comm != FTREE_NONE)
            w->comm_goes_up[comm] = true;
    }
}

/* A communicator of which all have spoken, and nobody undecided waits for it, was dealt with
 * here, unless the other ranks of the job must tell who is odd. */
int waits_choose_comms(struct waits *w)
{
    w->comm_goes_up = ftree_alloc(w->ft, NULL, (size_t) w->comms.n + 1);
    if (!w->comm_goes_up)
        return FTREE_ERR_NOMEM;
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
    return FTREE_OK;
}

static bool goes_up(const struct waits *w, struct waits_key key)
{
    int32_t comm = waits_find_comm(w, key);

    return comm == FTREE_NONE || w->comm_goes_up[comm];
}

/* ---- runs of ranks --------------------------------------------------------------------------- */

/* Numbers of an entry that may be the same in a run, or go with the rank: the ranks in its terms,
 * or its core.  Bit 0 is the first. */
struct shape {
    uint32_t fixed, moves;
    int32_t step;
};

static bool same_term(const struct term *a, const struct term *b)
{
    return a->type == b->type && a->number == b->number && key_compare(a->key, b->key) == 0;
}

static bool same_kind(const struct waits *w, const struct entry *a, const struct entry *b)
{
    if (sent_as(a) != sent_as(b) || a->told != b->told ||
        a->thread != b->thread || a->threads != b->threads)
        return false;
    if (sent_as(a) != WAITS_UNDECIDED)
        return true;
    if (a->mode != b->mode || a->polls != b->polls || a->terms != b->terms)
        return false;
    for (int32_t i = 0; i < a->terms; i++)
        if (!same_term(&w->terms.items[a->term + i], &w->terms.items[b->term + i]))
            return false;
    return true;
}

/* The i-th of these numbers. */
static int32_t number_of(const struct waits *w, const struct entry *e, int32_t i)
{
    return sent_as(e) == WAITS_UNDECIDED ? w->terms.items[e->term + i].rank : e->of;
}

static int32_t numbers_of(const struct entry *e)
{
    return sent_as(e) == WAITS_UNDECIDED ? e->terms : 1;
}

/* Whether b continues the run that begins with a. */
static bool joins(const struct waits *w, const struct entry *a, const struct entry *b,
                  struct shape *shape)
{
    struct shape s = *shape;

    if (!same_kind(w, a, b))
        return false;
    for (int32_t i = 0; i < numbers_of(a); i++) {
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

/* ---- writing --------------------------------------------------------------------------------- */

static void put_number_of(struct wire_codec *out, const struct entry *e, int32_t number,
                          const struct shape *shape, int32_t i)
{
    bool moves = !(shape->fixed >> i & 1);

    ftree_wire_number(out, moves, 1, 0);
    ftree_put_signed(out, moves ? (int64_t) number - e->rank : number);
}

static void put_term(struct wire_codec *out, const struct waits *w, const struct entry *e,
                     int32_t i, const struct shape *shape)
{
    const struct term *t = &w->terms.items[e->term + i];

    ftree_wire_number(out, t->type, 1, 0);
    if (waits_has_rank(t->type))
        put_number_of(out, e, t->rank, shape, i);
    if (t->type == TERM_ANY || t->type == TERM_ALL || t->type == TERM_FIRST)
        waits_put_key(out, t->key);
    if (t->type == TERM_ALL || t->type == TERM_FIRST)
        ftree_put_number(out, t->number);
}

#define HAS_THREADS 0x80
#define POLLS 0x40

static void put_head(struct wire_codec *out, const struct entry *e)
{
    bool polls = e->polls && sent_as(e) == WAITS_UNDECIDED;

    ftree_wire_number(out, sent_as(e) | (e->threads > 1 ? HAS_THREADS : 0u) | (polls ? POLLS : 0u),
                      1, 0);
    if (e->threads <= 1)
        return;
    ftree_wire_number(out, e->thread, 1, 0);
    ftree_wire_number(out, e->threads, 1, 0);
}

/* Returns how many entries are in it. */
static int32_t put_ranks(struct wire_codec *out, const struct waits *w, int32_t at)
{
    const struct entry *e = &w->entries.items[at];
    struct shape shape;
    struct waits_run run = {.first = e->rank, .count = run_length(w, at, &shape)};

    run.step = shape.step;
    ftree_wire_number(out, ITEM_RANKS, 1, 0);
    waits_put_run(out, &run);
    put_head(out, e);
    if (sent_as(e) == WAITS_DONE) {
        ftree_wire_number(out, e->told, 1, 0);
    } else if (sent_as(e) != WAITS_UNDECIDED) {
        put_number_of(out, e, e->of, &shape, 0);
    } else {
        ftree_wire_number(out, e->mode, 1, 0);
        ftree_put_signed(out, e->terms);
        for (int32_t i = 0; i < e->terms; i++)
            put_term(out, w, e, i, &shape);
    }
    return run.count;
}

static int32_t put_positions(struct wire_codec *out, const struct waits *w, int32_t at)
{
    const struct position *p = &w->positions.items[at];
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
    if (goes_up(w, p->key)) {
        ftree_wire_number(out, ITEM_POSITION, 1, 0);
        waits_put_run(out, &run);
        waits_put_key(out, p->key);
        waits_put_last(out, &p->last, &p->before);
    }
    return run.count;
}

static void put_comm(struct wire_codec *out, const struct waits *w, int32_t at)
{
    if (!w->comm_goes_up[at])
        return;
    ftree_wire_number(out, ITEM_COMM, 1, 0);
    waits_put_members(out, &w->comms.items[at]);
}

/* Appends the item at *from, if it goes up, and moves *from behind it. */
static void put_item(struct wire_codec *out, const struct waits *w, int32_t *from)
{
    int32_t at = *from;

    if (at < w->comms.n) {
        put_comm(out, w, at);
        ++*from;
        return;
    }
    at -= w->comms.n;
    if (at < w->positions.n)
        *from += put_positions(out, w, at);
    else
        *from += put_ranks(out, w, at - w->positions.n);
}

size_t ftree_waits_items(const struct waits *w, int32_t *from, uint8_t *buf, size_t room)
{
    int32_t end = w->comms.n + w->positions.n + w->entries.n, next;
    uint8_t item[WAITS_ITEM_BYTES];
    struct wire_codec out;
    size_t len = 0;

    while (*from < end) {
        next = *from;
        out = (struct wire_codec){.p = item};
        put_item(&out, w, &next);
        if (out.at > room - len)
            break;
        memcpy(buf + len, item, out.at);
        len += out.at;
        *from = next;
    }
    return len;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* A number of an item, for the i-th rank of its run. */
struct number {
    bool moves;
    int64_t value;
};

static struct number get_number(struct wire_codec *r, const struct waits_run *run)
{
    struct number n = {.moves = ftree_wire_number(r, 0, 1, 2) != 0};
    int64_t most = r->job->size - 1, last = run->first + (int64_t) run->step * (run->count - 1);

    n.value =
        n.moves ? ftree_get_within(r, -run->first, most - last) : ftree_get_within(r, 0, most);
    return n;
}

static int32_t value_of(const struct number *n, int32_t rank)
{
    return (int32_t) (n->moves ? rank + n->value : n->value);
}

struct item_term {
    struct term t;
    struct number rank;
};

static void get_term(struct wire_codec *r, const struct waits_run *run, struct item_term *t)
{
    *t = (struct item_term){.t.type = (uint8_t) ftree_wire_number(r, 0, 1, TERM_TYPES)};
    if (waits_has_rank(t->t.type))
        t->rank = get_number(r, run);
    if (t->t.type == TERM_ANY || t->t.type == TERM_ALL || t->t.type == TERM_FIRST)
        t->t.key = waits_get_key(r);
    if (t->t.type == TERM_ALL || t->t.type == TERM_FIRST)
        t->t.number = ftree_get_u32(r);
}

struct item_ranks {
    struct waits_run run;
    uint8_t what, thread, threads, mode;
    bool told, polls;
    struct number of;
    int32_t terms;
    struct item_term term[TERMS_MAX];
};

static void get_head(struct wire_codec *r, struct item_ranks *item)
{
    uint8_t byte = (uint8_t) ftree_wire_number(r, 0, 1, 0);

    item->what = byte & (POLLS - 1);
    item->polls = (byte & POLLS) != 0;
    item->threads = 1;
    if (!(byte & HAS_THREADS))
        return;
    item->thread = (uint8_t) ftree_wire_number(r, 0, 1, WAITS_THREADS_MAX);
    item->threads = (uint8_t) ftree_wire_number(r, 0, 1, 0);
}

static void get_ranks(struct wire_codec *r, struct item_ranks *item)
{
    memset(item, 0, sizeof(*item));
    waits_get_run(r, &item->run);
    get_head(r, item);
    if (item->what == WAITS_SILENT || item->what > WAITS_DONE || item->thread >= item->threads) {
        r->bad = true;
    } else if (item->what == WAITS_DONE) {
        item->told = ftree_wire_number(r, 0, 1, 2) != 0;
        item->of.moves = true;
    } else if (item->what != WAITS_UNDECIDED) {
        item->of = get_number(r, &item->run);
    } else {
        item->of.moves = true;
        item->mode = (uint8_t) ftree_wire_number(r, 0, 1, WAITS_MODE_COUNT);
        item->terms = (int32_t) ftree_get_within(r, 1, TERMS_MAX);
        for (int32_t i = 0; i < item->terms && !r->bad; i++)
            get_term(r, &item->run, &item->term[i]);
    }
}

static int add_rank(struct waits *w, const struct item_ranks *item, int32_t rank)
{
    struct entry *e = waits_put_entry(w, rank, (enum waits_what) item->what);
    int rc = FTREE_OK;

    if (!e)
        return FTREE_ERR_NOMEM;
    e->thread = item->thread;
    e->threads = item->threads;
    e->mode = item->mode;
    e->told = item->told;
    e->polls = item->polls;
    e->of = value_of(&item->of, rank);
    for (int32_t i = 0; i < item->terms && !rc; i++) {
        struct term t = item->term[i].t;
        t.rank =
            waits_has_rank(t.type) ? value_of(&item->term[i].rank, rank) : FTREE_NONE;
        rc = waits_put_term(w, e, &t);
    }
    return rc;
}

static int merge_ranks(struct waits *w, struct wire_codec *r)
{
    struct item_ranks item;
    int rc = FTREE_OK;

    get_ranks(r, &item);
    if (r->bad || w->entries.n + (int64_t) item.run.count > most_entries(w))
        return FTREE_ERR_MALFORMED;
    for (int32_t i = 0; i < item.run.count && !rc; i++)
        rc = add_rank(w, &item, item.run.first + i * item.run.step);
    return rc;
}

static int merge_positions(struct waits *w, struct wire_codec *r)
{
    struct position p;
    struct waits_run run;
    int rc = FTREE_OK;

    waits_get_run(r, &run);
    p.key = waits_get_key(r);
    waits_get_last(r, &p.last, &p.before);
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

    waits_get_members(r, &comm);
    return r->bad ? FTREE_ERR_MALFORMED : waits_put_comm(w, &comm);
}

int ftree_waits_merge(struct waits *w, const uint8_t *bytes, size_t len)
{
    struct wire_codec r = {.reads = true,
                           .p = (uint8_t *) (uintptr_t) bytes,
                           .len = len,
                           .job = w->ft->job};
    int rc = FTREE_OK;

    while (r.at < r.len && !rc) {
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
    return rc;
}
