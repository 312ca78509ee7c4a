/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "bench.h"

#include "testutil.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double time_once(void (*prepare)(void), void (*once)(void))
{
    double begin, mine, slowest = 0;

    if (prepare)
        prepare();
    MPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    once();
    mine = MPI_Wtime() - begin;
    MPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    return slowest;
}

double bench_repeat(void (*prepare)(void), void (*once)(void), double seconds)
{
    double end = MPI_Wtime() + seconds, least = time_once(prepare, once);
    int again = 1; /* rank 0 decides */

    while (again) {
        again = MPI_Wtime() < end;
        MPI_Bcast(&again, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (again)
            least = fmin(least, time_once(prepare, once));
    }
    return least;
}

int bench_class(int argc, char **argv, const char *names)
{
    const char *name = tu_string(argc, argv, "--class", "S");
    const char *found = strlen(name) == 1 ? strchr(names, *name) : NULL;

    if (!found) {
        tu_fail(argv[0], "there is no such class");
        exit(1);
    }
    return (int) (found - names);
}

void *bench_memory(size_t n, size_t size)
{
    size_t bytes = (n * size + 63) / 64 * 64;
    void *p = aligned_alloc(64, bytes ? bytes : 64);

    if (!p) {
        tu_fail("bench", "out of memory");
        exit(1);
    }
    return memset(p, 0, bytes);
}

void bench_end(const char *name, char class_, int is_verified, const char *checksum,
               double seconds)
{
    int rank, size;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0 && !is_verified)
        tu_fail(name, "the result is wrong");
    if (rank == 0)
        printf("%s class %c, %d ranks: verified, checksum %s\nseconds %.9f\n", name, class_, size,
               checksum, seconds);
    tu_meet(MPI_COMM_WORLD);
}
