/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* Windows over memory that begins anywhere, and small ones that MPI allocates: each rank puts a
 * byte into the last of its neighbour's window and gets it from there, and the base is what it was.
 * Stock MPICH 4.0.2 fails this with UCX 1.13 or later.
 *
 * win_create */

#include "testutil.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, failures;

static void fail(const char *what, size_t length, size_t offset)
{
    fprintf(stderr, "win_create: rank %d: %s is wrong, of %zu bytes at offset %zu\n", rank, what,
            length, offset);
    failures++;
}

static void check(MPI_Win win, const char *base, size_t length, size_t offset)
{
    char *said, got = -1, mine = (char) (rank + 1), left = (char) ((rank + size - 1) % size + 1);
    int right = (rank + 1) % size, found;

    MPI_Win_get_attr(win, MPI_WIN_BASE, &said, &found);
    if (!found || said != base)
        fail("MPI_WIN_BASE", length, offset);
    MPI_Win_fence(0, win);
    MPI_Put(&mine, 1, MPI_CHAR, right, (MPI_Aint) length - 1, 1, MPI_CHAR, win);
    MPI_Win_fence(0, win);
    if (base[length - 1] != left)
        fail("what was put", length, offset);
    MPI_Get(&got, 1, MPI_CHAR, right, (MPI_Aint) length - 1, 1, MPI_CHAR, win);
    MPI_Win_fence(0, win);
    if (got != mine)
        fail("what was got", length, offset);
}

static void check_create(size_t length, size_t offset)
{
    char *room = calloc(length + offset, 1);
    MPI_Win win;

    if (!room)
        tu_fail("win_create", "out of memory");
    MPI_Win_create(room + offset, (MPI_Aint) length, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    check(win, room + offset, length, offset);
    MPI_Win_free(&win);
    free(room);
}

static void check_allocate(size_t length)
{
    MPI_Win win;
    char *base;

    MPI_Win_allocate((MPI_Aint) length, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    memset(base, 0, length);
    check(win, base, length, 0);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    static const size_t lengths[] = {1, 8, 100, 4096, 5000, 1000000};
    static const size_t offsets[] = {0, 1, 8, 40, 4095};
    int all;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        for (size_t j = 0; j < sizeof(offsets) / sizeof(offsets[0]); j++)
            check_create(lengths[i], offsets[j]);
        check_allocate(lengths[i]);
    }
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && all == 0)
        printf("win_create: right\n");
    tu_meet(MPI_COMM_WORLD);
    MPI_Finalize();
    return all != 0;
}
