/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* One word travels round the ring of ranks: each receives it from its left neighbour and passes it
 * on, so that a lost rank is waited for in a chain, by one directly. Rank 0 sends a negative word
 * when the time is up; it makes one last round.
 *
 * ring [--seconds S] */

#include "testutil.h"

#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, left, right, word = 0;
    double end;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    tu_hello(rank);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    end = tu_now() + tu_number(argc, argv, "--seconds", 10);
    for (int round = 0; word >= 0; round++) {
        if (rank == 0) {
            word = tu_now() > end ? -1 : round;
            MPI_Send(&word, 1, MPI_INT, right, 0, MPI_COMM_WORLD);
        }
        MPI_Recv(&word, 1, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank != 0)
            MPI_Send(&word, 1, MPI_INT, right, 0, MPI_COMM_WORLD);
        if (round == 0)
            tu_looping(rank);
    }
    if (rank == 0)
        printf("ring: %d ranks\n", size);
    tu_meet(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
