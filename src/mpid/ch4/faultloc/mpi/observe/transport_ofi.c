/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/mpi/observe/observe.h"

#if defined(HAVE_CH4_NETMOD_OFI) && MPIDI_FAULTLOC_COUNTS

#include "faultloc/base/clock.h"
#include "faultloc/base/fabric.h"
#include "faultloc/base/mark.h"
#include "faultloc/base/sock.h"
#include "faultloc/seam/faultloc_ofi.h"

#include <errno.h>

/*
 * What OFI says of peers, and how its operations end.
 *
 * OFI keeps the address of a request until it is done with it, and with a dead peer's it may never
 * be.  A request that fails before is MPIDI_OFI_EVENT_ABORT, a number that MPICH does not use: what
 * comes of it later gives OFI's share in it back, and nothing else.
 */

/* ---- whether it is on in all ranks ----------------------------------------------------------- */

#define MARKED_SIZE(len) (((size_t) (len) + FAULTLOC_MARK_STEP - 1) / FAULTLOC_MARK_STEP * \
                          FAULTLOC_MARK_STEP + FAULTLOC_MARK_STEP)

_Static_assert(MPIDI_FAULTLOC_OFI_MARK_ROOM >= FAULTLOC_MARK_ROOM, "there is room for a mark");

/* Where each address is read by itself.  All ranks send as many bytes. */
void MPIDI_faultloc_ofi_mark(void *address, size_t *len, int32_t rank)
{
    size_t size = MARKED_SIZE(*len);

    memset((char *) address + *len, 0, size - *len);
    if (MPIR_CVAR_FAULTLOC)
        faultloc_mark_put(address, *len, rank);
    *len = size;
}

#if MPIDI_FAULTLOC_OFI_HAS_TABLE

/* Reads the marks, and moves the addresses together as they would be without. */
static char *take_marks(const char *marked, size_t size, int len, int n, const int *rank)
{
    char *packed = MPL_malloc((size_t) n * len, MPL_MEM_ADDRESS);

    for (int i = 0; packed && i < n; i++) {
        memcpy(packed + (size_t) i * len, marked + i * size, len);
        if (MPIR_CVAR_FAULTLOC)
            MPIDI_faultloc_read_mark(marked + i * size, size, rank ? rank[i] : i);
    }
    return packed;
}

