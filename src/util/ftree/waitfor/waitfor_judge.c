/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/waitfor/waitfor.h"

#include <string.h>

/*
 * What both sides say of each request.  Here no error may be made: what is not known is
 * WAITS_UNKNOWN, and nothing that depends on it becomes a verdict.
 *
 * The ranks have not moved between two looks, so what they say holds at one moment.  A receive
 * waits for nothing that is under way if all that its peer has sent to it, and that it has not
 * received, has another tag or communicator; both words of the sums say what that is, or nobody can
 * tell.  A send waits for nothing if its peer has posted no receive for it.
 */

/* ---- both sides ------------------------------------------------------------------------------ */

struct waitfor_asked *waitfor_asked_find(const struct waitfor_candidate *c, int32_t rank)
{
    int32_t low = 0, high = c->ranks.n;

    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (c->ranks.items[middle].rank < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < c->ranks.n && c->ranks.items[low].rank == rank ? &c->ranks.items[low] : NULL;
}

static const struct waitfor_answer *answer_of(const struct waitfor_candidate *c, int32_t rank)
{
    const struct waitfor_asked *a = waitfor_asked_find(c, rank);

    return a ? a->answer : NULL;
}

const struct waits_exchange *waitfor_exchange_with(const struct waitfor_answer *a, int32_t peer)
{
    for (int32_t i = 0; i < a->exchanges; i++)
        if (a->exchange[i].peer == peer)
            return &a->exchange[i];
    return NULL;
}

/* What `from` has sent to `to` and that has not received; false: nobody can tell. */
static bool under_way(const struct waitfor_answer *from, const struct waitfor_answer *to,
                      struct waits_flows *flows)
{
    const struct waits_exchange *x = waitfor_exchange_with(from, to->rank);
    const struct waits_exchange *y = waitfor_exchange_with(to, from->rank);
    struct waits_flow last[WAITS_LAST_MAX];
    int32_t n = 0;

