/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* A collective operation in which a message went wrong says so.  Rank 1 of four sends more elements
 * than the others expect, so that the first step of MPI_Allreduce fails on rank 0, and all later
 * ones are well.  Stock MPICH 4.0.2 returns MPI_SUCCESS, and the sum lacks an operand.
 *
 * coll_error */

#include "testutil.h"

#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, error, in[2] = {1, 1}, out[2] = {0, 0}, silent = 0, all;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 4)
        tu_fail("coll_error", "four ranks are needed");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);

    error = MPI_Allreduce(in, out, rank == 1 ? 2 : 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (error == MPI_SUCCESS && out[0] != size) {
        fprintf(stderr, "coll_error: rank %d: MPI_SUCCESS, but the sum is %d and not %d\n", rank,
                out[0], size);
        silent = 1;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Allreduce(&silent, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && all == 0)
        printf("coll_error: said\n");
    tu_meet(MPI_COMM_WORLD);
    MPI_Finalize();
    return all != 0;
}
