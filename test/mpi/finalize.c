/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* As most programs end: all have talked to each other, there is a barrier, and MPI_Finalize is next.
 * Not at one moment (tu_meet), so that some close their connections while others wait.
 *
 * finalize [--rounds N]
 *
 * --rounds  of messages around the ring before (10) */

#include "testutil.h"

#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rounds = (int) tu_number(argc, argv, "--rounds", 10), rank, size, out = 0, in;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < rounds; i++)
        MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, 1, &in, 1, MPI_INT,
                     (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0) {
        printf("finalize: %d ranks\n", size);
        fflush(stdout);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
