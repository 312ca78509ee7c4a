/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* An intercommunicator is split so that some ranks of each side are left out, rank 0 of it among
 * them, and the others merge what they got.  With stock MPICH 4.0.2 these never come back.
 *
 * inter_split */

#include "testutil.h"

#include <mpi.h>
#include <stdio.h>

/* Of each side those from `least` on. */
static int merged(MPI_Comm inter, int side, int least)
{
    MPI_Comm part, all;
    int rank, size = 0;

    MPI_Comm_rank(inter, &rank);
    MPI_Comm_split(inter, rank < least ? MPI_UNDEFINED : 1, rank, &part);
    if (part != MPI_COMM_NULL) {
        MPI_Intercomm_merge(part, side, &all);
        MPI_Barrier(all);
        MPI_Comm_size(all, &size);
        MPI_Comm_free(&all);
        MPI_Comm_free(&part);
    }
    return size;
}

int main(int argc, char **argv)
{
    int rank, size, side, wrong = 0;
    MPI_Comm half, inter;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    side = rank % 2;
    MPI_Comm_split(MPI_COMM_WORLD, side, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !side, 1, &inter);
    for (int least = 0; least < size / 2; least++) {
        int expected = rank / 2 < least ? 0 : size - 2 * least;

        wrong += merged(inter, side, least) != expected;
    }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (wrong > 0)
        tu_fail("inter_split", "a merged communicator has another size");
    if (rank == 0)
        printf("inter_split: merged\n");
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
