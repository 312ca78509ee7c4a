/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* MPI_Alltoall in a loop, every word of every round checked. When rank 0 has had enough it says so
 * in the data themselves: no further collective, all ranks leave after the same round.
 *
 * alltoall [--seconds S] [--iterations N] [--until FILE] [--count WORDS-PER-PEER] [--pause-ms M]
 *          [--silent RANK [--how stop|sleep]] [--rest-us N] [--parts N]
 *
 * Enough are S seconds, N rounds, or that FILE exists. With --parts the ranks are in N blocks, and
 * each block calls MPI_Alltoall by itself.
 *
 * With --silent one rank takes part in no round at all: it is silent from the start. It stops
 * itself (SIGSTOP), or it sleeps, for a harness to take its host away. Then it is this rank that
 * says that the loop runs.
 *
 * With --rest-us the ranks wait at their ease: where the network's library looks for news and there
 * are none it sleeps that long. Else dozens of ranks on a few processors would take them from each
 * other and from all agents; on a cluster, where each has one of its own, they do not. */

#include "rest.h"
#include "testutil.h"

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* The others must have said who they are before the harness looks for them. */
static void be_silent(const char *how)
{
    MPI_Barrier(MPI_COMM_WORLD);
    tu_looping(0);
    while (!strcmp(how, "stop"))
        raise(SIGSTOP);
    for (;;)
        pause();
}

struct limits {
    double seconds, iterations;
    const char *until;
};

/* The first rank of the communicator decides. */
static int enough(const struct limits *limits, int round, double end)
{
    return tu_now() > end || (limits->iterations > 0 && round + 1 >= limits->iterations) ||
           (*limits->until && access(limits->until, F_OK) == 0);
}

/* All rounds among the ranks of comm. */
static void talk(MPI_Comm comm, int count, const struct limits *limits, double rests)
{
    int rank, size, world_rank, stop = 0, *out, *in;
    double end = tu_now() + limits->seconds;

    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    out = malloc(sizeof(int) * (size_t) size * (count + 1));
    in = malloc(sizeof(int) * (size_t) size * (count + 1));
    if (!out || !in)
        tu_fail("alltoall", "out of memory");
    for (int round = 0; !stop; round++) {
        stop = rank == 0 && enough(limits, round, end);
        fill(out, count, rank, size, round, stop);
        MPI_Alltoall(out, count + 1, MPI_INT, in, count + 1, MPI_INT, comm);
        if (!check(in, count, rank, size, round))
            tu_fail("alltoall", "a word arrived changed");
        stop = in[0];
        if (round == 0 && comm != MPI_COMM_WORLD)
            MPI_Barrier(MPI_COMM_WORLD);
        if (round == 0)
            tu_looping(world_rank);
        if (rests > 0)
            rest(rests);
    }
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    int rank, size, silent, parts;
    MPI_Comm comm = MPI_COMM_WORLD;
    struct limits limits;

    rest_while_idle(tu_number(argc, argv, "--rest-us", 0));
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    tu_hello(rank);
    limits.iterations = tu_number(argc, argv, "--iterations", 0);
    limits.seconds = tu_number(argc, argv, "--seconds", limits.iterations > 0 ? 1e9 : 10);
    limits.until = tu_string(argc, argv, "--until", "");
    parts = (int) tu_number(argc, argv, "--parts", 1);
    silent = (int) tu_number(argc, argv, "--silent", -1);
    if (parts > 1)
        MPI_Comm_split(MPI_COMM_WORLD, (int) ((long long) rank * parts / size), rank, &comm);
    if (rank == silent)
        be_silent(tu_string(argc, argv, "--how", "stop"));
    if (silent >= 0)
        MPI_Barrier(MPI_COMM_WORLD);
    talk(comm, (int) tu_number(argc, argv, "--count", 64), &limits,
         tu_number(argc, argv, "--pause-ms", 0));
    if (rank == 0)
        printf("alltoall: %d ranks, all words right\n", size);
    if (parts > 1)
        MPI_Comm_free(&comm);
    tu_meet(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
