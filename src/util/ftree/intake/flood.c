/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/base/event.h"
#include "ftree/intake/intake.h"
#include "ftree/net/net.h"

/*
 * The search for a cause that nobody can name.  A round floods the tree along its edges: a node
 * that hears of a round it does not know asks its own children (a probe that carries the round)
 * and sends the round to its parent, so each edge is used a bounded number of times however many
 * ranks stall, and every node is asked by the one that is responsible for it.  Rounds are numbered;
 * rounds that begin close together merge into the greater number.
 *
 * The ends of the waits (waitfor/) lead to a lost node, too, but a fifth later, and not to one of
 * which only the data path is cut, nor to a switch: its agent says over the management network what
 * its ranks do.  (In the simulator, stalls with and without a known peer.)
 */

struct edge {
    ftree_time now;
    int32_t from;
};

static void ask_child(struct ftree *ft, int32_t child, void *arg)
{
    const struct edge *edge = arg;
    struct ftree_symptom s;

    if (child == edge->from || ftree_peer_has_left(ft, child))
        return;
    ftree_symptom_init(&s, FTREE_SYMPTOM_FLOOD_QUERY, child, FTREE_NONE, ft->self, edge->now,
                       edge->now);
    ftree_correlate(ft, edge->now, &s, ft->intake->flood_round);
}

static void send_round(struct ftree *ft, ftree_time now, int32_t to)
{
    struct wire_message m = {.type = WIRE_FLOOD_QUERY, .u.round = ft->intake->flood_round};

    ftree_outbox_put(ft, now, to, &m);
}

/* Sends the round to the next node on the way to the root, except to `from`. */
void ftree_flood_upward(struct ftree *ft, ftree_time now, int32_t from)
{
    bool substitute;
    int32_t up = ftree_route_upward(ft, now, FTREE_NONE, &substitute);

    if (up != ft->self && up != from && !ftree_is_leaving(ft))
        send_round(ft, now, up);
}

static void run(struct ftree *ft, ftree_time now, uint32_t round, int32_t from)
{
    struct edge edge = {.now = now, .from = from};

    ft->intake->flood_round = round;
    ft->intake->flood_at = now;
    ftree_trace(ft, "flood query %u", round);
    FTREE_EMIT(ft, LOOK, .node = ft->self);
    ftree_route_children(ft, ft->self, ask_child, &edge);
    if (ft->self != 0 && ftree_route_is_root(ft)) /* who lost their parent are asked by its heir */
        ftree_route_children(ft, ftree_partition_top(ft), ask_child, &edge);
    ftree_flood_upward(ft, now, from);
}

void ftree_flood_start(struct ftree *ft, ftree_time now)
{
    /* a round of a moment ago asks for this stall, too */
    if (ftree_is_leaving(ft) ||
        (ft->intake->flood_round > 0 && now < ft->intake->flood_at + ft->cfg.stall / 2))
        return;
    run(ft, now, ft->intake->flood_round + 1, FTREE_NONE);
}

/* Who sends a round of the past has not received those since (a successor begins anew at 1):
 * it is sent the number, joins, and the next round it starts is heard. */
void ftree_flood_heard(struct ftree *ft, ftree_time now, uint32_t round, int32_t from)
{
    if (!ftree_is_leaving(ft) && (int32_t) (round - ft->intake->flood_round) < 0)
        send_round(ft, now, from);
    else
        ftree_flood_join(ft, now, round, from);
}

void ftree_flood_join(struct ftree *ft, ftree_time now, uint32_t round, int32_t from)
{
    /* serial arithmetic (RFC 1982), so the number may wrap */
    if (!ftree_is_leaving(ft) && (int32_t) (round - ft->intake->flood_round) > 0)
        run(ft, now, round, from);
}
