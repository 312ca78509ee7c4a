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
    switch ((enum waits_state) r->state) {
        case WAITS_OUTSIDE:
            return r->polls ? FTREE_DOES_WAIT : FTREE_DOES_COMPUTE;
        case WAITS_FINALIZED:
            return FTREE_DOES_LEAVE;
        case WAITS_LOST:
            return FTREE_DOES_END;
        case WAITS_WAITING:
            return FTREE_DOES_WAIT;
        default:
            return FTREE_DOES_CALL;
    }
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

#define NUMBER_BYTES 10
#define HEAD_BYTES \
    (1 + 3 + 1 + FTREE_WAITING_NAME_MAX + 1 + FTREE_ON_MAX + 3 * NUMBER_BYTES + 2 * 8)

static int32_t runs_of(const struct ftree_spans *s, int32_t most)
{
    int32_t runs = 0, step, n;

    for (int32_t i = 0; i < s->n && (most == 0 || runs < most); runs++)
        ftree_spans_run(s, &i, &step, &n);
    return runs;
}

bool ftree_classes_put_spans(struct ftree *ft, const struct ftree_spans *s, int32_t most,
                             struct ftree_bytes *out)
{
    uint8_t buf[4 * NUMBER_BYTES];
    struct wire_codec w = {.p = buf};
    int32_t runs = runs_of(s, most), i = 0;

    ftree_put_signed(&w, s->count);
    ftree_put_signed(&w, runs);
    if (!ftree_bytes_append(ft, out, buf, w.at))
        return false;
    for (int32_t r = 0; r < runs; r++) {
        struct waits_run run;
        run.first = ftree_spans_run(s, &i, &run.step, &run.count);
        w.at = 0;
        waits_put_run(&w, &run);
        if (!ftree_bytes_append(ft, out, buf, w.at))
            return false;
    }
    return true;
}

static bool put_class(struct ftree *ft, const struct ftree_rank_class *k, int32_t runs,
                      struct ftree_bytes *out)
{
    uint8_t buf[HEAD_BYTES];
    struct wire_codec w = {.p = buf};

    ftree_wire_number(&w, k->state, 1, 0);
    ftree_wire_number(&w, k->call, 3, 0);
    ftree_wire_text(&w, (char *) (uintptr_t) k->comm, sizeof(k->comm));
    ftree_wire_text(&w, (char *) (uintptr_t) k->on, sizeof(k->on));
    ftree_put_signed(&w, k->count);
    ftree_put_signed(&w, k->example);
    ftree_put_signed(&w, k->any);
    ftree_wire_number(&w, k->shortest, 8, 0);
    ftree_wire_number(&w, k->longest, 8, 0);
    return ftree_bytes_append(ft, out, buf, w.at) &&
           ftree_classes_put_spans(ft, &k->ranks, runs, out) &&
           ftree_classes_put_spans(ft, &k->peers, runs, out);
}

bool ftree_classes_put(struct ftree *ft, const struct ftree_rank_classes *c, int32_t runs,
                       struct ftree_bytes *out)
{
    uint8_t buf[3 * NUMBER_BYTES];
    struct wire_codec w = {.p = buf};

    ftree_put_signed(&w, c->n);
    ftree_put_signed(&w, c->dropped);
    ftree_put_signed(&w, c->dropped_ranks);
    if (!ftree_bytes_append(ft, out, buf, w.at))
        return false;
    FTREE_EACH(const struct ftree_rank_class, k, *c)
        if (!put_class(ft, k, runs, out))
            return false;
    return true;
}

/* Runs come in ascending order and apart, so that nobody can make this node list more numbers than
 * there are. */
static bool get_run(struct ftree *ft, struct wire_codec *c, int32_t most, struct ftree_spans *out)
{
    int64_t least = out->n > 0 ? (int64_t) out->items[out->n - 1].last + 1 : 0;
    int64_t first = ftree_get_within(c, 0, most - 1), n = ftree_get_within(c, 1, most);
    int64_t step = n > 1 ? ftree_get_within(c, 1, most) : 1;

    c->bad |= first < least || first + step * (n - 1) >= most;
    if (c->bad)
        return true;
    if (step == 1)
        return ftree_spans_add(ft, out, (int32_t) first, (int32_t) (first + n - 1));
    for (int64_t i = 0; i < n; i++)
        if (!ftree_spans_add(ft, out, (int32_t) (first + i * step), (int32_t) (first + i * step)))
            return false;
    return true;
}

bool ftree_classes_get_spans(struct ftree *ft, struct wire_codec *c, int32_t most,
                             struct ftree_spans *out)
{
    int32_t count = (int32_t) ftree_get_within(c, 0, most);
    int32_t runs = (int32_t) ftree_get_within(c, 0, most);

    for (int32_t i = 0; i < runs && !c->bad; i++)
        if (!get_run(ft, c, most, out))
            return false;
    c->bad |= out->count > count;
    out->count = count;
    return true;
}

static bool get_class(struct ftree *ft, struct wire_codec *c, struct ftree_rank_class *k)
{
    int32_t size = c->job->size;

    k->state = (uint8_t) ftree_wire_number(c, 0, 1, FTREE_DOING_COUNT);
    k->call = (uint32_t) ftree_wire_number(c, 0, 3, 0);
    ftree_wire_text(c, k->comm, sizeof(k->comm));
    ftree_wire_text(c, k->on, sizeof(k->on));
    k->count = (int32_t) ftree_get_within(c, 1, size);
    k->example = (int32_t) ftree_get_within(c, 0, size - 1);
    k->any = (int32_t) ftree_get_within(c, 0, k->count);
    k->shortest = ftree_wire_number(c, 0, 8, FTREE_NEVER);
    k->longest = ftree_wire_number(c, 0, 8, FTREE_NEVER);
    if (!ftree_classes_get_spans(ft, c, size, &k->ranks) ||
        !ftree_classes_get_spans(ft, c, size, &k->peers))
        return false;
    c->bad |= k->shortest > k->longest || k->ranks.count != k->count;
    return true;
}

bool ftree_classes_get(struct ftree *ft, struct wire_codec *c, struct ftree_rank_classes *out)
{
    int32_t n = (int32_t) ftree_get_within(c, 0, FTREE_CLASSES_MAX);
    struct ftree_rank_class *k;

    out->dropped = (int32_t) ftree_get_within(c, 0, c->job->size);
    out->dropped_ranks = (int32_t) ftree_get_within(c, 0, c->job->size);
    for (int32_t i = 0; i < n && !c->bad; i++) {
        k = FTREE_PUSH(ft, *out);
        if (!k || !get_class(ft, c, k))
            return false;
    }
    return true;
}
