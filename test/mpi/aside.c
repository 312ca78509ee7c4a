/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* One rank stays aside, asleep outside MPI; all others call MPI_Alltoall among themselves in a
 * loop. Nobody waits for the one, so nobody misses it when it dies.
 *
 * aside [--rank R] [--seconds S] */

#include "testutil.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void sleep_aside(double seconds)
{
    struct timespec t = {.tv_sec = (time_t) seconds };

    nanosleep(&t, NULL);
}

/* The first rank of the communicator decides when it is enough, and says so in the data. */
static void talk(MPI_Comm comm, int world_rank, double seconds)
{
    int rank, size, *out, *in;
    double end = tu_now() + seconds;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    out = calloc((size_t) size, sizeof(int));
    in = calloc((size_t) size, sizeof(int));
    if (!out || !in)
        tu_fail("aside", "out of memory");
    for (int round = 0; !in[0]; round++) {
        for (int i = 0; i < size; i++)
            out[i] = rank == 0 && tu_now() > end;
        MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm);
        if (round == 0)
            tu_looping(world_rank);
    }
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    int rank, size, aside;
    double seconds;
    MPI_Comm comm;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    tu_hello(rank);
    aside = (int) tu_number(argc, argv, "--rank", size - 1);
    seconds = tu_number(argc, argv, "--seconds", 10);
    MPI_Comm_split(MPI_COMM_WORLD, rank == aside, rank, &comm);
    if (rank == aside)
        sleep_aside(seconds);
    else
        talk(comm, rank, seconds);
    MPI_Comm_free(&comm);
    if (rank == 0)
        printf("aside: %d ranks without rank %d\n", size - 1, aside);
    tu_meet(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
