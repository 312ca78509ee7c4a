/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* Ranks that are late for MPI_Init, or for MPI_Finalize, until they are let go.
 *
 * late [--init R,...] [--finalize R,...]
 *
 * Each of these ranks writes the file init.R, or finalize.R, as tu_note() does, and waits until
 * there is a file go.init.R, or go.finalize.R, in the same folder, FAULTLOC_TEST_PIDFILE. */

#include "testutil.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static bool is_listed(const char *list, int rank)
{
    char *end;

    for (; *list; list = *end == ',' ? end + 1 : end)
        if (strtol(list, &end, 10) == rank && end != list)
            return true;
        else if (end == list)
            break;
    return false;
}

static void wait_for_go(const char *what, int rank)
{
    struct timespec t = {.tv_nsec = 10000000};
    const char *folder = getenv("FAULTLOC_TEST_PIDFILE");
    char path[4096];

    if (!folder)
        tu_fail("late", "FAULTLOC_TEST_PIDFILE must be set");
    snprintf(path, sizeof(path), "%s/go.%s.%d", folder, what, rank);
    tu_note(what, rank);
    while (access(path, F_OK))
        nanosleep(&t, NULL);
}

int main(int argc, char **argv)
{
    const char *at_init = tu_string(argc, argv, "--init", "");
    const char *at_finalize = tu_string(argc, argv, "--finalize", "");
    const char *number = getenv("PMI_RANK");
    int rank = number ? atoi(number) : 0;

    if (is_listed(at_init, rank))
        wait_for_go("init", rank);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (is_listed(at_finalize, rank))
        wait_for_go("finalize", rank);
    MPI_Finalize();
    return 0;
}
