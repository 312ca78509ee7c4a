/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/state/state.h"

#include "ftree/wire/codec.h"

#include <stdio.h>
#include <string.h>

/*
 * Cause chains.  That a part fails (a fan, a power supply) is often known before what comes of it:
 * such symptoms are kept with their time by each node that they pass, and go up with answers about
 * samples.  The fault models say what leads to what, and within which time; from the fault that was
 * found the chain is followed back to the first cause that was seen.  A link of the chain that
 * nobody saw is passed over.
 */

#define PAST_MAX 64
#define CHAIN_MAX 3 /* of it are reported */
#define TOLD_FOR (600 * 1000 * FTREE_MS) /* a handler may pause so long */
#define SLACK_S 10.0 /* reporters look now and then */

/* ---- what was seen --------------------------------------------------------------------------- */

/* Where there is no room: what a GPU does makes room first, then what is older. */
static bool goes_before(const struct ftree_symptom *a, const struct ftree_symptom *b)
{
    bool is_usage = a->kind == FTREE_SYMPTOM_GPU_USAGE;

    return is_usage != (b->kind == FTREE_SYMPTOM_GPU_USAGE) ? is_usage : a->last < b->last;
}

/* Its place, a new one, or that of another; NULL: there is none, or out of memory. */
static struct ftree_symptom *place_of(struct ftree *ft, const struct ftree_symptom *s)
{
    struct ftree_symptom *other = NULL;

    FTREE_EACH(struct ftree_symptom, p, ft->state->past) {
        if (p->about.node == s->about.node && p->about.rank == s->about.rank && p->kind == s->kind)
            return p;
        if (goes_before(p, other ? other : s))
            other = p;
    }
    if (ft->state->past.n < PAST_MAX)
        return FTREE_PUSH(ft, ft->state->past);
    if (other)
        other->count = 0;
    return other;
}

/* What a GPU does leads to nothing, and is reported with a rank that does not return: how it is now. */
void ftree_cause_note(struct ftree *ft, const struct ftree_symptom *s)
{
    bool is_usage = s->kind == FTREE_SYMPTOM_GPU_USAGE;
    bool is_kept = is_usage || ftree_rules_leading_by(ft->rules, s->kind);
    struct ftree_symptom *p = is_kept ? place_of(ft, s) : NULL;

    if (!p)
        return;
    if (p->count == 0 || (is_usage && p->last < s->last))
        *p = *s;
    p->first = ftree_min(p->first, s->first);
    p->last = ftree_max(p->last, s->last);
    if (!*p->detail)
        memcpy(p->detail, s->detail, sizeof(p->detail));
}

/* It is reported, but makes a fault of the software no likelier. */
void ftree_cause_tell(const struct ftree *ft, ftree_time now, int32_t model,
                      struct ftree_verdict *v)
{
    FTREE_EACH(const struct ftree_symptom, p, ft->state->past)
        if (p->about.node == v->node && p->last + TOLD_FOR > now)
            ftree_verdict_add_symptom(ft, now, p, model, v);
}

/* ---- the chain ------------------------------------------------------------------------------- */

static double seconds(ftree_time from, ftree_time to)
{
    return ((double) to - (double) from) / 1e9;
}

static bool is_in_time(const struct rules_model *m, const struct ftree_symptom *p, ftree_time at)
{
    return seconds(p->first, at) > m->before_above && seconds(p->last, at) < m->before_below;
}

/* Those of its models that may have led to the verdict. */
static uint64_t models_of(const struct ftree *ft, uint64_t leading, const struct ftree_symptom *p,
                          const struct ftree_verdict *v)
{
    bool is_there = p->about.node == v->node &&
                    (p->about.rank == FTREE_NONE || v->rank == FTREE_NONE ||
                     p->about.rank == v->rank);
    uint64_t models = is_there ? leading & ftree_rules_leading_by(ft->rules, p->kind) : 0;

    for (int32_t m = 0; m < ft->rules->models; m++)
        if ((models >> m & 1) && !is_in_time(&ft->rules->model[m], p, v->first_symptom))
            models &= ~((uint64_t) 1 << m);
    return models;
}

/* A link of the chain. */
struct link {
    const struct ftree_symptom *p;
    uint64_t models, follow; /* that it is of; that these lead to in the end */
};

static bool leads_to(const struct link *a, const struct link *b)
{
    return (a->follow & b->models) && seconds(a->p->first, b->p->first) > -SLACK_S;
}

static int32_t find_links(const struct ftree *ft, int32_t model, const struct ftree_verdict *v,
                          struct link *link)
{
    uint64_t leading = ftree_rules_leading_to(ft->rules, model), models;
    int32_t n = 0;

