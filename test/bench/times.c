/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* The time of operations with small messages:
 *
 * times messages|collectives [--seconds S]
 *
 * messages, between ranks 0 and 1: latency, which is half of a round trip, and the time for each of
 * 64 messages under way at once, of 0 and of 8 bytes. collectives, of all ranks: MPI_Allreduce of 8
 * bytes, MPI_Alltoall of 8 bytes for each rank. Prints a line for each, "NAME SECONDS": of the
 * fastest of the batches that are made in S seconds, in several passes over all, because the first
 * moments of a job are unlike the others. */

#include "bench.h"
#include "testutil.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW 64
#define OPS_MAX 4
#define PASSES 5

static int rank, bytes;
static char word[8];
static double *out, *in;

static void round_trip(void)
{
    if (rank == 0)
        MPI_Send(word, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    if (rank < 2)
        MPI_Recv(word, bytes, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1)
        MPI_Send(word, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
}

/* A window of messages, and an empty one as the answer. */
static void window(void)
{
    static char words[WINDOW][sizeof(word)];
    MPI_Request req[WINDOW];

    if (rank > 1)
        return;
    for (int i = 0; i < WINDOW; i++) {
        if (rank == 0)
            MPI_Isend(words[i], bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &req[i]);
        else
            MPI_Irecv(words[i], bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &req[i]);
    }
    MPI_Waitall(WINDOW, req, MPI_STATUSES_IGNORE);
    if (rank == 0)
        MPI_Recv(word, 0, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Send(word, 0, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
}

static void allreduce(void)
{
    MPI_Allreduce(out, in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void alltoall(void)
{
    MPI_Alltoall(out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, MPI_COMM_WORLD);
}

static const struct op {
    const char *name;
    void (*run)(void);
    int bytes, batch, parts; /* a batch is run() so many times; of each, the time of one part */
} messages[] = {
    {"latency-0", round_trip, 0, 50, 2},
    {"latency-8", round_trip, 8, 50, 2},
    {"rate-0", window, 0, 5, WINDOW},
    {"rate-8", window, 8, 5, WINDOW},
}, collectives[] = {
    {"allreduce-8", allreduce, 8, 5, 1},
    {"alltoall-8", alltoall, 8, 5, 1},
};

static const struct op *op;

static void batch(void)
{
    for (int i = 0; i < op->batch; i++)
        op->run();
}

static double measure(const struct op *of, double for_seconds)
{
    op = of;
    bytes = op->bytes;
    return bench_repeat(NULL, batch, for_seconds) / op->batch / op->parts;
}

static void measure_all(const struct op *ops, int count, double for_seconds)
{
    double least[OPS_MAX];

    for (int pass = 0; pass < PASSES; pass++)
        for (int i = 0; i < count; i++) {
            double seconds = measure(&ops[i], for_seconds / PASSES);
            least[i] = pass ? fmin(least[i], seconds) : seconds;
        }
    for (int i = 0; rank == 0 && i < count; i++)
        printf("%s %.12f\n", ops[i].name, least[i]);
}

int main(int argc, char **argv)
{
    int size, is_messages = argc > 1 && !strcmp(argv[1], "messages");

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size < 2 || (!is_messages && (argc < 2 || strcmp(argv[1], "collectives"))))
        tu_fail("times", "messages or collectives, of two ranks at least");
    out = bench_memory((size_t) size, sizeof(*out));
    in = bench_memory((size_t) size, sizeof(*in));
    if (is_messages)
        measure_all(messages, 4, tu_number(argc, argv, "--seconds", 0.2));
    else
        measure_all(collectives, 2, tu_number(argc, argv, "--seconds", 0.2));
    tu_meet(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
