/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* A program that never calls MPI_Init: one session, a communicator made from it, one sum. */

#include "testutil.h"

#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, sum = 0;
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;

    (void) argc;
    (void) argv;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "faultloc-test", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    tu_hello(rank);
    tu_looping(rank);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (rank == 0)
        printf("sessions: %d ranks, sum %d\n", size, sum);
    tu_meet(comm);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    return sum == size * (size - 1) / 2 ? 0 : 1;
}
