/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* MPI_THREAD_MULTIPLE: several threads of each rank exchange messages with their like on the next
 * and the previous rank, each pair under a tag of its own.
 *
 * threads [--threads N] [--rounds N] [--pause-ms M]
 *
 * --pause-ms  receives are asked for again and again, and rank 0 lets the others wait so long in
 * each
 *             round */

#include "testutil.h"

#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define MAX_THREADS 16

struct worker {
    pthread_t id;
    int tag, rounds, wrong;
    double pause_ms;
};

static void poll_for(MPI_Request *r)
{
    int done = 0;

    while (!done)
        MPI_Test(r, &done, MPI_STATUS_IGNORE);
}

static void exchange(const struct worker *w, int out, int right, int *in, int left)
{
    MPI_Request r;

    if (w->pause_ms <= 0) {
        MPI_Sendrecv(&out, 1, MPI_INT, right, w->tag, in, 1, MPI_INT, left, w->tag, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        return;
    }
    MPI_Irecv(in, 1, MPI_INT, left, w->tag, MPI_COMM_WORLD, &r);
    if (out < 1000)
        usleep((unsigned) (w->pause_ms * 1e3));
    MPI_Send(&out, 1, MPI_INT, right, w->tag, MPI_COMM_WORLD);
    poll_for(&r);
}

static void *work(void *arg)
{
    struct worker *w = arg;
    int rank, size, left, right;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    for (int i = 0; i < w->rounds; i++) {
        int out = rank * 1000 + i, in = -1;

        exchange(w, out, right, &in, left);
        w->wrong += in != left * 1000 + i;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int rank, provided, threads, wrong = 0;
    struct worker w[MAX_THREADS] = { 0 };

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    tu_hello(rank);
    if (provided < MPI_THREAD_MULTIPLE)
        tu_fail("threads", "no MPI_THREAD_MULTIPLE");
    threads = (int) tu_number(argc, argv, "--threads", 3);
    if (threads < 1 || threads > MAX_THREADS)
        tu_fail("threads", "--threads wants 1 to 16");

    tu_looping(rank);
    for (int i = 0; i < threads; i++) {
        w[i].tag = i;
        w[i].rounds = (int) tu_number(argc, argv, "--rounds", 200);
        w[i].pause_ms = tu_number(argc, argv, "--pause-ms", 0);
        if (pthread_create(&w[i].id, NULL, work, &w[i]))
            tu_fail("threads", "cannot start a thread");
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(w[i].id, NULL);
        wrong += w[i].wrong;
    }
    if (wrong)
        tu_fail("threads", "a message arrived changed");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("threads: %d per rank, all messages right\n", threads);
    tu_meet(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
