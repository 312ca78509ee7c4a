/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* Rank 1 is lost as MPI_Init ends. Nobody needs it for MPI_Init any more, so all others come out of it,
 * and say so.
 *
 * lost_in_init [--when inside|after]
 *
 *     inside   killed in what FaultLoc does last in MPI_Init: each rank starts its helper, and then
 *              all tell each other that they have
 *     after    exit(1) right after its MPI_Init; others may still be in theirs */

#include "testutil.h"

#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_lost_inside;

/* In place of the C library's: by these two flags FaultLoc keeps the code of its helpers loaded, right
 * before it starts one. */
void *dlopen(const char *file, int flags)
{
    void *(*real)(const char *, int) = NULL;

    if (is_lost_inside && (flags & RTLD_NOLOAD) && (flags & RTLD_NODELETE))
        raise(SIGKILL);
    *(void **) &real = dlsym(RTLD_NEXT, "dlopen");
    return real(file, flags);
}

int main(int argc, char **argv)
{
    int rank, is_inside = !strcmp(tu_string(argc, argv, "--when", "inside"), "inside");
    const char *pmi_rank = getenv("PMI_RANK");

    is_lost_inside = is_inside && pmi_rank && atoi(pmi_rank) == 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1)
        exit(EXIT_FAILURE);
    printf("rank %d is out of MPI_Init\n", rank);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
