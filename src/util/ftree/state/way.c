/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/state/state.h"

/*
 * The way to a node by another.  A node may be silent only from where its FLN asks: others asked
 * for it and were answered.  The verdict says so, and the node goes on working; so what its FLN has
 * for it goes by one that reaches it.  The node answers by the same one, and for a while it sends
 * by that what it has for its FLN.
 */

#define LOOKS_ALL 256 /* bounds the search when half the job is gone */

/* Who was answered by the node of a verdict found here, which does not answer this one; FTREE_NONE:
 * nobody, or it does. */
static int32_t reached_by(const struct ftree *ft, const struct known *k)
{
    int32_t by = FTREE_NONE;

    if (!k->full || k->v.local_only || k->v.fln != ft->self || k->v.kind == FTREE_KIND_SWITCH)
        return FTREE_NONE;
    for (int32_t i = 0; i < k->full->evidences; i++) {
        const struct ftree_evidence *e = &k->full->evidence[i];
        if (e->target != k->v.node || e->role != FTREE_ROLE_AGENT ||
            e->reach != FTREE_REACH_ANSWERED)
            continue;
        if (e->source == FTREE_EVIDENCE_PROBE)
            return FTREE_NONE;
        if (e->source == FTREE_EVIDENCE_INDIRECT) /* others are lines, of no path */
            by = e->by;
    }
    return by;
}

/* True if the node answers only others, *by among them. */
static bool only_others_reach(const struct ftree *ft, int32_t node, int32_t *by)
{
    *by = FTREE_NONE;
    FTREE_EACH_STANDING(k, ft, node)
        if (*by == FTREE_NONE)
            *by = reached_by(ft, k);
    return *by != FTREE_NONE && !ftree_has_failed(ft, node);
}

bool ftree_can_help(const struct ftree *ft, ftree_time now, int32_t node)
{
    int32_t by;

    return node != ft->self && ftree_peer_usable(ft, now, node) &&
           !ftree_case_is_suspect(ft, node) && !only_others_reach(ft, node, &by);
}

int32_t ftree_helper(const struct ftree *ft, ftree_time now, int32_t from, int32_t *far,
                     int32_t *looks, int32_t skip)
{
    for (int32_t all = 0; *looks > 0 && all < LOOKS_ALL && *far < ft->job->nodes - 1; all++) {
        int32_t n = (int32_t) (((int64_t) from + ++*far) % ft->job->nodes);
        *looks -= !ftree_has_failed(ft, n);
        if (n != skip && ftree_can_help(ft, now, n))
            return n;
    }
    return FTREE_NONE;
}

int32_t ftree_way(const struct ftree *ft, ftree_time now, int32_t node, int32_t skip)
{
    int32_t by = ftree_peer_by(ft, now, node), far = 0, looks = FTREE_LOOKS;

    if (by != FTREE_NONE && by != skip && ftree_can_help(ft, now, by))
        return by;
    if (!only_others_reach(ft, node, &by))
        return FTREE_NONE;
    if (by != skip && ftree_can_help(ft, now, by))
        return by;
    return ftree_helper(ft, now, node, &far, &looks, skip);
}
