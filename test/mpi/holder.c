/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* A rank that ends well and leaves a process, in a session of its own, that has its output open.
 *
 * holder [--name NAME] [--seconds S] [--killed 1]
 *
 * --name     what that process is called (holder)
 * --seconds  after which it says "last word" and ends (30)
 * --killed   1: the ranks do not end well, but by SIGKILL */

#include "testutil.h"

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static void stay(const char *name, double seconds)
{
    struct timespec t = {.tv_sec = (time_t) seconds};

    t.tv_nsec = (long) ((seconds - (double) t.tv_sec) * 1e9);
    setsid();
    prctl(PR_SET_NAME, name);
    for (int fd = STDERR_FILENO + 1; fd < 256; fd++) /* PMI's, too */
        close(fd);
    nanosleep(&t, NULL);
    if (write(STDERR_FILENO, "last word\n", 10) < 0) {
        /* nobody is there any more */
    }
    _exit(0);
}

int main(int argc, char **argv)
{
    const char *name = tu_string(argc, argv, "--name", "holder");
    double seconds = tu_number(argc, argv, "--seconds", 30);
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    tu_hello(rank);
    signal(SIGPIPE, SIG_IGN);
    if (rank == 0 && fork() == 0)
        stay(name, seconds);
    MPI_Barrier(MPI_COMM_WORLD);
    if (tu_number(argc, argv, "--killed", 0) > 0)
        raise(SIGKILL);
    tu_meet(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
