/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/survey/survey.h"

#include "ftree/base/event.h"

#include <string.h>

/* All nodes are asked how much their ranks wait, and what slows them.  The request is empty.  What
 * comes of it is the acting root's, no matter who asked: the event LAGS_SAID. */

/* NULL: out of memory. */
static struct lag_answer *answer_of(struct ftree *ft, struct survey_answer *a)
{
    if (!a->lags)
        a->lags = ftree_alloc(ft, NULL, sizeof(*a->lags));
    if (a->lags)
        memset(a->lags, 0, sizeof(*a->lags));
    return a->lags;
}

#define MORE 100 /* permille of the time outside MPI, than before: others may wait for it */
#define STARVED 500 /* permille of the CPU time that it wants */

static bool may_be_slow(const struct ftree_lag *l)
{
    return l->now > l->before + MORE || (l->measured && l->gets < STARVED);
}

bool survey_lags_at_node(struct ftree *ft, struct survey_round *r)
{
    struct lag_answer *a = answer_of(ft, &r->answer);
    struct ftree_block block[FTREE_BLOCKS_MAX];

    if (!a || !ft->io->blocks || !ft->io->lag)
        return false;
    FTREE_EMIT(ft, LAGS_ASKED);
    for (int32_t i = 0; i < ftree_ranks_of(ft->job, ft->self); i++) {
        struct ftree_lag l = {.rank = ftree_rank_at(ft->job, ft->self, i), .beside = FTREE_NONE};
        int32_t n = ft->io->blocks(ft->io_ctx, i, block, FTREE_BLOCKS_MAX);
        ft->io->lag(ft->io_ctx, i, &l);
        ftree_lag_read(block, n, ft->cfg.alpha, &l);
        l.asks = may_be_slow(&l) && ftree_ask_home(ft);
        ftree_lag_add(a, &l);
    }
    return false;
}

void survey_lags_at_end(struct ftree *ft, ftree_time now, const struct survey_answer *a, bool whole)
{
    struct lag_answer *said = a->lags ? ftree_alloc_copy(ft, a->lags, sizeof(*said)) : NULL;

    (void) now;
    if (!said)
        return;
    said->all_answer = whole;
    if (!FTREE_EMIT(ft, LAGS_SAID, .u.lags = said))
        ftree_alloc(ft, said, 0);
}

bool survey_lags_merge(struct ftree *ft, struct survey_answer *a, const struct survey_answer *more)
{
    if (more->lags && !a->lags && !answer_of(ft, a))
        return false;
    if (more->lags)
        ftree_lag_merge(a->lags, more->lags);
    return true;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

#define SHARE_MAX 1000

static void wire_lag(struct wire_codec *c, struct ftree_lag *l)
{
    WIRE_WITHIN(c, l->rank, 0, c->job->size - 1);
    WIRE_WITHIN(c, l->before, 0, SHARE_MAX);
    WIRE_WITHIN(c, l->now, 0, SHARE_MAX);
    WIRE_WITHIN(c, l->wants, 0, SHARE_MAX);
    WIRE_WITHIN(c, l->gets, 0, SHARE_MAX);
    WIRE_WITHIN(c, l->throttled, 0, SHARE_MAX);
    WIRE_WITHIN(c, l->stolen, 0, SHARE_MAX);
    WIRE_WITHIN(c, l->stall, 0, SHARE_MAX);
    WIRE_WITHIN(c, l->clock, 0, SHARE_MAX);
    WIRE_WITHIN(c, l->faults, 0, FTREE_LAG_FAULTS_MAX);
    WIRE_WITHIN(c, l->beside, FTREE_NONE, c->job->size - 1);
    WIRE_WITHIN(c, l->waits_more, 0, 1);
    WIRE_WITHIN(c, l->asks, 0, 1);
    if (c->reads)
        l->measured = true;
}

static void wire_lags(struct wire_codec *c, struct lag_answer *a)
{
    WIRE_WITHIN(c, a->ranks, 0, c->job->size);
    WIRE_WITHIN(c, a->lost, 0, a->ranks);
    WIRE_WITHIN(c, a->before, 0, SHARE_MAX * (int64_t) a->ranks);
    WIRE_WITHIN(c, a->now, 0, SHARE_MAX * (int64_t) a->ranks);
    WIRE_WITHIN(c, a->measured, 0, c->job->size);
    WIRE_WITHIN(c, a->wants, 0, SHARE_MAX * (int64_t) a->measured);
    WIRE_WITHIN(c, a->runs, 0, a->wants);
    WIRE_WITHIN(c, a->stolen, 0, SHARE_MAX * (int64_t) a->measured);
    WIRE_WITHIN(c, a->faults, 0, FTREE_LAG_FAULTS_MAX * (int64_t) a->measured);
    WIRE_WITHIN(c, a->stall, 0, SHARE_MAX * (int64_t) a->measured);
    WIRE_WITHIN(c, a->clocks, 0, a->measured);
    WIRE_WITHIN(c, a->clock, 0, SHARE_MAX * (int64_t) a->clocks);
    WIRE_WITHIN(c, a->n, 0, LAG_RANKS_MAX);
    for (int32_t i = 0; i < a->n && !c->bad; i++)
        wire_lag(c, &a->lag[i]);
}

void survey_lags_wire(struct wire_codec *c, struct survey_answer *answer)
{
    static const struct lag_answer none;
    struct lag_answer *a = c->reads ? answer_of(c->ft, answer) : answer->lags;

    c->nomem |= c->reads && !a;
    if (!c->nomem)
        wire_lags(c, a ? a : (struct lag_answer *) (uintptr_t) &none);
}
