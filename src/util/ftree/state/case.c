/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/state/state.h"

struct ftree_case *ftree_case_find(const struct ftree *ft, int32_t node, int32_t switch_)
{
    return FTREE_FIND(struct ftree_case, g, ft->state->cases,
                      g->node == node && g->switch_ == switch_);
}

struct ftree_case *ftree_case_add(struct ftree *ft, int32_t node, int32_t switch_)
{
    struct ftree_case *g = FTREE_PUSH(ft, ft->state->cases);

    if (!g)
        return NULL;
    g->node = node;
    g->switch_ = switch_;
    g->first = FTREE_NEVER;
    g->strategy = -1;
    g->chain = FTREE_NONE;
    return g;
}

static void drop(struct ftree *ft, int32_t i)
{
    ftree_alloc(ft, ft->state->cases.items[i].suspect, 0);
    FTREE_DROP(ft->state->cases, i);
}

void ftree_case_drop_past(struct ftree *ft, ftree_time now,
                          bool (*f)(struct ftree *, ftree_time, struct ftree_case *))
{
    for (int32_t i = 0; i < ft->state->cases.n;)
        if (f(ft, now, &ft->state->cases.items[i]))
            drop(ft, i);
        else
            i++;
}

void ftree_case_drop_all(struct ftree *ft)
{
    while (ft->state->cases.n > 0)
        drop(ft, ft->state->cases.n - 1);
}

uint64_t ftree_case_models(const struct ftree_case *g)
{
    uint64_t models = 0;

    for (int32_t i = 0; i < g->candidates; i++)
        models |= (uint64_t) 1 << g->candidate[i].model;
    return models;
}

void ftree_case_drop(struct ftree *ft, int32_t node, int32_t switch_)
{
    struct ftree_case *g = ftree_case_find(ft, node, switch_);

    if (g)
        drop(ft, (int32_t) (g - ft->state->cases.items));
}

bool ftree_is_asking(const struct ftree *ft)
{
    FTREE_EACH_EXAMINED(g, ft)
        return true;
    return false;
}

static bool is_suspect(const struct ftree_case *g)
{
    return g->state == CASE_CALLED || g->state == CASE_EXAMINED;
}

bool ftree_case_is_suspect(const struct ftree *ft, int32_t node)
{
    return FTREE_ANY(struct ftree_case, g, ft->state->cases, g->node == node && is_suspect(g));
}

bool ftree_case_any_below(const struct ftree *ft, int32_t node)
{
    return FTREE_ANY(struct ftree_case, g, ft->state->cases,
                      is_suspect(g) && ftree_topo_is_above(ft->topo, node, g->node));
}
