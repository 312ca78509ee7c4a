/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/stacks/stacks.h"

#include "ftree/base/text.h"
#include "ftree/waits/classes.h"
#include "ftree/wire/codec.h"

#include <stdlib.h>
#include <string.h>

/* A call is behind the one that called it, so a tree is read straight through. */

/* ---- adding ---------------------------------------------------------------------------------- */

static bool is_same(const struct ftree_stack *a, const struct ftree_stack *b)
{
    return a->parent == b->parent && a->line == b->line && !strcmp(a->function, b->function) &&
           !strcmp(a->file, b->file) && !strcmp(a->module, b->module);
}

/* Finds the call below its parent, or adds it, without ranks; NULL: out of memory. */
static struct ftree_stack *place(struct ftree *ft, struct ftree_stacks *s,
                                 const struct ftree_stack *call)
{
    struct ftree_stack *new;

    for (int32_t i = call->parent + 1; i < s->n; i++)
        if (is_same(&s->items[i], call))
            return &s->items[i];
    new = FTREE_PUSH(ft, *s);
    if (new) {
        *new = *call;
        new->ranks = (struct ftree_spans){0};
    }
    return new;
}

bool ftree_stacks_add(struct ftree *ft, struct ftree_stacks *s, int32_t rank,
                      const struct ftree_call *call, int32_t n)
{
    struct ftree_stack one = {.parent = FTREE_NONE}, *at;

    for (int32_t i = 0; i < n; i++) {
        const char *slash = call[i].file ? strrchr(call[i].file, '/') : NULL;
        one.line = call[i].line > 0 ? call[i].line : 0;
        ftree_text_copy(one.function, sizeof(one.function), call[i].function);
        ftree_text_copy(one.file, sizeof(one.file), slash ? slash + 1 : call[i].file);
        ftree_text_copy(one.module, sizeof(one.module), call[i].module);
        at = place(ft, s, &one);
        if (!at || !ftree_spans_add(ft, &at->ranks, rank, rank))
            return false;
        one.parent = (int32_t) (at - s->items);
    }
    return true;
}

bool ftree_stacks_add_detail(struct ftree *ft, struct ftree_stacks *s, int32_t rank,
                             const void *text, size_t len)
{
    struct ftree_detail *d;
    char *copy;

    if (s->details == FTREE_DETAILS_MAX || len > FTREE_DETAIL_BYTES)
        return true;
    copy = ftree_alloc(ft, NULL, len + 1);
    if (!copy)
        return false;
    memcpy(copy, text, len);
    copy[len] = '\0';
    d = &s->detail[s->details++];
    *d = (struct ftree_detail){.rank = rank, .text = copy, .len = (int32_t) len};
    return true;
}

/* ---- merging --------------------------------------------------------------------------------- */

static bool merge_calls(struct ftree *ft, struct ftree_stacks *s, const struct ftree_stacks *more,
                        int32_t *place_of)
{
    struct ftree_stack one, *at;

    for (int32_t i = 0; i < more->n; i++) {
        one = more->items[i];
        one.parent = one.parent == FTREE_NONE ? FTREE_NONE : place_of[one.parent];
        at = place(ft, s, &one);
        if (!at || !ftree_spans_merge(ft, &at->ranks, &more->items[i].ranks))
            return false;
        place_of[i] = (int32_t) (at - s->items);
    }
    return true;
}

bool ftree_stacks_merge(struct ftree *ft, struct ftree_stacks *s, const struct ftree_stacks *more)
{
    int32_t *place_of = NULL;
    bool whole;

    if (more->n > 0) {
        place_of = ftree_alloc(ft, NULL, (size_t) more->n * sizeof(*place_of));
        if (!place_of)
            return false;
    }
    whole = merge_calls(ft, s, more, place_of) &&
            ftree_spans_merge(ft, &s->missing, &more->missing);
    ftree_alloc(ft, place_of, 0);
    if (!*s->why)
        memcpy(s->why, more->why, sizeof(s->why));
    s->dropped += more->dropped < INT32_MAX - s->dropped ? more->dropped : 0;
    for (int32_t i = 0; whole && i < more->details; i++)
        whole = ftree_stacks_add_detail(ft, s, more->detail[i].rank, more->detail[i].text,
                                        (size_t) more->detail[i].len);
    return whole;
}

void ftree_stacks_clear(struct ftree *ft, struct ftree_stacks *s)
{
    for (int32_t i = 0; i < s->n; i++)
        ftree_spans_clear(ft, &s->items[i].ranks);
    for (int32_t i = 0; i < s->details; i++)
        ftree_alloc(ft, s->detail[i].text, 0);
    ftree_spans_clear(ft, &s->missing);
    ftree_alloc(ft, s->items, 0);
    *s = (struct ftree_stacks){0};
}

/* ---- bytes ----------------------------------------------------------------------------------- */

struct order {
    int32_t count, index;
};

