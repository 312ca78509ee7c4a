/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* The ranks take turns to compute while all others wait for them in a barrier: long waits in which
 * nothing is wrong.
 *
 * turns [--turn SECONDS-PER-TURN] [--seconds S] */

#include "testutil.h"

#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, turns;
    double turn, seconds;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    tu_hello(rank);
    turn = tu_number(argc, argv, "--turn", 5);
    seconds = tu_number(argc, argv, "--seconds", turn * size);
    turns = (int) (seconds / turn + 0.5);

    MPI_Barrier(MPI_COMM_WORLD);
    tu_looping(rank);
    for (int i = 0; i < turns; i++) {
        if (i % size == rank)
            tu_compute(turn);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("turns: %d ranks took %d turns\n", size, turns);
    tu_meet(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
