/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_OFI_H_INCLUDED
#define FAULTLOC_OFI_H_INCLUDED

#include "faultloc/seam/faultloc_seam.h"
#include "faultloc/seam/faultloc_sums.h"

#include <rdma/fi_atomic.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

/*
 * The seam's part that needs libfabric's types: what it says of a peer that it has lost
 * (mpi/observe/transport_ofi.c).  With faultloc off errors are treated as MPICH does.
 */

#if defined(ENABLE_FAULTLOC) && MPIDI_FAULTLOC_COUNTS

/* The exchange of addresses when the job starts: behind each there is room for a mark, which is
 * empty where faultloc is off (base/mark.h).  What is returned in *table is as MPICH's own. */
int MPIDI_faultloc_ofi_table(void *address, int len, int roots_only, void **table)
    MPIDI_FAULTLOC_HIDDEN;
#define MPIDI_FAULTLOC_OFI_TABLE(rank, address, len, roots_only, table) \
    ((void) (rank), MPIDI_faultloc_ofi_table(address, (int) (len), roots_only, table))

/* Where the address's own length says where the mark is, and each address is read by itself. */
#define MPIDI_FAULTLOC_OFI_MARK_ROOM 32
void MPIDI_faultloc_ofi_mark(void *address, size_t *len, int32_t rank) MPIDI_FAULTLOC_HIDDEN;
#define MPIDI_FAULTLOC_OFI_MARK(address, len) \
    MPIDI_faultloc_ofi_mark(address, &(len), MPIR_Process.rank)
void MPIDI_faultloc_read_mark(const void *address, size_t room, int rank) MPIDI_FAULTLOC_HIDDEN;
#define MPIDI_FAULTLOC_OFI_READ_MARK(address, len, rank) \
    do { \
        if (MPIR_CVAR_FAULTLOC) \
            MPIDI_faultloc_read_mark(address, len, (int) (rank)); \
    } while (0)

/* A send or receive that is carried out by messages of its own (from 5.0 on): MPICH keeps other
 * things in it then, also in place of what is said by MPIDI_OFI_REQUEST(). */
#define MPIDI_FAULTLOC_OFI_RNDV(req) ((req)->dev.type = MPIDI_FAULTLOC_REQ_RNDV)
#define MPIDI_FAULTLOC_OFI_RNDV_RECV(req, context) \
    do { \
        MPIDI_FAULTLOC_OFI_RNDV(req); \
        MPIDI_FAULTLOC_MATCHED(req, context); \
    } while (0)

/* An error in a completion queue: true if it is dealt with. */
int MPIDI_faultloc_ofi_ended(int vni, const struct fi_cq_err_entry *e) MPIDI_FAULTLOC_HIDDEN;
#define MPIDI_FAULTLOC_OFI_ENDED(vni, e) \
    (MPIDI_FAULTLOC_IS_SET(MPIDI_faultloc_notes) && MPIDI_faultloc_ofi_ended(vni, e))

/* OFI is done with an operation that had failed before, or its receiver's word comes. */
int MPIDI_faultloc_ofi_late(struct MPIR_Request *req) MPIDI_FAULTLOC_HIDDEN;
#define MPIDI_FAULTLOC_OFI_LATE(req) \
    if (MPIDI_FAULTLOC_IS_SET(MPIDI_faultloc_notes) && MPIDI_faultloc_ofi_late(req)) \
        return MPI_SUCCESS

/* OFI has no room for an operation that begins: who asks again and again waits.  What it returns
 * because it has lost the peer is treated likewise, until that is given up or grace is over. */
int MPIDI_faultloc_look_for_room(void) MPIDI_FAULTLOC_HIDDEN;
ssize_t MPIDI_faultloc_ofi_returned(ssize_t code) MPIDI_FAULTLOC_HIDDEN;
#define MPIDI_FAULTLOC_OFI_RETURNED(code) \
    if ((code) != -FI_EAGAIN && MPIDI_FAULTLOC_IS_SET(MPIDI_faultloc_notes)) \
        (code) = MPIDI_faultloc_ofi_returned(code)
