/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/survey/survey.h"

#include "ftree/base/event.h"
#include "ftree/wire/codec.h"

/* The status of the job: what ranks do, and whom nodes suspect. */

static void add_suspicion(struct survey_answer *a, const struct ftree_suspicion *s)
{
    if (a->suspicions < SURVEY_SUSPICIONS)
        a->suspicion[a->suspicions++] = *s;
    else
        a->more_suspicions++;
}

/* What ranks do is the business of who looks at them. */
bool survey_status_at_node(struct ftree *ft, struct survey_round *r)
{
    r->answer.is_full = r->request.n > 1 && (r->request.items[1] & SURVEY_FULL);
    FTREE_EACH_EXAMINED(g, ft) {
        const struct ftree_suspicion s = {
            .node = g->node,
            .switch_ = g->switch_,
            .by = ft->self,
            .kind = g->symptoms > 0 ? g->symptom[0].kind : FTREE_SYMPTOM_FLOOD_QUERY,
            .age = r->begun > g->first ? r->begun - g->first : 0};
        add_suspicion(&r->answer, &s);
    }
    return FTREE_EMIT(ft, ASK_RANKS, .number = r->number);
}

bool survey_status_merge(struct ftree *ft, struct survey_answer *a,
                         const struct survey_answer *more)
{
    for (int32_t i = 0; i < more->suspicions; i++)
        add_suspicion(a, &more->suspicion[i]);
    a->more_suspicions += more->more_suspicions;
    if (a->more_suspicions > ft->job->nodes)
        a->more_suspicions = ft->job->nodes;
    return ftree_classes_merge(ft, &a->classes, &more->classes);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

#define SUSPICION_BYTES (3 * 10 + 1 + 8)

static bool put_suspicions(struct ftree *ft, const struct survey_answer *a, struct ftree_bytes *out)
{
    uint8_t buf[2 * 10 + SURVEY_SUSPICIONS * SUSPICION_BYTES];
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

bool survey_status_put(struct ftree *ft, struct survey_answer *a, struct ftree_bytes *out)
{
    ftree_classes_bound(ft, &a->classes, a->is_full ? FTREE_CLASSES_MAX : SURVEY_CLASSES);
    return put_suspicions(ft, a, out) &&
           ftree_classes_put(ft, &a->classes, a->is_full ? 0 : SURVEY_RUNS, out);
}

static void get_suspicions(struct wire_codec *c, struct survey_answer *a)
{
    int32_t nodes = c->job->nodes, switches = c->job->tree ? c->job->tree->switches : 0;
    int32_t n = (int32_t) ftree_get_within(c, 0, SURVEY_SUSPICIONS);

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

bool survey_status_get(struct ftree *ft, struct wire_codec *c, struct survey_answer *a)
{
    get_suspicions(c, a);
    return ftree_classes_get(ft, c, &a->classes);
}
