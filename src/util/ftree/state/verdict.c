/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/state/state.h"

#include "ftree/base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- making one ------------------------------------------------------------------------------ */

struct known *ftree_verdict_by_number(const struct ftree *ft, int32_t fln, uint32_t id)
{
    return FTREE_FIND(struct known, k, ft->state->known, k->v.fln == fln && k->v.id == id);
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
    while (ftree_verdict_by_number(ft, ft->self, v->id));
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

void ftree_verdict_add_line(const struct ftree *ft, ftree_time now,
                            enum ftree_evidence_source source, int32_t node,
                            struct ftree_verdict *v, const char *format, ...)
{
    va_list args;
    struct ftree_evidence e = {.source = source,
                               .path = FTREE_PATHS,
                               .role = FTREE_ROLE_AGENT,
                               .reach = FTREE_REACH_ANSWERED,
                               .target = node,
                               .by = ft->self,
                               .at = now};

    va_start(args, format);
    vsnprintf(e.detail, sizeof(e.detail), format, args);
    va_end(args);
    ftree_text_ascii(e.detail); /* a program's own names may have anything */
    ftree_verdict_add_evidence(v, &e);
}

void ftree_verdict_add_losses(const struct ftree *ft, ftree_time now, int32_t node,
                              const char *losses, struct ftree_verdict *v)
{
    if (*losses)
        ftree_verdict_add_line(ft, now, FTREE_EVIDENCE_STATE, node, v, "%.40s %s",
                               ftree_name(ft, node), losses);
}

void ftree_verdict_add_own_losses(const struct ftree *ft, ftree_time now, struct ftree_verdict *v)
{
    char losses[FTREE_LOSSES_MAX] = "";

    if (ft->io->losses)
        ft->io->losses(ft->io_ctx, losses, sizeof(losses));
    ftree_verdict_add_losses(ft, now, ft->self, losses, v);
}

/* A message of a rank of `node`; as the last one or an earlier one. */
void ftree_verdict_add_message(const struct ftree *ft, ftree_time now, int32_t node,
                               const struct ftree_log_entry *m, bool last, struct ftree_verdict *v)
{
    ftree_verdict_add_line(ft, now, FTREE_EVIDENCE_LOG, node, v,
                           "%s message %.1f s ago: %s of %llu bytes, peer %d, tag %d",
                           last ? "last" : "earlier",
                           (double) (now > m->at ? now - m->at : 0) / 1e9,
                           m->type == FTREE_LOG_SEND ? "send" : "receive",
                           (unsigned long long) m->bytes, (int) m->peer, (int) m->tag);
}

bool ftree_verdict_add_symptom(const struct ftree *ft, ftree_time now,
                               const struct ftree_symptom *s, int32_t model,
                               struct ftree_verdict *v)
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
        return false;
    snprintf(e.detail, sizeof(e.detail), "%s%s%.75s", info->name, s->detail[0] ? ": " : "",
             s->detail);
    ftree_verdict_add_evidence(v, &e);
    return true;
}

/* What other middleware saw, and the fault causes, makes it more likely: each kind of symptom
 * halves what is left of the doubt.  What rules derived from it is no further witness. */
void ftree_verdict_support(const struct ftree *ft, ftree_time now, const struct ftree_symptom *s,
                           int32_t model, struct ftree_verdict *v)
{
    if (!ftree_verdict_add_symptom(ft, now, s, model, v) || s->severity == FTREE_SEVERITY_INFO)
        return;
    for (int32_t j = 0; j < v->candidates; j++)
        v->candidate[j].confidence /= 2;
    v->confidence = (uint16_t) (1000 - (1000 - v->confidence + 1) / 2);
}

