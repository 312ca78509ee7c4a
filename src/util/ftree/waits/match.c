/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/waits/waits_int.h"

#include <string.h>

/*
 * Messages under way.  MPI does not say which message a receive will get before it has it, and need
 * not: what was sent and not received will meet this receive or one posted before it, and either way
 * somebody moves.  So it suffices to count, and nothing is claimed while the counts differ.  Once
 * all that could move has moved they are equal.
 */

static bool is_receive(const struct waits_request *q)
{
    return q->kind == WAITS_RECV || q->kind == WAITS_PROBE;
}

static bool is_send(const struct waits_request *q)
{
    return q->kind == WAITS_SEND || q->kind == WAITS_SSEND;
}

/* A posted receive of the peer that takes what `rank` sends by q. */
static bool takes(const struct waits_flow *f, const struct waits_request *q, uint32_t context,
                  int32_t rank)
{
    return f->posted && f->count > 0 && f->context == context &&
           (f->peer == rank || f->peer == WAITS_ANY) && (f->tag == q->tag || f->tag == WAITS_ANY);
}

bool ftree_waits_begun(const struct waits_request *q, uint32_t context, int32_t rank,
                       const struct waits_flows *peer, uint32_t *begun)
{
    *begun = 0;
    for (int32_t i = 0; i < peer->flows; i++) {
        const struct waits_flow *f = &peer->flow[i];
        if (!f->posted && f->peer == rank && f->context == context &&
            (q->tag == f->tag || q->tag == WAITS_ANY))
            *begun += f->count;
    }
    return peer->whole;
}

static enum waits_fate match_receive(const struct waits_request *q, uint32_t context, int32_t rank,
                                     const struct waits_flows *peer)
{
    uint32_t begun;

    if (!ftree_waits_begun(q, context, rank, peer, &begun))
        return WAITS_UNKNOWN;
    return begun == q->received ? WAITS_OPEN : WAITS_COMES; /* both counts may have wrapped */
}

static enum waits_fate match_send(const struct waits_request *q, uint32_t context, int32_t rank,
                                  const struct waits_flows *peer)
{
    for (int32_t i = 0; i < peer->flows; i++)
        if (takes(&peer->flow[i], q, context, rank))
            return WAITS_COMES;
    return peer->whole ? WAITS_OPEN : WAITS_UNKNOWN;
}

enum waits_fate ftree_waits_match(const struct waits_request *q, uint32_t context, int32_t rank,
                                  const struct waits_flows *peer)
{
    if (is_receive(q) && q->peer != WAITS_ANY) /* of any source the sum of all peers counts */
        return match_receive(q, context, rank, peer);
    if (is_send(q))
        return match_send(q, context, rank, peer);
    return WAITS_UNKNOWN;
}

/* ---- near misses ----------------------------------------------------------------------------- */

/* 2: another tag; 1: another communicator; 0: it has nothing to do with the request.  A message of
 * another tag that was received in the end is no hint, but the counts of that are the receiver's. */
static int nearness(const struct waits_flow *f, const struct waits_request *q, uint32_t context,
                    int32_t rank)
{
    bool same_tag = f->tag == q->tag || f->tag == WAITS_ANY || q->tag == WAITS_ANY;

    if (f->count == 0 || f->posted != is_send(q) || (f->peer != rank && f->peer != WAITS_ANY))
        return 0;
    if (f->context == context)
        return same_tag ? 0 : 2;
    return same_tag ? 1 : 0;
}

void ftree_waits_near(const struct waits_request *q, uint32_t context, int32_t rank,
                      const struct waits_flows *peer, struct waits_hint *hint)
{
    int best = 0;

    memset(hint, 0, sizeof(*hint));
    for (int32_t i = 0; i < peer->flows && (is_receive(q) || is_send(q)); i++) {
        const struct waits_flow *f = &peer->flow[i];
        int near = nearness(f, q, context, rank);
        if (near <= best)
            continue;
        best = near;
        *hint = (struct waits_hint){
            .is = true, .tag = f->tag, .context = f->context, .count = f->count};
    }
}
