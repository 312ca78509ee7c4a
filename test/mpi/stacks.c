/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* For test_stacks.sh: rank 2 sleeps outside MPI, rank 1 computes, and the others wait for rank 2,
 * all in functions of known names, on lines that bear them.  When a file of that name is there rank
 * 2 goes on, and so do all: whoever was looked at must not have noticed.
 *
 * With --deadlock each rank waits for the next one instead, and the last one in another function.
 *
 * stacks FILE
 * stacks --deadlock */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int rank, size;
static volatile long turns;
static const char *file;

static __attribute__((noinline)) void lost_here(void)
{
    const struct timespec pause = {.tv_nsec = 100000000};

    while (access(file, F_OK)) {
        nanosleep(&pause, NULL); /* line of lost_here */
        turns++;
    }
}

static __attribute__((noinline)) void compute(void)
{
    while (access(file, F_OK))
        turns++;
}

static __attribute__((noinline)) void exchange(void)
{
    int x = 0;

    MPI_Recv(&x, 1, MPI_INT, 2, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    turns += x; /* line behind exchange */
}

static __attribute__((noinline)) void pass_on(void)
{
    int x = 0;

    MPI_Recv(&x, 1, MPI_INT, (rank + 1) % size, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* line of pass_on */
    turns += x;
}

static inline __attribute__((always_inline)) void inlined(void)
{
    int x = 0;

    MPI_Ssend(&x, 1, MPI_INT, 0, 8, MPI_COMM_WORLD); /* line of inlined */
    turns += x;
}

static __attribute__((noinline)) void solve(void)
{
    if (rank == 2)
        lost_here();
    else if (rank == 1)
        compute();
    else
        exchange();
    turns++;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 2 || size < 3)
        return 2;
    file = argv[1];
    MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(file, "--deadlock")) {
        if (rank == size - 1)
            inlined();
        else
            pass_on();
    }
    solve();
    for (int to = 0; rank == 2 && to < size; to++)
        if (to != 1 && to != 2)
            MPI_Send(&rank, 1, MPI_INT, to, 7, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("all have gone on\n");
    MPI_Finalize();
    return 0;
}