/* Faults that no probe shows and that can only be listed: they share what doubt is left. */
void ftree_verdict_list(const struct ftree *ft, const struct ftree_case *g, struct ftree_verdict *v)
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
static bool shows_as(const struct rules_model *m, const struct ftree_case *g,
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
static uint32_t weight(const struct ftree *ft, const struct ftree_case *g,
                       const struct ftree_verdict *v, uint8_t class_)
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
void ftree_verdict_order(const struct ftree *ft, const struct ftree_case *g,
                         struct ftree_verdict *v)
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

/* ---- the verdicts known ---------------------------------------------------------------------- */

static int64_t key(int32_t node, int32_t at)
{
    return node * ((int64_t) 1 << 32) + at;
}

/* The place in `by_node` from which on the verdicts about this node stand that are in `known` from
 * place `at` on, if there are any. */
static int32_t first_about(const struct ftree *ft, int32_t node, int32_t at)
{
    const struct place *all = ft->state->by_node.items;
    int64_t least = key(node, at);
    int32_t from = 0;

    /* no branch: which half it is nobody can foresee, and it is asked for each verdict that comes */
    for (int32_t n = ft->state->by_node.n, half; n > 0; n -= half) {
        half = (n + 1) / 2;
        from += key(all[from + half - 1].node, all[from + half - 1].at) < least ? half : 0;
    }
    return from;
}

struct known *ftree_verdict_about(const struct ftree *ft, int32_t node, const struct known *last)
{
    int32_t after = last ? (int32_t) (last - ft->state->known.items) + 1 : 0;
    int32_t i = first_about(ft, node, after);

    if (i >= ft->state->by_node.n || ft->state->by_node.items[i].node != node)
        return NULL;
    return &ft->state->known.items[ft->state->by_node.items[i].at];
}

/* Where something is lost or hangs all others wait, and longer than ever. */
bool ftree_verdict_any_fault(const struct ftree *ft)
{
    return FTREE_ANY(const struct known, k, ft->state->known,
                      !k->v.withdrawn && k->v.class_ != FTREE_CLASS_STRAGGLER &&
                          !ftree_class_says(k->v.class_, FTREE_IS_WARNING));
}

/* Makes room for n more, exactly: they come by the hundred and to every node. */
bool ftree_verdict_reserve(struct ftree *ft, int32_t n)
{
    return FTREE_RESERVE(ft, ft->state->known, n) && FTREE_RESERVE(ft, ft->state->by_node, n);
}

static void end_recheck(struct ftree *ft, struct known *k)
{
    ft->state->rechecked -= k->recheck != NULL;
    ftree_alloc(ft, k->recheck, 0);
    k->recheck = NULL;
}

void ftree_verdict_forget(struct ftree *ft, int32_t i)
{
    int32_t left = 0;

    end_recheck(ft, &ft->state->known.items[i]);
    ftree_alloc(ft, ft->state->known.items[i].full, 0);
    ftree_alloc(ft, ft->state->known.items[i].component, 0);
    ft->state->switches -= ft->state->known.items[i].v.kind == FTREE_KIND_SWITCH;
    ft->state->known.n--;
    memmove(&ft->state->known.items[i], &ft->state->known.items[i + 1],
            (size_t) (ft->state->known.n - i) * sizeof(ft->state->known.items[0]));
    for (int32_t j = 0; j < ft->state->by_node.n; j++) {
        struct place p = ft->state->by_node.items[j];
        if (p.at == i)
            continue;
        p.at -= p.at > i;
        ft->state->by_node.items[left++] = p;
    }
    ft->state->by_node.n = left;
}

/* ---- what is kept of one --------------------------------------------------------------------- */

#define NO_RULE UINT8_MAX

/* The number that the name of a rule has here. */
static uint8_t rule_number(struct ftree *ft, const char *name)
{
    struct rule_name *r;
    int32_t i = 0;

    while (i < ft->state->rule_names.n && strcmp(ft->state->rule_names.items[i].text, name))
        i++;
    if (i < ft->state->rule_names.n)
        return (uint8_t) i;
    r = i < NO_RULE && FTREE_RESERVE(ft, ft->state->rule_names, 1)
            ? FTREE_PUSH(ft, ft->state->rule_names)
            : NULL;
    if (!r)
        return NO_RULE;
    snprintf(r->text, sizeof(r->text), "%s", name);
    return (uint8_t) i;
}

const char *ftree_verdict_rule(const struct ftree *ft, const struct summary *o)
{
    return o->rule < ft->state->rule_names.n ? ft->state->rule_names.items[o->rule].text : "";
}

bool ftree_verdict_needs(const struct ftree *ft, const struct summary *o, int fact)
{
    return ftree_rules_needs(ft->rules, ftree_verdict_rule(ft, o), fact);
}

void ftree_verdict_name_rule(struct ftree *ft, struct summary *o, const char *name)
{
    o->rule = rule_number(ft, name);
}

struct summary ftree_verdict_summary(struct ftree *ft, const struct ftree_verdict *v)
{
    struct summary o = {.class_ = v->class_,
                        .kind = v->kind,
                        .confidence = v->confidence,
                        .local_only = v->local_only,
                        .id = v->id,
                        .node = v->node,
                        .rank = v->rank,
                        .switch_ = v->switch_,
                        .fln = v->fln,
                        .first_symptom = v->first_symptom,
                        .located = v->located,
                        .withdrawn = v->withdrawn,
                        .holds_back = v->holds_back,
                        .component = v->component.count > 0 ? &v->component : NULL};

    ftree_verdict_name_rule(ft, &o, v->rule);
    return o;
}

/* Keeps all of it, if there is memory for it. */
void ftree_verdict_keep(struct ftree *ft, struct known *k, const struct ftree_verdict *v)
{
    if (!k->full)
        k->full = ftree_alloc(ft, NULL, sizeof(*k->full));
    if (k->full)
        *k->full = *v;
}

void ftree_verdict_drop_full(struct ftree *ft, struct known *k)
{
    ftree_alloc(ft, k->full, 0);
    k->full = NULL;
}

/* What this node has of it.  v was zeroed, or is what a verdict without evidence was loaded to: it
 * is large, and verdicts come by the hundred. */
void ftree_verdict_load(const struct ftree *ft, const struct known *k, struct ftree_verdict *v)
{
    const struct summary *o = &k->v;
    const char *rule = ftree_verdict_rule(ft, o);
    bool is_one = o->rank != FTREE_NONE && !o->component;

    if (k->full) {
        *v = *k->full;
    } else {
        memcpy(v->rule, rule, strlen(rule) + 1);
        v->symptoms = 1;
        v->pid = ft->job->rank_pid && is_one ? ft->job->rank_pid[o->rank] : 0;
    }
    v->class_ = o->class_;
    v->kind = o->kind;
    v->confidence = o->confidence;
    v->local_only = o->local_only;
    v->unreported = false;
    v->id = o->id;
    v->node = o->node;
    v->rank = o->rank;
    v->switch_ = o->switch_;
    v->fln = o->fln;
    v->first_symptom = o->first_symptom;
    v->located = o->located;
    v->withdrawn = o->withdrawn;
    v->holds_back = o->holds_back;
    if (o->component)
        v->component = *o->component;
    else if (!k->full)
        v->component.count = v->component.ranges = 0;
}

void ftree_verdict_count_symptoms(struct known *k, uint32_t n)
{
    if (k->full)
        k->full->symptoms = k->full->symptoms > UINT32_MAX - n ? UINT32_MAX : k->full->symptoms + n;
}

void ftree_verdict_withdraw(struct ftree *ft, struct known *k, ftree_time withdrawn)
{
    ft->state->outlived_silence |= ftree_verdict_takes_node(ft, &k->v);
    k->v.withdrawn = withdrawn;
    end_recheck(ft, k);
}

/* ---- what one says --------------------------------------------------------------------------- */

/* The model that a verdict's rule belongs to, by its name; -1: the rules here do not have it. */
static int32_t model_of(const struct ftree *ft, const struct summary *o)
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
static bool is_about_node(const struct ftree *ft, const struct summary *v)
{
    return v->kind != FTREE_KIND_RANK || v->rank == FTREE_NONE ||
           ftree_ranks_of(ft->job, v->node) == 1;
}

/* True if a fault that is known on this node hides `model`. */
bool ftree_verdict_is_masked(const struct ftree *ft, int32_t model, int32_t node)
{
    FTREE_EACH_STANDING(k, ft, node) {
        int32_t other = is_about_node(ft, &k->v) ? model_of(ft, &k->v) : -1;
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
    FTREE_EACH(const struct known, k, ft->state->known) {
        const struct summary *v = &k->v;
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
    FTREE_EACH_STANDING(k, ft, node)
        if (k->v.class_ == class_ && k->v.rank == rank)
            return k;
    return NULL;
}

/* A standing verdict that says what v does. */
struct known *ftree_verdict_same(const struct ftree *ft, const struct summary *v)
{
    FTREE_EACH_STANDING(k, ft, v->node)
        if (k->v.class_ == v->class_ && k->v.rank == v->rank &&
            k->v.switch_ == v->switch_)
            return k;
    return NULL;
}

struct known *ftree_verdict_by_id(const struct ftree *ft, const struct summary *o)
{
    FTREE_EACH_ABOUT(k, ft, o->node)
        if (k->v.fln == o->fln && k->v.id == o->id)
            return k;
    return NULL;
}

/* True if a verdict says that this rank has ended or is stopped. */
bool ftree_verdict_on_rank(const struct ftree *ft, int32_t node, int32_t rank)
{
    FTREE_EACH_STANDING(k, ft, node)
        if (k->v.rank == rank && rank != FTREE_NONE &&
            ftree_class_explains(k->v.class_) != FTREE_EXPLAINS_NEVER)
            return true;
    return false;
}

/* True where it says that all of its node is lost. */
bool ftree_verdict_takes_node(const struct ftree *ft, const struct summary *v)
{
    return !v->withdrawn && is_about_node(ft, v) && ftree_class_says(v->class_, FTREE_ENDS_NODE);
}

/* True if all ranks of the node have ended, as one verdict says or one for each: its agent leaves
 * once that is announced. */
bool ftree_verdict_ends_all(const struct ftree *ft, int32_t node)
{
    int32_t ended = 0;

    FTREE_EACH_STANDING(k, ft, node) {
        if (k->v.class_ != FTREE_CLASS_PROCESS_CRASH)
            continue;
        if (k->v.rank == FTREE_NONE)
            return true;
        ended++;
    }
    return ended > 0 && ended == ftree_ranks_of(ft->job, node);
}

bool ftree_verdict_is_taken(const struct ftree *ft, int32_t node)
{
    bool any = false;

    FTREE_EACH_STANDING(k, ft, node) {
        if (ftree_verdict_takes_node(ft, &k->v))
            return true;
        any = true;
    }
    return any && ftree_verdict_ends_all(ft, node);
}

bool ftree_verdict_is_wait(const struct summary *v)
{
    return !v->withdrawn && ftree_class_says(v->class_, FTREE_IS_WAIT);
}

bool ftree_verdict_has_rank(const struct summary *v, int32_t rank)
{
    return v->component ? ftree_ranks_has(v->component, rank) : v->rank == rank;
}

bool ftree_verdict_ends_ranks(const struct ftree_verdict *v)
{
    return !v->withdrawn && ftree_class_says(v->class_, FTREE_ENDS_RANKS);
}

bool ftree_verdict_ends_job(const struct ftree_verdict *v)
{
    return !v->withdrawn && ftree_class_ends_job(v->class_) && !ftree_verdict_is_held(v);
}

/* The sign holds only where the kernel refuses the agent's port, or where nothing reaches it. */
static bool is_of_lost(const struct rules_sign *sign)
{
    for (int32_t i = 0; i < sign->conditions && !sign->about_asker; i++)
        if (!sign->condition[i].is_number && sign->condition[i].fact == RULES_FACT_AGENT)
            return sign->condition[i].values == 1u << FTREE_REACH_REFUSED ||
                   !(sign->condition[i].values >> FTREE_REACH_CONNECTED);
    return false;
}

/* True if the verdict says of a node, in each alternative of its sign, that its agent is lost to
 * others, and does not take the node. */
static bool ends_agent(const struct ftree *ft, const struct summary *v)
{
    const char *rule = ftree_verdict_rule(ft, v);
    int32_t model = ftree_class_says(v->class_, FTREE_IS_PATH) && v->kind != FTREE_KIND_SWITCH
                        ? model_of(ft, v)
                        : -1;
    bool lost = false;

    for (int32_t s = 0; model >= 0 && s < ft->rules->model[model].signs; s++) {
        const struct rules_sign *sign = &ft->rules->model[model].sign[s];
        if (strcmp(sign->name, rule))
            continue;
        if (!is_of_lost(sign))
            return false;
        lost = true;
    }
    return lost;
}

/* How many nodes have failed, not counting `except` and the own one. */
int32_t ftree_verdict_failed(const struct ftree *ft, int32_t except)
{
    int32_t n = 0, last = FTREE_NONE;

    for (int32_t i = 0; i < ft->state->by_node.n; i++) {
        int32_t node = ft->state->by_node.items[i].node;
        n += node != last && node != except && node != ft->self && ftree_verdict_is_taken(ft, node);
        last = node;
    }
    return n;
}

/* True if a switch whose data path alone is known to be dead has the node behind it. */
bool ftree_verdict_by_switch(const struct ftree *ft, int32_t node)
{
    FTREE_EACH_SWITCH(k, ft)
        if (k->v.class_ == FTREE_CLASS_SWITCH_FAULT && !k->cuts &&
            ftree_is_behind(ft, k->v.switch_, node))
            return true;
    return false;
}

/* True if the switch that k, which stands, is about has what v is about behind it, seen from here, and v is what
 * follows: another switch, or what its fault causes; or all behind it counts as lost. */
static bool is_by_switch(const struct ftree *ft, const struct known *k, const struct summary *v)
{
    int32_t model, cause;

    if (k->v.class_ != FTREE_CLASS_SWITCH_FAULT || !ftree_is_behind(ft, k->v.switch_, v->node))
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

bool ftree_verdict_is_mutual(const struct summary *a, const struct summary *b)
{
    return !a->withdrawn && !b->withdrawn && a->class_ == FTREE_CLASS_UNKNOWN &&
           b->class_ == a->class_ && a->rule == b->rule && a->node == b->fln && b->node == a->fln;
}

/* The verdict that says the same as v or more: an equal one, that of the other end of a link, one
 * that takes v's node, or one on a switch above it. */
struct known *ftree_verdict_explaining(const struct ftree *ft, const struct summary *v)
{
    struct known *same = ftree_verdict_same(ft, v);

    if (same)
        return same;
    FTREE_EACH_STANDING(k, ft, v->fln)
        if (ftree_verdict_is_mutual(&k->v, v))
            return k;
    FTREE_EACH_STANDING(k, ft, v->node)
        if (v->kind != FTREE_KIND_SWITCH && ftree_verdict_takes_node(ft, &k->v))
            return k;
    FTREE_EACH_SWITCH(k, ft)
        if (is_by_switch(ft, k, v))
            return k;
    return NULL;
}

/* ---- which answers refute it ----------------------------------------------------------------- */

/* True if the sign does not hold where the agent answers over this path. */
static bool is_refuted(const struct ftree *ft, const struct rules_sign *sign, int path)
{
    uint8_t fact = path == FTREE_PATH_DATA ? RULES_FACT_DATA : RULES_FACT_MGMT;
    bool is_main = path == FTREE_PATH_DATA || !ft->job->has_path[FTREE_PATH_DATA];

    for (int32_t i = 0; i < sign->conditions; i++) {
        const struct rules_condition *c = &sign->condition[i];
        bool is_about = !c->is_number && (c->fact == fact || c->fact == RULES_FACT_AGENT ||
                                          (is_main && c->fact == RULES_FACT_MAIN));
        if (is_about && !(c->values >> FTREE_REACH_ANSWERED & 1))
            return true;
    }
    return false;
}

/* False where the sign is about a path that the job has not. */
static bool can_hold(const struct ftree *ft, const struct rules_sign *sign)
{
    static const uint8_t by_path[FTREE_PATHS] = {RULES_FACT_DATA, RULES_FACT_MGMT};

    for (int32_t i = 0; i < sign->conditions; i++)
        for (int path = 0; path < FTREE_PATHS; path++)
            if (!ft->job->has_path[path] && !sign->condition[i].is_number &&
                sign->condition[i].fact == by_path[path] &&
                !(sign->condition[i].values >> RULES_REACH_NO_PATH & 1))
                return false;
    return true;
}

/* The paths that refute the verdict's sign in each of its alternatives; none where the rules here
 * do not have it. */
uint8_t ftree_verdict_paths_of_sign(const struct ftree *ft, const char *name)
{
    uint8_t paths = ftree_all_paths(ft->job);
    bool found = false;

    for (int32_t m = 0; m < ft->rules->models; m++)
        for (int32_t s = 0; s < ft->rules->model[m].signs; s++) {
            const struct rules_sign *sign = &ft->rules->model[m].sign[s];
            if (strcmp(sign->name, name) || !can_hold(ft, sign))
                continue;
            found = true;
            for (int path = 0; path < FTREE_PATHS; path++)
                if (!is_refuted(ft, sign, path))
                    paths &= (uint8_t) ~(1u << path);
        }
    return found ? paths : 0;
}

/* A node that counts as lost is not where it answers at all.  How a rank of several is its agent's
 * answer does not say: its own node looks. */
static uint8_t refuting_paths(const struct ftree *ft, const struct summary *v)
{
    if (ftree_verdict_takes_node(ft, v))
        return ftree_all_paths(ft->job);
    return v->kind == FTREE_KIND_RANK ? 0
                                      : ftree_verdict_paths_of_sign(ft, ftree_verdict_rule(ft, v));
}

/* True if no path crosses the switch that it is about: an answer over any would refute it. */
static bool cuts(const struct ftree *ft, const struct known *k)
{
    return k->v.kind == FTREE_KIND_SWITCH && ft->job->tree && ftree_all_paths(ft->job) &&
           k->refuted_by == ftree_all_paths(ft->job);
}

/* ---- one more is known ----------------------------------------------------------------------- */

/* Without memory for it the lowest rank is all that is known of the component. */
static void keep_component(struct ftree *ft, struct known *k)
{
    if (!k->v.component)
        return;
    k->component = ftree_alloc(ft, NULL, sizeof(*k->component));
    if (k->component)
        *k->component = *k->v.component;
    k->v.component = k->component;
}

/* One more is known; NULL: out of memory.  The array may move. */
struct known *ftree_verdict_add(struct ftree *ft, const struct summary *o)
{
    bool has_room = ft->state->known.n < ft->state->known.room &&
                    ft->state->known.n < ft->state->by_node.room;
    struct known *k =
        has_room || ftree_verdict_reserve(ft, 4) ? FTREE_PUSH(ft, ft->state->known) : NULL;
    int32_t at;

    if (!k)
        return NULL;
    k->v = *o;
    keep_component(ft, k);
    k->ends_agent = ends_agent(ft, o);
    k->refuted_by = refuting_paths(ft, o);
    k->cuts = cuts(ft, k);
    ft->state->switches += o->kind == FTREE_KIND_SWITCH;
    at = first_about(ft, o->node + 1, 0);
    memmove(&ft->state->by_node.items[at + 1], &ft->state->by_node.items[at],
            (size_t) (ft->state->by_node.n - at) * sizeof(ft->state->by_node.items[0]));
    ft->state->by_node.items[at] = (struct place){.node = o->node, .at = ft->state->known.n - 1};
    ft->state->by_node.n++;
    return k;
}
