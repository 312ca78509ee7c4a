/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#define MPIDI_FAULTLOC_PT2PT    /* for the seam: here, and only here, messages are noted */
#include "mpidimpl.h"

#include "faultloc/seam/faultloc_pt2pt.h"
#include "faultloc/seam/faultloc_sums.h"

/*
 * Sends, receives and probes of a job with faultloc on: MPICH's own, in which the patches note each
 * message in the ring and its peer in the request, and refuse those to a rank that is given up.
 */

/* All in one, as MPICH's are compiled into their callers. */
#if defined(__GNUC__)
#define WHOLE __attribute__((flatten))
#else
#define WHOLE
#endif

/* What stands for the address of a receive's source, which UCX does not need: where its messages
 * are counted.  It is noted, and never used as an address. */
static inline MPIDI_av_entry_t *source_of(MPIR_Comm * comm, int rank)
{
#if MPIDI_FAULTLOC_ROWS
    return (MPIDI_av_entry_t *) (void *) MPIDI_faultloc_sums_in(comm, rank);
#else
    return MPIDIU_comm_rank_to_av(comm, rank);
#endif
}

/* Of a receive inside the node the patches note nothing, as its netmod has no part in it. */
static inline void note_receive(MPIR_Request * req, int mpi_errno, MPIDI_av_entry_t * peer, int tag,
                                MPIR_Comm * comm, int offset)
{
#ifndef MPIDI_CH4_DIRECT_NETMOD
    if (mpi_errno == MPI_SUCCESS)
        MPIDI_FAULTLOC_NOTE(req, peer, tag, (uint32_t) (comm->recvcontext_id + offset));
#endif
}

static uintptr_t made(MPIR_Request * request, int mpi_errno)
{
    return likely(mpi_errno == MPI_SUCCESS) ? (uintptr_t) request : (uintptr_t) mpi_errno << 1 | 1;
}

/* MPID_Isend and MPID_Irecv, but nobody is given the address of the request, so that it stays in a
 * register. */
WHOLE uintptr_t MPIDI_faultloc_isend(const void *buf, MPI_Aint count, MPI_Datatype datatype,
                                     int rank, int tag, MPIR_Comm * comm)
{
    MPIR_Request *req = NULL;
    struct MPIDI_faultloc_sums *sums;
    MPIDI_av_entry_t *av;
    int mpi_errno;

    if (unlikely(MPIDI_is_self_comm(comm))) {
        MPIR_Request *own = NULL;

        mpi_errno = MPIDI_Self_isend(buf, count, datatype, rank, tag, comm,
                                     MPIR_CONTEXT_INTRA_PT2PT, &own);
        return made(own, mpi_errno);
    }
    if (likely(MPIDI_FAULTLOC_IS_LIKE_WORLD(comm))) {
        /* both in one branch, or the compiler makes the key twice */
        av = &MPIDI_global.avt_mgr.av_table0->table[rank];
        sums = &MPIDI_faultloc_sums.row[rank];
    } else {
        av = MPIDIU_comm_rank_to_av(comm, rank);
        sums = MPIDI_faultloc_sums_of(av);
    }
    MPIDI_faultloc_count_sent(sums, FAULTLOC_KEY(comm->context_id + MPIR_CONTEXT_INTRA_PT2PT, tag));
    mpi_errno = MPIDI_isend(buf, count, datatype, rank, tag, comm, MPIR_CONTEXT_INTRA_PT2PT, av, &req);
    return made(req, mpi_errno);
}

