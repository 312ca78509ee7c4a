/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/mpi/observe/observe.h"

#include "faultloc/base/clock.h"

MPIR_Request *MPIDI_faultloc_real(MPIR_Request * req)
{
    if (req && MPIR_Request_is_persistent(req) && req->kind != MPIR_REQUEST_KIND__PREQUEST_COLL)
        return req->u.persist.real_request;
    return req;
}

/* OFI's own fields lie over those of active messages. */
bool MPIDI_faultloc_is_am(MPIR_Request * req)
{
#ifdef HAVE_CH4_NETMOD_OFI
    bool is_local = false;

#ifndef MPIDI_CH4_DIRECT_NETMOD
    is_local = MPIDI_REQUEST(req, is_local);
#endif
    if (!is_local && MPIDI_OFI_ENABLE_TAGGED)
        return false;
#endif
    return MPIDI_FAULTLOC_IS_AM(req);
}

/* The number of an element in a table with one for each rank. */
static int32_t place_in(const void *table, size_t size, const void *element)
{
    uintptr_t place = ((uintptr_t) element - (uintptr_t) table) / size;

    return table && place < (uintptr_t) MPIR_Process.size ? (int32_t) place : FTREE_NONE;
}

int32_t MPIDI_faultloc_rank_at(const void *peer)
{
    int32_t rank = place_in(MPIDI_global.avt_mgr.av_table0->table, sizeof(MPIDI_av_entry_t), peer);

    if (rank == FTREE_NONE)
        rank = place_in(MPIDI_faultloc_sums.row, sizeof(*MPIDI_faultloc_sums.row), peer);
    return rank;
}

static int given_up(int32_t rank)
{
    struct faultloc_board *b = MPIDI_faultloc_board();

    return b && rank >= 0 && rank < b->size ? faultloc_board_has_failed(b)[rank] : 0;
}

bool MPIDI_faultloc_is_given_up(int32_t rank)
{
    return given_up(rank) != 0;
}

bool MPIDI_faultloc_has_ended(int32_t rank)
{
    return given_up(rank) == FAULTLOC_GIVEN_UP_ENDED;
}

/* An operation has failed because a rank is given up, or in a collective because one of another member
 * has.  The call may return another error than that, and the program end because of it: it is a
 * victim all the same. */
void MPIDI_faultloc_note_failure(void)
{
    MPIDI_faultloc_page.slot.failed_ns = faultloc_now();
}

int MPIDI_faultloc_failed_error(int32_t rank)
{
    MPIDI_faultloc_note_failure();
    return MPIR_Err_create_code(MPI_SUCCESS, MPIR_ERR_RECOVERABLE, __func__, __LINE__,
                                MPIX_ERR_PROC_FAILED, "**faultloc_failed", "**faultloc_failed %d",
                                (int) rank);
}

#if MPIDI_FAULTLOC_COUNTS && !MPIDI_FAULTLOC_ROWS
void MPIDI_faultloc_received(MPIR_Request * req, uint32_t context)
{
    if (req->comm && req->status.MPI_SOURCE >= 0)
        MPIDI_faultloc_count_received(MPIDI_faultloc_sums_in(req->comm, req->status.MPI_SOURCE),
                                      FAULTLOC_KEY(context, req->status.MPI_TAG));
}
#endif

void MPIDI_faultloc_set_error(MPIR_Request * req, int error)
{
    MPIR_STATUS_SET_COUNT(req->status, 0);
    req->status.MPI_SOURCE = MPI_ANY_SOURCE;
    req->status.MPI_TAG = MPI_ANY_TAG;
    req->status.MPI_ERROR = error;
}

