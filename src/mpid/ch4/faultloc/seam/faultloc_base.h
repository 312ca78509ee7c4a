/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_BASE_H_INCLUDED
#define FAULTLOC_BASE_H_INCLUDED

/*
 * What MPICH's releases call by other names, or keep elsewhere: this header, and no other file,
 * asks which release it is, by the macros that the release has.  To be included where MPICH's
 * headers are.
 *
 *     4.1  sends and receives have one attribute, in which the context's offset is one bit
 *     4.2  errors of collectives by value; progress is turned once, not until there was some
 *     4.3  a receive of MPICH's own has its source in its status; collectives end at an error
 *     5.0  no such errors; communicators have groups, and no map of their own
 */

#if defined(ENABLE_FAULTLOC)

/* ---- sends and receives ---------------------------------------------------------------------- */

#if defined(MPIR_PT2PT_ATTR_CONTEXT_OFFSET)
#define MPIDI_FAULTLOC_OFFSET(attr) MPIR_PT2PT_ATTR_CONTEXT_OFFSET(attr)
#define MPIDI_FAULTLOC_NOTIFICATION(req) ((req)->dev.completion_notification)
#define MPIDI_FAULTLOC_UCX_REQUEST(req) (MPIDI_UCX_REQ(req).s.ucp_request)
#define MPIDI_REQUEST_ANYSOURCE_PARTNER(req) ((req)->dev.anysrc_partner)
/* one send for all: the attribute has the error, and that it is synchronous */
#define MPIDI_FAULTLOC_ISEND_COLL(buf, count, datatype, rank, tag, comm, attr, req, errflag) \
    MPID_Isend(buf, count, datatype, rank, tag, comm, attr, req)
#else
#define MPIDI_FAULTLOC_OFFSET(offset) (offset)
#define MPIDI_FAULTLOC_NOTIFICATION(req) ((req)->completion_notification)
#define MPIDI_FAULTLOC_UCX_REQUEST(req) (MPIDI_UCX_REQ(req).ucp_request)
#define MPIDI_FAULTLOC_ISEND_COLL MPID_Isend_coll
#endif

/* Whether messages are counted by peer: where it is known that a receive has ended. */
#if MPIDI_FAULTLOC_ROWS || \
    (defined(HAVE_CH4_NETMOD_OFI) && \
     (!defined(MPIR_PT2PT_ATTR_CONTEXT_OFFSET) || defined(MPIR_COLL_ATTR_SYNC)))
#define MPIDI_FAULTLOC_COUNTS 1
#else
#define MPIDI_FAULTLOC_COUNTS 0
#endif

#if !defined(MPIR_CONTEXT_INTRA_PT2PT)
#define MPIR_CONTEXT_INTRA_PT2PT 0
#define MPIR_CONTEXT_INTRA_COLL 1
#define MPIDI_FAULTLOC_ERRFLAG MPIR_ERR_NONE
#define MPIDI_is_self_comm(comm) MPIR_is_self_comm(comm)
#define MPID_THREAD_CS_ENTER_REC_VCI(lock) MPID_THREAD_CS_ENTER(VCI, lock)
#define MPIDI_FAULTLOC_POSIX_VCIS MPIDI_POSIX_global.num_vcis
#define MPIDI_FAULTLOC_POSIX_VCI(vci) MPIDI_POSIX_global.per_vci[vci]
#define MPIDI_FAULTLOC_UCX_VCIS MPIDI_UCX_global.num_vcis
/* OFI's: large messages are carried out by small ones, or in parts, behind a word of the receiver */
#define MPIDI_FAULTLOC_REQ_RNDV ((MPIDI_REQ_TYPE) (MPIDI_REQ_TYPE_AM + 1))
#define MPIDI_FAULTLOC_OFI_IS_RNDV(req) ((req)->dev.type == MPIDI_FAULTLOC_REQ_RNDV)
#define MPIDI_FAULTLOC_OFI_AM_PARENT(req) MPIDI_OFI_REQUEST(req, am_req)
/* what it is a part of has no place that is common to all */
#define MPIDI_FAULTLOC_OFI_IS_PART(event) \
    ((event) > MPIDI_OFI_EVENT_RNDV_CTS && (event) < MPIDI_OFI_EVENT_CHUNK_DONE)
#define MPIDI_FAULTLOC_OFI_COUNTED_READ(ep) NULL
#define MPIDI_FAULTLOC_OFI_CTX(req, vci) \
    MPIDI_OFI_global.ctx[MPIDI_OFI_get_ctx_index(vci, MPIDI_OFI_REQUEST(req, nic_num))]
#define MPIDI_FAULTLOC_OFI_VCIS MPIDI_OFI_global.num_vcis
#define MPIDI_FAULTLOC_OFI_ADDRESS(av, nic, vci) \
    (((nic) || (vci)) && !MPIDI_OFI_AV(av).all_dest ? FI_ADDR_UNSPEC : \
     MPIDI_OFI_av_to_phys(av, vci, nic, vci, nic))
