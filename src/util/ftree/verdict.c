/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree_int.h"

#include <stdio.h>
#include <string.h>

/* ---- making one ------------------------------------------------------------------------------ */

void ftree_verdict_init(struct ftree *ft, ftree_time now, struct ftree_verdict *v,
                        const struct rules_sign *sign, int class_, int32_t node, int32_t rank)
{
    memset(v, 0, sizeof(*v));
    v->class_ = (uint8_t) class_;
    v->kind = (uint8_t) ftree_class_kind(class_);
    v->confidence = sign->confidence;
    memcpy(v->rule, sign->name, sizeof(v->rule));
    memcpy(v->because, sign->text, sizeof(v->because));
    do /* the agent before this one may have used the same numbers */
        v->id = ++ft->next_id;
    while (ftree_verdict_by_id(ft, ft->self, v->id));
    v->node = node;
    v->rank = rank;
    v->switch_ = FTREE_NONE;
    v->fln = ft->self;
    v->symptoms = 1;
    v->first_symptom = v->located = now;
    for (int32_t i = 0; i < sign->candidates; i++)
        v->candidate[v->candidates++] = sign->candidate[i];
}

void ftree_verdict_add_evidence(struct ftree_verdict *v, const struct ftree_evidence *e)
{
    if (v->evidences < FTREE_EVIDENCE_MAX)
        v->evidence[v->evidences++] = *e;
}

/* What other middleware saw, and the fault causes, makes it more likely: each kind of symptom
 * halves what is left of the doubt.  What rules derived from it is no further witness. */
void ftree_verdict_support(const struct ftree *ft, ftree_time now, const struct group *g,
                           int32_t model, struct ftree_verdict *v)
{
    for (int32_t i = 0; i < g->symptoms; i++) {
        const struct ftree_symptom *s = &g->symptom[i];
        const struct ftree_symptom_info *info = ftree_symptom_info(s->kind);
        struct ftree_evidence e = {.source = FTREE_EVIDENCE_SYMPTOM,
                                   .path = FTREE_PATHS,
                                   .target = s->about.node,
                                   .by = s->reporter[0],
                                   .error = s->error,
                                   .at = ftree_min(s->last, now)};
        if (info->source == FTREE_SOURCE_MESSAGE_PASSING || s->reporters == 0 ||
            !(ft->rules->model[model].symptoms >> s->kind & 1))
            continue;
        v->confidence = (uint16_t) (1000 - (1000 - v->confidence + 1) / 2);
        for (int32_t j = 0; j < v->candidates; j++)
            v->candidate[j].confidence /= 2;
        snprintf(e.detail, sizeof(e.detail), "%s%s%.60s", info->name, s->detail[0] ? ": " : "",
                 s->detail);
        ftree_verdict_add_evidence(v, &e);
    }
}

/* Faults that can only be listed, for no probe tells: they share what doubt is left. */
void ftree_verdict_list(const struct ftree *ft, const struct group *g, struct ftree_verdict *v)
{
    for (int32_t i = 0; i < g->candidates && v->candidates < FTREE_CANDIDATE_MAX; i++) {
        const struct rules_model *m = &ft->rules->model[g->candidate[i].model];
        uint16_t doubt = (uint16_t) (1000 - v->confidence);
        bool there = !m->listed_only || m->class_ == v->class_;
        for (int32_t j = 0; j < v->candidates; j++)
            there = there || v->candidate[j].class_ == m->class_;
        if (!there)
            v->candidate[v->candidates++] = (struct ftree_candidate){
                .class_ = m->class_,
                .confidence = g->candidate[i].prior < doubt ? g->candidate[i].prior : doubt};
    }
}

/* ---- the verdicts known ---------------------------------------------------------------------- */

/* The model that a verdict's rule belongs to, by its name; -1: the rules here do not have it. */
static int32_t model_of(const struct ftree *ft, const struct ftree_verdict *v)
{
    char name[FTREE_NAME_MAX];
    char *slash;

    memcpy(name, v->rule, sizeof(name));
    name[sizeof(name) - 1] = 0;
    slash = strchr(name, '/');
    if (slash)
        *slash = 0;
    return ftree_rules_model(ft->rules, name);
}

/* True if v is about all of its node, not one process of several. */
static bool is_about_node(const struct ftree *ft, const struct ftree_verdict *v)
{
    return v->kind != FTREE_KIND_RANK || v->rank == FTREE_NONE ||
           ftree_ranks_of(ft->job, v->node) == 1;
}

/* True if a fault that is known on this node hides `model`. */
bool ftree_verdict_is_masked(const struct ftree *ft, int32_t model, int32_t node)
{
    for (int32_t i = 0; i < ft->known.n; i++) {
        const struct ftree_verdict *v = &ft->known.items[i].v;
        bool there = v->node == node && !v->withdrawn && is_about_node(ft, v);
        int32_t other = there ? model_of(ft, v) : -1;
        if (other >= 0 && ft->rules->model[other].masks >> model & 1)
            return true;
    }
    return false;
}

/* True if a fault that is known causes `model` there in turn: on the same node, or on one behind
 * the same switch where it is the switch that failed. */
