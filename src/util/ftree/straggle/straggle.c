/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/straggle/straggle.h"

#include "ftree/base/event.h"

#include <stdio.h>
#include <string.h>

/*
 * Each time that a block of samples is over every node looks whether one of its ranks waits more for
 * a CPU than before, and some eight nodes whether most of their ranks seem to wait for others longer
 * than ever before.  Then the acting root asks all nodes, through the tree, three times, and some
 * times more until that is sure: the first question begins to measure, the others are answered with
 * what slowed each rank since, and how much time the ranks of the job have lost.  Who is found each
 * time is said, one verdict for each node.  While one stands the same is done at growing intervals,
 * and one whose ranks are found no more is withdrawn.
 *
 * Eight suffice to see that others wait, because nothing is said unless the ranks lose time on the
 * whole.
 */

#define OBSERVERS 8
#define PAUSE_MIN 32 /* samples, from one episode to the next */
#define PAUSE_MAX (600 * 1000 * FTREE_MS)
#define PATIENCE (10 * 1000 * FTREE_MS) /* with an answer that does not come */
#define MEASURED 5 /* samples, from one question to the next */
#define MEASURED_MIN (1000 * FTREE_MS)
#define REST_MAX 8 /* times PAUSE_MIN */
#define ANSWERS_MIN 3
#define ANSWERS_MAX 8
#define RANKS_TRACED 4
#define RANKS_SHOWN (FTREE_EVIDENCE_MAX / 2 - 1)

static ftree_time pause_min(const struct ftree *ft)
{
    return PAUSE_MIN * ft->cfg.sample;
}

/* ---- the own ranks --------------------------------------------------------------------------- */

static bool is_observer(const struct ftree *ft)
{
    return ft->self % ((ft->job->nodes + OBSERVERS - 1) / OBSERVERS) == 0;
}

/* Why the others are to be asked; NULL: there is nothing. */
static const char *reason_of(struct ftree *ft)
{
    int32_t ranks = ftree_ranks_of(ft->job, ft->self), lost = 0, n;
    struct ftree_block block[FTREE_BLOCKS_MAX];

    for (int32_t i = 0; i < ranks; i++) {
        n = ft->io->blocks(ft->io_ctx, i, block, FTREE_BLOCKS_MAX);
        if (ftree_lag_waits_more(block, n))
            return "an own rank waits more for a CPU than before";
        lost += is_observer(ft) && ftree_lag_may_have_lost(block, n, ft->cfg.alpha);
    }
    return lost > 0 && 2 * lost >= ranks ? "own ranks wait longer than ever before" : NULL;
}

static bool is_pausing(const struct ftree_straggle *s, ftree_time now)
{
    return s->asked_at && now < s->asked_at + s->pause;
}

/* Whoever asks: a second one that does between two questions of an episode would come to nothing.
 * The pause doubles, unless nobody has asked for long enough. */
void ftree_straggle_asked(struct ftree *ft, ftree_time now)
{
    struct ftree_straggle *s = ft->straggle;
    bool is_next = s->asked_at && now < s->asked_at + 2 * s->pause;

    if (!is_pausing(s, now))
        s->pause = is_next ? ftree_min(2 * s->pause, PAUSE_MAX) : pause_min(ft);
    s->asked_at = now;
}

void ftree_straggle_look(struct ftree *ft, ftree_time now)
{
    const char *reason;

    ftree_straggle_learned(ft, now); /* what the agent before knew */
    if (!ft->io->blocks || !ft->io->lag || ftree_is_leaving(ft) || is_pausing(ft->straggle, now) ||
        (reason = reason_of(ft)) == NULL)
        return;
    ftree_trace(ft, "%s", reason);
    FTREE_EMIT(ft, ASK_LAGS);
}

/* ---- verdicts that stand --------------------------------------------------------------------- */

static bool is_standing(const struct ftree *ft, const struct known *k)
{
    return !k->v.withdrawn && k->v.class_ == FTREE_CLASS_STRAGGLER &&
           ftree_rules_is_slowed(ft->rules, ftree_verdict_rule(ft, &k->v));
}

