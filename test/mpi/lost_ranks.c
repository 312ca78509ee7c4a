/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* The first ranks are killed from outside, all at once, while nobody waits for them. Each of the
 * others must learn of each of them by asking, and a message to the last of them must then fail.
 *
 * lost_ranks --count N [--within SECONDS] */

#include "testutil.h"

#include <mpi.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static void pause_ms(long ms)
{
    struct timespec t = {.tv_nsec = ms * 1000000};

    nanosleep(&t, NULL);
}

static int count_failed(void)
{
    MPI_Group failed;
    int n;

    MPIX_Comm_failure_ack(MPI_COMM_WORLD);
    MPIX_Comm_failure_get_acked(MPI_COMM_WORLD, &failed);
    MPI_Group_size(failed, &n);
    MPI_Group_free(&failed);
    return n;
}

int main(int argc, char **argv)
{
    int rank, count, word = 0;
    double until;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    count = (int) tu_number(argc, argv, "--count", 1);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    tu_hello(rank);
    MPI_Barrier(MPI_COMM_WORLD);
    tu_looping(rank);
    until = tu_now() + tu_number(argc, argv, "--within", 30);
    while (rank < count || count_failed() < count) {
        if (tu_now() > until)
            tu_fail("lost_ranks", "not all of the ranks that were killed are known");
        pause_ms(5);
    }
    if (MPI_Send(&word, 1, MPI_INT, count - 1, 1, MPI_COMM_WORLD) == MPI_SUCCESS)
        tu_fail("lost_ranks", "a message to a rank that was killed is sent");
    printf("rank %d: knows all %d\n", rank, count);
    fflush(stdout);
    _exit(0);
}
