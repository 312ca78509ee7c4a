/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* Pairs of MPI_Send and MPI_Recv of one small message from rank 0 to itself, nothing else: the
 * number of instructions repeats, so two runs that differ in the number of pairs alone give the
 * instructions of one pair. Run it with two ranks and put callgrind before the first:
 *
 *     mpiexec -n 1 valgrind --tool=callgrind --toggle-collect=eager_pairs sendrecv_self --pairs N \
 *         : -n 1 sendrecv_self
 *
 * Why two: in a communicator of one rank MPICH's MPI_Send to self waits for the receive, which may
 * not come later; there the pair is MPI_Isend, MPI_Recv and MPI_Wait, which is no measure.
 *
 * sendrecv_self [--pairs N] */

#include "testutil.h"

#include <mpi.h>
#include <stdio.h>

/* Not static, not inlined: "callgrind --toggle-collect=eager_pairs" counts these alone. */
void eager_pairs(int pairs);

__attribute__ ((noinline))
void eager_pairs(int pairs)
{
    int in = -1;

    for (int i = 0; i < pairs; i++) {
        MPI_Send(&i, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
        MPI_Recv(&in, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (in != i)
            tu_fail("sendrecv_self", "a message arrived changed");
    }
}

static void pairs_alone(int pairs)
{
    int in = -1;
    MPI_Request req;

    for (int i = 0; i < pairs; i++) {
        MPI_Isend(&i, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &req);
        MPI_Recv(&in, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&req, MPI_STATUS_IGNORE);
        if (in != i)
            tu_fail("sendrecv_self", "a message arrived changed");
    }
}

int main(int argc, char **argv)
{
    int rank, size, pairs;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    tu_hello(rank);
    pairs = (int) tu_number(argc, argv, "--pairs", 1000);

    tu_looping(rank);
    if (rank == 0 && size > 1)
        eager_pairs(pairs);
    else if (rank == 0)
        pairs_alone(pairs);
    if (rank == 0)
        printf("sendrecv_self: %d pairs\n", pairs);
    tu_meet(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