static bool any_standing(const struct ftree *ft)
{
    FTREE_EACH(const struct known, k, ft->state->known)
        if (is_standing(ft, k))
            return true;
    return false;
}

static bool is_about(const struct known *k, int32_t rank)
{
    return k->v.component ? ftree_ranks_has(k->v.component, rank) : k->v.rank == rank;
}

static bool is_found(const struct lag_finding *f, const struct known *k)
{
    for (int32_t i = 0; i < f->n; i++)
        if (is_about(k, f->found[i].lag.rank))
            return true;
    return false;
}

static bool has_rank(const struct lag_finding *f, int32_t rank)
{
    for (int32_t i = 0; i < f->n; i++)
        if (f->found[i].lag.rank == rank)
            return true;
    return false;
}

static void is_over(struct ftree *ft, const struct known *k, const char *why)
{
    struct ftree_event e = {
        .kind = FTREE_EVENT_OVER, .node = k->v.node, .by = k->v.fln, .number = k->v.id};

    snprintf(e.u.why, sizeof(e.u.why), "%s", why);
    ftree_emit(ft, &e);
}

static void withdraw(struct ftree *ft, const struct straggle_work *w)
{
    FTREE_EACH(const struct known, k, ft->state->known)
        if (is_standing(ft, k) && !is_found(&w->last, k) && !is_found(&w->again, k))
            is_over(ft, k, "nothing slows it any more");
}

/* ---- a verdict ------------------------------------------------------------------------------- */

static void add_job(struct ftree *ft, ftree_time now, const struct lag_finding *f,
                    struct ftree_verdict *v)
{
    char line[FTREE_DETAIL_MAX];

    snprintf(line, sizeof(line),
             "other ranks computed %d %% of the time before, %d %% now (%d %% lost)",
             (int) f->before / 10, (int) f->now / 10, (int) f->lost);
    ftree_verdict_add_line(ft, now, FTREE_EVIDENCE_SAMPLE, ft->self, line, v);
    v->statistics.lost.percent = f->lost;
    v->statistics.lost.before = f->before;
    v->statistics.lost.now = f->now;
}

static void say_cause(const struct lag_found *f, char *line, size_t len)
{
    const struct ftree_lag *l = &f->lag;

    switch (f->cause) {
        case LAG_QUOTA:
            snprintf(line, len, "its cgroup's quota of CPU time used up in %d %% of the periods",
                     l->throttled / 10);
            break;
        case LAG_SHARED_CORE:
            snprintf(line, len, "bound to the same core as rank %d", (int) l->beside);
            break;
        case LAG_PREEMPTED:
            snprintf(line, len, "others run on its core");
            break;
        case LAG_STOLEN:
            snprintf(line, len, "another virtual machine has its core for %d %% of the time",
                     l->stolen / 10);
            break;
        case LAG_PAGING:
            snprintf(line, len, "%u pages a second from a disk, memory short for %d %% of the time",
                     (unsigned) l->faults, l->stall / 10);
            break;
        default:
            snprintf(line, len, "its core's clock at %d %% of the nominal one", l->clock / 10);
            break;
    }
}

static void add_rank(struct ftree *ft, ftree_time now, const struct lag_finding *all,
                     const struct lag_found *f, struct ftree_verdict *v)
{
    char line[FTREE_DETAIL_MAX], cause[FTREE_DETAIL_MAX];
    int32_t node = ftree_node_of(ft, f->lag.rank);

    snprintf(line, sizeof(line),
             "rank %d outside MPI %d %% of the time before, %d %% now; got %d %% of the CPU it "
             "wanted, others %d %%",
             (int) f->lag.rank, f->lag.before / 10, f->lag.now / 10, f->lag.gets / 10,
             (int) all->gets / 10);
    ftree_verdict_add_line(ft, now, FTREE_EVIDENCE_SAMPLE, node, line, v);
    say_cause(f, cause, sizeof(cause));
    snprintf(line, sizeof(line), "rank %d: %.100s", (int) f->lag.rank, cause);
    ftree_verdict_add_line(ft, now, FTREE_EVIDENCE_STATE, node, line, v);
}

