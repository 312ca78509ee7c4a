/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/mpi/calls/calls.h"

#include "faultloc/base/clock.h"

#ifndef MPIDI_CH4_DIRECT_NETMOD
/* Ranks of one host share memory, also where they are of several nodes in name. */
static int32_t local_peer(int32_t peer)
{
    const struct faultloc_board *b = MPIDI_faultloc_mapped_board();

    return b && peer >= 0 && faultloc_board_rank_node(b)[peer] != b->self ? peer :
        FAULTLOC_PEER_LOCAL;
}
#endif

/* The rank of the world that a request is about. */
static int32_t peer_of(MPIR_Request * req)
{
    if (!req || (req->kind != MPIR_REQUEST_KIND__SEND && req->kind != MPIR_REQUEST_KIND__RECV))
        return FAULTLOC_PEER_UNKNOWN;
#ifndef MPIDI_CH4_DIRECT_NETMOD
    if (MPIDI_REQUEST_ANYSOURCE_PARTNER(req))
        return FAULTLOC_PEER_UNKNOWN;
    if (MPIDI_REQUEST(req, is_local))
        return local_peer(MPIDI_faultloc_peer(req));
#endif
    return MPIDI_faultloc_rank_at(MPIDI_REQUEST(req, faultloc_peer));
}

static void put_note(uint64_t request, int32_t peer, ftree_time since)
{
    struct faultloc_slot *slot = &MPIDI_faultloc_page.slot;

    slot->wait_since_ns = 0;    /* a reader meets either no wait or a whole one */
    slot->wait_peer = peer;
    slot->wait_request = request;
    slot->wait_call = MPIDI_FAULTLOC_CALL;
    slot->wait_since_ns = since;
}

static void note_wait(MPIR_Request * req, int32_t peer)
{
    struct faultloc_slot *slot = &MPIDI_faultloc_page.slot;
    uint64_t request = req ? (uint64_t) (uint32_t) req->handle : 0;

    /* a handle is used again soon, but by another message */
    if (peer >= 0)
        request |= (uint64_t) MPIDI_faultloc_page.page.ring.count << 32;
    if (!slot->wait_since_ns || slot->wait_request != request || slot->wait_peer != peer ||
        slot->wait_call != MPIDI_FAULTLOC_CALL)
        put_note(request, peer, faultloc_now());
}

/* Of several threads that wait, the one that began first has the note. */
static void note_first_wait(const struct MPIDI_faultloc_wait *wait)
{
    const struct MPIDI_faultloc_wait *first = MPIDI_faultloc_first_wait(wait);
    MPIR_Request *req = first ? MPIDI_faultloc_real(first->req) : NULL;

    if (first)
        put_note(req ? (uint64_t) (uint32_t) req->handle : 0, peer_of(req), first->since);
}

int MPIDI_faultloc_look(MPIR_Request * req, struct MPIDI_faultloc_wait *wait)
{
    const struct faultloc_board *b = MPIDI_faultloc_mapped_board();

    if (!b)
        return MPI_SUCCESS;
    if (b->abort_code) {
        int code = b->abort_code;
        MPIR_pmi_abort(code, "faultloc has located the fault that stops this job");
        MPL_exit(code);
    }
    MPIDI_faultloc_go_on();
    MPIDI_faultloc_raise_events(b);
    req = MPIDI_faultloc_real(req);
    if (MPIDI_faultloc_page.slot.many_threads)
        note_first_wait(wait);
    else
        note_wait(req, wait->room ? wait->source : peer_of(req));
    MPIDI_faultloc_answer(wait);
    return b->failures ? MPIDI_faultloc_wait_any(req) : MPI_SUCCESS;
}

/* Each 256th turn of a wait; where there may be other threads, each turn. */
static int turn(MPIR_Request * req, struct MPIDI_faultloc_wait *wait)
{
    int mpi_errno = MPI_SUCCESS;

    if (MPIDI_faultloc_page.slot.many_threads)
        MPIDI_faultloc_begin_turn(req, wait);
    if ((MPIDI_faultloc_page.slot.spins & 255) == 0)
        mpi_errno = MPIDI_faultloc_look(req, wait);
    if (mpi_errno == MPI_SUCCESS)
        MPIDI_faultloc_yield(wait);
    return mpi_errno;
}

int MPIDI_faultloc_wait(MPIR_Request * req, MPIR_Request ** reqs, int n)
{
    struct MPIDI_faultloc_wait wait = {.mode = req ? WAITS_FOR_ALL : WAITS_FOR_NONE,
        .n = reqs ? n : req ? 1 : 0,.reqs = reqs ? reqs : &req,
        MPIDI_FAULTLOC_RETURNS_TO
    };

    return turn(req, &wait);
}

/* A rank that is needed may be given up. */
int MPIDI_faultloc_wait_rma(void)
{
    struct MPIDI_faultloc_wait wait = {.mode = WAITS_FOR_NONE, MPIDI_FAULTLOC_RETURNS_TO };
    int mpi_errno = turn(NULL, &wait);

    if (mpi_errno == MPI_SUCCESS && MPIDI_faultloc_page.slot.failures)
        mpi_errno = MPIDI_faultloc_rma_error();
    return mpi_errno;
}

int MPIDI_faultloc_wait_one_of(MPIR_Request ** reqs, int n)
{
    struct MPIDI_faultloc_wait wait = {.mode = WAITS_FOR_ONE,.n = n,.reqs = reqs,
        MPIDI_FAULTLOC_RETURNS_TO
    };

    return turn(NULL, &wait);
}

int MPIDI_faultloc_wait_probe(MPIR_Comm * comm, int offset, int source, int tag)
{
    struct MPIDI_faultloc_wait wait = {.mode = WAITS_FOR_ALL,.comm = comm,
        .context_offset = offset,.source = source,.tag = tag,
        MPIDI_FAULTLOC_RETURNS_TO
    };

    return turn(NULL, &wait);
}

void MPIDI_faultloc_polled(int for_all, MPIR_Request ** reqs, int n)
{
    MPIDI_faultloc_answer_poll(&(struct MPIDI_faultloc_wait) {
                               .mode = for_all ? WAITS_FOR_ALL : WAITS_FOR_ONE,.polls = true,
                               .n = n,.reqs = reqs});
}

void MPIDI_faultloc_probed(MPIR_Comm * comm, int offset, int source, int tag)
{
    MPIDI_faultloc_answer_poll(&(struct MPIDI_faultloc_wait) {
                               .mode = WAITS_FOR_ALL,.polls = true,.comm = comm,
                               .context_offset = offset,.source = source,.tag = tag});
}