    *flows = (struct waits_flows){.rank = from->rank};
    if (!x || !y)
        return false;
    for (int32_t i = 0; i < from->last && n < WAITS_LAST_MAX; i++)
        if (from->sent[i].peer == to->rank)
            last[n++] = from->sent[i];
    return ftree_waits_unreceived(&x->sent, &y->received, last, n, flows);
}

/* By its request, or as one that has no number and waits for messages inside. */
static bool is_in(const struct waits_record *r, const struct waits_mismatch *m)
{
    uint32_t number = m->class_[0].did.begun;

    for (int32_t i = 0; i < r->requests; i++) {
        const struct waits_request *q = &r->request[i];
        if (q->kind == WAITS_COLLECTIVE && q->comm >= 0 && q->number == number &&
            ftree_waits_same_comm(r->comm[q->comm].key, m->comm))
            return true;
    }
    for (int32_t i = 0; i < r->comms; i++)
        if (ftree_waits_same_comm(r->comm[i].key, m->comm) && r->comm[i].last.begun == number &&
            r->comm[i].last.call == ftree_waits_own_call(r))
            return true;
    return false;
}

bool waitfor_is_held(const struct waitfor_candidate *c, const struct waitfor_answer *a)
{
    bool differ = c->kind == WAITFOR_MISMATCH && c->mismatch->how == WAITS_DIFFER;

    for (int32_t i = 0; i < a->records && differ; i++)
        if (a->record[i].state == WAITS_WAITING && is_in(&a->record[i], c->mismatch))
            return true;
    return false;
}

/* ---- receives -------------------------------------------------------------------------------- */

static bool is_finalized(const struct waitfor_answer *a)
{
    return a->seen == WAITFOR_LEFT ||
           (a->records > 0 && (a->record[0].state == WAITS_FINALIZING ||
                               a->record[0].state == WAITS_FINALIZED));
}

/* Whether a message of that peer is under way for a receive of `own`. */
static enum waits_fate receive_from(const struct waitfor_answer *own, uint32_t context,
                                    const struct waits_request *q,
                                    const struct waitfor_answer *peer, bool *unsure)
{
    struct waits_flows flows;

    if (peer->seen == WAITFOR_LEFT) { /* nor does it send any more */
        *unsure = true;
        return WAITS_OPEN;
    }
    if (peer->seen != WAITFOR_READY)
        return peer->seen == WAITFOR_LOST ? WAITS_PEER_LOST : WAITS_UNKNOWN;
    return under_way(peer, own, &flows) ? ftree_waits_match(q, context, own->rank, &flows)
                                        : WAITS_UNKNOWN;
}

static enum waits_fate fate_of_receive(const struct waitfor_candidate *c,
                                       const struct waitfor_answer *own, uint32_t context,
                                       const struct waits_request *q, bool *unsure)
{
    const struct waitfor_answer *peer = answer_of(c, q->peer);
    enum waits_fate fate = peer ? receive_from(own, context, q, peer, unsure) : WAITS_UNKNOWN;

    return fate == WAITS_OPEN && is_finalized(peer) ? WAITS_NEVER : fate;
}

/* Of any source: nothing of any member is under way. */
static enum waits_fate fate_of_any(const struct waitfor_candidate *c,
                                   const struct waitfor_answer *own, const struct waits_comm *comm,
                                   const struct waits_request *q, bool *unsure)
{
    enum waits_fate fate = WAITS_OPEN;

    if (comm->runs == 0)
        return WAITS_UNKNOWN;
    for (int32_t i = 0; i < comm->runs; i++)
        for (int32_t k = 0; k < comm->run[i].count; k++) {
            int32_t rank = comm->run[i].first + k * comm->run[i].step;
            const struct waitfor_answer *peer = answer_of(c, rank);
            enum waits_fate of = WAITS_UNKNOWN;
            if (rank == own->rank)
                continue;
            if (peer)
                of = receive_from(own, comm->key.context, q, peer, unsure);
            if (of == WAITS_COMES)
                return of;
            if (of != WAITS_OPEN)
                fate = WAITS_UNKNOWN;
        }
    return fate;
}

/* ---- sends ----------------------------------------------------------------------------------- */

/* A send of less may only wait until the network has taken it; no transport takes more without a
 * receive. */
#define EAGER_MAX 65536

/* The peer waits for it, in a receive or probe that need not be among the posted ones. */
static bool is_awaited(const struct waitfor_answer *peer, int32_t rank, uint32_t context,
                       const struct waits_request *q)
{
    for (int32_t i = 0; i < peer->records; i++)
        for (int32_t k = 0; k < peer->record[i].requests; k++) {
            const struct waits_record *r = &peer->record[i];
            const struct waits_request *other = &r->request[k];
            if ((other->kind == WAITS_RECV || other->kind == WAITS_PROBE) && other->comm >= 0 &&
                r->comm[other->comm].key.context == context &&
                ftree_waits_meet(other->peer, rank) && ftree_waits_meet(other->tag, q->tag))
                return true;
        }
    return false;
}

static void list_posted(const struct waitfor_answer *peer, struct waits_flows *flows)
{
    *flows = (struct waits_flows){
        .rank = peer->rank, .flows = peer->posted, .whole = !peer->posted_more};
    if (peer->posted > 0)
        memcpy(flows->flow, peer->post, (size_t) peer->posted * sizeof(peer->post[0]));
}

static enum waits_fate fate_of_send(const struct waitfor_candidate *c, int32_t rank,
                                    uint32_t context, const struct waits_request *q, bool *unsure)
{
    const struct waitfor_answer *peer = answer_of(c, q->peer);
    struct waits_flows flows;

    if (!peer || peer->seen == WAITFOR_UNABLE)
        return WAITS_UNKNOWN;
    if (peer->seen == WAITFOR_LOST)
        return WAITS_PEER_LOST;
    if (is_finalized(peer)) {
        *unsure = *unsure || peer->seen == WAITFOR_LEFT;
        return WAITS_NEVER;
    }
    if (is_awaited(peer, rank, context, q))
        return WAITS_COMES;
    list_posted(peer, &flows);
    *unsure = *unsure || (q->kind == WAITS_SEND && q->bytes <= EAGER_MAX);
    return ftree_waits_match(q, context, rank, &flows);
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* Nobody counts what is under way of it: it must not have moved for longer.  A target need only
 * turn its progress, which it does as long as it waits. */
static enum waits_fate fate_of_uncounted(const struct waitfor_candidate *c,
                                         const struct waits_request *q, bool *unsure)
{
    const struct waitfor_answer *peer = q->peer >= 0 ? answer_of(c, q->peer) : NULL;

    if (!peer || peer->seen == WAITFOR_UNABLE)
        return WAITS_UNKNOWN;
    if (peer->seen == WAITFOR_LOST)
        return WAITS_PEER_LOST;
    *unsure = true;
    if (is_finalized(peer))
        return WAITS_NEVER;
    return q->kind == WAITS_TARGET ? WAITS_UNKNOWN : WAITS_OPEN;
}

enum waits_fate waitfor_fate(const struct waitfor_candidate *c, const struct waitfor_answer *own,
                             const struct waits_record *r, const struct waits_request *q,
                             bool *unsure)
{
    const struct waits_comm *comm = q->comm >= 0 ? &r->comm[q->comm] : NULL;

    switch (q->kind) {
        case WAITS_RECV:
        case WAITS_PROBE:
            if (!comm || q->peer == FTREE_NONE)
                return WAITS_UNKNOWN;
            return q->peer == WAITS_ANY ? fate_of_any(c, own, comm, q, unsure)
                                        : fate_of_receive(c, own, comm->key.context, q, unsure);
        case WAITS_SEND:
        case WAITS_SSEND:
            if (!comm || q->peer < 0)
                return WAITS_UNKNOWN;
            return fate_of_send(c, own->rank, comm->key.context, q, unsure);
        case WAITS_RMA:
        case WAITS_TARGET:
        case WAITS_PSEND:
        case WAITS_PRECV:
            return fate_of_uncounted(c, q, unsure);
        case WAITS_STORE:
            *unsure = true;
            return WAITS_OPEN;
        default: /* of a collective positions tell */
            return (enum waits_fate) q->fate;
    }
}

static int add_answer(struct waits *w, const struct waitfor_candidate *c, struct waitfor_answer *a,
                      bool *unsure)
{
    int rc = a->seen == WAITFOR_LEFT ? ftree_waits_add_done(w, a->rank) : FTREE_OK;

    for (int32_t i = 0; i < a->records && !rc; i++) {
        struct waits_record *r = &a->record[i];
        for (int32_t k = 0; k < r->requests; k++) {
            bool shaky = false;
            enum waits_fate fate = waitfor_fate(c, a, r, &r->request[k], &shaky);
            r->request[k].fate = (uint8_t) fate;
            *unsure = *unsure || (shaky && (fate == WAITS_OPEN || fate == WAITS_NEVER));
        }
        rc = ftree_waits_add(w, r);
    }
    return rc;
}

struct waits *waitfor_judge(struct ftree *ft, const struct waitfor_candidate *c, bool *unsure)
{
    struct waits *w = ftree_waits_create(ft);
    int rc = w ? FTREE_OK : FTREE_ERR_NOMEM;

    *unsure = false;
    for (int32_t i = 0; i < c->ranks.n && !rc; i++)
        if (c->ranks.items[i].answer)
            rc = add_answer(w, c, c->ranks.items[i].answer, unsure);
    return ftree_waits_reduced(w, true, rc);
}

/* ---- near misses ----------------------------------------------------------------------------- */

void waitfor_hints(const struct waitfor_candidate *c, const struct waitfor_answer *own,
                   const struct waits_record *r, const struct waits_request *q,
                   struct waits_hints *hints)
{
    uint32_t context = q->comm >= 0 ? r->comm[q->comm].key.context : 0;
    struct waits_flows flows;

    hints->hints = 0;
    for (int32_t i = 0; i < c->ranks.n && q->comm >= 0; i++) {
        const struct waitfor_answer *peer = c->ranks.items[i].answer;
        if (!peer || peer == own || (q->peer != peer->rank && q->peer != WAITS_ANY))
            continue;
        if (q->kind == WAITS_SEND || q->kind == WAITS_SSEND)
            list_posted(peer, &flows);
        else if (!under_way(peer, own, &flows))
            continue;
        ftree_waits_near(q, context, own->rank, &flows, hints);
    }
}