    FTREE_EACH(const struct ftree_symptom, p, ft->state->past) {
        if (!(models = models_of(ft, leading, p, v)))
            continue;
        link[n] = (struct link){.p = p, .models = models};
        for (int32_t m = 0; m < ft->rules->models; m++)
            if (models >> m & 1)
                link[n].follow |= ftree_rules_follow(ft->rules, m, false);
        n++;
    }
    return n;
}

/* To which none of the others leads; of several the one that was seen last. */
static const struct link *first_cause(const struct link *link, int32_t n)
{
    const struct link *first = NULL;

    for (int32_t i = 0; i < n; i++) {
        bool is_led_to = false;
        for (int32_t j = 0; j < n; j++)
            is_led_to |= j != i && leads_to(&link[j], &link[i]);
        if (!is_led_to && (!first || link[i].p->first > first->p->first))
            first = &link[i];
    }
    return first;
}

/* ---- what is known of a node ------------------------------------------------------------------ */

static bool is_below(const struct ftree *ft, const struct ftree_symptom *s)
{
    return ftree_topo_is_above(ft->topo, ft->self, s->about.node);
}

/* Of this node and those below it: who is above may know it from nobody else. */
void ftree_cause_wire(struct wire_codec *c)
{
    const struct ftree_state *st = c->ft->state;
    struct ftree_symptom s = {0};
    int32_t n = 0;

    FTREE_EACH(const struct ftree_symptom, p, st->past)
        n += is_below(c->ft, p);
    WIRE_WITHIN(c, n, 0, PAST_MAX);
    FTREE_EACH_IF(!c->reads, struct ftree_symptom, p, st->past)
        if (is_below(c->ft, p))
            ftree_wire_symptom(c, p);
    for (; c->reads && n > 0 && !c->bad; n--) {
        ftree_wire_symptom(c, &s);
        if (!c->bad)
            ftree_cause_note(c->ft, &s);
    }
}

/* ---- the verdict ----------------------------------------------------------------------------- */

/* It may be there as what a handler said, or other software. */
static void take_out(struct ftree_verdict *v, const char *name)
{
    int32_t left = 0;

    for (int32_t i = 0; i < v->evidences; i++) {
        const struct ftree_evidence *e = &v->evidence[i];
        bool is_it = (e->source == FTREE_EVIDENCE_SYMPTOM || e->source == FTREE_EVIDENCE_HANDLER) &&
                     e->target == v->node && strstr(e->detail, name);
        if (!is_it)
            v->evidence[left++] = v->evidence[i];
    }
    v->evidences = left;
}

/* Before the i-th of the evidence, of which the last one goes where there is no room. */
static void insert(struct ftree_verdict *v, int32_t i, const struct ftree_symptom *p)
{
    const char *name = ftree_symptom_info(p->kind)->name;
    struct ftree_evidence *e = &v->evidence[i];

    take_out(v, name);
    v->evidences += v->evidences < FTREE_EVIDENCE_MAX;
    memmove(e + 1, e, (size_t) (v->evidences - 1 - i) * sizeof(*e));
    *e = (struct ftree_evidence){.source = FTREE_EVIDENCE_CAUSE,
                                 .path = FTREE_PATHS,
                                 .target = p->about.node,
                                 .by = p->reporter[0],
                                 .at = p->first};
    snprintf(e->detail, sizeof(e->detail), "%s%s%.95s", name, *p->detail ? ": " : "", p->detail);
}

static const struct link *next_in_time(const struct link *link, int32_t n, const struct link *first,
                                       ftree_time after)
{
    const struct link *next = NULL;

    for (int32_t i = 0; i < n; i++)
        if (leads_to(first, &link[i]) && link[i].p->first > after &&
            (!next || link[i].p->first < next->p->first))
            next = &link[i];
    return next;
}

static int ticket_of(const struct ftree *ft, const struct link *l)
{
    int32_t m = 0;

    while (!(l->models >> m & 1))
        m++;
    return ftree_class_ticket(ft->rules->model[m].class_);
}

void ftree_cause_add(const struct ftree *ft, int32_t model, struct ftree_verdict *v)
{
    struct link link[PAST_MAX];
    int32_t n = find_links(ft, model, v, link);
    const struct link *first = first_cause(link, n), *l = first;

    if (!first)
        return;
    v->ticket = (uint8_t) ticket_of(ft, first);
    for (int32_t i = 0; l && i < CHAIN_MAX; i++) {
        insert(v, i, l->p);
        l = next_in_time(link, n, first, l->p->first);
    }
}