WHOLE uintptr_t MPIDI_faultloc_irecv(void *buf, MPI_Aint count, MPI_Datatype datatype, int rank,
                                     int tag, MPIR_Comm * comm)
{
    MPIR_Request *req = NULL;
    MPIDI_av_entry_t *peer;
    int mpi_errno;

    if (unlikely(MPIDI_is_self_comm(comm))) {
        MPIR_Request *own = NULL;

        mpi_errno = MPIDI_Self_irecv(buf, count, datatype, rank, tag, comm,
                                     MPIR_CONTEXT_INTRA_PT2PT, &own);
        return made(own, mpi_errno);
    }
    /* compiled twice, so that what follows need not ask again which of them it is */
    if (unlikely(rank == MPI_ANY_SOURCE)) {
        peer = MPIDI_FAULTLOC_ANY(comm);
        mpi_errno = MPIDI_irecv(buf, count, datatype, MPI_ANY_SOURCE, tag, comm,
                                MPIR_CONTEXT_INTRA_PT2PT, peer, &req);
    } else {
        peer = source_of(comm, rank);
        mpi_errno = MPIDI_irecv(buf, count, datatype, rank, tag, comm, MPIR_CONTEXT_INTRA_PT2PT,
                                peer, &req);
    }
    note_receive(req, mpi_errno, peer, tag, comm, MPIR_CONTEXT_INTRA_PT2PT);
    return made(req, mpi_errno);
}

/* A send begins, unless it is within the process: it counts, whatever becomes of it. */
static inline void count_send(MPIR_Comm * comm, int rank, int tag, int context_offset)
{
    if (!MPIDI_is_self_comm(comm))
        MPIDI_faultloc_count_sent(MPIDI_faultloc_sums_in(comm, rank),
                                  FAULTLOC_KEY(comm->context_id + MPIDI_FAULTLOC_OFFSET(context_offset), tag));
}

int MPIDI_faultloc_isend_at(const void *buf, MPI_Aint count, MPI_Datatype datatype, int rank,
                            int tag, MPIR_Comm * comm, int context_offset, MPIR_Request ** request)
{
    count_send(comm, rank, tag, context_offset);
    return MPID_Isend(buf, count, datatype, rank, tag, comm, context_offset, request);
}

WHOLE int MPIDI_faultloc_isend_coll(const void *buf, MPI_Aint count, MPI_Datatype datatype,
                                    int rank, int tag, MPIR_Comm * comm, int context_offset,
                                    MPIR_Request ** request, MPIR_Errflag_t * errflag)
{
    count_send(comm, rank, tag, context_offset);
    return MPIDI_FAULTLOC_ISEND_COLL(buf, count, datatype, rank, tag, comm, context_offset, request,
                                     errflag);
}

int MPIDI_faultloc_issend(const void *buf, MPI_Aint count, MPI_Datatype datatype, int rank, int tag,
                          MPIR_Comm * comm, int context_offset, MPIR_Request ** request)
{
    int mpi_errno;

    count_send(comm, rank, tag, context_offset);
    mpi_errno = MPID_Issend(buf, count, datatype, rank, tag, comm, context_offset, request);
    if (mpi_errno == MPI_SUCCESS && !MPIDI_is_self_comm(comm))
        MPIDI_REQUEST(*request, faultloc_context) |= MPIDI_FAULTLOC_SSEND;
    return mpi_errno;
}

int MPIDI_faultloc_irecv_at(void *buf, MPI_Aint count, MPI_Datatype datatype, int rank,
                            int tag, MPIR_Comm * comm, int context_offset, MPIR_Request ** request)
{
    MPIDI_av_entry_t *peer;
    int mpi_errno;

    if (MPIDI_is_self_comm(comm))
        return MPIDI_Self_irecv(buf, count, datatype, rank, tag, comm, context_offset, request);
    peer = rank == MPI_ANY_SOURCE ? MPIDI_FAULTLOC_ANY(comm) : source_of(comm, rank);
    mpi_errno = MPIDI_irecv(buf, count, datatype, rank, tag, comm, context_offset, peer, request);
    note_receive(*request, mpi_errno, peer, tag, comm, MPIDI_FAULTLOC_OFFSET(context_offset));
    return mpi_errno;
}

/* There is no message, and either somebody asks about it or a rank is given up. */
int MPIDI_faultloc_in_vain(int source, int tag, MPIR_Comm * comm, int context_offset)
{
    if (MPIDI_faultloc_asked)
        MPIDI_faultloc_probed(comm, context_offset, source, tag);
    if (!MPIDI_faultloc_page.slot.failures || MPIDI_is_self_comm(comm) || source == MPI_PROC_NULL)
        return MPI_SUCCESS;
    return MPIDI_faultloc_probe_error(comm, source == MPI_ANY_SOURCE ? NULL :
                                      MPIDIU_comm_rank_to_av(comm, source));
}

