/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/survey/survey.h"

#include "ftree/wire/codec.h"

#include <stdio.h>

/* Where ranks are in their code: the request says which, and each node has those of its own
 * taken. */

#define NUMBER_BYTES 10

bool survey_stacks_request(struct ftree *ft, const struct ftree_ranks *ranks, int what,
                          struct ftree_bytes *out)
{
    uint8_t buf[1 + (1 + 2 * FTREE_RANGES_MAX) * NUMBER_BYTES];
    struct wire_codec w = {.p = buf};

    ftree_wire_number(&w, (uint64_t) what, 1, 0);
    ftree_put_signed(&w, ranks->count > 0 ? ranks->ranges : 0);
    for (int32_t i = 0; ranks->count > 0 && i < ranks->ranges; i++) {
        ftree_put_signed(&w, ranks->range[i].first);
        ftree_put_signed(&w, ranks->range[i].last);
    }
    return ftree_bytes_append(ft, out, buf, w.at);
}

/* False: it is malformed. */
static bool read_request(const struct ftree *ft, const struct ftree_bytes *bytes,
                         struct ftree_ranks *ranks, int *what)
{
    struct wire_codec c = {
        .reads = true, .p = bytes->items, .len = (size_t) bytes->n, .at = 1, .job = ft->job};

    *what = (int) ftree_wire_number(&c, 0, 1, FTREE_STACKS_WHATS);
    *ranks = (struct ftree_ranks){.ranges = (int32_t) ftree_get_within(&c, 0, FTREE_RANGES_MAX)};
    for (int32_t i = 0; i < ranks->ranges && !c.bad; i++) {
        ranks->range[i].first = (int32_t) ftree_get_within(&c, 0, ft->job->size - 1);
        ranks->range[i].last = (int32_t) ftree_get_within(&c, 0, ft->job->size - 1);
    }
    return !c.bad && c.at == c.len;
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
    struct ftree_ranks ranks;
    bool later = false;
    int what;

    if (own == 0 || !read_request(ft, &r->request, &ranks, &what))
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

/* ---- the answer ------------------------------------------------------------------------------ */

bool survey_stacks_merge(struct ftree *ft, struct survey_answer *a,
                         const struct survey_answer *more)
{
    return ftree_stacks_merge(ft, &a->stacks, &more->stacks);
}

bool survey_stacks_put(struct ftree *ft, struct survey_answer *a, struct ftree_bytes *out)
{
    return ftree_stacks_put(ft, &a->stacks, out);
}

bool survey_stacks_get(struct ftree *ft, struct wire_codec *c, struct survey_answer *a)
{
    return ftree_stacks_get(ft, c, &a->stacks);
}
