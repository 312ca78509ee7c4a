/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* Every rank but the last waits with MPI_ANY_SOURCE for a message that only the last rank would
 * send, and it sends to nobody before its time is up: while the others wait they cannot know whom
 * for.
 *
 * anysource [--seconds S] */

#include "testutil.h"

#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, word = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    tu_hello(rank);
    MPI_Barrier(MPI_COMM_WORLD);
    tu_looping(rank);
    if (rank == size - 1) {
        tu_compute(tu_number(argc, argv, "--seconds", 10));
        for (int to = 0; to < size - 1; to++)
            MPI_Send(&word, 1, MPI_INT, to, 0, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (rank == 0)
        printf("anysource: %d ranks\n", size);
    tu_meet(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
