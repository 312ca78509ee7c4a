/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/state/state.h"

/* The ways along the tree, past those who cannot be used. */

/* The first of `node` and those below it, each before its children, that is not lost, nor `skip`,
 * nor passed over at the moment (now 0: that does not matter); FTREE_NONE: none is. */
int32_t ftree_route_first(const struct ftree *ft, ftree_time now, int32_t node, int32_t skip)
{
    int32_t first, n, found = FTREE_NONE;

    if (node != skip && !ftree_has_failed(ft, node) && (!now || ftree_peer_usable(ft, now, node)))
        return node;
    if (ftree_partition_ends_at(ft, node))
        return FTREE_NONE;
    n = ftree_topo_children(ft->topo, node, &first);
    for (int32_t child = first; child < first + n && found == FTREE_NONE; child++)
        found = ftree_route_first(ft, now, child, skip);
    return found;
}

/* Whose own ranks have all ended hands over to the next, as the others expect it: unless there is
 * none. */
bool ftree_route_is_root(const struct ftree *ft)
{
    bool is_next = false;
    int32_t n;

    if (ftree_partition_is_cut_off(ft))
        return ftree_route_first(ft, 0, ftree_partition_top(ft), FTREE_NONE) == ft->self;
    for (int32_t k = 0; (n = ftree_topo_root_substitute(ft->topo, k)) != FTREE_NONE; k++) {
        if (n == ft->self && !ftree_verdict_ends_all(ft, n))
            return true;
        is_next = is_next || n == ft->self;
        if (n != ft->self && ftree_peer_can_act(ft, n))
            return false;
    }
    return is_next;
}

int32_t ftree_route_root(const struct ftree *ft)
{
    int32_t n = 0;

    if (ftree_partition_is_cut_off(ft))
        return ftree_route_first(ft, 0, ftree_partition_top(ft), FTREE_NONE);
    for (int32_t k = 1; n != FTREE_NONE && !ftree_peer_can_act(ft, n); k++)
        n = ftree_topo_root_substitute(ft->topo, k);
    return n;
}

void ftree_route_children(struct ftree *ft, int32_t node,
                          void (*f)(struct ftree *, int32_t, void *), void *arg)
{
    int32_t first, n = ftree_topo_children(ft->topo, node, &first);

    for (int32_t child = first; child < first + n; child++) {
        if (child != ft->self && !ftree_has_no_agent(ft, child))
            f(ft, child, arg);
        else if (!ftree_partition_ends_at(ft, child))
            ftree_route_children(ft, child, f, arg);
    }
}

/* The next node on the way to the root, passing over `skip` and what cannot be used; *substitute
 * is set where that is not an ancestor.  The own node where nobody is left. */
int32_t ftree_route_upward(const struct ftree *ft, ftree_time now, int32_t skip, bool *substitute)
{
    bool ends = ftree_verdict_ends_all(ft, ft->self);
    int32_t n;

    *substitute = false;
    for (n = ftree_topo_parent(ft->topo, ft->self); n != FTREE_NONE;
         n = ftree_topo_parent(ft->topo, n))
        if (n != skip && ftree_peer_usable(ft, now, n))
            return n;
    if (ftree_partition_is_cut_off(ft)) {
        n = ftree_route_first(ft, now, ftree_partition_top(ft), skip);
        *substitute = n != FTREE_NONE && n != ft->self;
        return n == FTREE_NONE ? ft->self : n;
    }
    for (int32_t k = 1; ft->self != 0 || ends; k++) {
        n = ftree_topo_root_substitute(ft->topo, k);
        /* who leaves, or is going to, cannot act for the root: one behind it may */
        if (n == FTREE_NONE || (n == ft->self && !ftree_is_leaving(ft) && !ends))
            break;
        if (n != skip && n != ft->self && ftree_peer_usable(ft, now, n)) {
            *substitute = true;
            return n;
        }
    }
    return ft->self;
}

#define DRAWS 16

/* A node on the other side of a switch, another one each time; FTREE_NONE: none was found. */
int32_t ftree_route_beyond(const struct ftree *ft, int32_t switch_, int32_t turn)
{
    bool inside = ftree_is_behind(ft, switch_, ft->self);
    int32_t first, n, top = inside ? 0 : ft->job->tree->switch_head[switch_];

    if (top == FTREE_NONE)
        return FTREE_NONE; /* none of the job's nodes is behind it */
    for (uint64_t i = 0; i < DRAWS; i++) {
        int32_t node =
            (int32_t) (ftree_topo_mix((uint64_t) ft->self << 32 ^ (uint64_t) turn << 8 ^ i) %
                       (uint64_t) ft->job->nodes);
        if (ftree_is_behind(ft, switch_, node) != inside)
            return node;
    }
    n = ftree_topo_children(ft->topo, top, &first);
    for (int32_t i = 0; i < n && i < DRAWS; i++)
        if (ftree_is_behind(ft, switch_, first + (turn + i) % n) != inside)
            return first + (turn + i) % n;
    return ftree_is_behind(ft, switch_, top) != inside ? top : FTREE_NONE;
}
