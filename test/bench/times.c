/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* The time of one operation: of a round trip of one small message between ranks 0 and 1, or of an
 * MPI_Alltoall of all ranks. Prints the median over some batches, in ns, alone on its line.
 * times round-trip|alltoall [BATCHES] [OPERATIONS] */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANKS_MAX 64

static int rank, word, out[RANKS_MAX], in[RANKS_MAX];

static int by_size(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;

    return x < y ? -1 : x > y;
}

static void round_trip(void)
{
    if (rank > 1)
        return;
    if (rank == 0)
        MPI_Send(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(&word, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1)
        MPI_Send(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
}

static void alltoall(void)
{
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
}

static double batch(void (*run)(void), int n)
{
    double start = MPI_Wtime();

    for (int i = 0; i < n; i++)
        run();
    return (MPI_Wtime() - start) * 1e9 / n;
}

int main(int argc, char **argv)
{
    int batches = argc > 2 ? atoi(argv[2]) : 31, n = argc > 3 ? atoi(argv[3]) : 2000, size;
    int is_alltoall = argc > 1 && !strcmp(argv[1], "alltoall");
    double *ns = malloc((size_t) (batches > 0 ? batches : 1) * sizeof(*ns));

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!ns || batches < 1 || n < 1 || size < 2 || size > RANKS_MAX ||
        (!is_alltoall && (argc < 2 || strcmp(argv[1], "round-trip"))))
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int i = 0; i < batches; i++)
        ns[i] = batch(is_alltoall ? alltoall : round_trip, n);
    qsort(ns, (size_t) batches, sizeof(*ns), by_size);
    if (rank == 0)
        printf("%.0f\n", ns[batches / 2]);
    MPI_Finalize();
    free(ns);
    return 0;
}
