/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/ftree_int.h"

/*
 * Every invariant of a handle, file by file.  Tests call it after each step, so what breaks an
 * invariant is caught at the step that does it.
 */

#define HOLDS(condition) \
    do { \
        if (!(condition)) \
            return #condition; \
    } while (0)

static const char *check_symptoms(const struct ftree *ft)
{
    for (int32_t i = 0; i < ft->observe->stalls.n; i++) {
        const struct stall *s = &ft->observe->stalls.items[i];
        HOLDS(s->rank >= 0 && s->rank < ft->job->size);
        HOLDS(ftree_node_of(ft, s->rank) == ft->self);
        HOLDS(s->interval <= 2 * ft->cfg.stall_repeat_max);
        for (int32_t j = 0; j < i; j++)
            HOLDS(ft->observe->stalls.items[j].rank != s->rank);
    }
    FTREE_EACH(struct finding, f, ft->observe->findings)
        HOLDS(ftree_node_of(ft, f->rank) == ft->self);
    return NULL;
}

static const char *check_suspect(const struct ftree *ft, const struct ftree_case *g)
{
    const struct suspect *su = g->suspect;

    HOLDS(g->node != ft->self);
    HOLDS(!ftree_has_failed(ft, g->node));
    HOLDS(su && su->node == g->node && su->switch_ == g->switch_);
    HOLDS(su->nonce != 0);
    HOLDS(su->again >= su->opened);
    HOLDS(su->again <= su->deadline);
    HOLDS(g->first <= su->opened);
    HOLDS(g->candidates > 0);
    HOLDS(ftree_suspect(ft, su->node) == su);
    return NULL;
}

static const char *check_cases(const struct ftree *ft)
{
    FTREE_EACH(const struct ftree_case, g, ft->state->cases) {
        const char *broken;
        HOLDS(g->node >= 0 && g->node < ft->job->nodes);
        broken = g->state == CASE_EXAMINED ? check_suspect(ft, g) : NULL;
        if (broken)
            return broken;
        HOLDS(g->state != CASE_CALLED && g->state != CASE_DECIDED);
        HOLDS(ftree_case_find(ft, g->node, g->switch_) == g);
        HOLDS(g->symptoms <= CASE_SYMPTOMS_MAX && g->candidates <= CASE_CANDIDATES_MAX);
        HOLDS(g->first <= g->last);
        HOLDS(g->strategy < ft->rules->strategies);
        for (int32_t j = 0; j < g->candidates; j++)
            HOLDS(g->candidate[j].model < ft->rules->models && g->candidate[j].prior <= 1000);
        for (int32_t j = 0; j < g->symptoms; j++)
            HOLDS(g->symptom[j].count > 0); /* without reporters: derived */
    }
    return NULL;
}

static const char *check_ranks(const struct ftree *ft, const struct ftree_ranks *set)
{
    int64_t listed = 0;

    HOLDS(set->ranges >= 0 && set->ranges <= FTREE_RANGES_MAX);
    for (int32_t i = 0; i < set->ranges; i++) {
        HOLDS(set->range[i].first >= 0 && set->range[i].last < ft->job->size);
        HOLDS(set->range[i].first <= set->range[i].last);
        HOLDS(i == 0 || set->range[i].first > set->range[i - 1].last + 1);
        listed += (int64_t) set->range[i].last - set->range[i].first + 1;
    }
    HOLDS(listed <= set->count);
    return NULL;
}

static const char *check_full(const struct ftree *ft, const struct ftree_verdict *v)
{
    HOLDS(v->evidences <= FTREE_EVIDENCE_MAX && v->candidates <= FTREE_CANDIDATE_MAX);
    return check_ranks(ft, &v->victims);
}

