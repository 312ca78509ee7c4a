/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_PT2PT_H_INCLUDED
#define FAULTLOC_PT2PT_H_INCLUDED

#include "faultloc/seam/faultloc_base.h"
#include "faultloc/seam/faultloc_seam.h"

/*
 * Included once the device's sends, receives and probes are defined; from there on who calls one of
 * them asks a word first.  With faultloc on, sends and receives are those of mpi/calls/pt2pt.c: the
 * same code of MPICH's, compiled with all that is noted of a message.  So what is noted costs
 * nothing where faultloc is off, and does not keep the compiler from inlining there.
 */

#if defined(ENABLE_FAULTLOC)

/* As MPICH's in the usual context, but all is passed in registers.  They return the request, or
 * twice the error and one, which no address of a request is. */
uintptr_t MPIDI_faultloc_isend(const void *buf, MPI_Aint count, MPI_Datatype datatype, int rank,
                               int tag, MPIR_Comm * comm) MPIDI_FAULTLOC_HIDDEN;
uintptr_t MPIDI_faultloc_irecv(void *buf, MPI_Aint count, MPI_Datatype datatype, int rank, int tag,
                               MPIR_Comm * comm) MPIDI_FAULTLOC_HIDDEN;

/* As MPICH's, in any context. */
int MPIDI_faultloc_isend_at(const void *buf, MPI_Aint count, MPI_Datatype datatype, int rank,
                            int tag, MPIR_Comm * comm, int context_offset,
                            MPIR_Request ** request) MPIDI_FAULTLOC_HIDDEN;
int MPIDI_faultloc_isend_coll(const void *buf, MPI_Aint count, MPI_Datatype datatype, int rank,
                              int tag, MPIR_Comm * comm, int context_offset,
                              MPIR_Request ** request, MPIR_Errflag_t * errflag)
    MPIDI_FAULTLOC_HIDDEN;
int MPIDI_faultloc_issend(const void *buf, MPI_Aint count, MPI_Datatype datatype, int rank, int tag,
                          MPIR_Comm * comm, int context_offset, MPIR_Request ** request)
    MPIDI_FAULTLOC_HIDDEN;
int MPIDI_faultloc_irecv_at(void *buf, MPI_Aint count, MPI_Datatype datatype, int rank, int tag,
                            MPIR_Comm * comm, int context_offset, MPIR_Request ** request)
    MPIDI_FAULTLOC_HIDDEN;
int MPIDI_faultloc_probe(int source, int tag, MPIR_Comm * comm, int context_offset,
                         MPI_Status * status) MPIDI_FAULTLOC_HIDDEN;
int MPIDI_faultloc_mprobe(int source, int tag, MPIR_Comm * comm, int context_offset,
                          MPIR_Request ** message, MPI_Status * status) MPIDI_FAULTLOC_HIDDEN;
int MPIDI_faultloc_in_vain(int source, int tag, MPIR_Comm * comm, int context_offset)
    MPIDI_FAULTLOC_HIDDEN;
int MPIDI_faultloc_improbe(int source, int tag, MPIR_Comm * comm, int context_offset, int *flag,
                           MPIR_Request ** message, MPI_Status * status) MPIDI_FAULTLOC_HIDDEN;

int MPIDI_faultloc_mrecv(void *buf, MPI_Aint count, MPI_Datatype datatype, MPIR_Request * message,
                         MPI_Status * status, MPIR_Request ** request) MPIDI_FAULTLOC_HIDDEN;
int MPIDI_faultloc_imrecv(void *buf, MPI_Aint count, MPI_Datatype datatype, MPIR_Request * message,
                          MPIR_Request ** request) MPIDI_FAULTLOC_HIDDEN;

/* A wait until there was progress, for all of n requests, of which the first is not complete. */
int MPIDI_faultloc_wait_all(MPID_Progress_state * state, MPIR_Request ** reqs,
                            int n) MPIDI_FAULTLOC_HIDDEN;
/* The same for two requests, of which one at least is not complete. */
int MPIDI_faultloc_wait_either(MPID_Progress_state * state, MPIR_Request ** one,
                               MPIR_Request ** other) MPIDI_FAULTLOC_HIDDEN;

#if !defined(MPIDI_FAULTLOC_PT2PT)

MPL_STATIC_INLINE_PREFIX int MPIDI_faultloc_take(uintptr_t made, MPIR_Request ** request)
{
    if (unlikely(made & 1))
        return (int) (made >> 1);
    *request = (MPIR_Request *) made;
    return MPI_SUCCESS;
}

/* MPICH's own probe, which both share, and what is noted of one that found nothing.  Whether its
 * source is given up is asked after it, too: a message that is there can be received. */