/* Ascending: a set lists so many runs only, of which the lowest rank must be one. */
static void add_component(const struct ftree *ft, const struct lag_finding *all, int32_t node,
                          struct ftree_verdict *v)
{
    for (int32_t i = 0; i < ftree_ranks_of(ft->job, node); i++) {
        int32_t rank = ftree_rank_at(ft->job, node, i);
        if (has_rank(all, rank))
            ftree_ranks_add(&v->component, rank, rank);
    }
    v->rank = v->component.range[0].first;
}

/* Its sign is that of the rank that is hindered most.  False: the rule base says nothing of it. */
static bool make(struct ftree *ft, ftree_time now, const struct lag_finding *all,
                 struct ftree_verdict *v)
{
    const struct lag_found *first = &all->found[ft->straggle->work->at];
    int32_t node = ftree_node_of(ft, first->lag.rank), model = -1, shown = 0;
    const struct rules_sign *sign =
        ftree_rules_decide_slowed(ft->rules, first->cause, all->lost, first->slowed, &model);

    if (!sign)
        return false;
    ftree_verdict_init(ft, now, v, sign, ft->rules->model[model].class_, node, FTREE_NONE);
    v->kind = FTREE_KIND_RANK;
    v->first_symptom = ft->straggle->began;
    add_job(ft, now, all, v);
    for (int32_t i = 0; i < all->n; i++)
        if (ftree_node_of(ft, all->found[i].lag.rank) == node && shown++ < RANKS_SHOWN)
            add_rank(ft, now, all, &all->found[i], v);
    add_component(ft, all, node, v);
    v->symptoms = (uint32_t) shown;
    v->pid = shown == 1 && ft->job->rank_pid ? ft->job->rank_pid[v->rank] : 0;
    return true;
}

/* True: none of its ranks is slow no more. */
static bool is_whole(const struct straggle_work *w, const struct known *k)
{
    int32_t count = k->v.component ? ftree_ranks_listed(k->v.component) : 1, slow = 0;

    for (int32_t i = 0; i < w->again.n; i++)
        slow += is_about(k, w->again.found[i].lag.rank);
    for (int32_t i = 0; i < w->last.n; i++)
        slow += is_about(k, w->last.found[i].lag.rank) &&
                !has_rank(&w->again, w->last.found[i].lag.rank);
    return slow == count;
}

/* True: v says nothing new of the node. */
static bool is_known(const struct ftree *ft, const struct known *k, const struct ftree_verdict *v)
{
    for (int32_t i = 0; i < v->component.ranges; i++)
        for (int32_t r = v->component.range[i].first; r <= v->component.range[i].last; r++)
            if (!is_about(k, r))
                return false;
    return !strcmp(ftree_verdict_rule(ft, &k->v), v->rule) && is_whole(ft->straggle->work, k);
}

/* What was said of the node before; NULL: nothing. */
static const struct known *before(const struct ftree *ft, int32_t node)
{
    const struct known *k;

    for (int32_t i = -1; (k = ftree_verdict_about(ft, node, &i));)
        if (is_standing(ft, k))
            return k;
    return NULL;
}

/* The first one of each node says it for all of them. */
static bool was_said(const struct ftree *ft, const struct straggle_work *w)
{
    int32_t node = ftree_node_of(ft, w->found.found[w->at].lag.rank);

    for (int32_t i = 0; i < w->at; i++)
        if (ftree_node_of(ft, w->found.found[i].lag.rank) == node)
            return true;
    return false;
}

/* One of that node is enough, for all of its ranks are named together; FTREE_NONE: of any. */
static bool is_sure(const struct ftree *ft, const struct lag_finding *f, int32_t node)
{
    for (int32_t i = 0; i < f->n; i++)
        if (f->found[i].is_sure &&
            (node == FTREE_NONE || ftree_node_of(ft, f->found[i].lag.rank) == node))
            return true;
    return false;
}

