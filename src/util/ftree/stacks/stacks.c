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

#define NUMBER_BYTES 10
#define CALL_BYTES (2 * NUMBER_BYTES + 3 * 256)

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

static bool put_call(struct ftree *ft, const struct ftree_stack *c, int32_t parent,
                     struct ftree_bytes *out)
{
    uint8_t buf[CALL_BYTES];
    struct wire_codec w = {.p = buf};

    ftree_put_signed(&w, parent);
    ftree_put_signed(&w, c->line);
    ftree_wire_text(&w, (char *) (uintptr_t) c->function, sizeof(c->function));
    ftree_wire_text(&w, (char *) (uintptr_t) c->file, sizeof(c->file));
    ftree_wire_text(&w, (char *) (uintptr_t) c->module, sizeof(c->module));
    return ftree_bytes_append(ft, out, buf, w.at) &&
           ftree_classes_put_spans(ft, &c->ranks, FTREE_STACKS_RUNS, out);
}

static bool put_numbers(struct ftree *ft, int64_t a, int64_t b, struct ftree_bytes *out)
{
    uint8_t buf[2 * NUMBER_BYTES];
    struct wire_codec w = {.p = buf};

    ftree_put_signed(&w, a);
    ftree_put_signed(&w, b);
    return ftree_bytes_append(ft, out, buf, w.at);
}

/* As many as find room; one whose caller found none finds none, for that one was before it.  *kept:
 * their number. */
static bool put_largest(struct ftree *ft, const struct ftree_stacks *s, struct order *order,
                        int32_t *place_of, struct ftree_bytes *out, int32_t *kept)
{
    for (int32_t i = 0; i < s->n; i++) {
        int32_t parent = s->items[i].parent, count = s->items[i].ranks.count;
        if (parent != FTREE_NONE && count > order[parent].count)
            count = order[parent].count; /* sets that are not listed whole are only estimated */
        order[i] = (struct order){count, i};
    }
    qsort(order, (size_t) s->n, sizeof(*order), by_count);
    *kept = 0;
    while (*kept < s->n && *kept < FTREE_STACKS_MAX && out->n < FTREE_STACKS_BYTES - 1024) {
        const struct ftree_stack *c = &s->items[order[*kept].index];
        place_of[order[*kept].index] = *kept;
        if (!put_call(ft, c, c->parent == FTREE_NONE ? FTREE_NONE : place_of[c->parent], out))
            return false;
        ++*kept;
    }
    return true;
}

static bool put_calls(struct ftree *ft, const struct ftree_stacks *s, struct ftree_bytes *out)
{
    struct ftree_bytes calls = {0};
    struct order *order = NULL;
    int32_t *place_of, kept = 0;
    bool whole = true;

    if (s->n > 0) {
        order = ftree_alloc(ft, NULL, (size_t) s->n * (sizeof(*order) + sizeof(*place_of)));
        place_of = (int32_t *) (order + s->n);
        whole = order && put_largest(ft, s, order, place_of, &calls, &kept);
    }
    whole = whole && put_numbers(ft, kept, (int64_t) s->dropped + s->n - kept, out) &&
            ftree_bytes_append(ft, out, calls.items, (size_t) calls.n);
    ftree_alloc(ft, order, 0);
    ftree_alloc(ft, calls.items, 0);
    return whole;
}

static bool put_why(struct ftree *ft, const struct ftree_stacks *s, struct ftree_bytes *out)
{
    uint8_t buf[256];
    struct wire_codec w = {.p = buf};

    ftree_wire_text(&w, (char *) (uintptr_t) s->why, sizeof(s->why));
    return ftree_bytes_append(ft, out, buf, w.at);
}

bool ftree_stacks_put(struct ftree *ft, const struct ftree_stacks *s, struct ftree_bytes *out)
{
    bool whole = put_calls(ft, s, out) &&
                 ftree_classes_put_spans(ft, &s->missing, FTREE_STACKS_RUNS, out) &&
                 put_why(ft, s, out) && put_numbers(ft, s->details, 0, out);

    for (int32_t i = 0; whole && i < s->details; i++)
        whole = put_numbers(ft, s->detail[i].rank, s->detail[i].len, out) &&
                ftree_bytes_append(ft, out, (const uint8_t *) s->detail[i].text,
                                   (size_t) s->detail[i].len);
    return whole;
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool get_call(struct ftree *ft, struct wire_codec *c, struct ftree_stacks *out)
{
    struct ftree_stack *call = FTREE_PUSH(ft, *out);

    if (!call)
        return false;
    call->parent = (int32_t) ftree_get_within(c, FTREE_NONE, out->n - 2);
    call->line = (int32_t) ftree_get_within(c, 0, INT32_MAX);
    ftree_wire_text(c, call->function, sizeof(call->function));
    ftree_wire_text(c, call->file, sizeof(call->file));
    ftree_wire_text(c, call->module, sizeof(call->module));
    return ftree_classes_get_spans(ft, c, c->job->size, &call->ranks);
}

static bool get_detail(struct ftree *ft, struct wire_codec *c, struct ftree_stacks *out)
{
    int32_t rank = (int32_t) ftree_get_within(c, 0, c->job->size - 1);
    int32_t len = (int32_t) ftree_get_within(c, 0, FTREE_DETAIL_BYTES);

    if (c->bad || (size_t) len > c->len - c->at) {
        c->bad = true;
        return true;
    }
    c->at += (size_t) len;
    return ftree_stacks_add_detail(ft, out, rank, c->p + c->at - len, (size_t) len);
}

bool ftree_stacks_get(struct ftree *ft, struct wire_codec *c, struct ftree_stacks *out)
{
    int32_t n = (int32_t) ftree_get_within(c, 0, FTREE_STACKS_MAX);

    out->dropped = (int32_t) ftree_get_within(c, 0, INT32_MAX);
    for (int32_t i = 0; i < n && !c->bad; i++)
        if (!get_call(ft, c, out))
            return false;
    if (!ftree_classes_get_spans(ft, c, c->job->size, &out->missing))
        return false;
    ftree_wire_text(c, out->why, sizeof(out->why));
    n = (int32_t) ftree_get_within(c, 0, FTREE_DETAILS_MAX);
    ftree_get_within(c, 0, 0);
    for (int32_t i = 0; i < n && !c->bad; i++)
        if (!get_detail(ft, c, out))
            return false;
    return true;
}