/* A message that is found is this rank's, and of this communicator, as UCX does not keep. */
static int find_message(int source, int tag, MPIR_Comm * comm, int context_offset, int *flag,
                        MPIR_Request ** message, MPI_Status * status)
{
    MPI_Status found = {.MPI_ERROR = status == MPI_STATUS_IGNORE ? 0 : status->MPI_ERROR };
    int mpi_errno = MPID_Improbe(source, tag, comm, context_offset, flag, message, &found);

    if (mpi_errno || !*flag)
        return mpi_errno;
    if (!MPIDI_is_self_comm(comm))
        MPIDI_FAULTLOC_NOTE(*message, source_of(comm, found.MPI_SOURCE), found.MPI_TAG,
                            (uint32_t) (comm->recvcontext_id + MPIDI_FAULTLOC_OFFSET(context_offset)));
    if (status != MPI_STATUS_IGNORE)
        *status = found;
    return MPI_SUCCESS;
}

int MPIDI_faultloc_improbe(int source, int tag, MPIR_Comm * comm, int context_offset, int *flag,
                           MPIR_Request ** message, MPI_Status * status)
{
    int mpi_errno = find_message(source, tag, comm, context_offset, flag, message, status);

    if (!*flag) {
        MPIDI_faultloc_page.slot.polls++;
        if (MPIDI_FAULTLOC_IS_SET(MPIDI_faultloc_asked))
            MPIDI_faultloc_probed(comm, context_offset, source, tag);
    }
    return mpi_errno;
}

/* MPICH's loops note no wait. */
int MPIDI_faultloc_probe(int source, int tag, MPIR_Comm * comm, int context_offset,
                         MPI_Status * status)
{
    int flag = 0, mpi_errno = MPID_Iprobe(source, tag, comm, context_offset, &flag, status);

    while (!mpi_errno && !flag) {
        if (MPIDI_FAULTLOC_HAS_TURN)
            mpi_errno = MPIDI_faultloc_wait_probe(comm, context_offset, source, tag);
        if (!mpi_errno)
            mpi_errno = MPID_Iprobe(source, tag, comm, context_offset, &flag, status);
    }
    return mpi_errno;
}

int MPIDI_faultloc_mprobe(int source, int tag, MPIR_Comm * comm, int context_offset,
                          MPIR_Request ** message, MPI_Status * status)
{
    int flag = 0, mpi_errno = find_message(source, tag, comm, context_offset, &flag, message, status);

    while (!mpi_errno && !flag) {
        if (MPIDI_FAULTLOC_HAS_TURN)
            mpi_errno = MPIDI_faultloc_wait_probe(comm, context_offset, source, tag);
        if (!mpi_errno)
            mpi_errno = find_message(source, tag, comm, context_offset, &flag, message, status);
    }
    return mpi_errno;
}

int MPIDI_faultloc_mrecv(void *buf, MPI_Aint count, MPI_Datatype datatype, MPIR_Request * message,
                         MPI_Status * status, MPIR_Request ** request)
{
    return MPID_Mrecv(buf, count, datatype, message, status, request);
}

int MPIDI_faultloc_imrecv(void *buf, MPI_Aint count, MPI_Datatype datatype, MPIR_Request * message,
                          MPIR_Request ** request)
{
    return MPID_Imrecv(buf, count, datatype, message, request);
}

/* Within MPI_Waitall the loop would need registers that it saves where there is nothing to wait
 * for. */
int MPIDI_faultloc_wait_all(MPID_Progress_state * state, MPIR_Request ** reqs, int n)
{
    return MPIDI_progress_wait(state, reqs[0], reqs, n);
}

int MPIDI_faultloc_wait_either(MPID_Progress_state * state, MPIR_Request ** one,
                               MPIR_Request ** other)
{
    MPIR_Request *both[] = { *one, *other };

    return MPIDI_progress_wait(state, MPIR_Request_is_complete(*one) ? *other : *one, both, 2);
}
