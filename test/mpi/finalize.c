/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* As most programs end: all have talked to each other, there is a barrier, and MPI_Finalize is
 * next. Not at one moment (tu_meet), so that some close their connections while others wait.
 *
 * finalize [--rounds N] [--timer US]
 *
 * --rounds  of messages around the ring before (10)
 * --timer   a signal that the program handles comes so often, as a profiler's; 0: never (0) */

#include "testutil.h"

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

static void tick(int signal_)
{
    (void) signal_;
}

static void start_timer(int us)
{
    struct itimerval t = {.it_interval = {.tv_usec = us}, .it_value = {.tv_usec = us}};

    signal(SIGALRM, tick);
    setitimer(ITIMER_REAL, &t, NULL);
}

int main(int argc, char **argv)
{
    int rounds = (int) tu_number(argc, argv, "--rounds", 10), rank, size, out = 0, in;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < rounds; i++)
        MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, 1, &in, 1, MPI_INT,
                     (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0) {
        printf("finalize: %d ranks\n", size);
        fflush(stdout);
    }
    start_timer((int) tu_number(argc, argv, "--timer", 0));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
