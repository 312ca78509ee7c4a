/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/survey/survey.h"

#include "ftree/base/event.h"
#include "ftree/wire/codec.h"

#include <string.h>

/* All nodes are asked how much their ranks wait, and what slows them.  The request is empty.  What
 * comes of it is the acting root's, whoever asked: the event LAGS_SAID. */

/* NULL: out of memory. */
static struct lag_answer *answer_of(struct ftree *ft, struct survey_answer *a)
{
    if (!a->lags)
        a->lags = ftree_alloc(ft, NULL, sizeof(*a->lags));
    if (a->lags)
        memset(a->lags, 0, sizeof(*a->lags));
    return a->lags;
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
        ftree_lag_add(a, &l);
    }
    return false;
}

void survey_lags_at_end(struct ftree *ft, ftree_time now, const struct survey_answer *a, bool whole)
{
    struct lag_answer *said = a->lags ? ftree_alloc(ft, NULL, sizeof(*said)) : NULL;

    (void) now;
    if (!said)
        return;
    memcpy(said, a->lags, sizeof(*said));
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
#define LAG_BYTES (12 * 10)

static bool put_lag(struct ftree *ft, const struct ftree_lag *l, struct ftree_bytes *out)
{
    uint8_t buf[LAG_BYTES];
    struct wire_codec w = {.p = buf};

    ftree_put_signed(&w, l->rank);
    ftree_put_signed(&w, l->before);
    ftree_put_signed(&w, l->now);
    ftree_put_signed(&w, l->wants);
    ftree_put_signed(&w, l->gets);
    ftree_put_signed(&w, l->throttled);
    ftree_put_signed(&w, l->stolen);
    ftree_put_signed(&w, l->stall);
    ftree_put_signed(&w, l->clock);
    ftree_put_signed(&w, l->faults);
    ftree_put_signed(&w, l->beside);
    ftree_put_signed(&w, l->waits_more);
    return ftree_bytes_append(ft, out, buf, w.at);
}

bool survey_lags_put(struct ftree *ft, struct survey_answer *answer, struct ftree_bytes *out)
{
    static const struct lag_answer none;
    const struct lag_answer *a = answer->lags ? answer->lags : &none;
    uint8_t buf[LAG_BYTES];
    struct wire_codec w = {.p = buf};
    bool fits;

    ftree_put_signed(&w, a->ranks);
    ftree_put_signed(&w, a->lost);
    ftree_put_signed(&w, a->before);
    ftree_put_signed(&w, a->now);
    ftree_put_signed(&w, a->measured);
    ftree_put_signed(&w, a->wants);
    ftree_put_signed(&w, a->runs);
    ftree_put_signed(&w, a->stolen);
    ftree_put_signed(&w, a->faults);
    ftree_put_signed(&w, a->stall);
    ftree_put_signed(&w, a->clocks);
    ftree_put_signed(&w, a->clock);
    fits = ftree_bytes_append(ft, out, buf, w.at);
    w.at = 0;
    ftree_put_signed(&w, a->n);
    fits = fits && ftree_bytes_append(ft, out, buf, w.at);
    for (int32_t i = 0; i < a->n && fits; i++)
        fits = put_lag(ft, &a->lag[i], out);
    return fits;
}

static void get_lag(struct wire_codec *c, struct ftree_lag *l)
{
    l->rank = (int32_t) ftree_get_within(c, 0, c->job->size - 1);
    l->before = (uint16_t) ftree_get_within(c, 0, SHARE_MAX);
    l->now = (uint16_t) ftree_get_within(c, 0, SHARE_MAX);
    l->wants = (uint16_t) ftree_get_within(c, 0, SHARE_MAX);
    l->gets = (uint16_t) ftree_get_within(c, 0, SHARE_MAX);
    l->throttled = (uint16_t) ftree_get_within(c, 0, SHARE_MAX);
    l->stolen = (uint16_t) ftree_get_within(c, 0, SHARE_MAX);
    l->stall = (uint16_t) ftree_get_within(c, 0, SHARE_MAX);
    l->clock = (uint16_t) ftree_get_within(c, 0, SHARE_MAX);
    l->faults = (uint32_t) ftree_get_within(c, 0, FTREE_LAG_FAULTS_MAX);
    l->beside = (int32_t) ftree_get_within(c, FTREE_NONE, c->job->size - 1);
    l->waits_more = ftree_get_within(c, 0, 1);
    l->measured = true;
}

static int64_t get_sum(struct wire_codec *c, int32_t ranks, int64_t most)
{
    return ftree_get_within(c, 0, most * ranks);
}

bool survey_lags_get(struct ftree *ft, struct wire_codec *c, struct survey_answer *out)
{
    struct lag_answer *a = answer_of(ft, out);

    if (!a)
        return false;
    a->ranks = (int32_t) ftree_get_within(c, 0, c->job->size);
    a->lost = (int32_t) ftree_get_within(c, 0, a->ranks);
    a->before = get_sum(c, a->ranks, SHARE_MAX);
    a->now = get_sum(c, a->ranks, SHARE_MAX);
    a->measured = (int32_t) ftree_get_within(c, 0, c->job->size);
    a->wants = get_sum(c, a->measured, SHARE_MAX);
    a->runs = ftree_get_within(c, 0, a->wants);
    a->stolen = get_sum(c, a->measured, SHARE_MAX);
    a->faults = get_sum(c, a->measured, FTREE_LAG_FAULTS_MAX);
    a->stall = get_sum(c, a->measured, SHARE_MAX);
    a->clocks = (int32_t) ftree_get_within(c, 0, a->measured);
    a->clock = get_sum(c, a->clocks, SHARE_MAX);
    a->n = (int32_t) ftree_get_within(c, 0, LAG_RANKS_MAX);
    for (int32_t i = 0; i < a->n && !c->bad; i++)
        get_lag(c, &a->lag[i]);
    return true;
}
