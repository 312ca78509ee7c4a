/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/mpi/calls/calls.h"

#include "faultloc/base/clock.h"
#include "faultloc/base/fabric.h"

#include <errno.h>

#ifdef HAVE_CH4_NETMOD_UCX
#include "faultloc/seam/faultloc_ucx.h"
#endif

/*
 * Waits in loops of the netmod's own, for room for a send or for one-sided operations, and what it
 * refuses.  Nothing can be held there: the operation fails once its peer is given up.
 */

/* Other threads are not let in, and with several nothing is noted. */
static int look(struct MPIDI_faultloc_wait *wait)
{
    return MPIDI_faultloc_page.slot.many_threads ? MPI_SUCCESS : MPIDI_faultloc_look(NULL, wait);
}

#define WAITS_FOR(rank) \
    {.mode = WAITS_FOR_NONE,.room = true,.source = (rank), MPIDI_FAULTLOC_RETURNS_TO }

/* At each 256th turn of a loop that waits for a rank; FTREE_NONE: it is not known for whom. */
static int look_inside(struct MPIDI_faultloc_wait *wait)
{
    return MPIDI_faultloc_is_given_up(wait->source) ? MPIDI_faultloc_failed_error(wait->source) :
        look(wait);
}

/* A rank sleeps for a moment, and looks: nothing comes of turning progress meanwhile. */
static int pause_inside(struct MPIDI_faultloc_wait *wait)
{
    const struct timespec pause = {.tv_nsec = 1000000 };
    int mpi_errno;

    MPIDI_faultloc_page.slot.spins++;
    mpi_errno = look_inside(wait);
    if (mpi_errno == MPI_SUCCESS)
        nanosleep(&pause, NULL);
    return mpi_errno;
}

/* The own agent may hear of it a moment later, and until then a message to that rank would be a
 * success. */
void MPIDI_faultloc_told_lost(MPIR_Request * req)
{
    struct MPIDI_faultloc_wait wait = WAITS_FOR(FTREE_NONE);
    ftree_time until = faultloc_now() + MPIDI_faultloc_grace();
    int mpi_errno = MPI_SUCCESS;

    if (!MPIDI_faultloc_notes || !req->comm)
        return;
    while (mpi_errno == MPI_SUCCESS && faultloc_now() < until) {
        mpi_errno = MPIDI_faultloc_member_error(MPIDI_faultloc_whole_of(req->comm));
        if (mpi_errno == MPI_SUCCESS)
            mpi_errno = pause_inside(&wait);
    }
    if (mpi_errno != MPI_SUCCESS)
        req->status.MPI_ERROR = mpi_errno;
}

#ifdef HAVE_CH4_NETMOD_UCX

/* The netmod has lost that rank: returns an error once it is given up, MPI_SUCCESS if it is not in
 * time. */
static int wait_verdict(int32_t rank)
{
    struct MPIDI_faultloc_wait wait = WAITS_FOR(rank);
    ftree_time until = faultloc_now() + MPIDI_faultloc_grace();
    int mpi_errno = MPI_SUCCESS;

    MPIDI_faultloc_rma.window = NULL; /* not of this call */
    while (mpi_errno == MPI_SUCCESS && faultloc_now() < until)
        mpi_errno = pause_inside(&wait);
    return mpi_errno;
}

__thread ucp_ep_h MPIDI_faultloc_ucx_to;

static bool has_endpoint(MPIDI_av_entry_t * av, ucp_ep_h ep)
{
    for (int from = 0; from < MPIDI_FAULTLOC_UCX_VCIS; from++)
        for (int to = 0; to < MPIDI_FAULTLOC_UCX_VCIS; to++)
            if (MPIDI_UCX_AV(av).dest[from][to] == ep)
                return true;
    return false;
}

/* Takes long, and is asked after errors alone, or when a wait has lasted. */
static int32_t rank_with(ucp_ep_h ep)
{
    for (int32_t i = 0; ep && i < MPIR_Process.size; i++)
        if (has_endpoint(&MPIDI_global.avt_mgr.av_table0->table[i], ep))
            return i;
    return FTREE_NONE;
}

/* Other errors, of memory or of arguments, are as MPICH has them. */
int MPIDI_faultloc_ucx_error(ucs_status_t status)
{
    const struct faultloc_fabric_code *code =
        faultloc_fabric_find("ucx", "", status, FAULTLOC_FABRIC_ANY);
    int32_t rank = code && code->says == FAULTLOC_FABRIC_LOST ? rank_with(MPIDI_faultloc_ucx_to) :
        FTREE_NONE;

    MPIDI_faultloc_ucx_to = NULL;
    if (rank == FTREE_NONE)
        return MPI_SUCCESS;
    MPIDI_faultloc_report_lost(rank, code->error);
    return wait_verdict(rank);
}

static void flushed(void *request, ucs_status_t status)
{
}

/* A rank that the agents have given up the transport may not miss. */
static bool any_is_lost(void)
{
    return MPIDI_faultloc_has_lost() || MPIDI_faultloc_page.slot.failures;
}

/* UCX may never be done; what it keeps of it is its own to give back.  Of all endpoints (NULL) it
 * ends where any rank is lost.  Whose endpoint it is is asked after some 10 ms. */
