/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/mpi/observe/observe.h"

#ifdef HAVE_CH4_NETMOD_UCX

#include "faultloc/base/fabric.h"
#include "faultloc/base/mark.h"
#include "faultloc/seam/faultloc_ucx.h"

/*
 * What UCX says of peers.
 */

/* ---- whether it is on in all ranks ----------------------------------------------------------- */

/* UCX's own address of this rank, and what stands for it. */
static struct {
    ucp_address_t *address;
    void *marked;
} given;

/* From 5.0 on each rank sends as many bytes as an address may have, whatever it has. */
ucp_address_t *MPIDI_faultloc_ucx_address(ucp_address_t *address, size_t *len)
{
    void *marked = *len + FAULTLOC_MARK_ROOM <= MPID_MAX_BC_SIZE ? calloc(1, MPID_MAX_BC_SIZE) : NULL;

    if (!marked)
        return address;
    given.address = address;
    given.marked = marked;
    memcpy(marked, address, *len);
    *len = faultloc_mark_put(marked, *len, MPIR_Process.rank);
    return marked;
}

/* Some releases give an address back, others do not. */
void MPIDI_faultloc_ucx_release_address(ucp_worker_h worker, ucp_address_t *address)
{
    if (address != given.marked)
        (ucp_worker_release_address) (worker, address);
    else
        (ucp_worker_release_address) (worker, given.address);
}

/* ---- peers that are lost --------------------------------------------------------------------- */

static int errno_of(ucs_status_t status)
{
    return faultloc_fabric_errno("ucx", "", status, FAULTLOC_FABRIC_ANY);
}

/* Whose endpoint is at this place of the table of addresses. */
static int32_t rank_of(const ucp_ep_h *ep)
{
    const char *first = (const char *) MPIDI_global.avt_mgr.av_table0->table;
    ptrdiff_t offset = (const char *) ep - first;

    if (offset < 0 || offset >= MPIR_Process.size * (ptrdiff_t) sizeof(MPIDI_av_entry_t))
        return FTREE_NONE;
    return (int32_t) (offset / (ptrdiff_t) sizeof(MPIDI_av_entry_t));
}

static void lost(void *rank, ucp_ep_h ep, ucs_status_t status)
{
    MPIDI_faultloc_report_lost((int32_t) (intptr_t) rank, errno_of(status));
}

static ucp_ep_h elsewhere; /* to a rank of another node; NULL: there was none */

static bool is_elsewhere(int32_t rank)
{
    return rank != FTREE_NONE && MPIR_Process.node_map &&
        MPIR_Process.node_map[rank] != MPIR_Process.node_map[MPIR_Process.rank];
}

/* An endpoint to a rank of the world tells when it fails.  The error mode stays as it is: another
 * would take the shared memory transports away.  Before 1.12 UCX takes no callback without it. */
ucs_status_t MPIDI_faultloc_ucx_ep_create(ucp_worker_h worker, const ucp_ep_params_t * params,
                                          ucp_ep_h * ep)
{
    ucp_ep_params_t with = *params;
    ucs_status_t status;

    if (MPIR_CVAR_FAULTLOC && rank_of(ep) != FTREE_NONE)
        MPIDI_faultloc_read_mark(params->address, MPID_MAX_BC_SIZE, rank_of(ep));
#if UCP_API_VERSION >= UCP_VERSION(1, 12)
    if (MPIR_CVAR_FAULTLOC && rank_of(ep) != FTREE_NONE) {
        with.field_mask |= UCP_EP_PARAM_FIELD_ERR_HANDLER;
        with.err_handler.cb = lost;
        with.err_handler.arg = (void *) (intptr_t) rank_of(ep);
    }
#endif
    status = (ucp_ep_create) (worker, &with, ep);
    if (status == UCS_OK && MPIR_CVAR_FAULTLOC && is_elsewhere(rank_of(ep)))
        elsewhere = *ep;
    return status;
}

/* Before 1.14 UCX tells programs in no other way. */
void MPIDI_faultloc_ucx_devices(char *text, size_t room)
{
    char *words = NULL, *line, *rest, device[FAULTLOC_FABRIC_DEVICE];
    size_t size, at = 0;
    FILE *f = elsewhere ? open_memstream(&words, &size) : NULL;

    if (!f)
        return;
    ucp_ep_print_info(elsewhere, f);
    rest = fclose(f) ? NULL : words;
    while (rest && (line = strsep(&rest, "\n")))
        if (faultloc_fabric_lane(line, device) && at + strlen(device) + 2 < room)
            at += (size_t) snprintf(text + at, room - at, "%s%s", at ? "," : "", device);
    free(words);
}

