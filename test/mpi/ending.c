/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* Rank 0 stops itself, and all others are in no MPI call: the action abort has nobody to ask. */

#include "testutil.h"

#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    tu_hello(rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        raise(SIGSTOP);
    if (system("exec \"$FAULTLOC_PROGRAM\" symptom --kind user-suspects --component 'rank 0'"))
        tu_fail("ending", "the agent was not told");
    for (;;)
        pause();
}
