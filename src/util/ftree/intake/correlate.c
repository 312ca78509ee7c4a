/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/base/event.h"
#include "ftree/intake/intake.h"
#include "ftree/net/net.h"

#include <string.h>

/*
 * Tree-based analysis, the first half: grouping and reasoning.  A case is what was observed of one
 * node (its ranks, NIC and link with it) or one switch within the time window T.  The rules whose
 * patterns fit the case, and what lies beside it in the tree, fire: each adds candidate faults,
 * may derive a further symptom, and says how to ask.  That goes on until no further rule fires
 * (forward chaining; each fires once a case, so it ends).
 *
 * T must be long enough for the symptoms of one fault to come in and too short for those of two.
 * It follows the delays d that are measured, as RFC 6298 follows round trips:
 *
 *     T = group_min + mean(d) + 4 var(d), at most group_max
 */

/* ---- the time window ------------------------------------------------------------------------- */

ftree_time ftree_correlate_window(const struct ftree *ft)
{
    return ftree_min(ft->cfg.group_max,
                     ft->cfg.group_min + ft->intake->delay + 4 * ft->intake->delay_var);
}

static void measure_delay(struct ftree *ft, ftree_time delay)
{
    ftree_time error =
        delay > ft->intake->delay ? delay - ft->intake->delay : ft->intake->delay - delay;

    delay = ftree_min(delay, ft->cfg.group_max);
    ft->intake->delay_var = ft->intake->delay_var - ft->intake->delay_var / 4 + error / 4;
    ft->intake->delay = ft->intake->delay - ft->intake->delay / 8 + delay / 8;
}

/* ---- do patterns fit? ------------------------------------------------------------------------ */

static bool is_related(const struct ftree *ft, enum rules_relation relation,
                       const struct ftree_case *g, const struct ftree_case *other,
                       const struct ftree_symptom *s)
{
    const struct ftree_component *c = &s->about;

    switch (relation) {
        case RULES_SAME_COMPONENT:
        case RULES_SAME_NODE:
            return other == g;
        case RULES_SAME_SWITCH:
            if (g->switch_ != FTREE_NONE && ft->job->tree)
                return ftree_tree_is_behind(ft->job->tree, g->switch_, c->node);
            if (c->switch_ != FTREE_NONE && ft->job->tree)
                return ftree_tree_is_behind(ft->job->tree, c->switch_, g->node);
            return ftree_topo_same_switch(ft->topo, g->node, c->node);
        case RULES_SAME_SUBTREE:
            return g->node == c->node || (ftree_topo_is_above(ft->topo, ft->self, g->node) &&
                                          ftree_topo_is_above(ft->topo, ft->self, c->node) &&
                                          ft->self != g->node && ft->self != c->node &&
                                          ftree_topo_child_toward(ft->topo, ft->self, g->node) ==
                                              ftree_topo_child_toward(ft->topo, ft->self, c->node));
        case RULES_PARENT_OF:
            return ftree_topo_parent(ft->topo, g->node) == c->node;
        case RULES_CHILD_OF:
            return ftree_topo_parent(ft->topo, c->node) == g->node;
        case RULES_SAME_CHAIN:
            return g->chain == c->node || other->chain == g->node;
        default:
            return true;
    }
}

/* How often what the pattern is about was observed of `other`, for the case g. */
static uint64_t observed(const struct ftree *ft, ftree_time now, const struct rules_pattern *p,
                         const struct ftree_case *g, const struct ftree_case *other)
{
    ftree_time window = p->window ? p->window : ftree_correlate_window(ft);
    uint64_t count = 0;

    for (int32_t j = 0; j < other->symptoms; j++) {
        const struct ftree_symptom *s = &other->symptom[j];
        if ((p->kinds >> s->kind & 1) && s->severity >= p->severity && s->last + window >= now &&
            (!p->error || p->error == s->error) && is_related(ft, p->relation, g, other, s))
            count += s->count;
    }
    return count;
}

/* Most patterns are about the case alone: the others need not be looked at, and may be hundreds. */
static bool fits(const struct ftree *ft, ftree_time now, const struct rules_pattern *p,
                 const struct ftree_case *g)
{
    bool alone = p->relation == RULES_SAME_COMPONENT || p->relation == RULES_SAME_NODE;
    uint64_t count = alone ? observed(ft, now, p, g, g) : 0, n;
    uint32_t components = count > 0;

    FTREE_EACH_IF(!alone, const struct ftree_case, other, ft->state->cases) {
        n = observed(ft, now, p, g, other);
        count += n;
        components += n > 0;
    }
    return count >= p->count && components >= p->components;
}

