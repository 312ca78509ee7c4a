/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/straggle/straggle.h"

#include "ftree/base/event.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The verdicts on slow ranks: one for each node, with all of its ranks that were found. */

#define RANKS_SHOWN (FTREE_EVIDENCE_MAX / 2 - 1)

/* ---- what stands ----------------------------------------------------------------------------- */

int32_t straggle_of_node(const struct ftree *ft, const struct lag_finding *f, int32_t i,
                         int32_t node, int cause)
{
    while (i < f->n && (ftree_node_of(ft, f->found[i].lag.rank) != node ||
                        (cause >= 0 && f->found[i].cause != cause)))
        i++;
    return i < f->n ? i : FTREE_NONE;
}

static bool is_standing(const struct ftree *ft, const struct known *k)
{
    return !k->v.withdrawn && k->v.class_ == FTREE_CLASS_STRAGGLER &&
           ftree_rules_is_slowed(ft->rules, ftree_verdict_rule(ft, &k->v));
}

const struct known *straggle_standing(const struct ftree *ft, int32_t node)
{
    FTREE_EACH(const struct known, k, ft->state->known)
        if (is_standing(ft, k) && (node == FTREE_NONE || k->v.node == node))
            return k;
    return NULL;
}

static bool is_about(const struct known *k, int32_t rank)
{
    return k->v.component ? ftree_ranks_has(k->v.component, rank) : k->v.rank == rank;
}

/* How many of its ranks were slow at the first answer, or are at the last. */
static int32_t slow_of(const struct straggle_work *w, const struct known *k)
{
    int32_t slow = 0;

    for (int32_t i = 0; i < w->first.n; i++)
        slow += is_about(k, w->first.found[i].lag.rank);
    for (int32_t i = 0; i < w->last.n; i++) {
        int32_t rank = w->last.found[i].lag.rank;
        slow += is_about(k, rank) && !ftree_lag_find(&w->first, rank);
    }
    return slow;
}

static void is_over(struct ftree *ft, const struct known *k, const char *why)
{
    struct ftree_event e = {
        .kind = FTREE_EVENT_OVER, .node = k->v.node, .by = k->v.fln, .number = k->v.id};

    snprintf(e.u.why, sizeof(e.u.why), "%s", why);
    ftree_emit(ft, &e);
}

void straggle_withdraw(struct ftree *ft)
{
    FTREE_EACH(const struct known, k, ft->state->known)
        if (is_standing(ft, k) && slow_of(ft->straggle->work, k) == 0)
            is_over(ft, k, "nothing slows it any more");
}

/* ---- a verdict ------------------------------------------------------------------------------- */

__attribute__((format(printf, 6, 7))) static void add_line(struct ftree *ft, ftree_time now,
                                                           int source, int32_t node,
                                                           struct ftree_verdict *v,
                                                           const char *format, ...)
{
    char line[FTREE_DETAIL_MAX];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    ftree_verdict_add_line(ft, now, source, node, line, v);
}

static void add_rank(struct ftree *ft, ftree_time now, const struct lag_finding *all,
                     const struct lag_found *f, struct ftree_verdict *v)
{
    const struct ftree_lag *l = &f->lag;
    const struct {
        const char *format;
        int number, second;
    } causes[] = {
        [LAG_QUOTA] = {"its cgroup's quota of CPU time used up in %d %% of the periods",
                       l->throttled / 10},
        [LAG_SHARED_CORE] = {"bound to the same core as rank %d", l->beside},
        [LAG_PREEMPTED] = {"others run on its core"},
        [LAG_STOLEN] = {"another virtual machine has its core for %d %% of the time",
                        l->stolen / 10},
        [LAG_PAGING] = {"%d pages a second from a disk, memory short for %d %% of the time",
                        (int) l->faults, l->stall / 10},
        [LAG_SLOW_CLOCK] = {"its core's clock at %d %% of the nominal one", l->clock / 10}};
    char cause[100];

    add_line(ft, now, FTREE_EVIDENCE_SAMPLE, v->node, v,
             "rank %d outside MPI %d %% of the time before, %d %% now; got %d %% of the CPU it "
             "wanted, others %d %%",
             (int) l->rank, l->before / 10, l->now / 10, l->gets / 10, (int) all->gets / 10);
    snprintf(cause, sizeof(cause), causes[f->cause].format, causes[f->cause].number,
             causes[f->cause].second);
    add_line(ft, now, FTREE_EVIDENCE_STATE, v->node, v, "rank %d: %s", (int) l->rank, cause);
}