#ifdef HAVE_CH4_NETMOD_OFI
/* OFI says by a number what a request is for. */
static bool is_internal(MPIR_Request * req)
{
    if (!MPIDI_OFI_ENABLE_TAGGED || MPIDI_FAULTLOC_OFI_IS_RNDV(req))
        return false;
    if (MPIDI_FAULTLOC_OFI_AM_PARENT(req))
        return true;
    switch (MPIDI_OFI_REQUEST(req, event_id)) {
        case MPIDI_OFI_EVENT_ABORT:    /* it has failed */
        case MPIDI_OFI_EVENT_AM_SEND:
        case MPIDI_OFI_EVENT_AM_SEND_RDMA:
        case MPIDI_OFI_EVENT_AM_SEND_PIPELINE:
        case MPIDI_OFI_EVENT_AM_RECV:
        case MPIDI_OFI_EVENT_AM_READ:
        case MPIDI_OFI_EVENT_INJECT_EMU:
            return true;
        default:
            return false;
    }
}
#else
/* True for one to another node that is not UCX's own, and whose peer was not noted. */
static bool is_internal(MPIR_Request * req)
{
    return MPIDI_faultloc_is_am(req);
}
#endif

#ifndef MPIDI_CH4_DIRECT_NETMOD
static int32_t local_peer(MPIR_Request * req)
{
    int rank = MPIDI_FAULTLOC_AM_SOURCE(req);

    if (req->kind == MPIR_REQUEST_KIND__SEND)
        return MPIDI_faultloc_rank_at(MPIDI_REQUEST(req, faultloc_peer));
    if (!req->comm || rank < 0 || rank >= req->comm->remote_size)
        return FTREE_NONE;
    return MPIDI_faultloc_rank_at(MPIDIU_comm_rank_to_av(req->comm, rank));
}
#endif

bool MPIDI_faultloc_is_message(MPIR_Request * req)
{
    if ((req->kind != MPIR_REQUEST_KIND__SEND && req->kind != MPIR_REQUEST_KIND__RECV) ||
        (req->comm && MPIDI_is_self_comm(req->comm)))
        return false;
#ifndef MPIDI_CH4_DIRECT_NETMOD
    if (MPIDI_REQUEST(req, is_local))
        return MPIDI_faultloc_is_am(req) &&
            !(MPIDIG_REQUEST(req, req->status) & MPIDIG_REQ_UNEXPECTED);
    if (MPIDI_REQUEST_ANYSOURCE_PARTNER(req))
        return false;
#endif
    return !is_internal(req);
}

int32_t MPIDI_faultloc_peer(MPIR_Request * req)
{
    if ((req->kind != MPIR_REQUEST_KIND__SEND && req->kind != MPIR_REQUEST_KIND__RECV) ||
        (req->comm && MPIDI_is_self_comm(req->comm)))
        return FTREE_NONE;
#ifndef MPIDI_CH4_DIRECT_NETMOD
    if (MPIDI_REQUEST_ANYSOURCE_PARTNER(req))
        return FTREE_NONE;
    if (MPIDI_REQUEST(req, is_local))
        return MPIDI_faultloc_is_am(req) ? local_peer(req) : FTREE_NONE;
#endif
    return is_internal(req) ? FTREE_NONE : MPIDI_faultloc_rank_at(MPIDI_REQUEST(req, faultloc_peer));
}

/* ---- all pending ones ------------------------------------------------------------------------ */

struct pending {
    void (*f) (MPIR_Request * req, void *arg);
    void *arg;
};

static void take_pending(void *object, void *arg)
{
    const struct pending *p = arg;
    MPIR_Request *req = object;

    if (MPIR_Object_get_ref(req) > 0 &&
        (req->kind == MPIR_REQUEST_KIND__SEND || req->kind == MPIR_REQUEST_KIND__RECV ||
         req->kind == MPIR_REQUEST_KIND__COLL) && !MPIR_Request_is_complete(req))
        p->f(req, p->arg);
}

void MPIDI_faultloc_each_pending(void (*f) (MPIR_Request * req, void *arg), void *arg)
{
    struct pending p = { f, arg };

    for (int i = 0; i < MPIDI_global.n_vcis; i++)
        MPIDI_faultloc_each_object(&MPIR_Request_mem[i], REQUEST_NUM_INDICES, take_pending, &p);
}
