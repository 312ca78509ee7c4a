/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/state/state.h"

/* What is known of another node: whether it is lost, has left, does not answer at the moment, or is
 * slow. */

#define UNRESPONSIVE_FOR (5000 * FTREE_MS)
#define BUSY_FOR (1000 * FTREE_MS)
#define BY_FOR (10000 * FTREE_MS)

/* Or it is beyond a switch that is lost. */
bool ftree_has_failed(const struct ftree *ft, int32_t node)
{
    return ftree_verdict_is_taken(ft, node) || ftree_partition_is_other(ft, node);
}

static struct peer *find_peer(const struct ftree *ft, int32_t node)
{
    return FTREE_FIND(struct peer, p, ft->state->peers, p->node == node);
}

/* NULL: out of memory. */
static struct peer *get(struct ftree *ft, int32_t node)
{
    struct peer *p = find_peer(ft, node);

    if (!p)
        p = FTREE_PUSH(ft, ft->state->peers);
    if (p)
        p->node = node;
    return p;
}

bool ftree_peer_has_left(const struct ftree *ft, int32_t node)
{
    const struct peer *p = find_peer(ft, node);

    return p && p->left;
}

bool ftree_peer_all_left(const struct ftree *ft, int32_t node)
{
    const struct peer *p = find_peer(ft, node);

    return p && p->all_left;
}

/* More: nodes below it have not.  True: all have, and that is news. */
bool ftree_peer_leaves(struct ftree *ft, int32_t node, bool more)
{
    struct peer *p = get(ft, node);

    if (p)
        p->left = true;
    if (!p || p->all_left || more)
        return false;
    ft->state->all_left++;
    p->all_left = true;
    return true;
}

/* For a while nothing is routed by way of this node; hearing from it ends that, unless it is
 * busy. */
void ftree_peer_unresponsive(struct ftree *ft, ftree_time now, int32_t node, bool busy)
{
    struct peer *p = get(ft, node);

    if (!p)
        return;
    p->busy = busy;
    p->unresponsive = now + (busy ? BUSY_FOR : UNRESPONSIVE_FOR);
}

bool ftree_peer_heard(struct ftree *ft, int32_t node)
{
    struct peer *p = find_peer(ft, node);
    bool was_silent = p && p->unresponsive && !p->busy;

    if (was_silent)
        p->unresponsive = 0;
    if (p)
        p->by_until = 0;
    return was_silent;
}

void ftree_peer_heard_by(struct ftree *ft, ftree_time now, int32_t node, int32_t by)
{
    struct peer *p = get(ft, node);

    if (!p)
        return;
    p->by = by;
    p->by_until = now + BY_FOR;
}

int32_t ftree_peer_by(const struct ftree *ft, ftree_time now, int32_t node)
{
    const struct peer *p = find_peer(ft, node);

    return p && p->by_until > now ? p->by : FTREE_NONE;
}

void ftree_peer_slow(struct ftree *ft, ftree_time until, int32_t node)
{
    struct peer *p = get(ft, node);

    if (p)
        p->slow = until;
}

bool ftree_peer_is_slow(const struct ftree *ft, ftree_time now, int32_t node)
{
    const struct peer *p = find_peer(ft, node);

    return p && p->slow > now;
}

void ftree_peer_tick(struct ftree *ft, ftree_time now)
{
    for (int32_t i = 0; i < ft->state->peers.n;) {
        struct peer *p = &ft->state->peers.items[i];
        if (p->unresponsive <= now)
            p->unresponsive = 0;
        if (!p->left && !p->unresponsive && p->by_until <= now && p->slow <= now)
            FTREE_DROP(ft->state->peers, i);
        else
            i++;
    }
}

/* Its agent and its deputy have ended, or cannot be reached, and no more is known. */
static bool has_stopped(const struct ftree *ft, int32_t node)
{
    FTREE_EACH_STANDING(k, ft, node)
        if (k->ends_agent)
            return true;
    return false;
}

enum ftree_peer ftree_peer(const struct ftree *ft, ftree_time now, int32_t node)
{
    const struct peer *p;

    if (ftree_partition_is_other(ft, node))
        return FTREE_PEER_CUT_OFF;
    if (ftree_has_no_agent(ft, node))
        return ftree_verdict_is_taken(ft, node) ? FTREE_PEER_LOST : FTREE_PEER_STOPPED;
    p = find_peer(ft, node);
    if (p && p->left)
        return FTREE_PEER_LEFT;
    if (p && p->unresponsive > now)
        return p->busy ? FTREE_PEER_BUSY : FTREE_PEER_UNRESPONSIVE;
    return FTREE_PEER_OK;
}

bool ftree_has_no_agent(const struct ftree *ft, int32_t node)
{
    if (!ftree_verdict_about(ft, node, NULL)) /* as of most nodes */
        return ftree_partition_is_other(ft, node);
    return ftree_has_failed(ft, node) || has_stopped(ft, node);
}

bool ftree_peer_can_act(const struct ftree *ft, int32_t node)
{
    return !ftree_has_no_agent(ft, node) && !ftree_peer_has_left(ft, node);
}

bool ftree_peer_usable(const struct ftree *ft, ftree_time now, int32_t node)
{
    return ftree_peer(ft, now, node) == FTREE_PEER_OK;
}
