/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/survey/survey.h"

#include <stdio.h>

/* Where ranks are in their code: the request says which, and each node has those of its own
 * taken. */

static void wire_request(struct wire_codec *c, struct ftree_ranks *ranks, int *what)
{
    WIRE_NUMBER(c, *what, 1, FTREE_STACKS_WHATS);
    WIRE_WITHIN(c, ranks->ranges, 0, FTREE_RANGES_MAX);
    for (int32_t i = 0; i < ranks->ranges && !c->bad; i++) {
        WIRE_WITHIN(c, ranks->range[i].first, 0, c->job->size - 1);
        WIRE_WITHIN(c, ranks->range[i].last, 0, c->job->size - 1);
    }
}

bool survey_stacks_request(struct ftree *ft, const struct ftree_ranks *ranks, int what,
                           struct ftree_bytes *out)
{
    struct wire_codec c = ftree_wire_writer(ft, 0, out);
    struct ftree_ranks these = ranks->count > 0 ? *ranks : (struct ftree_ranks){0};

    wire_request(&c, &these, &what);
    return !c.nomem;
}

/* Those of the own ranks that are meant, by their place. */
static int32_t choose(struct ftree *ft, const struct ftree_ranks *ranks, int32_t *local)
{
    int32_t n = 0;

    for (int32_t i = 0; i < ftree_ranks_of(ft->job, ft->self); i++)
        if (ranks->ranges == 0 || ftree_ranks_has(ranks, ftree_rank_at(ft->job, ft->self, i)))
            local[n++] = i;
    return n;
}

static void add_missing(struct ftree *ft, struct ftree_stacks *s, const int32_t *local, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        int32_t rank = ftree_rank_at(ft->job, ft->self, local[i]);
        ftree_spans_add(ft, &s->missing, rank, rank);
    }
    snprintf(s->why, sizeof(s->why), "the agent of %s takes no stacks", ftree_name(ft, ft->self));
}

bool survey_stacks_at_node(struct ftree *ft, struct survey_round *r)
{
    int32_t *local, n = 0, own = ftree_ranks_of(ft->job, ft->self);
    struct wire_codec c = survey_request(ft, r);
    struct ftree_ranks ranks = {0};
    bool later = false;
    int what = 0;

    wire_request(&c, &ranks, &what);
    if (own == 0 || c.bad || c.at < c.len)
        return false;
    local = ftree_alloc(ft, NULL, (size_t) own * sizeof(*local));
    if (local)
        n = choose(ft, &ranks, local);
    if (n > 0)
        later = ft->io->stacks && ft->io->stacks(ft->io_ctx, r->number, local, n, what);
    if (n > 0 && !later)
        add_missing(ft, &r->answer.stacks, local, n);
    ftree_alloc(ft, local, 0);
    return later;
}

void survey_stacks_wire(struct wire_codec *c, struct survey_answer *a)
{
    ftree_stacks_wire(c, &a->stacks);
}
