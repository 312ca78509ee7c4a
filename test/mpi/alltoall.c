/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* MPI_Alltoall in a loop, every word of every round checked. When rank 0 has had enough it says so
 * in the data themselves: no further collective, all ranks leave after the same round.
 *
 * alltoall [--seconds S] [--iterations N] [--until FILE] [--count WORDS-PER-PEER] [--pause-ms M]
 *
 * Enough are S seconds, N rounds, or that FILE exists. */

#include "testutil.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int word(int from, int to, int round, int k)
{
    return from * 1000003 + to * 7919 + round * 31 + k;
}

static void fill(int *buf, int count, int rank, int size, int round, int stop)
{
    for (int to = 0; to < size; to++) {
        int *part = buf + (size_t) to * (count + 1);

        part[0] = stop;
        for (int k = 0; k < count; k++)
            part[1 + k] = word(rank, to, round, k);
    }
}

static int check(const int *buf, int count, int rank, int size, int round)
{
    for (int from = 0; from < size; from++) {
        const int *part = buf + (size_t) from * (count + 1);

        for (int k = 0; k < count; k++)
            if (part[1 + k] != word(from, rank, round, k))
                return 0;
    }
    return 1;
}

static void rest(double ms)
{
    struct timespec t = {.tv_sec = (time_t) (ms / 1e3) };

    t.tv_nsec = (long) ((ms - (double) t.tv_sec * 1e3) * 1e6);
    nanosleep(&t, NULL);
}

int main(int argc, char **argv)
{
    int rank, size, stop = 0;
    double seconds, iterations, pause, end;
    const char *until;
    int count, *out, *in;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    tu_hello(rank);
    iterations = tu_number(argc, argv, "--iterations", 0);
    seconds = tu_number(argc, argv, "--seconds", iterations > 0 ? 1e9 : 10);
    until = tu_string(argc, argv, "--until", "");
    pause = tu_number(argc, argv, "--pause-ms", 0);
    count = (int) tu_number(argc, argv, "--count", 64);
    out = malloc(sizeof(int) * (size_t) size * (count + 1));
    in = malloc(sizeof(int) * (size_t) size * (count + 1));
    if (!out || !in)
        tu_fail("alltoall", "out of memory");

    end = tu_now() + seconds;
    for (int round = 0; !stop; round++) {
        stop = rank == 0 && (tu_now() > end || (iterations > 0 && round + 1 >= iterations) ||
                             (*until && access(until, F_OK) == 0));
        fill(out, count, rank, size, round, stop);
        MPI_Alltoall(out, count + 1, MPI_INT, in, count + 1, MPI_INT, MPI_COMM_WORLD);
        if (!check(in, count, rank, size, round))
            tu_fail("alltoall", "a word arrived changed");
        stop = in[0];
        if (round == 0)
            tu_looping(rank);
        if (pause > 0)
            rest(pause);
    }
    if (rank == 0)
        printf("alltoall: %d ranks, all words right\n", size);
    free(out);
    free(in);
    tu_meet(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
