/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/mpi/observe/observe.h"

#include "faultloc/base/clock.h"
#include "faultloc/base/mark.h"
#include "faultloc/board/wakeup.h"

#include <errno.h>
#ifdef HAVE_CH4_NETMOD_UCX
#include "faultloc/seam/faultloc_ucx.h"
#endif

/*
 * What the transport says of peers. That it has lost one is reported to the agent of the node,
 * which finds out why. An operation that the transport has ended with an error is held until then:
 * the program learns that the peer has failed, or, where nobody says so in time, that the transport
 * has.
 */

struct held {
    MPIR_Request *req;
    void *transport; /* its own request, to be released; NULL: it has none */
    int32_t peer;
    int error; /* errno */
    uint64_t since_ns;
};

static struct {
    struct held *items;
    int n, room;
} held;

/* Of the ranks whose addresses came. */
static struct {
    int seen, off;
    int first_on, first_off; /* of those that have, have not faultloc on */
} marks;

/* ---- whether it is on in all ranks ----------------------------------------------------------- */

#ifdef HAVE_CH4_NETMOD_UCX

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

/* The first exchange is of one address of each rank, later ones are of more. */
static void read_mark(const ucp_address_t *address, int rank)
{
    if (marks.seen == MPIR_Process.size)
        return;
    if (faultloc_mark_find(address, MPID_MAX_BC_SIZE, rank))
        marks.first_on = marks.seen == marks.off || rank < marks.first_on ? rank : marks.first_on;
    else if (marks.off++ == 0 || rank < marks.first_off)
        marks.first_off = rank;
    marks.seen++;
}

#endif /* HAVE_CH4_NETMOD_UCX */

bool MPIDI_faultloc_is_on_in_all(int *first_on, int *first_off)
{
    *first_on = marks.first_on;
    *first_off = marks.first_off;
    return marks.off == 0;
}

/* ---- to the agent ---------------------------------------------------------------------------- */

static void report_lost_peer(int32_t rank, int error)
{
    const struct faultloc_board *b = MPIDI_faultloc_board();
    struct faultloc_page *page = &MPIDI_faultloc_page.page;

    /* at the end of a job connections are closed, and that is no fault */
    if (!b || rank < 0 || rank >= b->size || page->slot.state != FAULTLOC_SLOT_RUNNING)
        return;
    if (faultloc_peer_errors_add(&page->peer_errors, faultloc_now(), rank, error))
        faultloc_wakeup_send(b);
}

bool MPIDI_faultloc_has_lost(void)
{
    return MPIDI_faultloc_page.page.peer_errors.count > 0 || MPIDI_faultloc_page.slot.failed_ns > 0;
}

int MPIDI_faultloc_rank_is_lost(int rank)
{
    const struct faultloc_peer_errors *errors = &MPIDI_faultloc_page.page.peer_errors;

    for (uint32_t i = 0; i < errors->count && i < FAULTLOC_PEER_ERRORS; i++)
        if (errors->entry[i].rank == rank)
            return 1;
    return MPIDI_faultloc_is_given_up(rank);
}

/* ---- held requests --------------------------------------------------------------------------- */

bool MPIDI_faultloc_is_held(const MPIR_Request * req)
{
    for (int i = 0; i < held.n; i++)
        if (held.items[i].req == req)
            return true;
    return false;
}

static bool hold(MPIR_Request * req, void *transport, int32_t peer, int error)
{
    struct held *items = held.items;
    int room = held.room;

    if (held.n == room) {
        room = room ? 2 * room : 16;
        items = MPL_realloc(items, (size_t) room * sizeof(*items), MPL_MEM_OTHER);
        if (!items)
            return false;
        held.items = items;
        held.room = room;
    }
    items[held.n++] = (struct held) {
    .req = req,.transport = transport,.peer = peer,.error = error,.since_ns = faultloc_now()};
    MPIDI_FAULTLOC_SET_NEWS();
    return true;
}

static int transport_error(const struct held *h)
{
    return MPIR_Err_create_code(MPI_SUCCESS, MPIR_ERR_RECOVERABLE, __func__, __LINE__,
                                MPI_ERR_OTHER, "**faultloc_transport", "**faultloc_transport %d %s",
                                (int) h->peer, strerror(h->error));
}

