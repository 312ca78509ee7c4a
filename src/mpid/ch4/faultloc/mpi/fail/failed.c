/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/mpi/fail/fail.h"

#include "faultloc/base/proc.h"

#include <errno.h>
#include <poll.h>

#if !defined(MPIDI_CH4_DIRECT_NETMOD) && defined(HAVE_CH4_SHM_EAGER_IQUEUE)
#include "shm/posix/eager/iqueue/iqueue_types.h"
#endif

/*
 * Ranks that are given up.  The agent marks them on the board; from then on
 *
 *   - a send, a receive or a probe that begins fails at once: what begins asks a word of the slot;
 *   - what is pending fails as soon as MPICH turns its progress: all requests of the process are
 *   gone
 *     through, once for each failure, so that a healthy job has no list of them to keep;
 *   - a receive from any source fails, or its wait does, until the program has acknowledged the
 *     failure (MPIX_Comm_failure_ack), as ULFM has it.
 *
 * What the transport still holds of a request that fails is its own to give back: such a request is
 * complete for the program, and its memory is kept until the transport is done with it, or for
 * ever.
 */

static int32_t failures_handled; /* failures that the requests were gone through for */

static bool is_self(MPIR_Request * req)
{
    return req->comm && MPIDI_is_self_comm(req->comm);
}

/* The communicator of a receive from any source that the program knows; NULL: it is none.  The mark
 * alone does not tell: one of a request's former life may still be there. */
static MPIR_Comm *any_comm(MPIR_Request * req)
{
    uintptr_t mark = (uintptr_t) MPIDI_REQUEST(req, faultloc_peer);
    MPIR_Comm *comm = (MPIR_Comm *) (mark & ~(uintptr_t) 3);

    if (req->kind != MPIR_REQUEST_KIND__RECV || is_self(req) || (mark & 3) != 1)
        return NULL;
#ifndef MPIDI_CH4_DIRECT_NETMOD
    if (!MPIDI_REQUEST(req, is_local) || !MPIDI_faultloc_is_am(req) ||
        MPIDI_FAULTLOC_AM_SOURCE(req) != MPI_ANY_SOURCE)
        return NULL;
#endif
    return MPIR_Object_get_ref(comm) > 0 ? comm : NULL; /* it may have been freed meanwhile */
}

/* Whether the program will come back to the request, which its wait leaves alone then. Where this
 * is not known (with several threads, or calls in calls) the request fails: that is never wrong. */
static bool is_waited_for(void)
{
    static const uint32_t calls[] = { MPIDI_FAULTLOC_CALL_ID("internal_Wait"),
        MPIDI_FAULTLOC_CALL_ID("internal_Waitall"), MPIDI_FAULTLOC_CALL_ID("internal_Waitany"),
        MPIDI_FAULTLOC_CALL_ID("internal_Waitsome"), MPIDI_FAULTLOC_CALL_ID("internal_Test"),
        MPIDI_FAULTLOC_CALL_ID("internal_Testall"), MPIDI_FAULTLOC_CALL_ID("internal_Testany"),
        MPIDI_FAULTLOC_CALL_ID("internal_Testsome")
    };
    const struct faultloc_slot *slot = &MPIDI_faultloc_page.slot;

    for (size_t i = 0; !slot->many_threads && i < sizeof(calls) / sizeof(calls[0]); i++)
        if ((MPIDI_FAULTLOC_CALL & FAULTLOC_CALL_MASK) == calls[i])
            return true;
    return false;
}

/* ---- a request fails ------------------------------------------------------------------------- */

#ifdef HAVE_CH4_NETMOD_UCX
/* UCX goes on with a send that cannot be cancelled: what it will complete is another request. With
 * a receive it does what it likes, its callback is notified that it is over. */
static bool leave_to_ucx(MPIR_Request * req)
{
    MPIDI_UCX_ucp_request_t *ucp = MPIDI_FAULTLOC_UCX_REQUEST(req);
    MPIR_Request *other;

    if (MPIDI_faultloc_is_am(req) || !ucp)
        return false;
    if (req->kind == MPIR_REQUEST_KIND__RECV)
        ucp->req = req;
    if (req->kind != MPIR_REQUEST_KIND__SEND || ucp->req != req)
        return false;
    other = MPIR_Request_create_from_pool(MPIR_REQUEST_KIND__SEND, MPIDI_Request_get_vci(req), 1);
    if (!other)
        return false;
    ucp->req = other;
    MPIDI_faultloc_complete(req);
    return true;
}
#else
static bool leave_to_ucx(MPIR_Request * req)
{
    return false;
}
#endif