/* ---- reasoning ------------------------------------------------------------------------------- */

static void add_candidate(struct ftree_case *g, int32_t rule, const struct rules_candidate *c)
{
    for (int32_t i = 0; i < g->candidates; i++)
        if (g->candidate[i].model == c->model) {
            /* two reasons for one fault, taken as independent: 1 - (1 - a)(1 - b) */
            uint32_t both = g->candidate[i].prior + c->prior -
                            (uint32_t) g->candidate[i].prior * c->prior / 1000;
            g->candidate[i].prior = (uint16_t) both;
            return;
        }
    if (g->candidates < CASE_CANDIDATES_MAX)
        g->candidate[g->candidates++] =
            (struct case_candidate){.model = c->model, .prior = c->prior, .rule = rule};
}

/* One symptom of a kind is kept, but of ranks that ended each is to be named. */
static void note_end(const struct ftree *ft, struct ftree_case *g, int32_t rank)
{
    int32_t i = ftree_place_of(ft->job, g->node, rank);

    if (i != FTREE_NONE)
        ftree_ranks_add(&g->ended, i, i);
}

static void add_symptom(const struct ftree *ft, struct ftree_case *g, const struct ftree_symptom *s)
{
    if (ftree_symptom_is_end(s) && s->about.rank != FTREE_NONE)
        note_end(ft, g, s->about.rank);
    g->count = g->count > UINT32_MAX - s->count ? UINT32_MAX : g->count + s->count;
    g->first = ftree_min(g->first, s->first);
    g->last = ftree_max(g->last, s->last);
    for (int32_t i = 0; i < g->symptoms; i++)
        if (g->symptom[i].kind == s->kind && g->symptom[i].about.kind == s->about.kind) {
            ftree_symptom_merge(&g->symptom[i], s);
            return;
        }
    if (g->symptoms < CASE_SYMPTOMS_MAX)
        g->symptom[g->symptoms++] = *s;
}

static void trace_rule(struct ftree *ft, const struct ftree_case *g, const struct rules_rule *rule)
{
    char line[200] = "";

    for (int32_t i = 0; i < rule->candidates; i++)
        ftree_text_add(line, sizeof(line), " %s %d.%03d",
                       ft->rules->model[rule->candidate[i].model].name,
                       rule->candidate[i].prior / 1000, rule->candidate[i].prior % 1000);
    ftree_trace(ft, "  rule %s on %s:%s", rule->name, ftree_name_of(ft, g), line);
    if (rule->derives >= 0)
        ftree_trace(ft, "  rule %s derives %s", rule->name,
                    ftree_symptom_info(rule->derives)->name);
}

static void fire(struct ftree *ft, ftree_time now, struct ftree_case *g, int32_t r)
{
    const struct rules_rule *rule = &ft->rules->rule[r];
    struct ftree_symptom derived;

    g->fired[r / 64] |= (uint64_t) 1 << (r % 64);
    trace_rule(ft, g, rule);
    for (int32_t i = 0; i < rule->candidates; i++)
        if (!ftree_verdict_is_masked(ft, rule->candidate[i].model, g->node))
            add_candidate(g, r, &rule->candidate[i]);
    if (rule->derives >= 0) {
        ftree_symptom_init(&derived, (enum ftree_symptom_kind) rule->derives, g->node, FTREE_NONE,
                           ft->self, g->first, now);
        derived.count = g->count;
        derived.reporters = 0; /* nobody saw it */
        add_symptom(ft, g, &derived);
        g->count -= derived.count;
    }
    if (g->strategy < 0)
        g->strategy = rule->strategy;
}

static bool has_fired(const struct ftree_case *g, int32_t r)
{
    return g->fired[r / 64] >> (r % 64) & 1;
}

