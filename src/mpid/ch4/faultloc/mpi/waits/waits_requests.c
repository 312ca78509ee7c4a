/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/mpi/waits/waits_int.h"

/*
 * What a request says of itself.  Its peer, tag and communicator were noted when it began
 * (MPIDI_FAULTLOC_NOTE()).
 */

MPIR_Request *MPIDI_faultloc_pending(MPIR_Request * req)
{
    if (!req || !MPIR_Request_is_active(req) || MPIR_Request_is_complete(req))
        return NULL;
    return MPIDI_faultloc_real(req);
}

static int8_t add_context(struct waits_record *r, uint32_t context, bool of_sends)
{
    MPIR_Comm *comm = MPIDI_faultloc_find_comm(context, of_sends);

    return comm ? MPIDI_faultloc_add_comm(r, comm, context) : FTREE_NONE;
}

const struct faultloc_message *MPIDI_faultloc_message_at(uint32_t i, int type)
{
    const struct faultloc_ring *ring = &MPIDI_faultloc_page.page.ring;
    uint32_t count = ring->count - i * FAULTLOC_RING_STEP;
    const struct faultloc_message *m =
        &ring->entry[count / FAULTLOC_RING_STEP % FAULTLOC_RING_ENTRIES];

    return m->mark[type] == count ? m : NULL;
}

/* Of the last message that is known by that, as long as it is in the ring: most ranks wait for what
 * they have begun last. */
static uint64_t bytes_of(uint32_t context, int32_t tag, int type)
{
    for (uint32_t i = 0; i < FAULTLOC_RING_ENTRIES; i++) {
        const struct faultloc_message *m = MPIDI_faultloc_message_at(i, type);

        if (m && m->context == context && m->tag == tag)
            return m->datatype ? m->count * (m->datatype >> 8) : m->count;
    }
    return 0;
}

void MPIDI_faultloc_describe_self(struct waits_record *r, struct waits_request *q,
                                  MPIR_Request * req)
{
    int tag = MPIDI_SELF_REQUEST(req, tag);

    q->kind = req->kind == MPIR_REQUEST_KIND__SEND ? WAITS_SEND : WAITS_RECV;
    q->peer = MPIR_Process.rank;
    q->tag = tag == MPI_ANY_TAG ? WAITS_ANY : tag;
    q->comm = MPIDI_faultloc_add_comm(r, req->comm, req->comm->recvcontext_id);
}

int32_t MPIDI_faultloc_peer_of(MPIR_Request * req)
{
    void *peer = MPIDI_REQUEST(req, faultloc_peer);

    return (uintptr_t) peer & 1 ? WAITS_ANY : MPIDI_faultloc_rank_at(peer);
}

uint32_t MPIDI_faultloc_context_of(MPIR_Request * req)
{
    return MPIDI_REQUEST(req, faultloc_context) & ~MPIDI_FAULTLOC_SSEND;
}

void MPIDI_faultloc_describe_message(struct waits_record *r, struct waits_request *q,
                                     MPIR_Request * req)
{
    bool is_send = req->kind == MPIR_REQUEST_KIND__SEND;
    bool is_ssend = MPIDI_REQUEST(req, faultloc_context) & MPIDI_FAULTLOC_SSEND;
    int32_t tag = MPIDI_REQUEST(req, faultloc_tag);

    q->kind = !is_send ? WAITS_RECV : is_ssend ? WAITS_SSEND : WAITS_SEND;
    q->peer = MPIDI_faultloc_peer_of(req);
    q->tag = !is_send && tag == MPI_ANY_TAG ? WAITS_ANY : tag;
    q->comm = add_context(r, MPIDI_faultloc_context_of(req), is_send);
    q->bytes = bytes_of(MPIDI_faultloc_context_of(req), tag,
                        is_send ? FAULTLOC_RING_SEND : FAULTLOC_RING_RECV);
}

/* Partitions that the program has not said to be ready, and one more as long as the receiver has
 * not begun: of two or more it is the sender itself that others wait for. */
static bool lacks_partitions(MPIR_Request * req)
{
    return MPIR_cc_get(MPIDIG_PART_REQUEST(req, u.send).ready_cntr) > 1;
}

void MPIDI_faultloc_describe_partitioned(struct waits_record *r, struct waits_request *q,
                                         MPIR_Request * req)
{
    bool is_send = req->kind == MPIR_REQUEST_KIND__PART_SEND;
    int peer = is_send ? MPIDI_PART_REQUEST(req, u.send.dest) :
        MPIDI_FAULTLOC_PART_SOURCE(req);

    q->kind = is_send ? WAITS_PSEND : WAITS_PRECV;
    q->comm = MPIDI_faultloc_add_comm(r, req->comm, req->comm->recvcontext_id);
    q->peer = MPIDI_faultloc_world_rank(req->comm, peer);
    if (is_send && lacks_partitions(req))
        q->peer = MPIDI_faultloc_has_many_threads() ? FTREE_NONE : MPIR_Process.rank;
}
