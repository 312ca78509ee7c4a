/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/waits/classes.h"

#include "ftree/waits/waits_int.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(WAITS_NAME_MAX <= FTREE_WAITING_NAME_MAX, "a communicator's name fits");

/* ---- of one rank ----------------------------------------------------------------------------- */

static const struct waits_record *first_waiting(const struct waits_record *record, int32_t records)
{
    for (int32_t i = 0; i < records; i++)
        if (record[i].state == WAITS_WAITING)
            return &record[i];
    return records > 0 ? record : NULL;
}

static enum ftree_doing doing_of(const struct waits_record *r)
{
    static const enum ftree_doing doing[WAITS_STATE_COUNT] = {
        [WAITS_OUTSIDE] = FTREE_DOES_COMPUTE, [WAITS_INSIDE] = FTREE_DOES_CALL,
        [WAITS_WAITING] = FTREE_DOES_WAIT,    [WAITS_FINALIZING] = FTREE_DOES_CALL,
        [WAITS_FINALIZED] = FTREE_DOES_LEAVE, [WAITS_LOST] = FTREE_DOES_END};

    return r->state == WAITS_OUTSIDE && r->polls ? FTREE_DOES_WAIT : doing[r->state];
}

/* That of the first request which has one with a name. */
static const char *comm_of(const struct waits_record *r)
{
    for (int32_t i = 0; i < r->requests; i++)
        if (r->request[i].comm >= 0 && r->comm[r->request[i].comm].name[0])
            return r->comm[r->request[i].comm].name;
    return "";
}

void ftree_classes_of_record(const struct waits_record *record, int32_t records, ftree_time waiting,
                             struct ftree_rank_class *out)
{
    const struct waits_record *r = first_waiting(record, records);

    *out = (struct ftree_rank_class){.shortest = waiting};
    if (!r)
        return;
    out->state = (uint8_t) doing_of(r);
    out->call = r->call;
    memcpy(out->comm, comm_of(r), strnlen(comm_of(r), WAITS_NAME_MAX - 1));
}

/* ---- adding ---------------------------------------------------------------------------------- */

static int by_what(const struct ftree_rank_class *a, const struct ftree_rank_class *b)
{
    if (a->state != b->state)
        return a->state < b->state ? -1 : 1;
    if (a->call != b->call)
        return a->call < b->call ? -1 : 1;
    return strcmp(a->comm, b->comm);
}

static struct ftree_rank_class *class_of(struct ftree *ft, struct ftree_rank_classes *c,
                                         const struct ftree_rank_class *what)
{
    struct ftree_rank_class *new;

    FTREE_EACH(struct ftree_rank_class, old, *c)
        if (by_what(old, what) == 0)
            return old;
    new = FTREE_PUSH(ft, *c);
    if (!new)
        return NULL;
    new->state = what->state;
    new->call = what->call;
    memcpy(new->comm, what->comm, sizeof(new->comm));
    memcpy(new->on, what->on, sizeof(new->on));
    new->example = INT32_MAX;
    new->shortest = FTREE_NEVER;
    return new;
}

static void count(struct ftree_rank_class *k, int32_t n, int32_t example,
                  const struct ftree_rank_class *what, ftree_time longest)
{
    k->count += n;
    if (example < k->example) {
        k->example = example;
        memcpy(k->on, what->on, sizeof(k->on));
    }
    k->shortest = ftree_min(k->shortest, what->shortest);
    k->longest = ftree_max(k->longest, longest);
}

/* *any is set where it waits for a message of any source. */
static bool add_peers(struct ftree *ft, struct ftree_rank_class *k, const struct waits_record *r,
                      bool *any)
{
    for (int32_t i = 0; i < r->requests; i++) {
        int32_t peer = r->request[i].peer;
        *any = *any || peer == WAITS_ANY;
        if (peer >= 0 && !ftree_spans_add(ft, &k->peers, peer, peer))
            return false;
    }
    return true;
}

bool ftree_classes_add(struct ftree *ft, struct ftree_rank_classes *c,
                       const struct ftree_rank_class *what, int32_t rank,
                       const struct waits_record *record, int32_t records, int32_t peer)
{
    const struct waits_record *r = first_waiting(record, records);
    struct ftree_rank_class *k = class_of(ft, c, what);
    bool any = false;

    if (!k || !ftree_spans_add(ft, &k->ranks, rank, rank))
        return false;
    count(k, 1, rank, what, what->shortest);
    if (r && !add_peers(ft, k, r, &any))
        return false;
    if (!r && peer >= 0 && !ftree_spans_add(ft, &k->peers, peer, peer))
        return false;
    k->any += any;
    return true;
}

/* What found no room in a set may be counted twice. */
static void bound(const struct ftree *ft, int32_t *n)
{
    *n = *n < ft->job->size ? *n : ft->job->size;
}

