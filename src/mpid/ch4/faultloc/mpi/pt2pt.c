/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#define MPIDI_FAULTLOC_PT2PT    /* for the seam: here, and only here, messages are noted */
#include "mpidimpl.h"

#include "faultloc/seam/faultloc_pt2pt.h"

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

static uintptr_t made(MPIR_Request * request, int mpi_errno)
{
    return likely(mpi_errno == MPI_SUCCESS) ? (uintptr_t) request : (uintptr_t) mpi_errno << 1 | 1;
}

/* MPID_Isend and MPID_Irecv, but nobody is given the address of the request, so that it stays in a
 * register. */
WHOLE uintptr_t MPIDI_faultloc_isend(const void *buf, MPI_Aint count, MPI_Datatype datatype,
                                     int rank, int tag, MPIR_Comm * comm)
{
    MPIR_Request *req = NULL, *own = NULL;
    int mpi_errno;

    if (unlikely(MPIDI_is_self_comm(comm))) {
        mpi_errno = MPIDI_Self_isend(buf, count, datatype, rank, tag, comm,
                                     MPIR_CONTEXT_INTRA_PT2PT, &own);
        return made(own, mpi_errno);
    }
    mpi_errno = MPIDI_isend(buf, count, datatype, rank, tag, comm, MPIR_CONTEXT_INTRA_PT2PT,
                            MPIDIU_comm_rank_to_av(comm, rank), &req);
    return made(req, mpi_errno);
}

WHOLE uintptr_t MPIDI_faultloc_irecv(void *buf, MPI_Aint count, MPI_Datatype datatype, int rank,
                                     int tag, MPIR_Comm * comm)
{
    MPIR_Request *req = NULL, *own = NULL;
    int mpi_errno;

    if (unlikely(MPIDI_is_self_comm(comm))) {
        mpi_errno = MPIDI_Self_irecv(buf, count, datatype, rank, tag, comm,
                                     MPIR_CONTEXT_INTRA_PT2PT, &own);
        return made(own, mpi_errno);
    }
    mpi_errno = MPIDI_irecv(buf, count, datatype, rank, tag, comm, MPIR_CONTEXT_INTRA_PT2PT,
                            unlikely(rank == MPI_ANY_SOURCE) ? MPIDI_FAULTLOC_ANY(comm) :
                            MPIDIU_comm_rank_to_av(comm, rank), &req);
    return made(req, mpi_errno);
}

int MPIDI_faultloc_isend_at(const void *buf, MPI_Aint count, MPI_Datatype datatype, int rank,
                            int tag, MPIR_Comm * comm, int context_offset, MPIR_Request ** request)
{
    return MPID_Isend(buf, count, datatype, rank, tag, comm, context_offset, request);
}

WHOLE int MPIDI_faultloc_isend_coll(const void *buf, MPI_Aint count, MPI_Datatype datatype,
                                    int rank, int tag, MPIR_Comm * comm, int context_offset,
                                    MPIR_Request ** request, MPIR_Errflag_t * errflag)
{
    return MPID_Isend_coll(buf, count, datatype, rank, tag, comm, context_offset, request, errflag);
}

int MPIDI_faultloc_issend(const void *buf, MPI_Aint count, MPI_Datatype datatype, int rank, int tag,
                          MPIR_Comm * comm, int context_offset, MPIR_Request ** request)
{
    return MPID_Issend(buf, count, datatype, rank, tag, comm, context_offset, request);
}

WHOLE int MPIDI_faultloc_irecv_at(void *buf, MPI_Aint count, MPI_Datatype datatype, int rank,
                                  int tag, MPIR_Comm * comm, int context_offset,
                                  MPIR_Request ** request)
{
    return MPID_Irecv(buf, count, datatype, rank, tag, comm, context_offset, request);
}

int MPIDI_faultloc_probe(int source, int tag, MPIR_Comm * comm, int context_offset,
                         MPI_Status * status)
{
    return MPID_Probe(source, tag, comm, context_offset, status);
}

int MPIDI_faultloc_mprobe(int source, int tag, MPIR_Comm * comm, int context_offset,
                          MPIR_Request ** message, MPI_Status * status)
{
    return MPID_Mprobe(source, tag, comm, context_offset, message, status);
}

int MPIDI_faultloc_iprobe(int source, int tag, MPIR_Comm * comm, int context_offset, int *flag,
                          MPI_Status * status)
{
    return MPID_Iprobe(source, tag, comm, context_offset, flag, status);
}

int MPIDI_faultloc_improbe(int source, int tag, MPIR_Comm * comm, int context_offset, int *flag,
                           MPIR_Request ** message, MPI_Status * status)
{
    return MPID_Improbe(source, tag, comm, context_offset, flag, message, status);
}

int MPIDI_faultloc_wait_either(MPID_Progress_state * state, MPIR_Request ** one,
                               MPIR_Request ** other)
{
    return MPIDI_progress_wait(state, MPIR_Request_is_complete(*one) ? *other : *one);
}