/* MPI_Finalize waits for what is returned; NULL: there is nothing to wait for. UCX refuses to flush
 * an endpoint that has failed, and one of a peer that has left already, as it knew of the loss
 * before. */
void *MPIDI_faultloc_ucx_disconnect(const ucp_ep_h *ep)
{
    ucs_status_ptr_t request;

    if (MPIDI_faultloc_rank_is_lost(rank_of(ep)))
        return NULL;
    request = (ucp_disconnect_nb) (*ep);
    return UCS_PTR_IS_ERR(request) && MPIR_CVAR_FAULTLOC ? NULL : request;
}

static void release(void *request)
{
    MPIDI_UCX_ucp_request_t *ucp = request;

    if (!ucp)
        return;
    ucp->req = NULL;
    ucp_request_release(ucp);
}

/* Is called with the lock of the request's VCI held. */
int MPIDI_faultloc_ucx_held(MPIR_Request * req, void *ucp_request, ucs_status_t status)
{
    int32_t peer;

    if (MPIR_Request_is_complete(req)) {
        MPIDI_CH4_REQUEST_FREE(req);    /* UCX's share of one that has failed before it ended */
        release(ucp_request);
        return 1;
    }
    if (status >= 0 || status == UCS_ERR_CANCELED || status == UCS_ERR_MESSAGE_TRUNCATED ||
        !MPIDI_faultloc_board())
        return 0;
    peer = req->kind == MPIR_REQUEST_KIND__RMA ?
        MPIDI_faultloc_rank_at(MPIDI_REQUEST(req, faultloc_peer)) : MPIDI_faultloc_peer(req);
    MPIDI_faultloc_report_lost(peer, errno_of(status));
    if (MPIDI_faultloc_hold(req, peer, errno_of(status), ucp_request, release))
        return 1;
    req->status.MPI_ERROR = MPI_ERR_OTHER;
    return 0;
}

/* As MPICH's own callback, but for what it takes for a success. */
void MPIDI_faultloc_ucx_recv_ended(void *ucp_request, MPIR_Request * req, ucs_status_t status,
                                   const ucp_tag_recv_info_t * info)
{
    if (MPIDI_faultloc_ucx_held(req, ucp_request, status))
        return;
    if (status == UCS_ERR_CANCELED) {
        MPIR_STATUS_SET_CANCEL_BIT(req->status, TRUE);
    } else {
        req->status.MPI_ERROR = status == UCS_ERR_MESSAGE_TRUNCATED ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
        req->status.MPI_SOURCE = MPIDI_UCX_get_source(info->sender_tag);
        req->status.MPI_TAG = MPIDI_UCX_get_tag(info->sender_tag);
        if (status != UCS_ERR_MESSAGE_TRUNCATED)
            MPIR_STATUS_SET_COUNT(req->status, info->length);
        if (MPIDI_faultloc_notes && MPIDI_REQUEST(req, faultloc_peer))
            MPIDI_FAULTLOC_UCX_COUNT(req, info->sender_tag);
    }
    MPIDI_faultloc_complete(req);
    release(ucp_request);
}

MPIR_Request *MPIDI_faultloc_ucx_lost_send(MPIDI_av_entry_t * av, int vci, ucs_status_t status,
                                           MPIR_Request * req)
{
    int32_t peer = MPIDI_faultloc_rank_at(av);

    if (!MPIDI_faultloc_board())
        return NULL;
    MPIDI_faultloc_report_lost(peer, errno_of(status));
    if (req)
        MPIR_Request_add_ref(req);
    else
        req = MPIR_Request_create_from_pool(MPIR_REQUEST_KIND__SEND, vci, 2);
    if (!req)
        return NULL;
    MPIDI_FAULTLOC_UCX_REQUEST(req) = NULL;
    MPIDI_REQUEST(req, faultloc_peer) = av;
    if (!MPIDI_faultloc_hold(req, peer, errno_of(status), NULL, NULL)) {
        MPIR_Request_free_unsafe(req);
        return NULL;
    }
    return req;
}

#else

void MPIDI_faultloc_ucx_devices(char *text, size_t room)
{
}

#endif /* HAVE_CH4_NETMOD_UCX */
