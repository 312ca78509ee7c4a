/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/straggle/straggle.h"

#include "ftree/base/event.h"

#include <string.h>

/*
 * Each time that a block of samples is over every node looks whether one of its ranks waits more
 * for a CPU than before, and some eight nodes whether most of their ranks seem to wait for others
 * longer than ever before.  (Eight suffice, because nothing is said unless the ranks lose time on
 * the whole.)  Then the acting root asks all nodes, through the tree, three times, and some times
 * more until that is sure: the first question begins to measure, the others are answered with what
 * slowed each rank since, and how much time the ranks of the job have lost.  Who is found each time
 * is said, one verdict for each node (slow.c).  While one stands the same is done at growing
 * intervals, and one whose ranks are found no more is withdrawn.
 */

#define OBSERVERS 8
#define PAUSE_MIN (32 * ft->cfg.sample) /* from one episode to the next */
#define PAUSE_MAX (600 * 1000 * FTREE_MS)
#define PATIENCE (10 * 1000 * FTREE_MS) /* with an answer that does not come */
#define MEASURED ftree_max(5 * ft->cfg.sample, 1000 * FTREE_MS) /* from one question to the next */
#define REST_MAX (8 * PAUSE_MIN)
#define ANSWERS_MIN 3
#define ANSWERS_MAX 8
#define RANKS_TRACED 4

/* ---- the own ranks --------------------------------------------------------------------------- */

/* Why the others are to be asked; NULL: there is nothing. */
static const char *reason_of(struct ftree *ft)
{
    bool observes = ft->self % ((ft->job->nodes + OBSERVERS - 1) / OBSERVERS) == 0;
    int32_t ranks = ftree_ranks_of(ft->job, ft->self), lost = 0, n;
    struct ftree_block block[FTREE_BLOCKS_MAX];

    for (int32_t i = 0; i < ranks; i++) {
        n = ft->io->blocks(ft->io_ctx, i, block, FTREE_BLOCKS_MAX);
        if (ftree_lag_waits_more(block, n))
            return "an own rank waits more for a CPU than before";
        lost += observes && ftree_lag_may_have_lost(block, n, ft->cfg.alpha);
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
        s->pause = is_next ? ftree_min(2 * s->pause, PAUSE_MAX) : PAUSE_MIN;
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

/* ---- an episode ------------------------------------------------------------------------------ */

/* Verdicts that stand are looked at again. */
static void rest(struct ftree *ft, ftree_time now)
{
    struct ftree_straggle *s = ft->straggle;
    bool stands = straggle_standing(ft, FTREE_NONE) != NULL;

    ftree_alloc(ft, s->work, 0);
    s->work = NULL;
    s->answers = 0;
    s->asked = false;
    s->next = FTREE_NEVER;
    s->rest = !stands       ? 0
              : s->rest > 0 ? ftree_min(2 * s->rest, REST_MAX)
                            : PAUSE_MIN;
    if (stands && !ftree_is_leaving(ft) && ftree_route_is_root(ft))
        s->next = now + s->rest;
}

/* What that costs the others may not show yet. */
static bool any_waits_more(const struct lag_answer *a)
{
    for (int32_t i = 0; i < a->n; i++)
        if (a->lag[i].waits_more)
            return true;
    return false;
}

/* Leaves those that were found each time.  Where a node has one, less suffices of its others that
 * the same slows: else ranks near the bound are named now and not then, and the verdict is told anew
 * each time.  No more than half of all `ranks` are named. */
static void narrow(const struct ftree *ft, const struct straggle_work *w, int32_t ranks,
                   struct lag_finding *found)
{
    struct lag_finding others = w->last;

    ftree_lag_keep(&w->found, found);
    ftree_lag_keep(&w->first, &others);
    ranks = ranks / 2 < LAG_RANKS_MAX ? ranks / 2 : LAG_RANKS_MAX;
    for (int32_t i = 0; i < others.n && found->n < ranks; i++) {
        const struct lag_found *o = &others.found[i];
        if (straggle_of_node(ft, found, 0, ftree_node_of(ft, o->lag.rank), o->cause) >= 0 &&
            !ftree_lag_find(found, o->lag.rank))
            found->found[found->n++] = *o;
    }
}

static bool any_sure(const struct lag_finding *f)
{
    for (int32_t i = 0; i < f->n; i++)
        if (f->found[i].is_sure)
            return true;
    return false;
}

/* The second answer is the first one that says what slows them.  True: no further one is needed. */
static bool judge(struct ftree *ft, const struct lag_answer *a)
{
    struct straggle_work *w = ft->straggle->work;
    bool is_first = ft->straggle->answers == 2, is_new = w->found.n == 0,
         stands = straggle_standing(ft, FTREE_NONE) != NULL,
         is_last = !is_first && (stands || ft->straggle->answers == ANSWERS_MAX);
    struct lag_finding found;

    ftree_lag_judge(a, false, &found);
    if (ftree_verdict_any_fault(ft))
        found.n = 0;
    ftree_lag_judge(a, true, is_first ? &w->first : &w->last);
    w->all_answer = a->all_answer && (is_first || w->all_answer);
    if (ft->straggle->answers == ANSWERS_MIN && w->all_answer)
        straggle_withdraw(ft);
    if (!is_new || is_last) /* at the last one none is left who was not found twice */
        narrow(ft, w, a->ranks, &found);
    w->found = found;
    return is_last || (!is_new && any_sure(&found)) ||
           (found.n == 0 && !any_waits_more(a) && !(is_first && stands));
}

static void trace(struct ftree *ft, const struct lag_answer *a)
{
    ftree_trace(ft, "  %d ranks outside MPI: %d of 1000 samples before, %d now", (int) a->ranks,
                a->ranks ? (int) (a->before / a->ranks) : 0,
                a->ranks ? (int) (a->now / a->ranks) : 0);
    for (int32_t i = 0; ft->straggle->answers > 0 && i < a->n && i < RANKS_TRACED; i++)
        ftree_trace(ft, "  rank %d: %d before, %d now; wants %d of a CPU, and gets %d of that",
                    (int) a->lag[i].rank, a->lag[i].before, a->lag[i].now, a->lag[i].wants,
                    a->lag[i].gets);
}

static void take(struct ftree *ft, ftree_time now, const struct lag_answer *a)
{
    struct ftree_straggle *s = ft->straggle;

    trace(ft, a);
    s->next = now + MEASURED; /* and more is known of who has lost time */
    if (++s->answers == 1) {
        s->began = now;
        s->work = ftree_alloc(ft, NULL, sizeof(*s->work));
        if (s->work)
            memset(s->work, 0, sizeof(*s->work));
        else
            rest(ft, now);
    } else if (judge(ft, a)) {
        s->work->is_done = true;
        s->next = now;
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

    if (s->next == FTREE_NEVER && ftree_route_is_root(ft) && straggle_standing(ft, FTREE_NONE)) {
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
    } else if (!is_done(s)) {
        s->asked = FTREE_EMIT(ft, ASK_LAGS);
        s->next = now + PATIENCE;
    } else if (!straggle_say(ft, now)) {
        rest(ft, now);
    }
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
