/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/base/event.h"

#include <stdio.h>
#include <string.h>

static struct ftree_event *items_of(struct ftree_events *q)
{
    return q->items ? q->items : q->first;
}

static bool grow(struct ftree *ft, struct ftree_events *q)
{
    struct ftree_event *items = ftree_alloc(ft, q->items, 2 * (size_t) q->room * sizeof(*q->items));

    if (!items)
        return false;
    if (!q->items)
        memcpy(items, q->first, sizeof(q->first));
    q->items = items;
    q->room *= 2;
    return true;
}

bool ftree_emit(struct ftree *ft, const struct ftree_event *e)
{
    struct ftree_events *q = ft->events;

    if (q->n == q->room && !grow(ft, q))
        return false;
    items_of(q)[q->n++] = *e;
    return true;
}

void ftree_emit_verdict(struct ftree *ft, const struct ftree_verdict *v)
{
    if (ft->events->has_verdict ||
        !ftree_emit(ft, &(struct ftree_event){.kind = FTREE_EVENT_VERDICT}))
        return;
    ft->events->has_verdict = true;
    ft->events->verdict = *v;
}

void ftree_emit_over(struct ftree *ft, int32_t node, int32_t fln, uint32_t number,
                     const char *format, ...)
{
    struct ftree_event e = {
        .kind = FTREE_EVENT_OVER, .node = node, .by = fln, .number = number};
    va_list args;

    va_start(args, format);
    vsnprintf(e.u.why, sizeof(e.u.why), format, args);
    va_end(args);
    ftree_emit(ft, &e);
}

void ftree_emit_symptom(struct ftree *ft, enum ftree_event_kind kind, const struct ftree_symptom *s)
{
    ftree_emit(ft, &(struct ftree_event){.kind = (uint8_t) kind, .u.symptom = *s});
}

bool ftree_events_wait(const struct ftree *ft)
{
    return ft->events->n > 0;
}

void ftree_events_begin(struct ftree *ft, struct ftree_events *q)
{
    q->n = 0;
    q->room = FTREE_EVENTS_FIRST;
    q->items = NULL;
    q->has_verdict = false;
    ft->events = q;
}

void ftree_events_end(struct ftree *ft)
{
    if (ft->events->items)
        ftree_alloc(ft, ft->events->items, 0);
    ft->events = NULL;
}

bool ftree_events_take(struct ftree *ft, struct ftree_event *e)
{
    struct ftree_events *q = ft->events;

    if (q->n == 0)
        return false;
    *e = items_of(q)[--q->n];
    return true;
}

void ftree_events_turn(struct ftree *ft, int32_t n)
{
    struct ftree_event *a = items_of(ft->events) + n, *b = items_of(ft->events) + ft->events->n - 1;

    for (; a < b; a++, b--) {
        struct ftree_event e = *a;
        *a = *b;
        *b = e;
    }
}