bool ftree_verdict_is_consequence(const struct ftree *ft, int32_t model, int32_t node,
                                  int32_t switch_)
{
    for (int32_t i = 0; i < ft->known.n; i++) {
        const struct ftree_verdict *v = &ft->known.items[i].v;
        int32_t other = v->withdrawn ? -1 : model_of(ft, v);
        bool there = v->node == node && v->switch_ == switch_ && is_about_node(ft, v);
        if (v->kind == FTREE_KIND_SWITCH && ft->job->tree)
            there = there || ftree_tree_is_behind(ft->job->tree, v->switch_, node);
        if (there && other >= 0 && ft->rules->model[other].causes >> model & 1)
            return true;
    }
    return false;
}

struct known *ftree_verdict_find(const struct ftree *ft, int class_, int32_t node, int32_t rank)
{
    for (int32_t i = 0; i < ft->known.n; i++) {
        struct known *k = &ft->known.items[i];
        if (!k->v.withdrawn && k->v.class_ == class_ && k->v.node == node && k->v.rank == rank)
            return k;
    }
    return NULL;
}

struct known *ftree_verdict_by_id(const struct ftree *ft, int32_t fln, uint32_t id)
{
    for (int32_t i = 0; i < ft->known.n; i++)
        if (ft->known.items[i].v.fln == fln && ft->known.items[i].v.id == id)
            return &ft->known.items[i];
    return NULL;
}

/* True if a verdict says that this rank has ended or is stopped. */
bool ftree_verdict_on_rank(const struct ftree *ft, int32_t node, int32_t rank)
{
    return rank != FTREE_NONE && (ftree_verdict_find(ft, FTREE_CLASS_PROCESS_STOPPED, node, rank) ||
                                  ftree_verdict_find(ft, FTREE_CLASS_PROCESS_CRASH, node, rank));
}

/* True where no rank of the node can be heard of any more. */
bool ftree_verdict_takes_node(const struct ftree *ft, const struct ftree_verdict *v)
{
    if (v->withdrawn)
        return false;
    switch (v->class_) {
        case FTREE_CLASS_NODE_OUTAGE:
        case FTREE_CLASS_NODE_FROZEN:
            return true;
        case FTREE_CLASS_PROCESS_CRASH:
        case FTREE_CLASS_PROCESS_STOPPED:
            return v->rank == FTREE_NONE || ftree_ranks_of(ft->job, v->node) == 1;
        default:
            return false;
    }
}

bool ftree_has_failed(const struct ftree *ft, int32_t node)
{
    for (int32_t i = 0; i < ft->known.n; i++)
        if (ft->known.items[i].v.node == node &&
            ftree_verdict_takes_node(ft, &ft->known.items[i].v))
            return true;
    return false;
}

/* How many nodes have failed, not counting `except` and the own one. */
int32_t ftree_verdict_failed(const struct ftree *ft, int32_t except)
{
    int32_t n = 0;

    for (int32_t i = 0; i < ft->known.n; i++) {
        int32_t node = ft->known.items[i].v.node;
        bool counted = node == except || node == ft->self || !ftree_has_failed(ft, node);
        for (int32_t j = 0; j < i && !counted; j++)
            counted = ft->known.items[j].v.node == node;
        n += !counted;
    }
    return n;
}

/* The verdict that says the same as v or more: an equal one, or one that takes v's node. */
struct known *ftree_verdict_explaining(const struct ftree *ft, const struct ftree_verdict *v)
{
    struct known *k = ftree_verdict_find(ft, v->class_, v->node, v->rank);

    for (int32_t i = 0; i < ft->known.n && !k; i++)
        if (ft->known.items[i].v.node == v->node &&
            ftree_verdict_takes_node(ft, &ft->known.items[i].v))
            k = &ft->known.items[i];
    return k;
}

/* ---- sets of ranks --------------------------------------------------------------------------- */

static int32_t listed(const struct ftree_ranks *set)
{
    int32_t n = 0;

    for (int32_t i = 0; i < set->ranges; i++)
        n += set->range[i].last - set->range[i].first + 1;
    return n;
}

/* Ranges stay sorted and apart; one that finds no room is counted but not listed. */
void ftree_verdict_ranks_add(struct ftree_ranks *set, int32_t first, int32_t last)
{
    int32_t from = 0, to, unlisted = set->count - listed(set);

    while (from < set->ranges && set->range[from].last + 1 < first)
        from++;
    for (to = from; to < set->ranges && set->range[to].first <= last + 1; to++) {
        first = set->range[to].first < first ? set->range[to].first : first;
        last = set->range[to].last > last ? set->range[to].last : last;
    }
    if (to == from && set->ranges == FTREE_RANGES_MAX) {
        set->count += last - first + 1;
        return;
    }
    memmove(&set->range[from + 1], &set->range[to],
            (size_t) (set->ranges - to) * sizeof(set->range[0]));
    set->ranges += 1 - (to - from);
    set->range[from].first = first;
    set->range[from].last = last;
    set->count = listed(set) + unlisted;
}

void ftree_verdict_ranks_merge(struct ftree_ranks *set, const struct ftree_ranks *more)
{
    for (int32_t i = 0; i < more->ranges; i++)
        ftree_verdict_ranks_add(set, more->range[i].first, more->range[i].last);
    set->count += more->count - listed(more);
}
