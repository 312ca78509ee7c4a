/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/*
 * Closes standard output and error and opens a file of its own, which gets their numbers, before
 * MPI_Init or after it; then rank 1 is stopped, which FaultLoc reports.
 *
 *     own_output before|after FOLDER
 *
 * Where LOADED names libmpi.so, the program is not linked with it, but loads it, like an interpreter.
 */

#include <mpi.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef LOADED
#include <dlfcn.h>

static int call(const char *name, int comm)
{
    static void *mpi;
    int (*f)(int, int *);

    if (!mpi && !(mpi = dlopen(LOADED, RTLD_NOW | RTLD_GLOBAL)))
        _exit(3);
    *(void **) &f = dlsym(mpi, name);
    return f ? f(comm, NULL) : -1;
}

#define MPI_Init(argc, argv) call("MPI_Init", 0)
#define MPI_Barrier(comm) call("MPI_Barrier", comm)
#define MPI_Finalize() call("MPI_Finalize", 0)
#endif

static void open_own(const char *folder)
{
    char name[512];

    snprintf(name, sizeof(name), "%s/result.%s", folder, getenv("PMI_RANK"));
    close(STDOUT_FILENO);
    close(STDERR_FILENO);
    if (open(name, O_CREAT | O_TRUNC | O_RDWR, 0600) != STDOUT_FILENO ||
        dup(STDOUT_FILENO) != STDERR_FILENO || write(STDOUT_FILENO, "data\n", 5) != 5)
        _exit(2);
}

int main(int argc, char **argv)
{
    if (!strcmp(argv[1], "before"))
        open_own(argv[2]);
    MPI_Init(&argc, &argv);
    if (!strcmp(argv[1], "after"))
        open_own(argv[2]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(getenv("PMI_RANK"), "1"))
        raise(SIGSTOP);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
