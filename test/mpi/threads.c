/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* MPI_THREAD_MULTIPLE: several threads of each rank exchange messages with their like on the next
 * and the previous rank, each pair under a tag of its own.
 *
 * threads [--threads N] [--rounds N] [--pause-ms M] [--collective 1]
 *
 * --collective  instead, each thread makes a small MPI_Allreduce on a communicator of its own each 5 ms, and
 *             rank 0 says how long one took at most
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
    double pause_ms, longest;
    MPI_Comm comm;
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

static void *reduce(void *arg)
{
    struct worker *w = arg;
    int one = 1, sum = 0, size;

    MPI_Comm_size(w->comm, &size);
    for (int i = 0; i < w->rounds; i++) {
        double begin = tu_now();
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, w->comm);
        w->longest = tu_now() - begin > w->longest ? tu_now() - begin : w->longest;
        w->wrong += sum != size;
        usleep(5000);
    }
    return NULL;
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
    int rank, provided, threads, wrong = 0, collective = tu_number(argc, argv, "--collective", 0) > 0;
    double longest = 0;
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
        MPI_Comm_dup(MPI_COMM_WORLD, &w[i].comm);
    }
    for (int i = 0; i < threads; i++)
        if (pthread_create(&w[i].id, NULL, collective ? reduce : work, &w[i]))
            tu_fail("threads", "cannot start a thread");
    for (int i = 0; i < threads; i++) {
        pthread_join(w[i].id, NULL);
        wrong += w[i].wrong;
        longest = w[i].longest > longest ? w[i].longest : longest;
        MPI_Comm_free(&w[i].comm);
    }
    if (wrong)
        tu_fail("threads", "a message arrived changed");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0 && collective)
        fprintf(stderr, "LONGEST %.0f ms\n", 1e3 * longest);
    if (rank == 0)
        printf("threads: %d per rank, all messages right\n", threads);
    tu_meet(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