#define MPIDI_OFI_ssendack_request_t MPIDI_OFI_ack_request_t
#define MPIDI_OFI_EVENT_SEND_HUGE (-1)
#define MPIDI_OFI_EVENT_RECV_HUGE (-1)
#define MPIDI_FAULTLOC_UCX_WIN_EP(win, rank, vci) \
    MPIDI_UCX_WIN_TO_EP(win, rank, vci, MPIDI_WIN_TARGET_VCI(win, rank))
/* PMI ends at exit(), which the launcher is not to wait for: it may be long after MPI_Finalize */
#define MPIDI_FAULTLOC_END_PMI() (void) MPIR_pmi_kvs_put(FAULTLOC_LAUNCHER_KEY_OUTSIDE, "1")
#else
#define MPIDI_FAULTLOC_ERRFLAG (&(MPIR_Errflag_t) { MPIR_ERR_NONE })
#define MPIDI_FAULTLOC_POSIX_VCIS MPIDI_POSIX_global.num_vsis
#define MPIDI_FAULTLOC_POSIX_VCI(vci) MPIDI_POSIX_global.per_vsi[vci]
#define MPIDI_FAULTLOC_UCX_VCIS MPIDI_UCX_global.num_vnis
#define MPIDI_FAULTLOC_UCX_WIN_EP(win, rank, vci) MPIDI_UCX_WIN_TO_EP(win, rank, vci)
#define MPIDI_FAULTLOC_OFI_IS_RNDV(req) 0
#define MPIDI_FAULTLOC_OFI_AM_PARENT(req) NULL
#define MPIDI_FAULTLOC_OFI_IS_PART(event) 0
#define MPIDI_FAULTLOC_OFI_COUNTED_READ(ep) (ep)
#define MPIDI_FAULTLOC_OFI_CTX(req, vni) \
    MPIDI_OFI_global.ctx[MPIDI_OFI_get_ctx_index((req)->comm, vni, MPIDI_OFI_REQUEST(req, nic_num))]
#define MPIDI_OFI_EVENT_RNDV_CTS (-1)
#define MPIDI_FAULTLOC_OFI_VCIS MPIDI_OFI_global.num_vnis
#define MPIDI_FAULTLOC_OFI_ADDRESS(av, nic, vci) MPIDI_OFI_av_to_phys(av, nic, vci, vci)
#define MPIDI_FAULTLOC_END_PMI() ((void) 0)
#endif

/* Whether a send is in shared memory: from 4.3 on that is not noted of one by OFI */
#if defined(MPID_TAG_DEV_BITS) && !defined(MPIDI_CH4_DIRECT_NETMOD)
#define MPIDI_FAULTLOC_NOTE_LOCAL(req, av) \
    do { \
        if ((req)->kind == MPIR_REQUEST_KIND__SEND) \
            MPIDI_REQUEST(req, is_local) = MPIDI_av_is_local(av); \
    } while (0)
#else
#define MPIDI_FAULTLOC_NOTE_LOCAL(req, av) do { } while (0)
#endif

/* How many one-sided operations have begun, as MPICH has it */
#if defined(MPIDI_CH4_USE_MT_RUNTIME) || defined(MPIDI_CH4_USE_MT_LOCKLESS)
#define MPIDI_FAULTLOC_OFI_UNCOUNT(counter, n) (void) MPL_atomic_fetch_sub_uint64(counter, n)
#else
#define MPIDI_FAULTLOC_OFI_UNCOUNT(counter, n) (*(counter) -= (n))
#endif

#if defined(MPID_TAG_DEV_BITS)
#define MPIDI_FAULTLOC_AM_SOURCE(req) ((req)->status.MPI_SOURCE)
#define MPIDI_FAULTLOC_PART_SOURCE(req) ((req)->status.MPI_SOURCE)
/* A collective operation in shared memory is left with an error. */
#define MPIDI_FAULTLOC_LEAVE_COLL(error) \
    if ((mpi_errno = (error)) != MPI_SUCCESS) \
        goto fn_fail
/* Who meets an error leaves a collective operation at once, and sends nothing more: others that wait
 * for that would wait for ever, so all of it fails where a member is given up.  But not those of a
 * group, by which the ranks that are left make a communicator. */
#define MPIDI_FAULTLOC_FAILS_TOGETHER(tag) (((tag) & MPIR_TAG_COLL_BIT) == 0)
#else
#define MPIDI_FAULTLOC_AM_SOURCE(req) MPIDIG_REQUEST(req, u.recv.source)
#define MPIDI_FAULTLOC_PART_SOURCE(req) MPIDI_PART_REQUEST(req, u.recv.source)
#define MPIDI_FAULTLOC_LEAVE_COLL(error) \
    if ((mpi_errno_ret = (error)) != MPI_SUCCESS) { \
        *errflag = MPIR_ERR_PROC_FAILED; \
        goto fn_exit; \
    }