/* Complete for the program, while somebody below still has a share in it. */
static void let_go(MPIR_Request * req)
{
    if (leave_to_ucx(req))
        return;
    MPIR_cc_set(req->cc_ptr, 0);
    if (MPIDI_FAULTLOC_NOTIFICATION(req))
        MPIR_cc_dec(MPIDI_FAULTLOC_NOTIFICATION(req));
}

/* MPICH waits until OFI has cancelled a receive, which it never does once a message has begun. */
static bool is_left_to_ofi(MPIR_Request * req)
{
#if defined(HAVE_CH4_NETMOD_OFI) && !defined(MPIDI_CH4_DIRECT_NETMOD)
    if (MPIDI_REQUEST(req, is_local))
        return false;
#endif
    return req->kind != MPIR_REQUEST_KIND__RMA && !is_self(req) &&
        MPIDI_faultloc_ofi_leave(req, MPIR_cc_get(*req->cc_ptr));
}

/* Completes a pending request with an error, whatever the transport does with it. */
static void fail(MPIR_Request * req, int error)
{
    int vci = MPIDI_Request_get_vci(req);

    if (MPIDI_faultloc_is_held(req))
        return; /* it is about to fail already */
    MPID_THREAD_CS_ENTER_REC_VCI(MPIDI_FAULTLOC_VCI_LOCK(vci));
    MPIR_Request_add_ref(req);  /* cancelling may take the last reference but ours */
    if (!is_left_to_ofi(req) && req->kind == MPIR_REQUEST_KIND__RECV)
        MPIDI_cancel_recv_unsafe(req);
    if (!MPIR_Request_is_complete(req))
        let_go(req);
    MPIR_STATUS_SET_CANCEL_BIT(req->status, FALSE);
    MPIDI_faultloc_set_error(req, error);
    MPIDI_CH4_REQUEST_FREE(req);
    MPID_THREAD_CS_EXIT(VCI, MPIDI_FAULTLOC_VCI_LOCK(vci));
}

/* ---- members --------------------------------------------------------------------------------- */

static bool is_member(MPIR_Comm * comm, int32_t rank)
{
    for (int i = 0; i < comm->remote_size; i++)
        if (MPIDI_faultloc_rank_at(MPIDIU_comm_rank_to_av(comm, i)) == rank)
            return true;
    return false;
}

/* The first one of a communicator that is given up, or of what it is a part of.  To find out takes
 * long, and is asked of each message of a collective operation. */
static int32_t lost_member(MPIR_Comm * comm)
{
    struct faultloc_board *b = MPIDI_faultloc_board();
    int32_t failures = b ? b->failures : 0, i = MPIDI_COMM(comm, faultloc_looked);
    MPIR_Comm *whole = MPIDI_FAULTLOC_FAILS_TOGETHER(0) && i < failures ?
        MPIDI_faultloc_whole_of(comm) : comm;

    for (; i < failures && MPIDI_COMM(comm, faultloc_lost) == FTREE_NONE; i++)
        if (is_member(whole, faultloc_board_failed(b)[i]))
            MPIDI_COMM(comm, faultloc_lost) = faultloc_board_failed(b)[i];
    MPIDI_COMM(comm, faultloc_looked) = failures;
    return MPIDI_COMM(comm, faultloc_lost);
}

/* Because of whom a pending request fails; FTREE_NONE: it does not. */
static int32_t fails_by(MPIR_Request * req)
{
    int32_t peer = MPIDI_faultloc_peer(req);
    MPIR_Comm *comm = NULL;

    if (MPIDI_faultloc_is_given_up(peer))
        return peer;
    if (peer != FTREE_NONE && MPIDI_FAULTLOC_FAILS_TOGETHER(MPIDI_REQUEST(req, faultloc_tag)))
        comm = MPIDI_faultloc_collective_comm(req);
    return comm ? lost_member(comm) : FTREE_NONE;
}

/* ---- all pending ones ------------------------------------------------------------------------ */

