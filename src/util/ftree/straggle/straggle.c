/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/straggle/straggle.h"

#include "ftree/base/event.h"

#include <string.h>

/*
 * Each time that a block of samples is over every node looks whether one of its ranks waits more
 * for a CPU than before, and some eight nodes (enough, because nothing is said unless the ranks
 * lose time on the whole) whether most of their ranks seem to wait longer than ever before.  Then
 * the acting root asks all nodes, through the tree, three times or more, until that is sure: the
 * first question begins to measure, others bring what slowed each rank since, and the time lost by
 * all.  At the end each node's ranks are compared with the verdict that stands on it: that is
 * withdrawn, replaced or left alone, or there is a new one.  While one stands likewise, ever later.
 */

#define OBSERVERS 8
#define PAUSE_MIN (32 * ft->cfg.sample) /* from one episode to the next */
#define PAUSE_MAX (600 * 1000 * FTREE_MS)
#define STANDS_MAX (8 * PAUSE_MIN) /* that, while a verdict stands */
#define PATIENCE (10 * 1000 * FTREE_MS) /* with an answer that does not come */
#define MEASURED ftree_max(5 * ft->cfg.sample, 1000 * FTREE_MS) /* from one question to the next */
#define JUDGED_MIN 2 /* times */
#define JUDGED_MAX 7
#define RANKS_TRACED 4
#define RANKS_SHOWN (FTREE_EVIDENCE_MAX / 2 - 1)

/* An episode: what the questions in a row have found. */
struct straggle_work {
    ftree_time began, next; /* next: a question, or a verdict */
    uint8_t judged; /* so many answers */
    bool asked; /* and not all have answered yet */
    bool is_partial; /* not all nodes answered each time: nothing is withdrawn */
    bool is_done; /* and what is found is to be said: */
    int32_t said; /* of so many of `now` it was */
    struct lag_finding now, before; /* who is slow; the time before */
};

/* ---- what stands, and what is found ---------------------------------------------------------- */

static bool is_standing(const struct ftree *ft, const struct known *k)
{
    return !k->v.withdrawn && k->v.class_ == FTREE_CLASS_STRAGGLER &&
           ftree_rules_needs(ft->rules, ftree_verdict_rule(ft, &k->v), RULES_FACT_SLOWED);
}

/* The first verdict that stands, on a node (FTREE_NONE: on any); NULL: there is none. */
static const struct known *standing(const struct ftree *ft, int32_t node)
{
    FTREE_EACH(const struct known, k, ft->state->known)
        if (is_standing(ft, k) && (node == FTREE_NONE || k->v.node == node))
            return k;
    return NULL;
}

/* The ranks of a node beside the verdict on it, NULL: none stands. */
enum {
    STILL = 1, /* ranks of the verdict are slow, the last time or that before, */
    ENDED = 2, /* or not */
    MORE = 4, /* others are found */
    SURE = 8 /* one that is found is */
};

/* A set of these. `found`: all that are, ascending, for it keeps so many runs from the first on. */
static int compare(const struct ftree *ft, int32_t node, const struct known *k,
                   struct ftree_ranks *found)
{
    const struct straggle_work *w = ft->straggle->work;
    int set = 0;

    for (int32_t i = 0; i < ftree_ranks_of(ft->job, node); i++) {
        int32_t rank = ftree_rank_at(ft->job, node, i);
        const struct lag_found *f = ftree_lag_find(&w->now, rank);
        bool is_named = k && ftree_verdict_has_rank(&k->v, rank), is_found = f && f->is_found;
        if (is_named)
            set |= f || ftree_lag_find(&w->before, rank) ? STILL : ENDED;
        if (is_found) {
            set |= (is_named ? 0 : MORE) | (f->is_sure ? SURE : 0);
            ftree_ranks_add(found, rank, rank);
        }
    }
    return set;
}

/* ---- who asks -------------------------------------------------------------------------------- */

static bool is_pausing(const struct ftree *ft, ftree_time now)
{
    ftree_time most = standing(ft, FTREE_NONE) ? STANDS_MAX : PAUSE_MAX;

    return now < ft->straggle->asked_at + ftree_min(ft->straggle->pause, most);
}

/* No matter who asks: a second node that does between two questions of an episode would come to
 * nothing. The pause doubles, unless nobody has asked for long enough. */
void ftree_straggle_asked(struct ftree *ft, ftree_time now)
{
    struct ftree_straggle *s = ft->straggle;
    ftree_time twice = 2 * s->pause;

    if (!is_pausing(ft, now))
        s->pause = now < s->asked_at + twice ? ftree_min(twice, PAUSE_MAX) : PAUSE_MIN;
    s->asked_at = now;
}