/* Who meets an error goes on, and says so in what it sends. */
#define MPIDI_FAULTLOC_FAILS_TOGETHER(tag) 0
#endif

/* ---- memory that the ranks of a node share in MPI_Init ---------------------------------------- */

#if defined(ENABLE_NO_LOCAL) || (defined(MPIR_COLL_ATTR_SYNC) && defined(MPL_HAVE_INITSHM))
#define MPIDI_FAULTLOC_HAS_INIT_SHM 0   /* none, or one that is gone by then */
#else
#define MPIDI_FAULTLOC_HAS_INIT_SHM 1
#endif

/* ---- communicators, groups, addresses -------------------------------------------------------- */

#if defined(MPIR_COLL_ATTR_SYNC)

typedef int MPIR_Errflag_t;
#define MPIDI_FAULTLOC_OFI_HAS_TABLE 0 /* each address that comes is read by itself */
/* a collective operation from within MPICH */
#define MPIDI_FAULTLOC_CALL_COLL(call, ...) call(__VA_ARGS__, MPIR_COLL_ATTR_SYNC)
/* one turn of the netmod's progress, or of that of shared memory */
#define MPIDI_FAULTLOC_PROGRESS(of, vci) \
    do { \
        int made_ = 0; \
        MPIDI_##of##_progress(vci, &made_); \
    } while (0)
#define MPIDI_FAULTLOC_VCI_LOCK(vci) MPIDI_VCI_LOCK(vci)
#define MPIDI_FAULTLOC_IS_AM(req) ((req)->dev.type == MPIDI_REQ_TYPE_AM)
#define MPIDI_FAULTLOC_IS_PART_OF_COMM(comm) ((comm)->attr & MPIR_COMM_ATTR__SUBCOMM)
#define MPIDI_FAULTLOC_LPID(group, i) MPIR_Group_rank_to_lpid(group, i)
/* ranks of the communicator are those of the world */
#define MPIDI_FAULTLOC_IS_LIKE_WORLD(comm) \
    ((comm)->comm_kind == MPIR_COMM_KIND__INTRACOMM && !(comm)->local_group->pmap.use_map && \
     (comm)->local_group->pmap.u.stride.stride == 1 && \
     (comm)->local_group->pmap.u.stride.offset == 0)

/* The group of n > 0 ranks of the world. */
static inline int MPIDI_faultloc_group_of(const int32_t * rank, int n, MPIR_Group ** group)
{
    MPIR_Lpid *map = MPL_malloc((size_t) n * sizeof(*map), MPL_MEM_GROUP);
    int own = MPI_UNDEFINED;

    if (!map)
        return MPI_ERR_NO_MEM;
    for (int i = 0; i < n; i++) {
        map[i] = rank[i];
        own = rank[i] == MPIR_Process.rank ? i : own;
    }
    return MPIR_Group_create_map(n, own, NULL, map, group);
}

#else

#include "mpidu_bc.h"

#define MPIDI_FAULTLOC_OFI_HAS_TABLE 1
#define MPIDI_FAULTLOC_CALL_COLL(call, ...) call(__VA_ARGS__, MPIDI_FAULTLOC_ERRFLAG)
#define MPIDI_FAULTLOC_PROGRESS(of, vci) MPIDI_##of##_progress(vci, 0)
#define MPIR_BYTE_INTERNAL MPI_BYTE
#define MPIR_INT_INTERNAL MPI_INT
#define MPIDI_FAULTLOC_VCI_LOCK(vci) MPIDI_VCI(vci).lock
#define MPIDI_FAULTLOC_IS_AM(req) (MPIDIG_REQUEST(req, req) != NULL)
#define MPIDI_FAULTLOC_IS_PART_OF_COMM(comm) \
    ((comm)->hierarchy_kind == MPIR_COMM_HIERARCHY_KIND__NODE || \
     (comm)->hierarchy_kind == MPIR_COMM_HIERARCHY_KIND__NODE_ROOTS)
#define MPIDI_FAULTLOC_LPID(group, i) ((group)->lrank_to_lpid[i].lpid)
#define MPIDI_FAULTLOC_IS_LIKE_WORLD(comm) \
    (MPIDI_COMM(comm, map).mode == MPIDI_RANK_MAP_DIRECT_INTRA)

static inline int MPIDI_faultloc_group_of(const int32_t * rank, int n, MPIR_Group ** group)
{
    int mpi_errno = MPIR_Group_create(n, group);

    if (mpi_errno)
        return mpi_errno;
    (*group)->size = n;
    (*group)->rank = MPI_UNDEFINED;
    (*group)->idx_of_first_lpid = -1;
    for (int i = 0; i < n; i++) {
        (*group)->lrank_to_lpid[i].lpid = (uint64_t) rank[i];
        if (rank[i] == MPIR_Process.rank)
            (*group)->rank = i;
    }
    return MPI_SUCCESS;
}

#endif

#endif /* ENABLE_FAULTLOC */

#endif /* FAULTLOC_BASE_H_INCLUDED */