static ucs_status_t wait_flushed(ucs_status_ptr_t request, ucp_worker_h worker, ucp_ep_h ep)
{
    struct MPIDI_faultloc_wait wait = WAITS_FOR(FTREE_NONE);
    ucs_status_t status = UCS_INPROGRESS;

    if (!UCS_PTR_IS_PTR(request))
        return UCS_PTR_STATUS(request);
    for (uint32_t turns = 1; status == UCS_INPROGRESS; turns++) {
        ucp_worker_progress(worker);
        status = ucp_request_check_status(request);
        MPIDI_faultloc_page.slot.spins++;
        if ((turns & 255) != 0)
            continue;
        if (wait.source == FTREE_NONE && (turns & 0xffff) == 0)
            wait.source = rank_with(ep);
        if (look_inside(&wait) != MPI_SUCCESS || (!ep && any_is_lost()))
            break;
    }
    ucp_request_free(request);
    return status == UCS_INPROGRESS ? UCS_ERR_ENDPOINT_TIMEOUT : status;
}

static ucs_status_t flush_endpoint(ucp_worker_h worker, ucp_ep_h ep)
{
    return MPIDI_faultloc_ucx_tried(wait_flushed(ucp_ep_flush_nb(ep, 0, flushed), worker, ep), ep);
}

/* Of several workers it is not known whose endpoint it is, unless one looks for long. */
ucs_status_t MPIDI_faultloc_ucx_ep_flush(ucp_ep_h ep)
{
    if (!MPIDI_faultloc_notes || MPIDI_FAULTLOC_UCX_VCIS > 1)
        return (ucp_ep_flush) (ep);
    MPIDI_faultloc_rma.window = NULL; /* not of this call */
    return flush_endpoint(MPIDI_UCX_global.ctx[0].worker, ep);
}

/* Of a worker all endpoints are flushed at once, unless one of them is lost: the others' operations
 * are none the worse for that. */
ucs_status_t MPIDI_faultloc_ucx_flush(MPIR_Win * win, int vci)
{
    ucp_worker_h worker = MPIDI_UCX_global.ctx[vci].worker;
    ucs_status_t status = UCS_ERR_ENDPOINT_TIMEOUT;

    MPIDI_faultloc_rma.window = win;
    if (!any_is_lost())
        status = wait_flushed(ucp_worker_flush_nb(worker, 0, flushed), worker, NULL);
    if (status == UCS_OK || !any_is_lost())
        return status;
    status = UCS_OK;
    for (int i = 0; i < win->comm_ptr->local_size && status == UCS_OK; i++)
        if (MPIDI_UCX_WIN(win).target_sync[i].need_sync > MPIDI_UCX_WIN_SYNC_UNSET)
            status = flush_endpoint(worker, MPIDI_FAULTLOC_UCX_WIN_EP(win, i, vci));
    return status;
}

#endif /* HAVE_CH4_NETMOD_UCX */

#if defined(HAVE_CH4_NETMOD_OFI) && MPIDI_FAULTLOC_COUNTS

int MPIDI_faultloc_look_for_room(void)
{
    struct MPIDI_faultloc_wait wait = WAITS_FOR(FTREE_NONE);
    int mpi_errno;

    if ((++MPIDI_faultloc_page.slot.spins & 255) != 0)
        return MPI_SUCCESS;
    wait.source = MPIDI_faultloc_ofi_refused();
    mpi_errno = look_inside(&wait);
    if (mpi_errno != MPI_SUCCESS)
        MPIDI_faultloc_ofi_forget_refused();
    return mpi_errno;
}

/* Which operations of a window are complete is a number: none is known to be so where any member is
 * given up. */
int MPIDI_faultloc_wait_window(MPIR_Win * win)
{
    struct MPIDI_faultloc_wait wait = {.mode = WAITS_FOR_NONE, MPIDI_FAULTLOC_RETURNS_TO };
    bool given_up, any;
    int mpi_errno;

    MPIDI_faultloc_rma.window = win;
    mpi_errno = look(&wait);
    if (mpi_errno != MPI_SUCCESS)
        return mpi_errno;
    given_up = MPIDI_faultloc_page.slot.failures > 0;
    any = MPIDI_faultloc_ofi_forget(win, given_up);
    if (given_up)
        return MPIDI_faultloc_member_error(win->comm_ptr);
    return any ? MPIDI_faultloc_transport_error(FTREE_NONE, ECONNRESET) : MPI_SUCCESS;
}

ssize_t MPIDI_faultloc_ofi_returned(ssize_t code)
{
    static ftree_time since;
    static int32_t from = FTREE_NONE;
    int32_t peer = MPIDI_faultloc_ofi_refused();

    if (MPIDI_faultloc_ofi_says_lost(peer, (int) code)) {
        if (from != peer)
            since = faultloc_now();
        from = peer;
        if (faultloc_now() - since < MPIDI_faultloc_grace())
            return -FI_EAGAIN;
    }
    MPIDI_faultloc_ofi_forget_refused();
    return code;
}

#endif /* HAVE_CH4_NETMOD_OFI */
