/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* A collective operation in which a message went wrong says so.  Rank 1 of two sends more elements than
 * the other expects, so that the exchange in MPI_Allreduce fails on rank 0, and what comes after it is
 * well.  Stock MPICH 4.0.2 returns MPI_SUCCESS, and the sum lacks an operand; stock 5.0.1 aborts.
 *
 * coll_error [--nonblocking]: MPI_Iallreduce, of which stock 5.0.1 takes no notice */

#include "testutil.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int allreduce(int argc, char **argv, const int *in, int *out, int n)
{
    MPI_Request request;

    if (argc < 2 || strcmp(argv[1], "--nonblocking"))
        return MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Iallreduce(in, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int rank, size, error, in[2] = {1, 1}, out[2] = {0, 0}, silent = 0, all;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2)
        tu_fail("coll_error", "two ranks are needed");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);

    error = allreduce(argc, argv, in, out, rank == 1 ? 2 : 1);
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
