/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/mpi/parts.h"

#include "faultloc/base/clock.h"

/* How long another thread's wait must not have turned to be taken for over, ns. */
#define WAIT_OVER_NS 100000000

/* The rank of the world that a request is about. */
static int32_t peer_of(MPIR_Request * req)
{
    if (!req || (req->kind != MPIR_REQUEST_KIND__SEND && req->kind != MPIR_REQUEST_KIND__RECV))
        return FAULTLOC_PEER_UNKNOWN;
#ifndef MPIDI_CH4_DIRECT_NETMOD
    if (MPIDI_REQUEST_ANYSOURCE_PARTNER(req))
        return FAULTLOC_PEER_UNKNOWN;
    if (MPIDI_REQUEST(req, is_local))
        return FAULTLOC_PEER_LOCAL;
#endif
    return MPIDI_faultloc_rank_at(MPIDI_REQUEST(req, faultloc_av));
}

static void note_wait(MPIR_Request * req)
{
    static uint64_t seen_ns;    /* when the noted wait was last seen to go on */
    struct faultloc_slot *slot = &MPIDI_faultloc_page.slot;
    uint64_t request, now;
    int32_t peer;

    request = req ? (uint64_t) (uint32_t) req->handle : 0;
    peer = peer_of(req);
    /* a handle is used again soon, the serial number never; who has no peer has none */
    if (peer >= 0)
        request |= (uint64_t) MPIDI_REQUEST(req, faultloc_serial) << 32;
    if (!slot->many_threads && slot->wait_since_ns && slot->wait_request == request &&
        slot->wait_peer == peer && slot->wait_call == slot->call)
        return;
    now = faultloc_now();
    if (slot->many_threads && slot->wait_since_ns && now - seen_ns < WAIT_OVER_NS) {
        /* of several threads that wait, the one that began first keeps the note */
        if (slot->wait_request == request && slot->wait_peer == peer)
            seen_ns = now;
        return;
    }
    seen_ns = now;
    slot->wait_since_ns = 0;    /* a reader meets either no wait or a whole one */
    slot->wait_peer = peer;
    slot->wait_request = request;
    slot->wait_call = slot->call;
    slot->wait_since_ns = now;
}

int MPIDI_faultloc_wait(MPIR_Request * req)
{
    const struct faultloc_board *b = MPIDI_faultloc_mapped_board();

    if (!b)
        return MPI_SUCCESS;
    if (b->abort_code) {
        int code = b->abort_code;
        MPIR_pmi_abort(code, "faultloc has located the fault that stops this job");
        MPL_exit(code);
    }
    MPIDI_faultloc_raise_events(b);
    req = MPIDI_faultloc_real(req);
    note_wait(req);
    return b->failures ? MPIDI_faultloc_wait_any(req) : MPI_SUCCESS;
}