static void fail_if_lost(MPIR_Request * req, void *arg)
{
    int32_t rank = fails_by(req);

    if (rank != FTREE_NONE)
        fail(req, MPIDI_faultloc_failed_error(rank));
}

/* One turn of those whose errors come otherwise than from this call; those of OFI would be lost
 * where they are not taken notice of. */
static void turn(int vci)
{
#if defined(HAVE_CH4_NETMOD_UCX)
    MPIDI_FAULTLOC_PROGRESS(NM, vci);
#elif MPIDI_FAULTLOC_COUNTS
    (void) MPIDI_OFI_progress_uninlined(vci);
#endif
#ifndef MPIDI_CH4_DIRECT_NETMOD
    MPIDI_FAULTLOC_PROGRESS(SHM, vci);
#endif
}

static void turn_all(int times)
{
    for (int vci = 0; vci < MPIDI_global.n_vcis; vci++) {
        MPID_THREAD_CS_ENTER_REC_VCI(MPIDI_FAULTLOC_VCI_LOCK(vci));
        for (int i = 0; i < times; i++)
            turn(vci);
        MPID_THREAD_CS_EXIT(VCI, MPIDI_FAULTLOC_VCI_LOCK(vci));
    }
}

/* What waits for room in shared memory is sent in order: the first, if for a lost rank, holds up
 * all. */
static void drop_postponed(void)
{
#ifndef MPIDI_CH4_DIRECT_NETMOD
    MPIDI_POSIX_am_request_header_t *h, *next;

    for (int vci = 0; vci < MPIDI_FAULTLOC_POSIX_VCIS; vci++) {
        MPID_THREAD_CS_ENTER_REC_VCI(MPIDI_FAULTLOC_VCI_LOCK(vci));
        DL_FOREACH_SAFE(MPIDI_FAULTLOC_POSIX_VCI(vci).postponed_queue, h, next) {
            if (!MPIDI_faultloc_is_given_up(h->dst_grank))
                continue;
            DL_DELETE(MPIDI_FAULTLOC_POSIX_VCI(vci).postponed_queue, h);
            if (!h->request)    /* else it goes with that */
                MPIDI_POSIX_am_release_req_hdr(&h);
        }
        MPID_THREAD_CS_EXIT(VCI, MPIDI_FAULTLOC_VCI_LOCK(vci));
    }
#endif
}

#if !defined(MPIDI_CH4_DIRECT_NETMOD) && defined(HAVE_CH4_SHM_EAGER_IQUEUE)

/* Gives back what lies in the queue of a process that is gone.  One does it at a time: MPICH uses a
 * pointer of the cache line that the head has, and this its last byte. */
static void empty_queue(MPIDI_POSIX_eager_iqueue_transport_t * t, int local)
{
    uint8_t *lock = &t->terminals[local].q.head.pad[MPIDU_SHM_CACHE_LINE_LEN - 1];
    void *cell = NULL;

    if (!t->terminals || __atomic_test_and_set(lock, __ATOMIC_ACQUIRE))
        return;
    do {
        MPIDU_genq_shmem_queue_dequeue(t->cell_pool, &t->terminals[local], &cell);
        if (cell)
            MPIDU_genq_shmem_pool_cell_free(t->cell_pool, cell);
    } while (cell);
    __atomic_clear(lock, __ATOMIC_RELEASE);
}

static void empty_queues_of(int local)
{
    for (int from = 0; from < MPIDI_FAULTLOC_POSIX_VCIS; from++)
        for (int to = 0; to < MPIDI_FAULTLOC_POSIX_VCIS; to++)
            empty_queue(MPIDI_POSIX_eager_iqueue_get_transport(from, to), local);
}

/* Cells for messages in shared memory are few, and who has none left sends nothing to anybody. */
static void empty_queues(const struct faultloc_board *b)
{
    for (int i = 0; i < MPIR_Process.local_size; i++) {
        int32_t rank = MPIR_Process.node_local_map[i];

        if (MPIDI_faultloc_is_given_up(rank) &&
            faultloc_proc_fate(NULL, faultloc_board_rank_pid(b)[rank], 0) == FAULTLOC_PROC_GONE)
            empty_queues_of(i);
    }
}

#else

static void empty_queues(const struct faultloc_board *b)
{
}

