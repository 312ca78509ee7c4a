/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* MPI_Comm_spawn of the program itself; parents and children exchange one message, disconnect and
 * finalize. MPICH's ucx netmod cannot spawn (4.0.2): there the program says so and ends in order.
 *
 * spawn [--children N] */

#include "testutil.h"

#include <mpi.h>
#include <stdio.h>

static void be_child(MPI_Comm parents)
{
    int rank, got = -1;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Recv(&got, 1, MPI_INT, 0, 1, parents, MPI_STATUS_IGNORE);
        got++;
        MPI_Send(&got, 1, MPI_INT, 0, 2, parents);
    }
    MPI_Comm_disconnect(&parents);
}

static void be_parent(char *self, int children)
{
    int rank, err, word = 41;
    MPI_Comm kids;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    err = MPI_Comm_spawn(self, MPI_ARGV_NULL, children, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &kids,
                         MPI_ERRCODES_IGNORE);
    if (err != MPI_SUCCESS) {
        if (rank == 0)
            printf("spawn: this MPI's device cannot spawn\n");
        return;
    }
    if (rank == 0) {
        MPI_Send(&word, 1, MPI_INT, 0, 1, kids);
        MPI_Recv(&word, 1, MPI_INT, 0, 2, kids, MPI_STATUS_IGNORE);
        if (word != 42)
            tu_fail("spawn", "wrong answer from the child");
        printf("spawn: %d children answered\n", children);
    }
    MPI_Comm_disconnect(&kids);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Comm parents;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_parent(&parents);
    if (parents == MPI_COMM_NULL) {
        tu_hello(rank);
        tu_looping(rank);
        be_parent(argv[0], (int) tu_number(argc, argv, "--children", 2));
    } else {
        be_child(parents);
    }
    tu_meet(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