/* Of the node whose rank is found first: that is hindered most, and has the sign.  False: the rule
 * base says nothing of it. */
static bool make(struct ftree *ft, ftree_time now, const struct lag_finding *f,
                 struct ftree_verdict *v)
{
    int32_t node = ftree_node_of(ft, f->found[0].lag.rank), model = -1;
    const struct rules_sign *sign = ftree_rules_decide_slowed(
        ft->rules, f->found[0].cause, f->lost, f->found[0].slowed, &model);

    if (!sign)
        return false;
    ftree_verdict_init(ft, now, v, sign, ft->rules->model[model].class_, node, FTREE_NONE);
    v->kind = FTREE_KIND_RANK;
    v->first_symptom = ft->straggle->began;
    add_line(ft, now, FTREE_EVIDENCE_SAMPLE, ft->self, v,
             "other ranks computed %d %% of the time before, %d %% now (%d %% lost)",
             (int) f->before / 10, (int) f->now / 10, (int) f->lost);
    v->statistics.lost.percent = f->lost;
    v->statistics.lost.before = f->before;
    v->statistics.lost.now = f->now;
    v->symptoms = 0;
    for (int32_t i = 0; (i = straggle_of_node(ft, f, i, node, -1)) >= 0; i++)
        if (v->symptoms++ < RANKS_SHOWN)
            add_rank(ft, now, f, &f->found[i], v);
    /* ascending: a set lists so many runs only, of which the lowest rank must be one */
    for (int32_t i = 0; i < ftree_ranks_of(ft->job, node); i++)
        if (ftree_lag_find(f, ftree_rank_at(ft->job, node, i)))
            ftree_ranks_add(&v->component, ftree_rank_at(ft->job, node, i),
                            ftree_rank_at(ft->job, node, i));
    v->rank = v->component.range[0].first;
    v->pid = v->component.count == 1 && ft->job->rank_pid ? ft->job->rank_pid[v->rank] : 0;
    return true;
}

static bool is_news(const struct ftree *ft, const struct ftree_verdict *v, const struct known *k)
{
    const struct straggle_work *w = ft->straggle->work;
    int32_t count = k && k->v.component ? ftree_ranks_listed(k->v.component) : 1;
    bool news = k && (strcmp(ftree_verdict_rule(ft, &k->v), v->rule) || slow_of(w, k) != count);

    for (int32_t i = 0; (i = straggle_of_node(ft, &w->found, i, v->node, -1)) >= 0; i++)
        news = news || (k ? !is_about(k, w->found.found[i].lag.rank) : w->found.found[i].is_sure);
    return news;
}

static void drop(const struct ftree *ft, struct lag_finding *f, int32_t node)
{
    int32_t n = f->n;

    f->n = 0;
    for (int32_t i = 0; i < n; i++)
        if (ftree_node_of(ft, f->found[i].lag.rank) != node)
            f->found[f->n++] = f->found[i];
}

bool straggle_say(struct ftree *ft, ftree_time now)
{
    struct lag_finding *f = &ft->straggle->work->found;

    while (f->n > 0) {
        int32_t node = ftree_node_of(ft, f->found[0].lag.rank);
        const struct known *k = straggle_standing(ft, node);
        struct ftree_verdict v;
        bool news = make(ft, now, f, &v) && is_news(ft, &v, k);
        drop(ft, f, node);
        if (!news)
            continue;
        if (k)
            is_over(ft, k, "replaced: other ranks, or another cause");
        if (v.component.count == 1)
            v.component = (struct ftree_ranks){0};
        ftree_emit_verdict(ft, &v);
        return true;
    }
    return false;
}
