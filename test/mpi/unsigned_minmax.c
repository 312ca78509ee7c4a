/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* MPI_MIN and MPI_MAX on every unsigned integer type of C, in the operations that reduce: one
 * operand is 0 and the other the largest number of the type, which is below 0 where it is taken for
 * signed. Stock MPICH 4.0.2 fails this with yaksa, its default datatype engine. To be run with two
 * ranks.
 *
 * unsigned_minmax */

#include "testutil.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define WINDOW 64 /* bytes: a smaller one has a defect of its own in stock MPICH (win_create.c) */

static int rank, failures;

/* Where byte order and size do not matter: all bits 0, or all 1. */
static void check(const void *got, size_t size, int expected, const char *call, const char *op,
                  const char *type)
{
    unsigned char want[sizeof(long long)];

    memset(want, expected, sizeof(want));
    if (memcmp(got, want, size) == 0)
        return;
    fprintf(stderr, "unsigned_minmax: rank %d: %s of %s on %s is wrong\n", rank, call, op, type);
    failures++;
}

static void check_op(MPI_Op op, const char *op_name, int expected, MPI_Datatype type,
                     const char *type_name)
{
    unsigned char ours[sizeof(long long)], others[sizeof(long long)], *target;
    MPI_Win win;
    int size;

    MPI_Type_size(type, &size);
    memset(ours, 0, sizeof(ours));
    memset(others, 0xff, sizeof(others));
    MPI_Reduce_local(ours, others, 1, type, op);
    check(others, (size_t) size, expected, "MPI_Reduce_local", op_name, type_name);

    memset(ours, rank == 0 ? 0 : 0xff, sizeof(ours));
    MPI_Allreduce(ours, others, 1, type, op, MPI_COMM_WORLD);
    check(others, (size_t) size, expected, "MPI_Allreduce", op_name, type_name);

    MPI_Win_allocate(WINDOW, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &target, &win);
    memcpy(target, ours, sizeof(ours));
    memset(others, rank == 0 ? 0 : 0xff, sizeof(others));
    MPI_Win_fence(0, win);
    MPI_Accumulate(others, 1, type, 1 - rank, 0, 1, type, op, win);
    MPI_Win_fence(0, win);
    check(target, (size_t) size, expected, "MPI_Accumulate", op_name, type_name);
    MPI_Win_free(&win);
}

#define TYPE(name) {name, #name}

int main(int argc, char **argv)
{
    int all, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2)
        tu_fail("unsigned_minmax", "two ranks are needed");
    const struct {
        MPI_Datatype type;
        const char *name;
    } types[] = {
        TYPE(MPI_UNSIGNED_CHAR), TYPE(MPI_UNSIGNED_SHORT), TYPE(MPI_UNSIGNED),
        TYPE(MPI_UNSIGNED_LONG), TYPE(MPI_UNSIGNED_LONG_LONG), TYPE(MPI_UINT8_T),
        TYPE(MPI_UINT16_T), TYPE(MPI_UINT32_T), TYPE(MPI_UINT64_T),
    };

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        check_op(MPI_MIN, "MPI_MIN", 0, types[i].type, types[i].name);
        check_op(MPI_MAX, "MPI_MAX", 0xff, types[i].type, types[i].name);
    }
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && all == 0)
        printf("unsigned_minmax: right\n");
    tu_meet(MPI_COMM_WORLD);
    MPI_Finalize();
    return all != 0;
}