#endif

static void scan(const struct faultloc_board *b)
{
    int32_t failures = b->failures;

    if (failures == failures_handled)
        return;
    failures_handled = failures; /* before: what comes meanwhile is for the next time */
    /* What the lost ranks have sent, and has come, is taken in first: a receive of it is no failure,
     * and an answer in shared memory that comes to a request which has failed would find it gone. */
    turn_all(256);
    drop_postponed();
    empty_queues(b);
    MPIDI_faultloc_each_pending(fail_if_lost, NULL);
}

/* There is something to look at: from within progress, outside of any lock of a VCI. */
void MPIDI_faultloc_news(void)
{
    static atomic_flag busy = ATOMIC_FLAG_INIT; /* cancelling may turn progress */
    struct faultloc_board *b = MPIDI_faultloc_board();

    if (atomic_flag_test_and_set(&busy))
        return;
    __atomic_store_n(&MPIDI_faultloc_page.slot.news, 0, __ATOMIC_SEQ_CST);
    if (b) {
        MPIDI_faultloc_permit_tracer();
        MPIDI_faultloc_take_question();
        scan(b);
        if (MPIDI_faultloc_settle_held())
            MPIDI_FAULTLOC_SET_NEWS();
    }
    atomic_flag_clear(&busy);
}

/* ---- what begins ----------------------------------------------------------------------------- */

MPIR_Request *MPIDI_faultloc_refused(int kind, MPIDI_av_entry_t * av, MPIR_Comm * comm, int tag,
                                     uint32_t context)
{
    int32_t rank = MPIDI_faultloc_rank_at(av);
    MPIR_Request *req;

    if (!MPIDI_faultloc_is_given_up(rank))
        rank = MPIDI_FAULTLOC_FAILS_TOGETHER(tag) && (context & MPIR_CONTEXT_INTRA_COLL) ?
            lost_member(comm) : FTREE_NONE;
    if (rank == FTREE_NONE)
        return NULL;
    req = MPIR_Request_create_from_pool_safe(kind, 0, 1);
    if (!req)
        return NULL;
    MPIR_cc_set(&req->cc, 0);
#ifndef MPIDI_CH4_DIRECT_NETMOD
    MPIDI_REQUEST(req, is_local) = 0;
#endif
    MPIDI_faultloc_set_error(req, MPIDI_faultloc_failed_error(rank));
    return req;
}

/* ---- any source ------------------------------------------------------------------------------ */

#ifdef MPIDI_FAULTLOC_COMM_DECL
#define ACKNOWLEDGED(comm) ((int32_t) MPIDI_COMM(comm, faultloc_acked))
#else
#define ACKNOWLEDGED(comm) 0
#endif

/* The first member that is given up, and not acknowledged. */
static int32_t unacknowledged(MPIR_Comm * comm)
{
    static struct {
        MPIR_Comm *comm;
        int id;
        int32_t acknowledged, failures, rank;
    } last; /* to find out takes long, and is asked at every turn of a wait */
    struct faultloc_board *b = MPIDI_faultloc_board();
    int32_t acknowledged = ACKNOWLEDGED(comm), failures = b ? b->failures : 0;

    if (last.comm == comm && last.id == comm->context_id && last.acknowledged == acknowledged &&
        last.failures == failures)
        return last.rank;
    last.comm = comm;
    last.id = comm->context_id;
    last.acknowledged = acknowledged;
    last.failures = failures;
    last.rank = FTREE_NONE;
    for (int32_t i = acknowledged; i < failures && last.rank == FTREE_NONE; i++)
        if (is_member(comm, faultloc_board_failed(b)[i]))
            last.rank = faultloc_board_failed(b)[i];
    return last.rank;
}

/* A member of the communicator that keeps a pending receive from any source from coming true. */
static int32_t any_fails_by(MPIR_Request * req)
{
    MPIR_Comm *comm = req && !MPIR_Request_is_complete(req) ? any_comm(req) : NULL;

    return comm ? unacknowledged(comm) : FTREE_NONE;
}

/* A one-sided operation of which the program has the request.  Others of its kind are what targets
 * do, and look alike: so it is only known once it is waited for. */
