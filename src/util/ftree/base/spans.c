/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/base/base.h"

#include <string.h>

/* Sets of nodes or ranks as spans, as many as it takes: what ftree_ranks is not, which is of a
 * fixed size. */

int32_t ftree_spans_listed(const struct ftree_spans *s)
{
    int32_t n = 0;

    for (int32_t i = 0; i < s->n; i++)
        n += s->items[i].last - s->items[i].first + 1;
    return n;
}

/* The first span that ends at `number` or behind it. */
static int32_t place_of(const struct ftree_spans *s, int32_t number)
{
    int32_t low = 0, high = s->n;

    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (s->items[middle].last < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool ftree_spans_has(const struct ftree_spans *s, int32_t number)
{
    int32_t i = place_of(s, number);

    return i < s->n && s->items[i].first <= number;
}

/* In the place of spans from .. to - 1; false: out of memory. */
static bool replace(struct ftree *ft, struct ftree_spans *s, int32_t from, int32_t to,
                    struct ftree_span span)
{
    if (from == to && !FTREE_PUSH(ft, *s))
        return false;
    if (from == to)
        memmove(&s->items[from + 1], &s->items[from],
                (size_t) (s->n - 1 - from) * sizeof(*s->items));
    else
        memmove(&s->items[from + 1], &s->items[to], (size_t) (s->n - to) * sizeof(*s->items));
    s->n -= from == to ? 0 : to - from - 1;
    s->items[from] = span;
    return true;
}

bool ftree_spans_add(struct ftree *ft, struct ftree_spans *s, int32_t first, int32_t last)
{
    int32_t from = place_of(s, first > 0 ? first - 1 : 0), to = from, had = 0;
    struct ftree_span span = {first, last};

    for (; to < s->n && s->items[to].first <= last + 1; to++) {
        had += s->items[to].last - s->items[to].first + 1;
        span.first = s->items[to].first < span.first ? s->items[to].first : span.first;
        span.last = s->items[to].last > span.last ? s->items[to].last : span.last;
    }
    if (!replace(ft, s, from, to, span))
        return false;
    s->count += span.last - span.first + 1 - had;
    return true;
}

void ftree_spans_clear(struct ftree *ft, struct ftree_spans *s)
{
    ftree_alloc(ft, s->items, 0);
    *s = (struct ftree_spans){0};
}

/* Behind the last one, which it may touch; there is room. */
static void append(struct ftree_spans *s, struct ftree_span span)
{
    struct ftree_span *last = s->n > 0 ? &s->items[s->n - 1] : NULL;

    if (last && span.first <= last->last + 1)
        last->last = span.last > last->last ? span.last : last->last;
    else
        s->items[s->n++] = span;
}

bool ftree_spans_merge(struct ftree *ft, struct ftree_spans *s, const struct ftree_spans *more)
{
    int32_t unlisted = s->count - ftree_spans_listed(s) + more->count - ftree_spans_listed(more);
    struct ftree_spans both = {0};
    int32_t a = 0, b = 0;

    if (more->n > 0 && !FTREE_RESERVE(ft, both, s->n + more->n))
        return false;
    while (more->n > 0 && (a < s->n || b < more->n))
        if (b == more->n || (a < s->n && s->items[a].first <= more->items[b].first))
            append(&both, s->items[a++]);
        else
            append(&both, more->items[b++]);
    if (more->n > 0) {
        ftree_spans_clear(ft, s);
        *s = both;
    }
    s->count = ftree_spans_listed(s) + unlisted;
    return true;
}

/* Numbers at equal distances, one run for as many as there are: a span is one at distance 1. */
int32_t ftree_spans_run(const struct ftree_spans *s, int32_t *i, int32_t *step, int32_t *count)
{
    int32_t first = s->items[*i].first, at = *i;

    *step = 1;
    *count = s->items[at].last - first + 1;
    if (*count > 1) {
        ++*i;
        return first;
    }
    while (at + 1 < s->n && s->items[at + 1].first == s->items[at + 1].last &&
           (at == *i || s->items[at + 1].first - s->items[at].first == *step)) {
        *step = at == *i ? s->items[at + 1].first - first : *step;
        at++;
    }
    if (at - *i < 2) { /* two are no sequence */
        at = *i;
        *step = 1;
    }
    *count = at - *i + 1;
    *i = at + 1;
    return first;
}
