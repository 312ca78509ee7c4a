/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* Which ranks have failed?  Every rank that is left asks until it knows.
 *
 *     mpicc -o failures failures.c
 *     export MPIR_CVAR_FAULTLOC=1
 *     mpiexec -n 4 ./failures                             a healthy job
 *     mpiexec -disable-auto-cleanup -n 4 ./failures 2     rank 2 dies
 */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The ranks in `failed`, by their numbers in the world. */
static void print_failed(int rank, MPI_Group failed, int n)
{
    int *in_group = malloc((size_t) (n + 1) * sizeof(int));
    int *in_world = malloc((size_t) (n + 1) * sizeof(int));
    MPI_Group world;

    for (int i = 0; i < n; i++)
        in_group[i] = i;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_translate_ranks(failed, n, in_group, world, in_world);
    MPI_Group_free(&world);
    printf("rank %d: %d failed%s", rank, n, n > 0 ? ":" : "");
    for (int i = 0; i < n; i++)
        printf(" %d", in_world[i]);
    printf("\n");
    fflush(stdout);
    free(in_group);
    free(in_world);
}

int main(int argc, char **argv)
{
    int rank, n, victim = argc > 1 ? atoi(argv[1]) : -1;
    double until;
    MPI_Group failed;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == victim)
        _exit(3);

    until = MPI_Wtime() + 30;
    for (;;) {
        MPIX_Comm_failure_ack(MPI_COMM_WORLD);
        MPIX_Comm_failure_get_acked(MPI_COMM_WORLD, &failed);
        MPI_Group_size(failed, &n);
        if (n > 0 || victim < 0 || MPI_Wtime() > until)
            break;
        MPI_Group_free(&failed);
        usleep(10000); /* here a program would do its work */
    }
    print_failed(rank, failed, n);
    MPI_Group_free(&failed);
    MPI_Finalize();
    return 0;
}