bool ftree_classes_merge(struct ftree *ft, struct ftree_rank_classes *c,
                         const struct ftree_rank_classes *more)
{
    struct ftree_rank_class *k;

    FTREE_EACH(const struct ftree_rank_class, m, *more) {
        k = class_of(ft, c, m);
        if (!k || !ftree_spans_merge(ft, &k->ranks, &m->ranks) ||
            !ftree_spans_merge(ft, &k->peers, &m->peers))
            return false;
        count(k, m->count, m->example, m, m->longest);
        k->any += m->any;
        bound(ft, &k->count);
        bound(ft, &k->any);
        bound(ft, &k->ranks.count);
        bound(ft, &k->peers.count);
    }
    c->dropped += more->dropped;
    c->dropped_ranks += more->dropped_ranks;
    bound(ft, &c->dropped);
    bound(ft, &c->dropped_ranks);
    return true;
}

/* ---- bounding -------------------------------------------------------------------------------- */

static int by_count(const void *a, const void *b)
{
    const struct ftree_rank_class *x = a, *y = b;

    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return (x->example > y->example) - (x->example < y->example);
}

static void clear(struct ftree *ft, struct ftree_rank_class *k)
{
    ftree_spans_clear(ft, &k->ranks);
    ftree_spans_clear(ft, &k->peers);
}

void ftree_classes_bound(struct ftree *ft, struct ftree_rank_classes *c, int32_t most)
{
    if (c->n > 1)
        qsort(c->items, (size_t) c->n, sizeof(*c->items), by_count);
    while (c->n > most) {
        c->n--;
        c->dropped++;
        c->dropped_ranks += c->items[c->n].count;
        clear(ft, &c->items[c->n]);
    }
}

void ftree_classes_clear(struct ftree *ft, struct ftree_rank_classes *c)
{
    FTREE_EACH(struct ftree_rank_class, k, *c)
        clear(ft, k);
    ftree_alloc(ft, c->items, 0);
    *c = (struct ftree_rank_classes){0};
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static int32_t runs_of(const struct ftree_spans *s, int32_t most)
{
    int32_t runs = 0, step, n;

    for (int32_t i = 0; i < s->n && (most == 0 || runs < most); runs++)
        ftree_spans_run(s, &i, &step, &n);
    return runs;
}

static bool add_run(struct ftree *ft, struct ftree_spans *s, const struct waits_run *run)
{
    if (run->step == 1)
        return ftree_spans_add(ft, s, run->first, run->first + run->count - 1);
    for (int32_t i = 0, n = run->first; i < run->count; i++, n += run->step)
        if (!ftree_spans_add(ft, s, n, n))
            return false;
    return true;
}

/* Runs come in ascending order and apart, so that nobody can make this node list more numbers than
 * there are. */
static void read_run(struct wire_codec *c, int32_t most, struct ftree_spans *s)
{
    struct waits_run run = {0};

    waits_wire_run(c, &run, most);
    c->bad = c->bad || (s->n > 0 && run.first <= s->items[s->n - 1].last);
    c->nomem = c->nomem || (!c->bad && !add_run(c->ft, s, &run));
}

void ftree_classes_wire_spans(struct wire_codec *c, struct ftree_spans *s, int32_t most,
                              int32_t runs)
{
    int32_t count = s->count, n = c->reads ? 0 : runs_of(s, runs), at = 0;
    struct waits_run run;

    WIRE_WITHIN(c, count, 0, most);
    WIRE_WITHIN(c, n, 0, most);
    for (int32_t i = 0; i < n && !c->bad && !c->nomem; i++) {
        if (c->reads) {
            read_run(c, most, s);
            continue;
        }
        run.first = ftree_spans_run(s, &at, &run.step, &run.count);
        waits_wire_run(c, &run, most);
    }
    if (!c->reads)
        return;
    c->bad |= s->count > count;
    s->count = count;
}

static void wire_class(struct wire_codec *c, struct ftree_rank_class *k, int32_t runs)
{
    int32_t size = c->job->size;

    WIRE_NUMBER(c, k->state, 1, FTREE_DOING_COUNT);
    WIRE_NUMBER(c, k->call, 3, 0);
    ftree_wire_text(c, k->comm, sizeof(k->comm));
    ftree_wire_text(c, k->on, sizeof(k->on));
    WIRE_WITHIN(c, k->count, 1, size);
    WIRE_WITHIN(c, k->example, 0, size - 1);
    WIRE_WITHIN(c, k->any, 0, k->count);
    WIRE_NUMBER(c, k->shortest, 8, FTREE_NEVER);
    WIRE_NUMBER(c, k->longest, 8, FTREE_NEVER);
    ftree_classes_wire_spans(c, &k->ranks, size, runs);
    ftree_classes_wire_spans(c, &k->peers, size, runs);
    c->bad |= c->reads && (k->shortest > k->longest || k->ranks.count != k->count);
}

void ftree_classes_wire(struct wire_codec *c, struct ftree_rank_classes *all, int32_t runs)
{
    struct ftree_rank_class *k;
    int32_t n = all->n;

    WIRE_WITHIN(c, n, 0, FTREE_CLASSES_MAX);
    WIRE_WITHIN(c, all->dropped, 0, c->job->size);
    WIRE_WITHIN(c, all->dropped_ranks, 0, c->job->size);
    for (int32_t i = 0; i < n && (k = WIRE_ITEM(c, *all, i)); i++)
        wire_class(c, k, runs);
}
