/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* Loops of one MPI operation each, run by the last rank, for callgrind to count:
 *
 *     mpiexec -n 1 ops : -n 1 valgrind --tool=callgrind --toggle-collect=counted \
 *         --dump-after=counted ops
 *
 * Each operation is run FEW and then MANY times, each time within counted(), which makes one file
 * of callgrind's; the difference of the two is what MANY - FEW operations take, without what is
 * done once. Messages go from the rank to itself, so that nothing depends on another's speed.
 * Prints the operations in the order of the files, one a line; "ops FEW MANY" says how often. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define PENDING 8

struct op {
    const char *name;
    void (*run)(int n);
};

static int me, out = 1, in[PENDING];
static MPI_Win win;

static void send_recv(int n)
{
    for (int i = 0; i < n; i++) {
        MPI_Send(&out, 1, MPI_INT, me, 7, MPI_COMM_WORLD);
        MPI_Recv(in, 1, MPI_INT, me, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void receive_first(int n, int source)
{
    for (int i = 0; i < n; i++) {
        MPI_Request req;

        MPI_Irecv(in, 1, MPI_INT, source, 7, MPI_COMM_WORLD, &req);
        MPI_Send(&out, 1, MPI_INT, me, 7, MPI_COMM_WORLD);
        MPI_Wait(&req, MPI_STATUS_IGNORE);
    }
}

static void irecv_send_wait(int n)
{
    receive_first(n, me);
}

static void any_source(int n)
{
    receive_first(n, MPI_ANY_SOURCE);
}

static void isend_irecv_waitall(int n)
{
    for (int i = 0; i < n; i++) {
        MPI_Request req[2];

        MPI_Isend(&out, 1, MPI_INT, me, 7, MPI_COMM_WORLD, &req[0]);
        MPI_Irecv(in, 1, MPI_INT, me, 7, MPI_COMM_WORLD, &req[1]);
        MPI_Waitall(2, req, MPI_STATUSES_IGNORE);
    }
}

static void sendrecv(int n)
{
    for (int i = 0; i < n; i++)
        MPI_Sendrecv(&out, 1, MPI_INT, me, 7, in, 1, MPI_INT, me, 7, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
}

static void iprobe(int n)
{
    int flag;

    for (int i = 0; i < n; i++)
        MPI_Iprobe(me, 8, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

static void allreduce_self(int n)
{
    for (int i = 0; i < n; i++)
        MPI_Allreduce(&out, in, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
}

static void put(int n)
{
    for (int i = 0; i < n; i++)
        MPI_Put(&out, 1, MPI_INT, me, 0, 1, MPI_INT, win);
}

static void fetch_and_op(int n)
{
    for (int i = 0; i < n; i++)
        MPI_Fetch_and_op(&out, in, MPI_INT, me, 0, MPI_SUM, win);
}

static void ibcast_self(int n)
{
    for (int i = 0; i < n; i++) {
        MPI_Request req;

        MPI_Ibcast(in, 1, MPI_INT, 0, MPI_COMM_SELF, &req);
        MPI_Wait(&req, MPI_STATUS_IGNORE);
    }
}

/* To begin and to end what is pending costs the same for each n, and so falls out. */
static void testall(int n)
{
    MPI_Request req[PENDING];
    int flag;

    for (int i = 0; i < PENDING; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, me, 9, MPI_COMM_WORLD, &req[i]);
    for (int i = 0; i < n; i++)
        MPI_Testall(PENDING, req, &flag, MPI_STATUSES_IGNORE);
    for (int i = 0; i < PENDING; i++)
        MPI_Send(&out, 1, MPI_INT, me, 9, MPI_COMM_WORLD);
    MPI_Waitall(PENDING, req, MPI_STATUSES_IGNORE);
}

/* Not static, not inlined: callgrind counts within, and makes a file at its end. */
void counted(void (*run)(int n), int n);

__attribute__ ((noinline))
void counted(void (*run)(int n), int n)
{
    run(n);
}

static const struct op ops[] = {
    {"send-recv", send_recv},
    {"irecv-send-wait", irecv_send_wait},
    {"isend-irecv-waitall", isend_irecv_waitall},
    {"any-source", any_source}, /* irecv-send-wait with MPI_ANY_SOURCE */
    {"sendrecv", sendrecv},
    {"iprobe", iprobe},
    {"allreduce-self", allreduce_self},
    {"put", put},
    {"fetch-and-op", fetch_and_op},
    {"ibcast-wait-self", ibcast_self},
    {"testall-of-8", testall}, /* that are pending */
};

static void run_all(int few, int many)
{
    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
        ops[i].run(few);        /* what is done the first time is over */
        counted(ops[i].run, few);
        counted(ops[i].run, many);
        printf("%s\n", ops[i].name);
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    int few = argc > 1 ? atoi(argv[1]) : 100, many = argc > 2 ? atoi(argv[2]) : 600, size, *memory;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_lock_all(0, win);
    if (me == size - 1) {
        run_all(few, many);
        for (int i = 0; i < size - 1; i++)
            MPI_Send(&out, 1, MPI_INT, i, 1, MPI_COMM_WORLD);
    } else {
        /* sends nothing meanwhile, which the last rank would have to look at */
        MPI_Recv(in, 1, MPI_INT, size - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
