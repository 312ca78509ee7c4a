/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/*
 * Says what became of the settings: rank 0 prints whether FaultLoc is on, which is so where the
 * node's board is mapped, and the value of the control variable that is named, which is an integer.
 *
 *     settings [VARIABLE]
 */

#include "testutil.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int is_on(void)
{
    FILE *f = fopen("/proc/self/maps", "r");
    char line[512];
    int found = 0;

    while (f && !found && fgets(line, sizeof(line), f))
        found = strstr(line, "memfd:faultloc") != NULL;
    if (f)
        fclose(f);
    return found;
}

static int value_of(char *name)
{
    MPI_T_cvar_handle handle;
    int index, count, value;

    if (MPI_T_cvar_get_index(name, &index) || MPI_T_cvar_handle_alloc(index, NULL, &handle, &count))
        tu_fail("settings", "no such control variable");
    MPI_T_cvar_read(handle, &value);
    MPI_T_cvar_handle_free(&handle);
    return value;
}

int main(int argc, char **argv)
{
    int provided, rank;

    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s", is_on() ? "on" : "off");
    if (rank == 0 && argc > 1)
        printf(" %d", value_of(argv[1]));
    if (rank == 0)
        printf("\n");
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
