/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree_int.h"

#include <stdio.h>
#include <string.h>

/* ---- making one ------------------------------------------------------------------------------ */

static bool is_used(const struct ftree *ft, uint32_t id)
{
    for (int32_t i = 0; i < ft->known.n; i++)
        if (ft->known.items[i].v.fln == ft->self && ft->known.items[i].v.id == id)
            return true;
    return false;
}

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
    while (is_used(ft, v->id));
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
void ftree_verdict_support(const struct ftree *ft, ftree_time now, const struct ftree_symptom *s,
                           int32_t model, struct ftree_verdict *v)
{
    const struct ftree_symptom_info *info = ftree_symptom_info(s->kind);
    struct ftree_evidence e = {.source = FTREE_EVIDENCE_SYMPTOM,
                               .path = FTREE_PATHS,
                               .target = s->about.node,
                               .by = s->reporter[0],
                               .error = s->error,
                               .at = ftree_min(s->last, now)};

    if (info->source == FTREE_SOURCE_MESSAGE_PASSING || s->reporters == 0 ||
        !(ft->rules->model[model].symptoms >> s->kind & 1))
        return;
    v->confidence = (uint16_t) (1000 - (1000 - v->confidence + 1) / 2);
    for (int32_t j = 0; j < v->candidates; j++)
        v->candidate[j].confidence /= 2;
    snprintf(e.detail, sizeof(e.detail), "%s%s%.75s", info->name, s->detail[0] ? ": " : "",
             s->detail);
    ftree_verdict_add_evidence(v, &e);
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

/* An errno that was seen is one that the model causes. */
static bool shows_as(const struct rules_model *m, const struct group *g,
                     const struct ftree_verdict *v)
{
    bool seen = false;

    for (int32_t i = 0; i < m->errors; i++) {
        for (int32_t j = 0; j < v->evidences; j++)
            seen = seen || v->evidence[j].error == m->error[i];
        for (int32_t j = 0; j < g->symptoms; j++)
            seen = seen || g->symptom[j].error == m->error[i];
    }
    return seen;
}

/* How much speaks for a class besides the sign: an errno more than any prior. */
static uint32_t weight(const struct ftree *ft, const struct group *g, const struct ftree_verdict *v,
                       uint8_t class_)
{
    uint32_t most = 0;

    for (int32_t i = 0; i < g->candidates; i++) {
        const struct rules_model *m = &ft->rules->model[g->candidate[i].model];
        uint32_t w = g->candidate[i].prior + (shows_as(m, g, v) ? 1001 : 0);
        if (m->class_ == class_ && w > most)
            most = w;
    }
    return most;
}

/* What the sign leaves open alike is named in the order of what was seen, then of the priors. */
void ftree_verdict_order(const struct ftree *ft, const struct group *g, struct ftree_verdict *v)
{
    for (int32_t i = 1; i < v->candidates; i++)
        for (int32_t j = i; j > 0; j--) {
            struct ftree_candidate *a = &v->candidate[j - 1], *b = &v->candidate[j], c = *a;
            if (a->ruled_out || b->ruled_out || a->confidence != b->confidence ||
                weight(ft, g, v, a->class_) >= weight(ft, g, v, b->class_))
                break;
            *a = *b;
            *b = c;
        }
}

/* What it is about, for the trace: the switch, else the node. */
const char *ftree_verdict_of(const struct ftree *ft, const struct outline *v, char buf[16])
{
    if (v->kind == FTREE_KIND_SWITCH && v->switch_ != FTREE_NONE && ft->job->tree)
        return ft->job->tree->switch_name[v->switch_];
    return ftree_name(ft, v->node, buf);
}

/* ---- the verdicts known ---------------------------------------------------------------------- */

/* The place in `by_node` from which on the verdicts about this node stand, if there are any. */
static int32_t first_about(const struct ftree *ft, int32_t node)
{
    int32_t from = 0, to = ft->by_node.n;

    while (from < to) {
        int32_t middle = from + (to - from) / 2;
        if (ft->by_node.items[middle].node < node)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* Goes through the verdicts about a node: *i begins with -1.  NULL: there are no more. */
struct known *ftree_verdict_about(const struct ftree *ft, int32_t node, int32_t *i)
{
    *i = *i < 0 ? first_about(ft, node) : *i + 1;
    if (*i >= ft->by_node.n || ft->by_node.items[*i].node != node)
        return NULL;
    return &ft->known.items[ft->by_node.items[*i].at];
}

/* Makes room for n more, exactly: they come by the hundred and to every node.  One that is known can
 * be told, so there is room for it in the batch. */
bool ftree_verdict_reserve(struct ftree *ft, int32_t n)
{
    return FTREE_RESERVE(ft, ft->known, n) && FTREE_RESERVE(ft, ft->by_node, n) &&
           ftree_reserve(ft, &ft->batch.items, ft->by_node.room, &ft->batch.room,
                         sizeof(ft->batch.items[0]));
}

/* Both are counted, because among hundreds of verdicts there are few that have any. */
void ftree_verdict_set_up(struct ftree *ft, struct known *k, enum up_state up)
{
    ft->unsent += (up != UP_NOTHING) - (k->up != UP_NOTHING);
    k->up = (uint8_t) up;
}

void ftree_verdict_set_recheck(struct ftree *ft, struct known *k, ftree_time recheck)
{
    ft->rechecked += (recheck != FTREE_NEVER) - (k->recheck != FTREE_NEVER);
    k->recheck = recheck;
}

/* One more is known; NULL: out of memory.  The array may move. */
struct known *ftree_verdict_add(struct ftree *ft, const struct outline *o)
{
    bool has_room = ft->known.n < ft->known.room && ft->known.n < ft->by_node.room &&
                    ft->known.n < ft->batch.room;
    struct known *k = has_room || ftree_verdict_reserve(ft, 4) ? FTREE_PUSH(ft, ft->known) : NULL;
    int32_t at;

    if (!k)
        return NULL;
    k->v = *o;
    k->recheck = FTREE_NEVER;
    ft->switches += o->kind == FTREE_KIND_SWITCH;
    at = first_about(ft, o->node + 1);
    memmove(&ft->by_node.items[at + 1], &ft->by_node.items[at],
            (size_t) (ft->by_node.n - at) * sizeof(ft->by_node.items[0]));
    ft->by_node.items[at] = (struct place){.node = o->node, .at = ft->known.n - 1};
    ft->by_node.n++;
    return k;
}

void ftree_verdict_forget(struct ftree *ft, int32_t i)
{
    int32_t left = 0;

    ftree_alloc(ft, ft->known.items[i].whole, 0);
    ftree_withdraw_forget_confirm(ft, &ft->known.items[i].v);
    ft->switches -= ft->known.items[i].v.kind == FTREE_KIND_SWITCH;
    ft->known.n--;
    memmove(&ft->known.items[i], &ft->known.items[i + 1],
            (size_t) (ft->known.n - i) * sizeof(ft->known.items[0]));
    for (int32_t j = 0; j < ft->by_node.n; j++) {
        struct place p = ft->by_node.items[j];
        if (p.at == i)
            continue;
        p.at -= p.at > i;
        ft->by_node.items[left++] = p;
    }
    ft->by_node.n = left;
}

/* ---- what is kept of one --------------------------------------------------------------------- */

#define NO_RULE UINT8_MAX

/* The number that the name of a rule has here. */
static uint8_t rule_number(struct ftree *ft, const char *name)
{
    struct rule_name *r;
    int32_t i = 0;

    while (i < ft->rule_names.n && strcmp(ft->rule_names.items[i].text, name))
        i++;
    if (i < ft->rule_names.n)
        return (uint8_t) i;
    r = i < NO_RULE && FTREE_RESERVE(ft, ft->rule_names, 1) ? FTREE_PUSH(ft, ft->rule_names) : NULL;
    if (!r)
        return NO_RULE;
    snprintf(r->text, sizeof(r->text), "%s", name);
    return (uint8_t) i;
}

const char *ftree_verdict_rule(const struct ftree *ft, const struct outline *o)
{
    return o->rule < ft->rule_names.n ? ft->rule_names.items[o->rule].text : "";
}

void ftree_verdict_name_rule(struct ftree *ft, struct outline *o, const char *name)
{
    o->rule = rule_number(ft, name);
}

struct outline ftree_verdict_outline(struct ftree *ft, const struct ftree_verdict *v)
{
    struct outline o = {.class_ = v->class_,
                        .kind = v->kind,
                        .confidence = v->confidence,
                        .own_only = v->own_only,
                        .id = v->id,
                        .node = v->node,
                        .rank = v->rank,
                        .switch_ = v->switch_,
                        .fln = v->fln,
                        .first_symptom = v->first_symptom,
                        .located = v->located,
                        .withdrawn = v->withdrawn};

    ftree_verdict_name_rule(ft, &o, v->rule);
    return o;
}

/* Keeps all of it, if there is memory for it. */
void ftree_verdict_keep(struct ftree *ft, struct known *k, const struct ftree_verdict *v)
{
    if (!k->whole)
        k->whole = ftree_alloc(ft, NULL, sizeof(*k->whole));
    if (k->whole)
        *k->whole = *v;
}

void ftree_verdict_drop_whole(struct ftree *ft, struct known *k)
{
    ftree_alloc(ft, k->whole, 0);
    k->whole = NULL;
}

/* What this node has of it.  v was zeroed, or is what a verdict without evidence was loaded to: it is
 * large, and verdicts come by the hundred. */
void ftree_verdict_load(const struct ftree *ft, const struct known *k, struct ftree_verdict *v)
{
    const struct outline *o = &k->v;
    const char *rule = ftree_verdict_rule(ft, o);

    if (k->whole) {
        *v = *k->whole;
    } else {
        memcpy(v->rule, rule, strlen(rule) + 1);
        v->symptoms = 1;
        v->pid = ft->job->rank_pid && o->rank != FTREE_NONE ? ft->job->rank_pid[o->rank] : 0;
    }
    v->class_ = o->class_;
    v->kind = o->kind;
    v->confidence = o->confidence;
    v->own_only = o->own_only;
    v->untold = false;
    v->id = o->id;
    v->node = o->node;
    v->rank = o->rank;
    v->switch_ = o->switch_;
    v->fln = o->fln;
    v->first_symptom = o->first_symptom;
    v->located = o->located;
    v->withdrawn = o->withdrawn;
}

void ftree_verdict_count_symptoms(struct known *k, uint32_t n)
{
    if (k->whole)
        k->whole->symptoms =
            k->whole->symptoms > UINT32_MAX - n ? UINT32_MAX : k->whole->symptoms + n;
}

/* ---- what one says --------------------------------------------------------------------------- */

/* The model that a verdict's rule belongs to, by its name; -1: the rules here do not have it. */
static int32_t model_of(const struct ftree *ft, const struct outline *o)
{
    char name[FTREE_NAME_MAX];
    char *slash;

    snprintf(name, sizeof(name), "%s", ftree_verdict_rule(ft, o));
    slash = strchr(name, '/');
    if (slash)
        *slash = 0;
    return ftree_rules_model(ft->rules, name);
}

/* True if v is about all of its node, not one process of several. */
static bool is_about_node(const struct ftree *ft, const struct outline *v)
{
    return v->kind != FTREE_KIND_RANK || v->rank == FTREE_NONE ||
           ftree_ranks_of(ft->job, v->node) == 1;
}

/* True if a fault that is known on this node hides `model`. */
bool ftree_verdict_is_masked(const struct ftree *ft, int32_t model, int32_t node)
{
    const struct known *k;

    for (int32_t i = -1; (k = ftree_verdict_about(ft, node, &i));) {
        bool there = !k->v.withdrawn && is_about_node(ft, &k->v);
        int32_t other = there ? model_of(ft, &k->v) : -1;
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
        const struct outline *v = &ft->known.items[i].v;
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
    struct known *k;

    for (int32_t i = -1; (k = ftree_verdict_about(ft, node, &i));)
        if (!k->v.withdrawn && k->v.class_ == class_ && k->v.rank == rank)
            return k;
    return NULL;
}

/* A standing verdict that says what v does. */
struct known *ftree_verdict_same(const struct ftree *ft, const struct outline *v)
{
    struct known *k;

    for (int32_t i = -1; (k = ftree_verdict_about(ft, v->node, &i));)
        if (!k->v.withdrawn && k->v.class_ == v->class_ && k->v.rank == v->rank &&
            k->v.switch_ == v->switch_)
            return k;
    return NULL;
}

struct known *ftree_verdict_by_id(const struct ftree *ft, const struct outline *o)
{
    struct known *k;

    for (int32_t i = -1; (k = ftree_verdict_about(ft, o->node, &i));)
        if (k->v.fln == o->fln && k->v.id == o->id)
            return k;
    return NULL;
}

/* True if a verdict says that this rank has ended or is stopped. */
bool ftree_verdict_on_rank(const struct ftree *ft, int32_t node, int32_t rank)
{
    return rank != FTREE_NONE && (ftree_verdict_find(ft, FTREE_CLASS_PROCESS_STOPPED, node, rank) ||
                                  ftree_verdict_find(ft, FTREE_CLASS_PROCESS_CRASH, node, rank));
}

/* True where it says that all of its node is lost. */
bool ftree_verdict_takes_node(const struct ftree *ft, const struct outline *v)
{
    if (v->withdrawn)
        return false;
    switch (v->class_) {
        case FTREE_CLASS_NODE_OUTAGE:
        case FTREE_CLASS_NODE_FROZEN:
            return true;
        case FTREE_CLASS_PROCESS_CRASH:
            return v->rank == FTREE_NONE || ftree_ranks_of(ft->job, v->node) == 1;
        default:
            return false;
    }
}

/* True if all ranks of the node have ended, as one verdict says or one for each: its agent leaves once
 * that is told. */
bool ftree_verdict_ends_all(const struct ftree *ft, int32_t node)
{
    const struct known *k;
    int32_t ended = 0;

    for (int32_t i = -1; (k = ftree_verdict_about(ft, node, &i));) {
        if (k->v.withdrawn || k->v.class_ != FTREE_CLASS_PROCESS_CRASH)
            continue;
        if (k->v.rank == FTREE_NONE)
            return true;
        ended++;
    }
    return ended > 0 && ended == ftree_ranks_of(ft->job, node);
}

static bool is_taken(const struct ftree *ft, int32_t node)
{
    const struct known *k;

    for (int32_t i = -1; (k = ftree_verdict_about(ft, node, &i));)
        if (ftree_verdict_takes_node(ft, &k->v))
            return true;
    return ftree_verdict_ends_all(ft, node);
}

bool ftree_verdict_ends_ranks(const struct ftree_verdict *v)
{
    return !v->withdrawn &&
           (v->class_ == FTREE_CLASS_NODE_OUTAGE || v->class_ == FTREE_CLASS_PROCESS_CRASH);
}

bool ftree_verdict_ends_job(const struct ftree_verdict *v)
{
    for (int32_t i = 0; i < v->evidences; i++)
        if (v->evidence[i].proc_state == 't')
            return false;
    return !v->withdrawn && ftree_class_ends_job(v->class_);
}

/* Or it is beyond a switch that is lost. */
bool ftree_has_failed(const struct ftree *ft, int32_t node)
{
    return is_taken(ft, node) || ftree_side_is_other(ft, node);
}

/* The sign holds only where the kernel refuses the agent's port. */
static bool is_of_refused(const struct rules_sign *sign)
{
    for (int32_t i = 0; i < sign->conditions; i++)
        if (!sign->condition[i].is_number && sign->condition[i].fact == RULES_FACT_AGENT)
            return sign->condition[i].values == 1u << FTREE_REACH_REFUSED;
    return false;
}

/* True if the verdict says of a node, in each alternative of its sign, that its port is refused, and
 * accuses nobody. */
bool ftree_verdict_ends_agent(const struct ftree *ft, const struct outline *v)
{
    const char *rule = ftree_verdict_rule(ft, v);
    int32_t model = v->class_ == FTREE_CLASS_UNKNOWN ? model_of(ft, v) : -1;
    bool refused = false;

    for (int32_t s = 0; model >= 0 && s < ft->rules->model[model].signs; s++) {
        const struct rules_sign *sign = &ft->rules->model[model].sign[s];
        if (strcmp(sign->name, rule))
            continue;
        if (!is_of_refused(sign))
            return false;
        refused = true;
    }
    return refused;
}

bool ftree_has_no_agent(const struct ftree *ft, int32_t node)
{
    const struct known *k;

    for (int32_t i = -1; (k = ftree_verdict_about(ft, node, &i));)
        if (k->ends_agent && !k->v.withdrawn)
            return true;
    return ftree_has_failed(ft, node);
}

/* How many nodes have failed, not counting `except` and the own one. */
int32_t ftree_verdict_failed(const struct ftree *ft, int32_t except)
{
    int32_t n = 0, last = FTREE_NONE;

    for (int32_t i = 0; i < ft->by_node.n; i++) {
        int32_t node = ft->by_node.items[i].node;
        n += node != last && node != except && node != ft->self && is_taken(ft, node);
        last = node;
    }
    return n;
}

/* True if a switch whose data path alone is known to be dead has the node behind it. */
bool ftree_verdict_by_switch(const struct ftree *ft, int32_t node)
{
    for (int32_t i = 0; i < ft->known.n && ft->switches > 0; i++) {
        const struct known *k = &ft->known.items[i];
        if (!k->v.withdrawn && k->v.class_ == FTREE_CLASS_SWITCH_FAULT && !k->cuts &&
            k->v.kind == FTREE_KIND_SWITCH && ftree_is_behind(ft, k->v.switch_, node))
            return true;
    }
    return false;
}

/* True if the switch that k is about has what v is about behind it, seen from here, and v is what
 * follows: another switch, or what its fault causes; or all behind it counts as lost. */
static bool is_by_switch(const struct ftree *ft, const struct known *k, const struct outline *v)
{
    int32_t model, cause;

    if (k->v.withdrawn || k->v.class_ != FTREE_CLASS_SWITCH_FAULT ||
        k->v.kind != FTREE_KIND_SWITCH || !ftree_is_behind(ft, k->v.switch_, v->node))
        return false;
    if (k->cuts)
        return !ftree_is_behind(ft, k->v.switch_, ft->self) &&
               (v->kind != FTREE_KIND_SWITCH ||
                ftree_tree_is_above(ft->job->tree, k->v.switch_, v->switch_));
    if (v->kind == FTREE_KIND_SWITCH)
        return ftree_tree_is_above(ft->job->tree, k->v.switch_, v->switch_);
    model = model_of(ft, v);
    cause = model_of(ft, &k->v);
    return model >= 0 && cause >= 0 && ft->rules->model[cause].causes >> model & 1;
}

/* The verdict that says the same as v or more: an equal one, one that takes v's node, or one on a
 * switch above it. */
struct known *ftree_verdict_explaining(const struct ftree *ft, const struct outline *v)
{
    struct known *k = ftree_verdict_same(ft, v);

    for (int32_t i = -1;
         !k && v->kind != FTREE_KIND_SWITCH && (k = ftree_verdict_about(ft, v->node, &i));)
        if (!ftree_verdict_takes_node(ft, &k->v))
            k = NULL;
    for (int32_t i = 0; !k && i < ft->known.n && ft->switches > 0; i++)
        if (is_by_switch(ft, &ft->known.items[i], v))
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
