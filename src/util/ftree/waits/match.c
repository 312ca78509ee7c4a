/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/waits/waits_int.h"

/*
 * Messages under way.  MPI does not say which message a receive will get before it has it, and need
 * not: what was sent and not received will meet this receive or one posted before it, and either
 * way somebody moves.  So it suffices to count.  A message counts as received once its receive is
 * complete: one whose data are still on their way is no reason for a deadlock.
 */

static bool is_receive(const struct waits_request *q)
{
    return q->kind == WAITS_RECV || q->kind == WAITS_PROBE;
}

static bool is_send(const struct waits_request *q)
{
    return q->kind == WAITS_SEND || q->kind == WAITS_SSEND;
}

/* The messages of one kind with a peer that q is about.  False: there may be others. */
static bool count(const struct waits_request *q, uint32_t context, const struct waits_flows *flows,
                  enum waits_flow_kind kind, int32_t peer, uint32_t *n)
{
    *n = 0;
    for (int32_t i = 0; i < flows->flows; i++) {
        const struct waits_flow *f = &flows->flow[i];
        if (f->kind == kind && f->context == context && ftree_waits_meet(f->peer, peer) &&
            ftree_waits_meet(f->tag, q->tag))
            *n += f->count;
    }
    if (kind != WAITS_SENT || !flows->lone)
        return flows->whole;
    *n += ftree_waits_mark(context, q->tag) == flows->lone;
    return flows->whole && q->tag != WAITS_ANY;
}

enum waits_fate ftree_waits_match(const struct waits_request *q, uint32_t context, int32_t rank,
                                  const struct waits_flows *peer)
{
    bool receive = is_receive(q), whole;
    uint32_t n;

    if (!receive && !is_send(q))
        return WAITS_UNKNOWN;
    whole = count(q, context, peer, receive ? WAITS_SENT : WAITS_POSTED, rank, &n);
    if (n > 0 && (whole || !receive))
        return WAITS_COMES;
    return whole ? WAITS_OPEN : WAITS_UNKNOWN;
}

/* ---- near misses ----------------------------------------------------------------------------- */

/* 2: another tag; 1: another communicator; 0: it has nothing to do with the request.  Of what the
 * program wrote, nothing inside a collective is. */
static int nearness(const struct waits_flow *f, const struct waits_request *q, uint32_t context,
                    int32_t rank)
{
    bool right_kind = is_receive(q) ? f->kind == WAITS_SENT : is_send(q) && f->kind == WAITS_POSTED;

    if (!right_kind || f->count == 0 || !ftree_waits_meet(f->peer, rank) ||
        ((f->context ^ context) & 1))
        return 0;
    if (f->context == context)
        return ftree_waits_meet(f->tag, q->tag) ? 0 : 2;
    return ftree_waits_meet(f->tag, q->tag) ? 1 : 0;
}

static void take_near(const struct waits_request *q, uint32_t context, int32_t rank,
                      const struct waits_flows *peer, int near, struct waits_hints *hints)
{
    for (int32_t i = 0; i < peer->flows && hints->hints < WAITS_HINTS_MAX; i++)
        if (nearness(&peer->flow[i], q, context, rank) == near) {
            hints->hint[hints->hints] = peer->flow[i];
            hints->hint[hints->hints++].peer = peer->rank;
        }
}

void ftree_waits_near(const struct waits_request *q, uint32_t context, int32_t rank,
                      const struct waits_flows *peer, struct waits_hints *hints)
{
    take_near(q, context, rank, peer, 2, hints);
    take_near(q, context, rank, peer, 1, hints);
}