static void fail_if_one_sided(MPIR_Request * req)
{
    int32_t rank = FTREE_NONE;

    if (req && req->kind == MPIR_REQUEST_KIND__RMA && !MPIR_Request_is_complete(req))
        rank = MPIDI_faultloc_rma_lost_target(req);
    if (rank != FTREE_NONE)
        fail(req, MPIDI_faultloc_failed_error(rank));
}

int MPIDI_faultloc_wait_any(MPIR_Request * req)
{
    int mpi_errno = MPI_SUCCESS;
    int32_t rank = any_fails_by(req);

    fail_if_one_sided(req);
    if (rank == FTREE_NONE)
        return MPI_SUCCESS;
    if (is_waited_for()) {
        MPIDI_faultloc_note_failure();
        MPIR_ERR_SET(mpi_errno, MPIX_ERR_PROC_FAILED_PENDING, "**failure_pending");
    } else {
        fail(req, MPIDI_faultloc_failed_error(rank));
    }
    return mpi_errno;
}

int MPIDI_faultloc_any_fails(MPIR_Request * req)
{
    req = MPIDI_faultloc_real(req);
    fail_if_one_sided(req);
    return any_fails_by(req) != FTREE_NONE;
}

/* Of a receive that the caller waits for at once: its own, for it has failed; else of the wait. */
int MPIDI_faultloc_any_error(MPIR_Request * req)
{
    int mpi_errno;

    req = MPIDI_faultloc_real(req);
    mpi_errno = MPIDI_faultloc_wait_any(req);
    return mpi_errno ? mpi_errno : req->status.MPI_ERROR;
}

int MPIDI_faultloc_member_error(MPIR_Comm * comm)
{
    int32_t rank = lost_member(comm);

    return rank == FTREE_NONE ? MPI_SUCCESS : MPIDI_faultloc_failed_error(rank);
}

int MPIDI_faultloc_rma_error(void)
{
    int32_t rank = MPIDI_faultloc_rma_lost();

    return rank == FTREE_NONE ? MPI_SUCCESS : MPIDI_faultloc_failed_error(rank);
}

int MPIDI_faultloc_target_error(MPIR_Win * win, int target)
{
    int32_t rank = MPIDI_faultloc_rank_at(MPIDIU_comm_rank_to_av(win->comm_ptr, target));

    return MPIDI_faultloc_is_given_up(rank) ? MPIDI_faultloc_failed_error(rank) : MPI_SUCCESS;
}

int MPIDI_faultloc_bsend_error(MPIR_Request * req)
{
    int mpi_errno = req->status.MPI_ERROR;

    MPIR_Request_free(req);
    return mpi_errno;
}

int MPIDI_faultloc_probe_error(MPIR_Comm * comm, MPIDI_av_entry_t * av)
{
    int32_t rank = av ? MPIDI_faultloc_rank_at(av) : unacknowledged(comm);

    if (rank == FTREE_NONE || !MPIDI_faultloc_is_given_up(rank))
        return MPI_SUCCESS;
    return MPIDI_faultloc_failed_error(rank);
}

/* ---- the end --------------------------------------------------------------------------------- */

/* What the process manager's client calls before it waits for an answer; where another client was
 * linked there is none. */
extern int (*PMI_before_read) (int fd) __attribute__ ((weak));

/* Others may need this rank's progress, or its answer, until all are there.  Not MPICH's whole
 * progress, which may ask the process manager itself. */
static int turn_until_readable(int fd)
{
    struct pollfd pfd = {.fd = fd,.events = POLLIN };
    int n = 0;

    while (!MPIDI_faultloc_peer_is_lost() && (n == 0 || (n < 0 && errno == EINTR))) {
        MPIDI_faultloc_answer_at_end();
        turn_all(1);
        n = poll(&pfd, 1, 1);
    }
    return MPIDI_faultloc_peer_is_lost();
}

int MPIDI_faultloc_finalize_barrier(void)
{
    int mpi_errno;

    if (MPIDI_faultloc_peer_is_lost())
        return MPI_SUCCESS;
    if (&PMI_before_read && MPIDI_faultloc_board())
        PMI_before_read = turn_until_readable;
    mpi_errno = MPIR_pmi_barrier();
    if (&PMI_before_read)
        PMI_before_read = NULL;
    return MPIDI_faultloc_peer_is_lost()? MPI_SUCCESS : mpi_errno;
}