/* Fires what fits until nothing more does; returns whether any did. */
static bool reason(struct ftree *ft, ftree_time now, struct ftree_case *g)
{
    bool any = false, again = true;

    while (again) {
        again = false;
        for (int32_t r = 0; r < ft->rules->rules; r++) {
            const struct rules_rule *rule = &ft->rules->rule[r];
            int32_t i = 0;
            if (has_fired(g, r))
                continue;
            while (i < rule->patterns && fits(ft, now, &rule->pattern[i], g))
                i++;
            if (i < rule->patterns)
                continue;
            fire(ft, now, g, r);
            any = again = true;
        }
    }
    return any;
}

/* What came later about others may fit a pattern that looks beyond the case.  The window is that
 * of the case's own last symptom: the asking takes longer than a window. */
void ftree_correlate_again(struct ftree *ft, ftree_time now, int32_t node, int32_t switch_)
{
    struct ftree_case *g = ftree_case_find(ft, node, switch_);

    if (g)
        reason(ft, ftree_min(now, g->last), g);
}

/* ---- examining ------------------------------------------------------------------------------- */

/* What a suspect says of others may be a consequence of its own trouble: first it is cleared. */
static bool is_doubtful(const struct ftree *ft, const struct ftree_case *g)
{
    for (int32_t i = 0; i < g->symptoms; i++)
        for (int32_t j = 0; j < g->symptom[i].reporters; j++)
            if (!ftree_case_is_suspect(ft, g->symptom[i].reporter[j]))
                return false;
    return true;
}

static bool may_be_asked(const struct ftree *ft, const struct ftree_case *g)
{
    return !ftree_is_leaving(ft) && g->node != ft->self && !ftree_has_failed(ft, g->node) &&
           !ftree_case_is_suspect(ft, g->node);
}

static void examine(struct ftree *ft, ftree_time now, struct ftree_case *g, uint32_t round)
{
    if (g->state >= CASE_CALLED)
        return;
    g->state = CASE_IDLE;
    if (g->strategy < 0 || g->candidates == 0)
        return;
    if (now < g->quiet) {
        g->state = CASE_AGAIN;
    } else if (!round && is_doubtful(ft, g)) {
        g->state = CASE_DOUBTFUL;
        ftree_trace(ft, "  %s waits until its reporters are cleared", ftree_name_of(ft, g));
    } else if (may_be_asked(ft, g) &&
               FTREE_EMIT(ft, CASE, .node = g->node, .switch_ = g->switch_, .number = round)) {
        g->state = CASE_CALLED;
    }
}

/* For so long a rule may ask for a symptom after it was seen last. */
static ftree_time kept_until(const struct ftree *ft, const struct ftree_symptom *s)
{
    ftree_time window = 0;

    for (int32_t r = 0; r < ft->rules->rules; r++)
        for (int32_t i = 0; i < ft->rules->rule[r].patterns; i++)
            if (ft->rules->rule[r].pattern[i].kinds >> s->kind & 1)
                window = ftree_max(window, ft->rules->rule[r].pattern[i].window);
    return s->last + window;
}

/* A case that nobody examines, or is going to, starts anew when its last symptom is past the
 * window, but for what a rule may still ask for. */
static void forget_if_past(struct ftree *ft, ftree_time now, struct ftree_case *g)
{
    int32_t kept = 0;

    if (g->state != CASE_IDLE || g->last + ftree_correlate_window(ft) > now)
        return;
    g->count = 0;
    for (int32_t i = 0; i < g->symptoms; i++)
        if (kept_until(ft, &g->symptom[i]) > now) {
            g->count += g->symptom[i].count;
            g->symptom[kept++] = g->symptom[i];
        }
    g->symptoms = kept;
    g->candidates = 0;
    g->strategy = -1;
    g->first = now;
    memset(g->fired, 0, sizeof(g->fired));
    memset(&g->ended, 0, sizeof(g->ended));
}

void ftree_correlate(struct ftree *ft, ftree_time now, const struct ftree_symptom *s,
                     uint32_t round)
{
    struct ftree_case *g = ftree_case_find(ft, s->about.node, s->about.switch_);
    bool fired;

    if (s->reporter[0] != ft->self || s->last < now) /* an own one may have gone round, too */
        measure_delay(ft, now - s->last + ft->net->srtt / 2);
    if (g)
        forget_if_past(ft, now, g);
    else if (!(g = ftree_case_add(ft, s->about.node, s->about.switch_)))
        return;
    add_symptom(ft, g, s);
    ftree_trace(ft, "  group %s: %s, %u in all", ftree_name_of(ft, g),
                ftree_symptom_info(s->kind)->name, (unsigned) g->count);
    fired = reason(ft, now, g);
    if (g->candidates == 0 && !fired && g->count == s->count)
        ftree_trace(ft, "%s of %s: no rule, only counted", ftree_symptom_info(s->kind)->name,
                    ftree_name_of(ft, g));
    examine(ft, now, g, round);
}

