/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* What has failed, where, and why does FaultLoc think so?  The last rank that is left prints the
 * report, as JSON.
 *
 *     mpicc -o verdicts verdicts.c
 *     export MPIR_CVAR_FAULTLOC=1
 *     mpiexec -n 4 ./verdicts                             a healthy job: no verdicts
 *     mpiexec -disable-auto-cleanup -n 4 ./verdicts 2     rank 2 dies
 */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The report, to be freed; NULL: there is none, or no memory for it. */
static char *get_report(void)
{
    int room = 0, len = 0;
    char *json = NULL, *more;

    /* Asked with no room it says what it takes; there may be more of it by the next time. */
    while (MPIX_Faultloc_verdicts(json, &len) == MPI_SUCCESS) {
        if (len <= room)
            return json;
        room = len;
        more = realloc(json, (size_t) room);
        if (!more)
            break;
        json = more;
    }
    free(json);
    return NULL;
}

int main(int argc, char **argv)
{
    int rank, size, last, victim = argc > 1 ? atoi(argv[1]) : -1;
    double until;
    char *json;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == victim)
        _exit(3);

    until = MPI_Wtime() + 30;
    while ((json = get_report()) != NULL) {
        if (victim < 0 || strstr(json, "\"class\"") || MPI_Wtime() > until)
            break;
        free(json);
        usleep(10000); /* here a program would do its work */
    }
    last = victim == size - 1 ? size - 2 : size - 1;
    if (rank == last)
        puts(json ? json : "no report");
    fflush(stdout);
    free(json);
    MPI_Finalize();
    return 0;
}
