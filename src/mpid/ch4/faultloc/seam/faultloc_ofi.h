/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_OFI_H_INCLUDED
#define FAULTLOC_OFI_H_INCLUDED

#include "faultloc/seam/faultloc_seam.h"
#include "faultloc/seam/faultloc_sums.h"

#include <rdma/fi_eq.h>

/*
 * The seam's part that needs libfabric's types: what it says of a peer that it has lost
 * (mpi/observe/transport_ofi.c).  With faultloc off errors are treated as MPICH does.
 */

#if defined(ENABLE_FAULTLOC)

/* The exchange of addresses when the job starts: behind each there is room for a mark, which is
 * empty where faultloc is off (base/mark.h).  What is returned in *table is as MPICH's own. */
int MPIDI_faultloc_ofi_table(void *address, int len, int roots_only, void **table)
    MPIDI_FAULTLOC_HIDDEN;
#define MPIDI_FAULTLOC_OFI_TABLE(rank, address, len, roots_only, table) \
    ((void) (rank), MPIDI_faultloc_ofi_table(address, (int) (len), roots_only, table))

/* An error in a completion queue: true if it is dealt with. */
int MPIDI_faultloc_ofi_ended(int vni, const struct fi_cq_err_entry *e) MPIDI_FAULTLOC_HIDDEN;
#define MPIDI_FAULTLOC_OFI_ENDED(vni, e) \
    (MPIDI_FAULTLOC_IS_SET(MPIDI_faultloc_notes) && MPIDI_faultloc_ofi_ended(vni, e))

/* OFI is done with an operation that had failed before. */
void MPIDI_faultloc_ofi_late(struct MPIR_Request *req) MPIDI_FAULTLOC_HIDDEN;
#define MPIDI_FAULTLOC_OFI_LATE(req) \
    if (MPIDI_FAULTLOC_IS_SET(MPIDI_faultloc_notes)) { \
        MPIDI_faultloc_ofi_late(req); \
        break; \
    }

/* OFI has no room for an operation that begins: who asks again and again waits.  What it returns
 * because it has lost the peer is treated likewise, until that is given up or grace is over. */
int MPIDI_faultloc_wait_room(void) MPIDI_FAULTLOC_HIDDEN;
ssize_t MPIDI_faultloc_ofi_returned(ssize_t code) MPIDI_FAULTLOC_HIDDEN;
#define MPIDI_FAULTLOC_OFI_RETURNED(code) \
    if ((code) != -FI_EAGAIN && MPIDI_FAULTLOC_IS_SET(MPIDI_faultloc_notes)) \
        (code) = MPIDI_faultloc_ofi_returned(code)
#define MPIDI_FAULTLOC_OFI_RETRY() \
    (MPIDI_FAULTLOC_IS_SET(MPIDI_faultloc_notes) ? MPIDI_faultloc_wait_room() : \
     MPIDI_OFI_retry_progress())

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
#define MPIDI_FAULTLOC_OFI_ENDED(vni, e) 0
#define MPIDI_FAULTLOC_OFI_LATE(req)
#define MPIDI_FAULTLOC_OFI_RETURNED(code)
#define MPIDI_FAULTLOC_OFI_RETRY() MPIDI_OFI_retry_progress()

#endif /* ENABLE_FAULTLOC */

#endif /* FAULTLOC_OFI_H_INCLUDED */