/* Launcher and scheduler say a thing once, and may have said it before the last of the node's
 * processes ended. */
static bool is_said_once(const struct ftree_case *g)
{
    for (int32_t i = 0; i < g->symptoms; i++) {
        const struct ftree_symptom_info *info = ftree_symptom_info(g->symptom[i].kind);
        if (info->severity >= FTREE_SEVERITY_ERROR &&
            (info->source == FTREE_SOURCE_PROCESS_MANAGER ||
             info->source == FTREE_SOURCE_JOB_SCHEDULER))
            return true;
    }
    return false;
}

/* True if a verdict on a data path that came meanwhile explains all of it; what a rule derived
 * follows from the rest. */
static bool is_by_path(const struct ftree *ft, const struct ftree_case *g)
{
    for (int32_t i = 0; i < g->symptoms; i++)
        if (g->symptom[i].reporters > 0 && !ftree_verdict_explains_path(ft, &g->symptom[i]))
            return false;
    return true;
}

/* Suspects were cleared or decided: what they or others reported may be examined now.  True: it is
 * explained. */
static bool look_again(struct ftree *ft, ftree_time now, struct ftree_case *g)
{
    if (g->state != CASE_DOUBTFUL)
        return false;
    if (is_by_path(ft, g))
        return true;
    examine(ft, now, g, 0);
    return false;
}

void ftree_correlate_closed(struct ftree *ft, ftree_time now, int32_t node, int32_t switch_,
                            bool well)
{
    struct ftree_case *g = ftree_case_find(ft, node, switch_);

    if (g && well) {
        if (g->state == CASE_IDLE && g->quiet == 0 && is_said_once(g))
            g->state = CASE_AGAIN;
        g->quiet = now + ft->cfg.stall / 2;
    } else {
        ftree_case_drop(ft, node, switch_);
    }
    ftree_case_drop_past(ft, now, look_again);
}

/* The rules have changed. */
void ftree_correlate_anew(struct ftree *ft, ftree_time now)
{
    FTREE_EACH(struct ftree_case, g, ft->state->cases) {
        g->candidates = 0;
        g->strategy = -1;
        memset(g->fired, 0, sizeof(g->fired));
        reason(ft, now, g);
    }
}

void ftree_correlate_examine_all(struct ftree *ft, ftree_time now)
{
    for (int32_t i = 0; i < ft->state->cases.n; i++)
        examine(ft, now, &ft->state->cases.items[i], 0);
}

/* ---- time ------------------------------------------------------------------------------------ */

/* Where no rule has fired nothing is to be forgotten before. */
static ftree_time end_of(const struct ftree *ft, const struct ftree_case *g)
{
    ftree_time t = ftree_max(g->last + ftree_correlate_window(ft), g->quiet);

    for (int32_t i = 0; i < g->symptoms && g->candidates == 0; i++)
        t = ftree_max(t, kept_until(ft, &g->symptom[i]));
    return t;
}

static bool is_past(struct ftree *ft, ftree_time now, struct ftree_case *g)
{
    if (g->state == CASE_AGAIN && g->quiet <= now)
        examine(ft, now, g, 0);
    if (g->state != CASE_IDLE || end_of(ft, g) > now)
        return false;
    forget_if_past(ft, now, g);
    g->first = g->last; /* it begins with the next one */
    return g->symptoms == 0;
}

void ftree_correlate_tick(struct ftree *ft, ftree_time now)
{
    ftree_case_drop_past(ft, now, is_past);
}

ftree_time ftree_correlate_deadline(const struct ftree *ft)
{
    return FTREE_EARLIEST(const struct ftree_case, g, ft->state->cases,
                          g->state == CASE_AGAIN  ? g->quiet
                          : g->state == CASE_IDLE ? end_of(ft, g)
                                                  : FTREE_NEVER);
}