/* One at a time, and what it replaces before; false: all are said. */
static bool say_next(struct ftree *ft, ftree_time now)
{
    struct straggle_work *w = ft->straggle->work;
    const struct known *k;
    struct ftree_verdict v;

    for (; w->at < w->found.n; w->at++) {
        if (was_said(ft, w) || !make(ft, now, &w->found, &v))
            continue;
        k = before(ft, v.node);
        if (k ? is_known(ft, k, &v) : !w->replaces && !is_sure(ft, &w->found, v.node))
            continue;
        if (v.component.count == 1)
            v.component = (struct ftree_ranks){0};
        if (k)
            is_over(ft, k, "replaced: other ranks, or another cause");
        else
            ftree_emit_verdict(ft, &v);
        w->replaces = k;
        w->at += !k;
        return true;
    }
    return false;
}

/* ---- an episode ------------------------------------------------------------------------------ */

/* Verdicts that stand are looked at again. */
static void rest(struct ftree *ft, ftree_time now)
{
    struct ftree_straggle *s = ft->straggle;
    bool stands = any_standing(ft);

    ftree_alloc(ft, s->work, 0);
    s->work = NULL;
    s->answers = 0;
    s->asked = false;
    s->next = FTREE_NEVER;
    s->rest = !stands       ? 0
              : s->rest > 0 ? ftree_min(2 * s->rest, REST_MAX * pause_min(ft))
                            : pause_min(ft);
    if (stands && !ftree_is_leaving(ft) && ftree_route_is_root(ft))
        s->next = now + s->rest;
}

static void measure(struct ftree *ft, ftree_time now)
{
    ft->straggle->next = now + ftree_max(MEASURED * ft->cfg.sample, MEASURED_MIN);
}

static void judge(const struct ftree *ft, const struct lag_answer *a, struct lag_finding *out)
{
    ftree_lag_judge(a, false, out);
    if (ftree_verdict_any_fault(ft))
        out->n = 0;
}

/* What that costs the others may not show yet. */
static bool any_waits_more(const struct lag_answer *a)
{
    for (int32_t i = 0; i < a->n; i++)
        if (a->lag[i].waits_more)
            return true;
    return false;
}

/* NULL: out of memory. */
static struct straggle_work *begin_work(struct ftree *ft)
{
    struct ftree_straggle *s = ft->straggle;

    s->work = ftree_alloc(ft, NULL, sizeof(*s->work));
    if (s->work)
        memset(s->work, 0, sizeof(*s->work));
    return s->work;
}

static void find_first(struct ftree *ft, ftree_time now, const struct lag_answer *a)
{
    struct straggle_work *w = begin_work(ft);

    if (w) {
        judge(ft, a, &w->found);
        ftree_lag_judge(a, true, &w->again);
        w->all_answer = a->all_answer;
    }
    if (w && (w->found.n > 0 || any_standing(ft) || any_waits_more(a)))
        measure(ft, now);
    else
        rest(ft, now);
}

/* Those that were found before, too, and whose causes are the same. */
static void keep_both(const struct lag_finding *before, struct lag_finding *found)
{
    int32_t kept = 0;

    for (int32_t i = 0; i < found->n; i++)
        for (int32_t k = 0; k < before->n; k++)
            if (before->found[k].lag.rank == found->found[i].lag.rank &&
                before->found[k].cause == found->found[i].cause) {
                found->found[kept++] = found->found[i];
                break;
            }
    found->n = kept;
}

/* The same slows one of its node. */
static bool has_alike(const struct ftree *ft, const struct lag_finding *f,
                      const struct lag_found *one)
{
    for (int32_t i = 0; i < f->n; i++)
        if (f->found[i].cause == one->cause &&
            ftree_node_of(ft, f->found[i].lag.rank) == ftree_node_of(ft, one->lag.rank))
            return true;
    return false;
}

/* Where a node has one that is found, less suffices of its others that the same slows: else ranks
 * near the bound are named now and not then, and the verdict is told anew each time.  No more than
 * half of all `ranks` are named. */
static void add_others(const struct ftree *ft, const struct straggle_work *w, int32_t ranks,
                       struct lag_finding *found)
{
    struct lag_finding others = w->last;

