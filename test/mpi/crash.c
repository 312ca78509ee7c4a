/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* One rank ends itself while all are in MPI_Alltoall: by a signal, by _exit, or by MPI_Abort called
 * from another thread than the one that waits in MPI.
 *
 * crash [--rank R] [--after SECONDS] [--how SIGNAL-NUMBER|exit|abort] [--code EXIT-CODE] */

#include "testutil.h"

#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct {
    double after;
    const char *how;
    int code;
} plan;

static void *end_it(void *arg)
{
    struct timespec t = {.tv_sec = (time_t) plan.after };

    (void) arg;
    t.tv_nsec = (long) ((plan.after - (double) t.tv_sec) * 1e9);
    nanosleep(&t, NULL);
    if (!strcmp(plan.how, "exit"))
        _exit(plan.code);
    if (!strcmp(plan.how, "abort"))
        MPI_Abort(MPI_COMM_WORLD, plan.code);
    kill(getpid(), atoi(plan.how));
    return NULL;
}

int main(int argc, char **argv)
{
    int rank, size, provided, *out, *in;
    pthread_t timer;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    tu_hello(rank);
    plan.after = tu_number(argc, argv, "--after", 1);
    plan.how = tu_string(argc, argv, "--how", "9");
    plan.code = (int) tu_number(argc, argv, "--code", 3);
    out = calloc((size_t) size, sizeof(int));
    in = calloc((size_t) size, sizeof(int));
    if (!out || !in)
        tu_fail("crash", "out of memory");
    if (rank == (int) tu_number(argc, argv, "--rank", size - 1) &&
        pthread_create(&timer, NULL, end_it, NULL))
        tu_fail("crash", "cannot start a thread");
    for (int round = 0;; round++) {
        MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
        if (round == 0)
            tu_looping(rank);
    }
}