#define MPIDI_FAULTLOC_OFI_RETRY(...) \
    (MPIDI_FAULTLOC_IS_SET(MPIDI_faultloc_notes) && \
     (mpi_errno = MPIDI_faultloc_look_for_room()) ? mpi_errno : \
     MPIDI_OFI_retry_progress(__VA_ARGS__))
/* The same for active messages, which turn no progress: they may be sent from within. */
#define MPIDI_FAULTLOC_OFI_AM_RETRY() \
    do { \
        if (MPIDI_FAULTLOC_IS_SET(MPIDI_faultloc_notes)) { \
            mpi_errno = MPIDI_faultloc_look_for_room(); \
            MPIR_ERR_CHECK(mpi_errno); \
        } \
    } while (0)

/* Whom the operation is for that OFI has not taken, and by which endpoint if MPICH has counted it by
 * then as one that has begun: the loop around it knows neither.  In parentheses the names mean OFI's
 * functions. */
struct MPIDI_faultloc_ofi_last {
    fi_addr_t to;
    struct fid_ep *counted;
};
extern __thread struct MPIDI_faultloc_ofi_last MPIDI_faultloc_ofi_last MPIDI_FAULTLOC_HIDDEN;
static inline ssize_t MPIDI_faultloc_ofi_counted(struct fid_ep *ep, ssize_t code, fi_addr_t to)
{
    if (unlikely(code != 0))
        MPIDI_faultloc_ofi_last = (struct MPIDI_faultloc_ofi_last) {to, ep};
    return code;
}

#define MPIDI_faultloc_ofi_tried(code, to) MPIDI_faultloc_ofi_counted(NULL, code, to)
#define fi_tinjectdata(ep, buf, len, data, to, tag) \
    MPIDI_faultloc_ofi_tried((fi_tinjectdata)(ep, buf, len, data, to, tag), to)
#define fi_tinject(ep, buf, len, to, tag) \
    MPIDI_faultloc_ofi_tried((fi_tinject)(ep, buf, len, to, tag), to)
#define fi_tsend(ep, buf, len, desc, to, tag, context) \
    MPIDI_faultloc_ofi_tried((fi_tsend)(ep, buf, len, desc, to, tag, context), to)
#define fi_tsenddata(ep, buf, len, desc, data, to, tag, context) \
    MPIDI_faultloc_ofi_tried((fi_tsenddata)(ep, buf, len, desc, data, to, tag, context), to)
#define fi_tsendmsg(ep, msg, flags) \
    MPIDI_faultloc_ofi_tried((fi_tsendmsg)(ep, msg, flags), (msg)->addr)
#define fi_send(ep, buf, len, desc, to, context) \
    MPIDI_faultloc_ofi_tried((fi_send)(ep, buf, len, desc, to, context), to)
#define fi_inject(ep, buf, len, to) MPIDI_faultloc_ofi_tried((fi_inject)(ep, buf, len, to), to)
#define fi_inject_write(ep, buf, len, to, addr, key) \
    MPIDI_faultloc_ofi_counted(ep, (fi_inject_write)(ep, buf, len, to, addr, key), to)
#define fi_write(ep, buf, len, desc, to, addr, key, context) \
    MPIDI_faultloc_ofi_tried((fi_write)(ep, buf, len, desc, to, addr, key, context), to)
#define fi_writemsg(ep, msg, flags) \
    MPIDI_faultloc_ofi_counted(ep, (fi_writemsg)(ep, msg, flags), (msg)->addr)
#define fi_readmsg(ep, msg, flags) \
    MPIDI_faultloc_ofi_counted(ep, (fi_readmsg)(ep, msg, flags), (msg)->addr)
#define fi_read(ep, buf, len, desc, to, addr, key, context) \
    MPIDI_faultloc_ofi_counted(MPIDI_FAULTLOC_OFI_COUNTED_READ(ep), \
                               (fi_read)(ep, buf, len, desc, to, addr, key, context), to)
