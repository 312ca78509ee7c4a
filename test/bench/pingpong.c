/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* Round trips of one small message between ranks 0 and 1; prints the median of the time of a round
 * trip over some batches, in ns, a number alone on its line.  pingpong [BATCHES] [ROUND-TRIPS] */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int by_size(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;

    return x < y ? -1 : x > y;
}

static double batch(int rank, int trips)
{
    double start = MPI_Wtime();
    int word = 0;

    for (int i = 0; i < trips; i++) {
        if (rank == 0)
            MPI_Send(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(&word, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    return (MPI_Wtime() - start) * 1e9 / trips;
}

int main(int argc, char **argv)
{
    int batches = argc > 1 ? atoi(argv[1]) : 51, trips = argc > 2 ? atoi(argv[2]) : 2000;
    double *ns = malloc((size_t) batches * sizeof(*ns));
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!ns || batches < 1 || trips < 1)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int i = 0; rank < 2 && i < batches; i++)
        ns[i] = batch(rank, trips);
    qsort(ns, (size_t) batches, sizeof(*ns), by_size);
    if (rank == 0)
        printf("%.0f\n", ns[batches / 2]);
    MPI_Finalize();
    free(ns);
    return 0;
}