/* Where node roots alone exchange their addresses, nothing is known of the other ranks. */
int MPIDI_faultloc_ofi_table(void *address, int len, int roots_only, void **table)
{
    static char *packed;        /* in use until all are in OFI's own table */
    size_t size = len;
    char *own = MPL_malloc(MARKED_SIZE(len), MPL_MEM_ADDRESS);
    int mpi_errno = MPI_SUCCESS;

    MPIR_ERR_CHKANDJUMP(!own, mpi_errno, MPI_ERR_OTHER, "**nomem");
    memcpy(own, address, len);
    MPIDI_faultloc_ofi_mark(own, &size, MPIR_Process.rank);
    mpi_errno = MPIDU_bc_table_create(MPIR_Process.rank, MPIR_Process.size, MPIR_Process.node_map,
                                      own, (int) size, TRUE, roots_only, table, NULL);
    MPIR_ERR_CHECK(mpi_errno);
    MPL_free(packed);
    packed = take_marks(*table, size, len, roots_only ? MPIR_Process.num_nodes : MPIR_Process.size,
                        roots_only ? MPIR_Process.node_root_map : NULL);
    MPIR_ERR_CHKANDJUMP(!packed, mpi_errno, MPI_ERR_OTHER, "**nomem");
    *table = packed;

  fn_exit:
    MPL_free(own);
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

#endif

/* ---- what it takes ----------------------------------------------------------------------------- */

/* Of an Internet endpoint the address, which no two interfaces share; of others the domain alone. */
void MPIDI_faultloc_ofi_devices(char *text, size_t room)
{
    struct sockaddr_storage own = { 0 };
    const struct fi_info *info = MPIDI_OFI_global.prov_use[0]; /* NULL: the netmod is another */
    const char *domain =
        info && info->domain_attr && info->domain_attr->name ? info->domain_attr->name : "";
    char address[FAULTLOC_ADDRESS_TEXT] = "";
    struct faultloc_inet inet;
    size_t len = sizeof(own);
    uint16_t port;

    if (info && (info->addr_format == FI_SOCKADDR || info->addr_format == FI_SOCKADDR_IN ||
                 info->addr_format == FI_SOCKADDR_IN6) &&
        !fi_getname(&MPIDI_OFI_global.ctx[0].ep->fid, &own, &len)) {
        faultloc_sockaddr_split((struct sockaddr *) &own, &inet, &port);
        if (inet.family)
            faultloc_inet_text(&inet, address, sizeof(address));
    }
    if (*address || *domain)
        snprintf(text, room, "%s%s%s", address, *address && *domain ? "," : "", domain);
}

/* ---- errors ---------------------------------------------------------------------------------- */

static const char *provider(void)
{
    return MPIDI_OFI_global.prov_use[0]->fabric_attr->prov_name;
}

static bool is_receive(int event)
{
    return event == MPIDI_OFI_EVENT_RECV || event == MPIDI_OFI_EVENT_RECV_PACK ||
        event == MPIDI_OFI_EVENT_RECV_NOPACK || event == MPIDI_OFI_EVENT_RECV_HUGE;
}

static bool is_send(int event)
{
    return event == MPIDI_OFI_EVENT_SEND || event == MPIDI_OFI_EVENT_SEND_PACK ||
        event == MPIDI_OFI_EVENT_SEND_NOPACK || event == MPIDI_OFI_EVENT_SEND_HUGE;
}

static bool is_of_active_message(int event)
{
    return event == MPIDI_OFI_EVENT_AM_SEND || event == MPIDI_OFI_EVENT_AM_SEND_RDMA ||
        event == MPIDI_OFI_EVENT_AM_SEND_PIPELINE || event == MPIDI_OFI_EVENT_AM_READ;
}

/* What the program sends or receives by it. */
static MPIR_Request *message_of(MPIR_Request * req)
{
    MPIR_Request *parent = MPIDI_FAULTLOC_OFI_AM_PARENT(req);

    return parent ? parent : req;
}

/* MPICH cancels receives alone, and no peer's death cancels one. */
static bool is_as_mpich_has_it(int event, int err)
{
    return err == FI_ETRUNC || err == FI_ENOMSG || (err == FI_ECANCELED && is_receive(event)) ||
        event == MPIDI_OFI_EVENT_PEEK || event == MPIDI_OFI_EVENT_AM_RECV;
}

/* A synchronous or a large send also waits for its receiver's word, which will not come. */
static void leave_rest(void *request)
{
    MPIR_Request *req = request;
    int shares = MPIR_cc_get(*req->cc_ptr);

    if (shares < 2 || !MPIDI_faultloc_ofi_leave(req, shares - 1))
        return;
    MPIR_Request_add_ref(req);
    MPIR_cc_set(req->cc_ptr, 1);
}

/* Of a synchronous send both halves may end so.  Of one in parts OFI may still have some. */
static int end_message(MPIR_Request * req, int error)
{
    int32_t peer = MPIDI_faultloc_peer(req);

    MPIDI_faultloc_report_lost(peer, error);
    if (MPIDI_FAULTLOC_OFI_IS_RNDV(req)) {
        if (MPIR_Request_is_complete(req) || MPIDI_faultloc_is_held(req))
            return 1;
        MPIR_Request_add_ref(req);
    }
    if (!MPIDI_faultloc_is_held(req))
        return MPIDI_faultloc_hold(req, peer, error, req, leave_rest);
    MPIR_cc_dec(req->cc_ptr);
    return 1;
}

/* The receiver's word. */
static int end_ack(MPIR_Request * req, int error)
{
    MPIDI_OFI_ssendack_request_t *ack = (MPIDI_OFI_ssendack_request_t *) req;

    if (MPIDI_faultloc_ofi_late(req))
        return 1;
    if (!end_message(ack->signal_req, error))
        return 0;
    MPL_free(ack);
    return 1;
}

/* A part of a put or get that has a request; whom it was for nobody knows. */
static int end_part(MPIR_Request * req, int error)
{
    MPIDI_OFI_chunk_request *part = (MPIDI_OFI_chunk_request *) req;

    if (!end_message(part->parent, error))
        return 0;
    MPL_free(part);
    return 1;
}

/* MPICH waits until as many one-sided operations are complete as have begun, for any target.
 * OFI does not count one that it has lost.  It stays for a while, so that who waits hears of it. */
static struct {
    uint64_t n;
    ftree_time since;
} lost[MPIDI_CH4_MAX_VCIS];

/* But not where each window has a counter of its own. */
static void note_lost(int vni, int event, uint64_t flags)
{
    if (!(flags & (FI_RMA | FI_ATOMIC)) || MPIDI_FAULTLOC_OFI_IS_PART(event) ||
        MPIDI_OFI_ENABLE_SHARED_CONTEXTS || MPIDI_OFI_ENABLE_SCALABLE_ENDPOINTS)
        return;
    if (lost[vni].n++ == 0)
        lost[vni].since = faultloc_now();
}

bool MPIDI_faultloc_ofi_forget(const MPIR_Win * win, bool given_up)
{
    for (int i = 0; i < MPIDI_FAULTLOC_OFI_VCIS; i++) {
        if (&MPIDI_OFI_global.ctx[i].rma_issued_cntr != MPIDI_OFI_WIN(win).issued_cntr ||
            lost[i].n == 0 ||
            (!given_up && faultloc_now() - lost[i].since <= MPIDI_faultloc_grace()))
            continue;
        MPIDI_FAULTLOC_OFI_UNCOUNT(&MPIDI_OFI_global.ctx[i].rma_issued_cntr, lost[i].n);
        lost[i].n = 0;
        return true;
    }
    return false;
}

void MPIDI_faultloc_ofi_forget_refused(void)
{
    const struct fid_ep *ep = MPIDI_faultloc_ofi_last.counted;

    for (int i = 0; ep && i < MPIDI_FAULTLOC_OFI_VCIS; i++)
        if (MPIDI_OFI_global.ctx[i].tx == ep)
            MPIDI_FAULTLOC_OFI_UNCOUNT(&MPIDI_OFI_global.ctx[i].rma_issued_cntr, 1);
}

/* Is called with the lock of the VNI held.  Where nothing is known of the operation but that it has
 * ended, its request is left as it is: who waits for the peer hears of it once that is given up. */
int MPIDI_faultloc_ofi_ended(int vni, const struct fi_cq_err_entry *e)
{
    MPIR_Request *req = e->op_context ? MPIDI_OFI_context_to_request(e->op_context) : NULL;
    int event = req ? MPIDI_OFI_REQUEST(req, event_id) : MPIDI_OFI_EVENT_ABORT;
    int error = faultloc_fabric_errno("ofi", provider(), e->err, e->prov_errno);

    note_lost(vni, event, e->flags);
    if (!req || MPIDI_faultloc_ofi_late(req))
        return 1;
    if (!MPIDI_faultloc_board() || is_as_mpich_has_it(event, e->err))
        return 0;
    if (is_send(event) || is_receive(event))
        return end_message(message_of(req), error);
    if (event == MPIDI_OFI_EVENT_SSEND_ACK || event == MPIDI_OFI_EVENT_RNDV_CTS)
        return end_ack(req, error);
    if (event == MPIDI_OFI_EVENT_CHUNK_DONE)
        return end_part(req, error);
    if (event == MPIDI_OFI_EVENT_INJECT_EMU)
        (void) MPIDI_OFI_dispatch_function(vni, NULL, req);
    else if (!is_of_active_message(event) && !MPIDI_FAULTLOC_OFI_IS_PART(event))
        return 0;
    return 1;
}

__thread struct MPIDI_faultloc_ofi_last MPIDI_faultloc_ofi_last = {FI_ADDR_UNSPEC, NULL};

static bool has_address(MPIDI_av_entry_t * av, fi_addr_t address)
{
    for (int nic = 0; nic < MPIDI_OFI_global.num_nics; nic++)
        for (int i = 0; i < MPIDI_FAULTLOC_OFI_VCIS; i++)
            if (MPIDI_FAULTLOC_OFI_ADDRESS(av, nic, i) == address)
                return true;
    return false;
}

/* The search takes long, and where there is no room the same is asked again and again. */
int32_t MPIDI_faultloc_ofi_refused(void)
{
    static __thread fi_addr_t found = FI_ADDR_UNSPEC;
    static __thread int32_t rank = FTREE_NONE;

    if (found == MPIDI_faultloc_ofi_last.to)
        return rank;
    found = MPIDI_faultloc_ofi_last.to;
    rank = FTREE_NONE;
    for (int32_t i = 0; rank == FTREE_NONE && i < MPIR_Process.size; i++)
        if (has_address(&MPIDI_global.avt_mgr.av_table0->table[i], found))
            rank = i;
    return rank;
}

bool MPIDI_faultloc_ofi_says_lost(int32_t peer, int code)
{
    const struct faultloc_fabric_code *row =
        faultloc_fabric_find("ofi", provider(), code, FAULTLOC_FABRIC_ANY);

    if (peer == FTREE_NONE || !row || row->says != FAULTLOC_FABRIC_LOST)
        return false;
    MPIDI_faultloc_report_lost(peer, row->error);
    return true;
}

/* ---- operations that fail -------------------------------------------------------------------- */

/* MPICH would complete the send, which has failed, or send what is no longer there. */
static bool is_late_word(MPIR_Request * req)
{
    MPIR_Request *send = ((MPIDI_OFI_ssendack_request_t *) req)->signal_req;

    if (MPIDI_FAULTLOC_OFI_IS_RNDV(send))
        return MPIR_Request_is_complete(send);
    if (MPIDI_OFI_REQUEST(send, event_id) != MPIDI_OFI_EVENT_ABORT)
        return false;
    MPIDI_CH4_REQUEST_FREE(send);
    return true;
}

int MPIDI_faultloc_ofi_late(MPIR_Request * req)
{
    int event = MPIDI_OFI_REQUEST(req, event_id);

    if (event == MPIDI_OFI_EVENT_ABORT)
        MPIDI_CH4_REQUEST_FREE(req);
    else if ((event == MPIDI_OFI_EVENT_SSEND_ACK || event == MPIDI_OFI_EVENT_RNDV_CTS) &&
             is_late_word(req))
        MPL_free(req);
    else
        return 0;
    return 1;
}

bool MPIDI_faultloc_ofi_leave(MPIR_Request * req, int awaited)
{
    /* of others event_id is what a former life of the request left */
    bool is_message = req->kind == MPIR_REQUEST_KIND__SEND || req->kind == MPIR_REQUEST_KIND__RECV;
    int event = MPIDI_OFI_REQUEST(req, event_id);

    if (!MPIDI_OFI_ENABLE_TAGGED || !is_message)
        return false;
    if (MPIDI_FAULTLOC_OFI_IS_RNDV(req)) {
        MPIR_Request_add_ref(req);      /* for good: parts of it may still end */
        return true;
    }
    if (!is_send(event) && !is_receive(event))
        return false;
    MPIDI_OFI_REQUEST(req, event_id) = MPIDI_OFI_EVENT_ABORT;
    for (int i = 1; i < awaited; i++)
        MPIR_Request_add_ref(req);
    if (is_receive(event)) /* one that has begun is not cancelled, and nothing says so */
        (void) fi_cancel((fid_t) MPIDI_FAULTLOC_OFI_CTX(req, MPIDI_Request_get_vci(req)).rx,
                         &MPIDI_OFI_REQUEST(req, context));
    return true;
}

#else

void MPIDI_faultloc_ofi_devices(char *text, size_t room)
{
}

bool MPIDI_faultloc_ofi_leave(MPIR_Request * req, int awaited)
{
    return false;
}

#endif

/* The first, where there are more; NULL: the netmod is another. */
void MPIDI_faultloc_ofi_over(char *over, size_t room)
{
#ifdef HAVE_CH4_NETMOD_OFI
    const struct fi_info *info = MPIDI_OFI_global.prov_use[0];

    *over = '\0';
    if (info)
        snprintf(over, room, "%u/%s/%s", (unsigned) info->addr_format, info->fabric_attr->prov_name,
                 info->domain_attr->name);
#else
    *over = '\0';
#endif
}
