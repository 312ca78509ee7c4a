/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/query/query.h"

#include "ftree/wire/codec.h"

#include <string.h>

/* What nodes answer: which of them have, what their ranks do, whom they suspect. */

/* ---- adding ---------------------------------------------------------------------------------- */

static void add_suspicion(struct query_answer *a, const struct ftree_suspicion *s)
{
    if (a->suspicions < QUERY_SUSPICIONS)
        a->suspicion[a->suspicions++] = *s;
    else
        a->more_suspicions++;
}

void query_answer_own(struct ftree *ft, ftree_time now, struct query_answer *a)
{
    FTREE_EACH_SUSPECT(su, ft) {
        const struct ftree_suspicion s = {
            .node = su->node,
            .switch_ = su->switch_,
            .by = ft->self,
            .kind = su->symptoms > 0 ? su->symptom[0].kind : FTREE_SYMPTOM_FLOOD_QUERY,
            .age = now > su->first ? now - su->first : 0};
        add_suspicion(a, &s);
    }
    ftree_spans_add(ft, &a->answered, ft->self, ft->self);
}

bool query_answer_merge(struct ftree *ft, struct query_answer *a, const struct query_answer *more)
{
    for (int32_t i = 0; i < more->suspicions; i++)
        add_suspicion(a, &more->suspicion[i]);
    a->more_suspicions += more->more_suspicions;
    if (a->more_suspicions > ft->job->nodes)
        a->more_suspicions = ft->job->nodes;
    return ftree_hang_answer_merge(ft, &a->hang, &more->hang) &&
           query_lags_merge(ft, a, more->lags) &&
           ftree_spans_merge(ft, &a->answered, &more->answered) &&
           ftree_spans_merge(ft, &a->left, &more->left) &&
           ftree_classes_merge(ft, &a->classes, &more->classes) &&
           ftree_stacks_merge(ft, &a->stacks, &more->stacks);
}

/* Level by level: the children of a span of nodes are a span. */
bool query_answer_left(struct ftree *ft, struct query_answer *a, int32_t node)
{
    int32_t first = node, last = node, child, n;

    while (first <= last) {
        int32_t below = INT32_MAX, end = -1;
        if (!ftree_spans_add(ft, &a->left, first, last))
            return false;
        for (int32_t i = first; i <= last; i++) {
            n = ftree_topo_children(ft->topo, i, &child);
            below = n > 0 && child < below ? child : below;
            end = n > 0 && child + n - 1 > end ? child + n - 1 : end;
        }
        first = below;
        last = end;
    }
    return true;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

#define SUSPICION_BYTES (3 * 10 + 1 + 8)

static bool put_suspicions(struct ftree *ft, const struct query_answer *a, struct ftree_bytes *out)
{
    uint8_t buf[2 * 10 + QUERY_SUSPICIONS * SUSPICION_BYTES];
    struct wire_codec w = {.p = buf};

    ftree_put_signed(&w, a->suspicions);
    ftree_put_signed(&w, a->more_suspicions);
    for (int32_t i = 0; i < a->suspicions; i++) {
        const struct ftree_suspicion *s = &a->suspicion[i];
        ftree_put_signed(&w, s->node);
        ftree_put_signed(&w, s->switch_);
        ftree_put_signed(&w, s->by);
        ftree_wire_number(&w, s->kind, 1, 0);
        ftree_wire_number(&w, s->age, 8, 0);
    }
    return ftree_bytes_append(ft, out, buf, w.at);
}

bool query_answer_put(struct ftree *ft, struct query_answer *a, uint8_t kind, bool full,
                      struct ftree_bytes *out)
{
    ftree_classes_bound(ft, &a->classes, full ? FTREE_CLASSES_MAX : QUERY_CLASSES);
    return ftree_classes_put_spans(ft, &a->answered, 0, out) &&
           ftree_classes_put_spans(ft, &a->left, 0, out) && put_suspicions(ft, a, out) &&
           ftree_classes_put(ft, &a->classes, full ? 0 : QUERY_RUNS, out) &&
           (kind != FTREE_QUERY_HANG || query_hang_put(ft, &a->hang, out)) &&
           (kind != FTREE_QUERY_LAG || query_lags_put(ft, a->lags, out)) &&
           (kind != FTREE_QUERY_STACKS || ftree_stacks_put(ft, &a->stacks, out));
}

static void get_suspicions(struct wire_codec *c, struct query_answer *a)
{
    int32_t nodes = c->job->nodes, switches = c->job->tree ? c->job->tree->switches : 0;
    int32_t n = (int32_t) ftree_get_within(c, 0, QUERY_SUSPICIONS);

    a->more_suspicions = (int32_t) ftree_get_within(c, 0, nodes);
    for (int32_t i = 0; i < n && !c->bad; i++) {
        struct ftree_suspicion *s = &a->suspicion[a->suspicions++];
        s->node = (int32_t) ftree_get_within(c, 0, nodes - 1);
        s->switch_ = (int32_t) ftree_get_within(c, FTREE_NONE, switches - 1);
        s->by = (int32_t) ftree_get_within(c, 0, nodes - 1);
        s->kind = (uint8_t) ftree_wire_number(c, 0, 1, FTREE_SYMPTOM_COUNT);
        s->age = ftree_wire_number(c, 0, 8, FTREE_NEVER);
    }
}

int query_answer_get(struct ftree *ft, ftree_time now, uint8_t kind, const uint8_t *bytes,
                     size_t len, struct query_answer *out)
{
    struct wire_codec c = {.reads = true,
                           .p = (uint8_t *) (uintptr_t) bytes,
                           .len = len,
                           .job = ft->job,
                           .now = now};

    memset(out, 0, sizeof(*out));
    if (!ftree_classes_get_spans(ft, &c, ft->job->nodes, &out->answered) ||
        !ftree_classes_get_spans(ft, &c, ft->job->nodes, &out->left))
        return FTREE_ERR_NOMEM;
    get_suspicions(&c, out);
    if (!ftree_classes_get(ft, &c, &out->classes) ||
        (kind == FTREE_QUERY_HANG && !query_hang_get(ft, &c, &out->hang)))
        return FTREE_ERR_NOMEM;
    if ((kind == FTREE_QUERY_STACKS && !ftree_stacks_get(ft, &c, &out->stacks)) ||
        (kind == FTREE_QUERY_LAG && !query_lags_get(ft, &c, out)))
        return FTREE_ERR_NOMEM;
    return c.bad || c.at < len ? FTREE_ERR_MALFORMED : FTREE_OK;
}

void query_answer_clear(struct ftree *ft, struct query_answer *a)
{
    ftree_spans_clear(ft, &a->answered);
    ftree_spans_clear(ft, &a->left);
    ftree_classes_clear(ft, &a->classes);
    ftree_hang_answer_clear(ft, &a->hang);
    ftree_stacks_clear(ft, &a->stacks);
    ftree_alloc(ft, a->lags, 0);
    a->lags = NULL;
    a->suspicions = a->more_suspicions = 0;
}