    keep_both(&w->again, &others);
    ranks = ranks / 2 < LAG_RANKS_MAX ? ranks / 2 : LAG_RANKS_MAX;
    for (int32_t i = 0; i < others.n && found->n < ranks; i++)
        if (has_alike(ft, found, &others.found[i]) && !has_rank(found, others.found[i].lag.rank))
            found->found[found->n++] = others.found[i];
}

static void find_again(struct ftree *ft, ftree_time now, const struct lag_answer *a)
{
    struct straggle_work *w = ft->straggle->work;
    bool is_first = w->found.n == 0,
         is_last = any_standing(ft) || ft->straggle->answers == ANSWERS_MAX;
    struct lag_finding found;

    judge(ft, a, &found);
    ftree_lag_judge(a, true, &w->last);
    if (ft->straggle->answers == ANSWERS_MIN && w->all_answer && a->all_answer)
        withdraw(ft, w);
    if (!is_first || is_last) { /* at the last one none is left who was not found twice */
        keep_both(&w->found, &found);
        add_others(ft, w, a->ranks, &found);
    }
    w->found = found;
    w->is_done = is_last || (!is_first && is_sure(ft, &found, FTREE_NONE)) ||
                 (found.n == 0 && !any_waits_more(a));
    if (w->is_done)
        ft->straggle->next = now;
    else
        measure(ft, now); /* and more is known of who has lost time */
}

static void take(struct ftree *ft, ftree_time now, const struct lag_answer *a)
{
    struct ftree_straggle *s = ft->straggle;

    ftree_trace(ft, "  %d ranks outside MPI: %d of 1000 samples before, %d now", (int) a->ranks,
                a->ranks ? (int) (a->before / a->ranks) : 0,
                a->ranks ? (int) (a->now / a->ranks) : 0);
    for (int32_t i = 0; s->answers > 0 && i < a->n && i < RANKS_TRACED; i++)
        ftree_trace(ft, "  rank %d: %d before, %d now; wants %d of a CPU, and gets %d of that",
                    (int) a->lag[i].rank, a->lag[i].before, a->lag[i].now, a->lag[i].wants,
                    a->lag[i].gets);
    s->answers++;
    if (s->answers == 1) {
        s->began = now;
        measure(ft, now);
    } else if (s->answers == 2) {
        find_first(ft, now, a);
    } else {
        find_again(ft, now, a);
    }
}

static bool is_done(const struct ftree_straggle *s)
{
    return s->work && s->work->is_done;
}

void ftree_straggle_said(struct ftree *ft, ftree_time now, struct lag_answer *a)
{
    struct ftree_straggle *s = ft->straggle;

    if (ftree_route_is_root(ft) && !ftree_is_leaving(ft) && !is_done(s) &&
        (s->asked || s->answers == 0)) {
        s->asked = false;
        take(ft, now, a);
    }
    ftree_alloc(ft, a, 0);
}

/* ---- time ------------------------------------------------------------------------------------ */

/* This node may be the acting root by that. */
void ftree_straggle_learned(struct ftree *ft, ftree_time now)
{
    struct ftree_straggle *s = ft->straggle;

    if (s->next == FTREE_NEVER && ftree_route_is_root(ft) && any_standing(ft)) {
        s->rest = 0;
        rest(ft, now);
    }
}

void ftree_straggle_tick(struct ftree *ft, ftree_time now)
{
    struct ftree_straggle *s = ft->straggle;

    if (s->next > now)
        return;
    if (s->asked || ftree_is_leaving(ft) || !ftree_route_is_root(ft)) {
        rest(ft, now); /* no answer has come */
        return;
    }
    if (is_done(s)) {
        if (!say_next(ft, now))
            rest(ft, now);
        return;
    }
    s->asked = FTREE_EMIT(ft, ASK_LAGS);
    s->next = now + PATIENCE;
}

ftree_time ftree_straggle_deadline(const struct ftree *ft)
{
    return ft->straggle->next;
}

void ftree_straggle_clear(struct ftree *ft)
{
    ftree_alloc(ft, ft->straggle->work, 0);
    ft->straggle->work = NULL;
}
