/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/state/state.h"

/* What is known of another node: whether it is lost, has left, or does not answer at the moment. */

#define UNRESPONSIVE_FOR (5000 * FTREE_MS)
#define BUSY_FOR (1000 * FTREE_MS)

/* Or it is beyond a switch that is lost. */
bool ftree_has_failed(const struct ftree *ft, int32_t node)
{
    return ftree_verdict_is_taken(ft, node) || ftree_partition_is_other(ft, node);
}

bool ftree_peer_has_left(const struct ftree *ft, int32_t node)
{
    FTREE_EACH(const int32_t, gone, ft->state->goodbyes)
        if (*gone == node)
            return true;
    return false;
}

bool ftree_peer_leaves(struct ftree *ft, int32_t node)
{
    int32_t *left = ftree_peer_has_left(ft, node) ? NULL : FTREE_PUSH(ft, ft->state->goodbyes);

    if (left)
        *left = node;
    return left != NULL;
}

/* For a while nothing is routed by way of this node; hearing from it ends that, unless it is busy. */
void ftree_peer_unresponsive(struct ftree *ft, ftree_time now, int32_t node, bool busy)
{
    struct unresponsive *m = NULL;

    for (int32_t i = 0; i < ft->state->unresponsive.n && !m; i++)
        if (ft->state->unresponsive.items[i].node == node)
            m = &ft->state->unresponsive.items[i];
    if (!m)
        m = FTREE_PUSH(ft, ft->state->unresponsive);
    if (m) {
        m->node = node;
        m->busy = busy;
        m->until = now + (busy ? BUSY_FOR : UNRESPONSIVE_FOR);
    }
}

bool ftree_peer_heard(struct ftree *ft, int32_t node)
{
    for (int32_t i = 0; i < ft->state->unresponsive.n; i++)
        if (ft->state->unresponsive.items[i].node == node &&
            !ft->state->unresponsive.items[i].busy) {
            FTREE_DROP(ft->state->unresponsive, i);
            return true;
        }
    return false;
}

void ftree_peer_tick(struct ftree *ft, ftree_time now)
{
    for (int32_t i = 0; i < ft->state->unresponsive.n;)
        if (ft->state->unresponsive.items[i].until <= now)
            FTREE_DROP(ft->state->unresponsive, i);
        else
            i++;
}

/* Its agent and its deputy have ended, and no more is known. */
static bool has_stopped(const struct ftree *ft, int32_t node)
{
    const struct known *k;

    for (int32_t i = -1; (k = ftree_verdict_about(ft, node, &i));)
        if (k->ends_agent && !k->v.withdrawn)
            return true;
    return false;
}

enum ftree_peer ftree_peer(const struct ftree *ft, ftree_time now, int32_t node)
{
    if (ftree_partition_is_other(ft, node))
        return FTREE_PEER_CUT_OFF;
    if (ftree_verdict_is_taken(ft, node))
        return FTREE_PEER_LOST;
    if (has_stopped(ft, node))
        return FTREE_PEER_STOPPED;
    if (ftree_peer_has_left(ft, node))
        return FTREE_PEER_LEFT;
    FTREE_EACH(const struct unresponsive, m, ft->state->unresponsive)
        if (m->node == node && m->until > now)
            return m->busy ? FTREE_PEER_BUSY : FTREE_PEER_UNRESPONSIVE;
    return FTREE_PEER_OK;
}

bool ftree_has_no_agent(const struct ftree *ft, int32_t node)
{
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