/* Why all nodes are to be asked; NULL: there is nothing. */
static const char *reason_of(struct ftree *ft)
{
    bool observes = ft->self % ((ft->job->nodes + OBSERVERS - 1) / OBSERVERS) == 0;
    int32_t ranks = ftree_ranks_of(ft->job, ft->self), lost = 0;
    struct ftree_block block[FTREE_BLOCKS_MAX];

    if (ftree_route_is_root(ft) && standing(ft, FTREE_NONE))
        return "what slows ranks may be over";
    for (int32_t i = 0; i < ranks; i++) {
        int32_t n = ft->io->blocks(ft->io_ctx, i, block, FTREE_BLOCKS_MAX);
        if (ftree_lag_waits_more(block, n))
            return "an own rank waits more for a CPU than before";
        lost += observes && ftree_lag_may_have_lost(block, n, ft->cfg.alpha);
    }
    return lost > 0 && 2 * lost >= ranks ? "own ranks wait longer than ever before" : NULL;
}

void ftree_straggle_look(struct ftree *ft, ftree_time now)
{
    bool may = ft->io->blocks && ft->io->lag && !ftree_is_leaving(ft) && !is_pausing(ft, now);
    const char *reason = may ? reason_of(ft) : NULL;

    if (reason && FTREE_EMIT(ft, ASK_LAGS))
        ftree_trace(ft, "%s", reason);
}

/* ---- a verdict ------------------------------------------------------------------------------- */

static void add_rank(struct ftree *ft, ftree_time now, const struct lag_finding *all,
                     const struct lag_found *f, struct ftree_verdict *v)
{
    const struct ftree_lag *l = &f->lag;
#define CAUSE(name, words, number) [name] = {words, (int) (number)},
    const struct {
        const char *words;
        int number;
    } causes[] = {LAG_CAUSES(CAUSE)}, *cause = &causes[f->cause];

    ftree_verdict_add_line(ft, now, FTREE_EVIDENCE_SAMPLE, v->node, v,
                           "rank %d outside MPI %d %% of the time before, %d %% now; got %d %% of "
                           "the CPU it wanted, others %d %%",
                           (int) l->rank, l->before / 10, l->now / 10, l->gets / 10,
                           (int) all->gets / 10);
    ftree_verdict_add_line(ft, now, FTREE_EVIDENCE_STATE, v->node, v, cause->words, (int) l->rank,
                           cause->number, l->stall / 10);
}

/* Of all ranks found on the node of the first, which is hindered most and has the sign.  False: the
 * rules say nothing of it, or it is no news: a new verdict must be sure; the one that stands, k, is
 * replaced where its ranks or their cause change. */
static bool make(struct ftree *ft, ftree_time now, const struct lag_found *first,
                 const struct known *k, struct ftree_verdict *v)
{
    const struct lag_finding *all = &ft->straggle->work->now;
    int32_t node = ftree_node_of(ft, first->lag.rank), model = -1;
    const struct rules_sign *sign =
        ftree_rules_decide_slowed(ft->rules, first->cause, all->lost, first->slowed, &model);
    int set;

    if (!sign)
        return false;
    ftree_verdict_init(ft, now, v, sign, ft->rules->model[model].class_, node, FTREE_NONE);
    v->kind = FTREE_KIND_RANK;
    v->first_symptom = ft->straggle->work->began;
    ftree_verdict_add_line(ft, now, FTREE_EVIDENCE_SAMPLE, ft->self, v,
                           "other ranks computed %d %% of the time before, %d %% now (%d %% lost)",
                           (int) all->before / 10, (int) all->now / 10, (int) all->lost);
    v->statistics.lost.percent = all->lost;
    v->statistics.lost.before = all->before;
    v->statistics.lost.now = all->now;
    v->symptoms = 0;
    for (const struct lag_found *f = first; f < all->found + all->n; f++)
        if (f->is_found && ftree_node_of(ft, f->lag.rank) == node && v->symptoms++ < RANKS_SHOWN)
            add_rank(ft, now, all, f, v);
    set = compare(ft, node, k, &v->component);
    v->rank = v->component.range[0].first;
    v->pid = v->component.count == 1 && ft->job->rank_pid ? ft->job->rank_pid[v->rank] : 0;
    if (v->component.count == 1)
        v->component = (struct ftree_ranks){0};
    ftree_cause_add(ft, model, v);
    return k ? set & (ENDED | MORE) || strcmp(ftree_verdict_rule(ft, &k->v), v->rule) : set & SURE;
}

