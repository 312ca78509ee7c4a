/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/survey/survey.h"

#include "ftree/base/event.h"

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

static void wire_suspicion(struct wire_codec *c, struct ftree_suspicion *s)
{
    int32_t nodes = c->job->nodes, switches = c->job->tree ? c->job->tree->switches : 0;

    WIRE_WITHIN(c, s->node, 0, nodes - 1);
    WIRE_WITHIN(c, s->switch_, FTREE_NONE, switches - 1);
    WIRE_WITHIN(c, s->by, 0, nodes - 1);
    WIRE_NUMBER(c, s->kind, 1, FTREE_SYMPTOM_COUNT);
    WIRE_NUMBER(c, s->age, 8, FTREE_NEVER);
}

void survey_status_wire(struct wire_codec *c, struct survey_answer *a)
{
    if (!c->reads)
        ftree_classes_bound(c->ft, &a->classes, a->is_full ? FTREE_CLASSES_MAX : SURVEY_CLASSES);
    WIRE_WITHIN(c, a->suspicions, 0, SURVEY_SUSPICIONS);
    WIRE_WITHIN(c, a->more_suspicions, 0, c->job->nodes);
    for (int32_t i = 0; i < a->suspicions && !c->bad; i++)
        wire_suspicion(c, &a->suspicion[i]);
    ftree_classes_wire(c, &a->classes, a->is_full ? 0 : SURVEY_RUNS);
}