/* Those of the most ranks first; no call counts more than the one that called it, and is behind
 * it. */
static int by_count(const void *a, const void *b)
{
    const struct order *x = a, *y = b;

    return x->count != y->count ? (x->count < y->count ? 1 : -1)
                                : (x->index > y->index) - (x->index < y->index);
}

static void wire_call(struct wire_codec *c, struct ftree_stack *call, int32_t callers)
{
    WIRE_WITHIN(c, call->parent, FTREE_NONE, callers - 1);
    WIRE_WITHIN(c, call->line, 0, INT32_MAX);
    ftree_wire_text(c, call->function, sizeof(call->function));
    ftree_wire_text(c, call->file, sizeof(call->file));
    ftree_wire_text(c, call->module, sizeof(call->module));
    ftree_classes_wire_spans(c, &call->ranks, c->job->size, FTREE_STACKS_RUNS);
}

/* As many as find room; one whose caller found none finds none, for that one was before it.  Returns
 * their number. */
static int32_t write_largest(struct wire_codec *c, const struct ftree_stacks *s,
                             struct order *order, int32_t *place_of)
{
    int32_t kept = 0;

    for (int32_t i = 0; i < s->n; i++) {
        int32_t parent = s->items[i].parent, count = s->items[i].ranks.count;
        if (parent != FTREE_NONE && count > order[parent].count)
            count = order[parent].count; /* sets that are not listed whole are only estimated */
        order[i] = (struct order){count, i};
    }
    qsort(order, (size_t) s->n, sizeof(*order), by_count);
    for (; kept < s->n && kept < FTREE_STACKS_MAX && c->at < FTREE_STACKS_BYTES - 1024; kept++) {
        struct ftree_stack call = s->items[order[kept].index];
        place_of[order[kept].index] = kept;
        call.parent = call.parent == FTREE_NONE ? FTREE_NONE : place_of[call.parent];
        wire_call(c, &call, kept);
    }
    return kept;
}

static void write_calls(struct wire_codec *c, const struct ftree_stacks *s)
{
    struct ftree_bytes bytes = {0};
    struct wire_codec calls = ftree_wire_writer(c->ft, c->now, &bytes);
    struct order *order = NULL;
    int32_t kept = 0;

    if (s->n > 0) {
        order = ftree_alloc(c->ft, NULL, (size_t) s->n * (sizeof(*order) + sizeof(int32_t)));
        c->nomem = c->nomem || !order;
    }
    if (order)
        kept = write_largest(&calls, s, order, (int32_t *) (order + s->n));
    ftree_wire_within(c, kept, 0, FTREE_STACKS_MAX);
    ftree_wire_within(c, (int64_t) s->dropped + s->n - kept, 0, INT32_MAX);
    ftree_wire_bytes(c, bytes.items, (size_t) bytes.n);
    c->nomem |= calls.nomem;
    ftree_alloc(c->ft, order, 0);
    ftree_alloc(c->ft, bytes.items, 0);
}

static void read_calls(struct wire_codec *c, struct ftree_stacks *s)
{
    int32_t n = (int32_t) ftree_wire_within(c, 0, 0, FTREE_STACKS_MAX);
    struct ftree_stack *call;

    WIRE_WITHIN(c, s->dropped, 0, INT32_MAX);
    for (int32_t i = 0; i < n && (call = WIRE_ITEM(c, *s, i)); i++)
        wire_call(c, call, i);
}

static void wire_detail(struct wire_codec *c, struct ftree_detail *d)
{
    WIRE_WITHIN(c, d->rank, 0, c->job->size - 1);
    WIRE_WITHIN(c, d->len, 0, FTREE_DETAIL_BYTES);
    if (!c->reads)
        ftree_wire_bytes(c, d->text, (size_t) d->len);
    else if (c->bad || (size_t) d->len > c->len - c->at)
        c->bad = true;
}

static void read_detail(struct wire_codec *c, struct ftree_stacks *s)
{
    struct ftree_detail d = {0};

    wire_detail(c, &d);
    if (c->bad)
        return;
    c->nomem = !ftree_stacks_add_detail(c->ft, s, d.rank, c->p + c->at, (size_t) d.len);
    c->at += (size_t) d.len;
}

void ftree_stacks_wire(struct wire_codec *c, struct ftree_stacks *s)
{
    int32_t details = s->details;

    if (c->reads)
        read_calls(c, s);
    else
        write_calls(c, s);
    ftree_classes_wire_spans(c, &s->missing, c->job->size, FTREE_STACKS_RUNS);
    ftree_wire_text(c, s->why, sizeof(s->why));
    WIRE_WITHIN(c, details, 0, FTREE_DETAILS_MAX);
    ftree_wire_within(c, 0, 0, 0);
    for (int32_t i = 0; i < details && !c->bad && !c->nomem; i++)
        if (c->reads)
            read_detail(c, s);
        else
            wire_detail(c, &s->detail[i]);
}