#ifdef HAVE_CH4_NETMOD_UCX
static void release(void *request)
{
    MPIDI_UCX_ucp_request_t *ucp = request;

    if (!ucp)
        return;
    ucp->req = NULL;
    ucp_request_release(ucp);
}
#else
static void release(void *request)
{
}
#endif

static void end_held(const struct held *h, bool given_up)
{
    MPIR_Request *req = h->req;
    int vci = MPIDI_Request_get_vci(req);

    MPID_THREAD_CS_ENTER_REC_VCI(MPIDI_FAULTLOC_VCI_LOCK(vci));
    release(h->transport);
    MPIDI_faultloc_set_error(req, given_up ? MPIDI_faultloc_failed_error(h->peer)
                             : transport_error(h));
    MPIDI_faultloc_complete(req);
    MPID_THREAD_CS_EXIT(VCI, MPIDI_FAULTLOC_VCI_LOCK(vci));
}

/* An error of the transport is final: a network that is silent for a few seconds causes none (UCX
 * asks again after 9 s of silence), and the patience with which a lost node is given up is no use
 * here. */
bool MPIDI_faultloc_settle_held(void)
{
    uint64_t now = held.n > 0 ? faultloc_now() : 0;
    int left = 0;

    for (int i = 0; i < held.n; i++) {
        struct held *h = &held.items[i];
        bool given_up = MPIDI_faultloc_is_given_up(h->peer);

        if (given_up || now - h->since_ns > MPIDI_faultloc_grace())
            end_held(h, given_up);
        else
            held.items[left++] = *h;
    }
    held.n = left;
    return left > 0;
}

/* ---- UCX ------------------------------------------------------------------------------------- */

#ifdef HAVE_CH4_NETMOD_UCX

static int errno_of(ucs_status_t status)
{
    switch (status) {
        case UCS_ERR_CONNECTION_RESET:
        case UCS_ERR_ENDPOINT_TIMEOUT:
            /* the latter is what TCP makes of the former */
            return ECONNRESET;
        case UCS_ERR_REJECTED:
            return ECONNREFUSED;
        case UCS_ERR_NOT_CONNECTED:
            return ENOTCONN;
        case UCS_ERR_UNREACHABLE:
            return EHOSTUNREACH;
        case UCS_ERR_TIMED_OUT:
            return ETIMEDOUT;
        default:
            return EIO;
    }
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
    report_lost_peer((int32_t) (intptr_t) rank, errno_of(status));
}

/* An endpoint to a rank of the world tells when it fails.  The error mode stays as it is: another
 * would take the shared memory transports away.  Before 1.12 UCX takes no callback without it. */
ucs_status_t MPIDI_faultloc_ucx_ep_create(ucp_worker_h worker, const ucp_ep_params_t * params,
                                          ucp_ep_h * ep)
{
    ucp_ep_params_t with = *params;

    if (MPIR_CVAR_FAULTLOC && rank_of(ep) != FTREE_NONE)
        read_mark(params->address, rank_of(ep));
#if UCP_API_VERSION >= UCP_VERSION(1, 12)
    if (MPIR_CVAR_FAULTLOC && rank_of(ep) != FTREE_NONE) {
        with.field_mask |= UCP_EP_PARAM_FIELD_ERR_HANDLER;
        with.err_handler.cb = lost;
        with.err_handler.arg = (void *) (intptr_t) rank_of(ep);
    }
#endif
    return (ucp_ep_create) (worker, &with, ep);
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
    peer = MPIDI_faultloc_peer(req);
    report_lost_peer(peer, errno_of(status));
    if (hold(req, ucp_request, peer, errno_of(status)))
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
    report_lost_peer(peer, errno_of(status));
    if (req)
        MPIR_Request_add_ref(req);
    else
        req = MPIR_Request_create_from_pool(MPIR_REQUEST_KIND__SEND, vci, 2);
    if (!req)
        return NULL;
    MPIDI_FAULTLOC_UCX_REQUEST(req) = NULL;
    MPIDI_REQUEST(req, faultloc_peer) = av;
    if (!hold(req, NULL, peer, errno_of(status))) {
        MPIR_Request_free_unsafe(req);
        return NULL;
    }
    return req;
}

#endif /* HAVE_CH4_NETMOD_UCX */