MPL_STATIC_INLINE_PREFIX int MPIDI_faultloc_probed_once(int mpi_errno, int source, int tag,
                                                        MPIR_Comm * comm, int context_offset,
                                                        const int *flag)
{
    if (MPIDI_FAULTLOC_IS_SET(MPIDI_faultloc_notes) && !*flag) {
        MPIDI_faultloc_page.slot.polls++;
        if (unlikely(MPIDI_faultloc_asked | MPIDI_faultloc_page.slot.failures) && !mpi_errno)
            mpi_errno = MPIDI_faultloc_in_vain(source, tag, comm, context_offset);
    }
    return mpi_errno;
}

#define MPIDI_FAULTLOC_MAKE(call, buf, count, datatype, rank, tag, comm, offset, request) \
    ((offset) == MPIR_CONTEXT_INTRA_PT2PT ? \
     MPIDI_faultloc_take(MPIDI_faultloc_##call(buf, count, datatype, rank, tag, comm), request) : \
     MPIDI_faultloc_##call##_at(buf, count, datatype, rank, tag, comm, offset, request))
#define MPIDI_FAULTLOC_ISEND(mpich, ...) \
    (MPIDI_FAULTLOC_IS_SET(MPIDI_faultloc_notes) ? MPIDI_FAULTLOC_MAKE(isend, __VA_ARGS__) : \
     mpich(__VA_ARGS__))
#define MPIDI_FAULTLOC_IF(word, ours, mpich, ...) \
    (MPIDI_FAULTLOC_IS_SET(word) ? MPIDI_faultloc_##ours(__VA_ARGS__) : mpich(__VA_ARGS__))

#define MPID_Send(...) MPIDI_FAULTLOC_ISEND(MPID_Send, __VA_ARGS__)
#define MPID_Isend(...) MPIDI_FAULTLOC_ISEND(MPID_Isend, __VA_ARGS__)
#define MPID_Rsend(...) MPIDI_FAULTLOC_ISEND(MPID_Rsend, __VA_ARGS__)
#define MPID_Irsend(...) MPIDI_FAULTLOC_ISEND(MPID_Irsend, __VA_ARGS__)
#define MPID_Ssend(...) MPIDI_FAULTLOC_IF(MPIDI_faultloc_notes, issend, MPID_Ssend, __VA_ARGS__)
#define MPID_Issend(...) MPIDI_FAULTLOC_IF(MPIDI_faultloc_notes, issend, MPID_Issend, __VA_ARGS__)
#define MPID_Send_coll(...) \
    MPIDI_FAULTLOC_IF(MPIDI_faultloc_notes, isend_coll, MPID_Send_coll, __VA_ARGS__)
#define MPID_Isend_coll(...) \
    MPIDI_FAULTLOC_IF(MPIDI_faultloc_notes, isend_coll, MPID_Isend_coll, __VA_ARGS__)
#define MPID_Recv(buf, count, datatype, rank, tag, comm, offset, status, request) \
    MPID_Irecv(buf, count, datatype, rank, tag, comm, offset, request)
#define MPID_Irecv(...) \
    (MPIDI_FAULTLOC_IS_SET(MPIDI_faultloc_notes) ? MPIDI_FAULTLOC_MAKE(irecv, __VA_ARGS__) : \
     MPID_Irecv(__VA_ARGS__))

/* Both turn until there is a message; what asks again and again waits, too. */
#define MPID_Probe(...) MPIDI_FAULTLOC_IF(MPIDI_faultloc_notes, probe, MPID_Probe, __VA_ARGS__)
#define MPID_Mprobe(...) MPIDI_FAULTLOC_IF(MPIDI_faultloc_notes, mprobe, MPID_Mprobe, __VA_ARGS__)
#define MPID_Iprobe(source, tag, comm, offset, flag, status) \
    MPIDI_faultloc_probed_once(MPID_Iprobe(source, tag, comm, offset, flag, status), source, tag, \
                               comm, offset, flag)
#define MPID_Improbe(...) MPIDI_FAULTLOC_IF(MPIDI_faultloc_notes, improbe, MPID_Improbe, __VA_ARGS__)
#define MPID_Mrecv(...) MPIDI_FAULTLOC_IF(MPIDI_faultloc_notes, mrecv, MPID_Mrecv, __VA_ARGS__)
#define MPID_Imrecv(...) MPIDI_FAULTLOC_IF(MPIDI_faultloc_notes, imrecv, MPID_Imrecv, __VA_ARGS__)

#endif /* MPIDI_FAULTLOC_PT2PT */

#endif /* ENABLE_FAULTLOC */

#endif /* FAULTLOC_PT2PT_H_INCLUDED */