#define fi_atomicmsg(ep, msg, flags) \
    MPIDI_faultloc_ofi_counted(ep, (fi_atomicmsg)(ep, msg, flags), (msg)->addr)
#define fi_fetch_atomicmsg(ep, msg, out, desc, n, flags) \
    MPIDI_faultloc_ofi_counted(ep, (fi_fetch_atomicmsg)(ep, msg, out, desc, n, flags), (msg)->addr)
#define fi_compare_atomicmsg(ep, msg, with, wdesc, wn, out, odesc, on, flags) \
    MPIDI_faultloc_ofi_counted(ep, (fi_compare_atomicmsg)(ep, msg, with, wdesc, wn, out, odesc, \
                                                          on, flags), (msg)->addr)
/* receives */
#define fi_trecv(ep, buf, len, desc, from, tag, ignore, context) \
    MPIDI_faultloc_ofi_tried((fi_trecv)(ep, buf, len, desc, from, tag, ignore, context), \
                             FI_ADDR_UNSPEC)
#define fi_trecvmsg(ep, msg, flags) \
    MPIDI_faultloc_ofi_tried((fi_trecvmsg)(ep, msg, flags), FI_ADDR_UNSPEC)
#define fi_recvmsg(ep, msg, flags) \
    MPIDI_faultloc_ofi_tried((fi_recvmsg)(ep, msg, flags), FI_ADDR_UNSPEC)

/* OFI begins: threads that it makes from now on have nothing of the program's to do. */
void MPIDI_faultloc_ofi_begins(void) MPIDI_FAULTLOC_HIDDEN;
#define fi_fabric(attr, fabric, context) \
    ((MPIR_CVAR_FAULTLOC ? MPIDI_faultloc_ofi_begins() : (void) 0), \
     (fi_fabric)(attr, fabric, context))

/* A turn of a wait for one-sided operations that OFI carries out. */
int MPIDI_faultloc_wait_window(struct MPIR_Win *win) MPIDI_FAULTLOC_HIDDEN;
#define MPIDI_FAULTLOC_OFI_RMA_TURN(win) \
    do { \
        if (unlikely((++MPIDI_faultloc_page.slot.spins & 255) == 0)) { \
            mpi_errno = MPIDI_faultloc_wait_window(win); \
            MPIR_ERR_CHECK(mpi_errno); \
        } \
    } while (0)

#else

#define MPIDI_FAULTLOC_OFI_RMA_TURN(win) do { } while (0)
#define MPIDI_FAULTLOC_OFI_TABLE(rank, address, len, roots_only, table) \
    MPIDU_bc_table_create(rank, MPIR_Process.size, MPIR_Process.node_map, address, len, \
                          TRUE, roots_only, table, NULL)
#define MPIDI_FAULTLOC_OFI_MARK_ROOM 0
#define MPIDI_FAULTLOC_OFI_MARK(address, len) do { } while (0)
#define MPIDI_FAULTLOC_OFI_READ_MARK(address, len, rank) ((void) (rank))
#define MPIDI_FAULTLOC_OFI_RNDV(req) do { } while (0)
#define MPIDI_FAULTLOC_OFI_RNDV_RECV(req, context) do { } while (0)
#define MPIDI_FAULTLOC_OFI_ENDED(vni, e) 0
#define MPIDI_FAULTLOC_OFI_LATE(req) do { } while (0)
#define MPIDI_FAULTLOC_OFI_RETURNED(code)
#define MPIDI_FAULTLOC_OFI_RETRY(...) MPIDI_OFI_retry_progress(__VA_ARGS__)
#define MPIDI_FAULTLOC_OFI_AM_RETRY() do { } while (0)

#endif /* ENABLE_FAULTLOC && MPIDI_FAULTLOC_COUNTS */

#endif /* FAULTLOC_OFI_H_INCLUDED */
