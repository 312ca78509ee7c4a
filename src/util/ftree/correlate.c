/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree_int.h"

/*
 * What becomes of a symptom.  It is dropped when an open verdict explains it or its reporter has
 * failed itself; it is examined here when this node is the suspect's FLN or must stand in for it;
 * else it goes one step along the tree: up, until a node above the suspect has it, then down to
 * the suspect's parent.  A step that is dead or does not acknowledge is passed over: on the way up
 * by its own parent, ..., the root, then the root's substitutes; on the way down the node above
 * it stands in.  Equal symptoms on their way are held back for half a stall limit, so that a job
 * in which everybody waits for one node costs each node O(fan-out) messages, not O(N).
 */

bool ftree_correlate_usable(const struct ftree *ft, ftree_time now, int32_t node)
{
    if (ftree_has_failed(ft, node) || ftree_leave_has_left(ft, node))
        return false;
    for (int32_t i = 0; i < ft->mutes.n; i++)
        if (ft->mutes.items[i].node == node && ft->mutes.items[i].until > now)
            return false;
    return true;
}

/* The next node on the way to the root, passing over `skip` and what cannot be used; *substitute
 * is set where that is not an ancestor.  The own node where nobody is left. */
int32_t ftree_correlate_upward(struct ftree *ft, ftree_time now, int32_t skip, bool *substitute)
{
    int32_t n;

    *substitute = false;
    for (n = ftree_topo_parent(&ft->topo, ft->self); n != FTREE_NONE;
         n = ftree_topo_parent(&ft->topo, n))
        if (n != skip && ftree_correlate_usable(ft, now, n))
            return n;
    for (int32_t k = 1; ft->self != 0; k++) {
        n = ftree_topo_root_substitute(&ft->topo, k);
        if (n == FTREE_NONE || n == ft->self)
            break;
        if (n != skip && ftree_correlate_usable(ft, now, n)) {
            *substitute = true;
            return n;
        }
    }
    return ft->self;
}

static int32_t next_hop(struct ftree *ft, ftree_time now, int32_t suspect, bool *substitute)
{
    int32_t child, above = ft->self;

    *substitute = false;
    if (!ftree_topo_is_above(&ft->topo, above, suspect)) {
        if (!ftree_spread_is_root(ft))
            return ftree_correlate_upward(ft, now, suspect, substitute);
        above = 0; /* this node stands in for the root */
    }
    child = ftree_topo_child_toward(&ft->topo, above, suspect);
    return child == suspect || !ftree_correlate_usable(ft, now, child) ? ft->self : child;
}

/* True if an equal symptom went this way a moment ago; else notes that this one does now. */
static bool held_back(struct ftree *ft, ftree_time now, const struct wire_symptom *s)
{
    struct forward *f;

    for (int32_t i = 0; i < ft->forwards.n; i++)
        if (ft->forwards.items[i].node == s->node) {
            ft->forwards.items[i].held += s->count;
            return true;
        }
    f = FTREE_PUSH(ft, ft->forwards);
    if (f) {
        f->node = s->node;
        f->at = now;
    }
    return false;
}

static void forget_forward(struct ftree *ft, int32_t node)
{
    for (int32_t i = 0; i < ft->forwards.n; i++)
        if (ft->forwards.items[i].node == node) {
            FTREE_DROP(ft->forwards, i);
            return;
        }
}

void ftree_correlate_tick(struct ftree *ft, ftree_time now)
{
    for (int32_t i = 0; i < ft->forwards.n;)
        if (ft->forwards.items[i].at + ft->cfg.stall / 2 <= now)
            FTREE_DROP(ft->forwards, i);
        else
            i++;
}

static bool explained(struct ftree *ft, const struct wire_symptom *s)
{
    char name[16];

    if (ft->leaving || s->node == ft->self || ftree_leave_has_left(ft, s->node))
        return true;
    if (!ftree_has_failed(ft, s->node) && !ftree_has_failed(ft, s->reporter) &&
        !ftree_verdict_on_rank(ft, s->node, s->rank))
        return false;
    ftree_trace(ft, "symptom about %s explained by a verdict", ftree_name(ft, s->node, name));
    return true;
}

void ftree_correlate(struct ftree *ft, ftree_time now, const struct wire_symptom *s,
                     bool substitute)
{
    struct wire_message m = {.type = WIRE_SYMPTOM, .u.symptom = *s};
    char suspect[16], hop_name[16];
    bool to_substitute = false;
    int32_t hop;

    ftree_correlate_tick(ft, now);
    if (explained(ft, s))
        return;
    hop = substitute ? ft->self : next_hop(ft, now, s->node, &to_substitute);
    if (hop == ft->self) {
        ftree_probe_open(ft, now, s, 0);
        return;
    }
    if (held_back(ft, now, s))
        return;
    ftree_trace(ft, "symptom about %s goes to %s%s", ftree_name(ft, s->node, suspect),
                to_substitute ? "substitute " : "", ftree_name(ft, hop, hop_name));
    m.flags = to_substitute ? WIRE_FLAG_SUBSTITUTE : 0;
    ftree_outbox_put(ft, now, hop, &m);
}

void ftree_correlate_unreachable(struct ftree *ft, ftree_time now, int32_t hop,
                                 const struct wire_symptom *s)
{
    (void) hop; /* it is mute by now, so the next way is another */
    forget_forward(ft, s->node);
    ftree_correlate(ft, now, s, false);
}

void ftree_correlate_silent(struct ftree *ft, ftree_time now, int32_t node)
{
    struct wire_symptom s = {
        .kind = SYMPTOM_SILENT, .node = node, .rank = FTREE_NONE, .reporter = ft->self, .count = 1};

    ftree_correlate(ft, now, &s, false);
}