/* What is found on the next node, by the first of its ranks that is; false: nothing more. */
static bool say(struct ftree *ft, ftree_time now)
{
    struct straggle_work *w = ft->straggle->work;
    struct ftree_verdict v;

    while (w->said < w->now.n) {
        const struct lag_found *f = &w->now.found[w->said++], *first = w->now.found;
        int32_t node = ftree_node_of(ft, f->lag.rank);
        const struct known *k = standing(ft, node);
        while (first < f && (!first->is_found || ftree_node_of(ft, first->lag.rank) != node))
            first++;
        if (first < f || !f->is_found || !make(ft, now, f, k, &v))
            continue;
        if (k)
            ftree_emit_over(ft, k->v.node, k->v.fln, k->v.id,
                            "replaced: other ranks, or another cause");
        ftree_emit_verdict(ft, &v);
        return true;
    }
    return false;
}

/* ---- an episode ------------------------------------------------------------------------------ */

/* One more question may bring more: the first two do not tell what they are asked for, what a wait
 * costs the others may not show yet, and the node may be about to say why. */
static void judge(struct ftree *ft, struct straggle_work *w, const struct lag_answer *a)
{
    bool stands = standing(ft, FTREE_NONE), open = stands, is_sure = false;
    struct ftree_ranks found = {0};

    w->judged++;
    w->is_partial |= !a->all_answer;
    w->before = w->now;
    ftree_lag_judge(a, &w->now);
    for (int32_t i = 0; i < w->now.n && ftree_verdict_any_fault(ft); i++)
        w->now.found[i].is_clear = false;
    ftree_lag_confirm(ft, &w->before, a->ranks, &w->now);
    for (int32_t i = 0; i < a->n; i++)
        open |= a->lag[i].waits_more;
    for (const struct lag_found *f = w->now.found; f < w->now.found + w->now.n; f++) {
        open |= f->is_clear;
        is_sure |= f->is_found && f->is_sure && !f->lag.asks;
    }
    w->is_done = is_sure || !open || w->judged >= (stands ? JUDGED_MIN : JUDGED_MAX);
    FTREE_EACH_IF(w->is_done && !w->is_partial, const struct known, k, ft->state->known)
        if (is_standing(ft, k) && !(compare(ft, k->v.node, k, &found) & STILL))
            ftree_emit_over(ft, k->v.node, k->v.fln, k->v.id, "nothing slows it any more");
}

static void trace_answer(struct ftree *ft, const struct lag_answer *a, int32_t shown)
{
    int32_t ranks = a->ranks ? a->ranks : 1;

    ftree_trace(ft, "  %d ranks outside MPI: %d of 1000 samples before, %d now", (int) a->ranks,
                (int) (a->before / ranks), (int) (a->now / ranks));
    for (const struct ftree_lag *l = a->lag; l < a->lag + a->n && l < a->lag + shown; l++)
        ftree_trace(ft, "  rank %d: %d before, %d now; wants %d of a CPU, and gets %d of that",
                    (int) l->rank, l->before, l->now, l->wants, l->gets);
}

/* The first answer says nothing yet: since then the nodes measure. */
void ftree_straggle_said(struct ftree *ft, ftree_time now, struct lag_answer *a)
{
    struct straggle_work *w = ft->straggle->work;

    if (ftree_route_is_root(ft) && !ftree_is_leaving(ft) && (!w || w->asked)) {
        trace_answer(ft, a, w ? RANKS_TRACED : 0);
        if (w)
            judge(ft, w, a);
        else if ((w = ft->straggle->work = ftree_alloc(ft, NULL, sizeof(*w))))
            *w = (struct straggle_work){.began = now};
        if (w) {
            w->asked = false;
            w->next = w->is_done ? now : now + MEASURED; /* then more is known of lost time */
        }
    }
    ftree_alloc(ft, a, 0);
}

void ftree_straggle_tick(struct ftree *ft, ftree_time now)
{
    struct straggle_work *w = ft->straggle->work;

    if (!w || w->next > now)
        return;
    if (w->asked /* and no answer has come */ || ftree_is_leaving(ft) || !ftree_route_is_root(ft) ||
        (w->is_done && !say(ft, now))) {
        ftree_straggle_clear(ft);
    } else if (!w->is_done) {
        w->asked = FTREE_EMIT(ft, ASK_LAGS);
        w->next = now + PATIENCE;
    }
}

ftree_time ftree_straggle_deadline(const struct ftree *ft)
{
    return ft->straggle->work ? ft->straggle->work->next : FTREE_NEVER;
}

void ftree_straggle_clear(struct ftree *ft)
{
    ftree_alloc(ft, ft->straggle->work, 0);
    ft->straggle->work = NULL;
}