/* By node, then by age, and each once: so none is left out. */
static const char *check_index(const struct ftree *ft)
{
    HOLDS(ft->state->by_node.n == ft->state->known.n);
    HOLDS(ft->announce->of.n == ft->state->known.n);
    for (int32_t i = 0; i < ft->state->by_node.n; i++) {
        const struct place *p = &ft->state->by_node.items[i];
        HOLDS(p->at >= 0 && p->at < ft->state->known.n);
        HOLDS(p->node == ft->state->known.items[p->at].v.node);
        HOLDS(i == 0 || p[-1].node < p->node || (p[-1].node == p->node && p[-1].at < p->at));
    }
    return NULL;
}

static bool is_gathered(const struct ftree *ft, uint32_t announcement)
{
    SURVEY_EACH(r, ft, SURVEY_VICTIMS)
        if (r->number == announcement)
            return true;
    return false;
}

static const char *check_known(const struct ftree *ft)
{
    int32_t queued = 0, unsent = 0, rechecked = 0, switches = 0;

    FTREE_EACH(const struct known, k, ft->state->known) {
        const struct announcing *a = ftree_announcing(ft, k);
        const char *broken = k->full ? check_full(ft, k->full) : NULL;
        if (broken)
            return broken;
        queued += a->queued;
        switches += k->v.kind == FTREE_KIND_SWITCH;
        unsent += a->up != UP_NOTHING;
        rechecked += k->recheck != NULL;
        HOLDS(k->v.class_ < FTREE_CLASS_COUNT && k->v.kind < FTREE_KIND_COUNT);
        HOLDS(k->v.first_symptom <= k->v.located);
        HOLDS(ftree_verdict_by_id(ft, &k->v) == k);
        if (k->v.withdrawn) {
            HOLDS(!k->recheck && a->announcement == 0);
            continue;
        }
        HOLDS(!a->reported || a->announcement == 0);
        HOLDS(a->announcement == 0 || is_gathered(ft, a->announcement));
        HOLDS(!a->reported || a->announced);
        HOLDS(!a->announced || a->up == UP_NOTHING);
        HOLDS(ftree_verdict_same(ft, &k->v) == k);
        HOLDS(!k->cuts || (ft->job->tree && k->v.kind == FTREE_KIND_SWITCH));
        HOLDS(!k->ends_agent || ftree_class_says(k->v.class_, FTREE_IS_PATH));
    }
    HOLDS(switches == ft->state->switches);
    HOLDS(queued == ft->announce->queued && unsent == ft->announce->unsent &&
          rechecked == ft->state->rechecked);
    SURVEY_EACH(r, ft, SURVEY_VICTIMS)
        HOLDS(r->due.n > 0 && r->asker.node != ft->self);
    return NULL;
}

static const char *check_outbox(const struct ftree *ft)
{
    FTREE_EACH(const struct message, l, ft->net->outbox) {
        HOLDS(l->payload && l->payload->messages > 0);
        HOLDS(l->payload->len >= WIRE_HEADER && l->payload->len <= FTREE_MESSAGE_MAX);
        HOLDS(l->to >= 0 && l->to < ft->job->nodes && l->to != ft->self);
        HOLDS(l->tries > 0);
        HOLDS(l->id != 0);
    }
    FTREE_EACH(struct peer, p, ft->state->peers)
        HOLDS(p->node != ft->self);
    return NULL;
}

const char *ftree_check(const struct ftree *ft)
{
    const char *(*const checks[])(const struct ftree *) = {check_symptoms, check_cases, check_index,
                                                           check_known, check_outbox};
    const char *broken = NULL;

    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]) && !broken; i++)
        broken = checks[i](ft);
    if (broken)
        return broken;
    HOLDS(ft->self >= 0 && ft->self < ft->job->nodes);
    HOLDS(!ft->events);
    HOLDS(ft->net->rto >= ft->cfg.rto_min && ft->net->rto <= ft->cfg.rto_max);
    HOLDS(!ft->leave->goodbye_sent || ft->state->leaving);
    HOLDS(!ft->leave->may_go || ft->state->leaving);
    HOLDS(ftree_deadline(ft) > 0); /* long ago: the tick would take itself for late */
    return NULL;
}
