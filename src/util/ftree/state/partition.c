/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/state/state.h"

/*
 * The two sides of a switch.  A verdict on a switch that no path crosses any more (it "cuts") parts
 * the nodes behind it from all others.  Either side counts the other as lost, and has an acting
 * root of its own: outside, the first in the usual order that is not behind the switch; behind it,
 * the first node below the switch's head, itself included.
 *
 * Only the head of a switch has children in the tree that are not behind it.  So a node that passes
 * over lost nodes on the way down need not look at all that are behind a lost switch, nor at all
 * the rest of the job where this node is cut off.
 */

/* True if a switch that is known as lost lies between this node and the other one. */
bool ftree_partition_is_other(const struct ftree *ft, int32_t node)
{
    FTREE_EACH_SWITCH(k, ft)
        if (k->cuts &&
            ftree_is_behind(ft, k->v.switch_, node) != ftree_is_behind(ft, k->v.switch_, ft->self))
            return true;
    return false;
}

/* True if nodes below this one, which is on the other side, may be on this one. */
static bool leads_back(const struct ftree *ft, int32_t node)
{
    FTREE_EACH_SWITCH(k, ft)
        if (k->cuts && ft->job->tree->switch_head[k->v.switch_] == node &&
            !ftree_is_behind(ft, k->v.switch_, ft->self))
            return true;
    return false;
}

/* True if nobody below a lost node need be looked at. */
bool ftree_partition_ends_at(const struct ftree *ft, int32_t node)
{
    return ftree_partition_is_other(ft, node) && !leads_back(ft, node);
}

static int depth(const struct ftree_tree *t, int32_t switch_)
{
    int n = 0;

    for (; switch_ != FTREE_NONE; switch_ = t->switch_parent[switch_])
        n++;
    return n;
}

/* The lowest lost switch that this node is behind; FTREE_NONE: none. */
static int32_t cut_above(const struct ftree *ft)
{
    int32_t lowest = FTREE_NONE;

    FTREE_EACH_SWITCH(k, ft)
        if (k->cuts && ftree_is_behind(ft, k->v.switch_, ft->self) &&
            depth(ft->job->tree, k->v.switch_) > depth(ft->job->tree, lowest))
            lowest = k->v.switch_;
    return lowest;
}

/* The node above all others of this side. */
int32_t ftree_partition_top(const struct ftree *ft)
{
    int32_t cut = cut_above(ft);

    return cut == FTREE_NONE ? 0 : ft->job->tree->switch_head[cut];
}

bool ftree_partition_is_cut_off(const struct ftree *ft)
{
    return cut_above(ft) != FTREE_NONE;
}
