#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# MPICH 4.0.2 (Debian 4.0.2-3+b1): MPI_ERRORS_RETURN of MPI_COMM_WORLD is inherited by a communicator that
# MPI_Comm_dup() or MPI_Comm_split() makes, and not by one of MPI_Comm_create(), MPI_Comm_create_group() or
# MPI_Intercomm_merge().
#
# A program that is to outlive an error sets MPI_ERRORS_RETURN at its start.  A guess: each communicator that is made
# of MPI_COMM_WORLD afterwards has it as well, whichever function makes it; and since MPI_Get_version() says 4.0,
# MPI_COMM_SELF's handler is the one for a call that has no communicator, as MPI 4.0 has it.
# Seen: the two ways to make a communicator of a group, and the merge, begin with MPI_ERRORS_ARE_FATAL: an error there,
# a lost peer among them, ends the job.  A call without a communicator (MPI_Type_size) goes by MPI_COMM_WORLD's
# handler, as in MPI 3, and MPI_COMM_SELF's has no part in it.  So: set the handler on each communicator that a library
# makes, and on both of the predefined ones.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/mpich.sh"

compile inherit <<'END'
#include <mpi.h>
#include <stdio.h>

static int rank;

static void show(const char *how, MPI_Comm comm)
{
    MPI_Errhandler handler;

    MPI_Comm_get_errhandler(comm, &handler);
    if (rank == 0)
        printf("%s: %s\n", how, handler == MPI_ERRORS_RETURN ? "returns" : "is fatal");
}

int main(void)
{
    int size = 2, no = 0, bytes;
    MPI_Comm comm, part, inter;
    MPI_Group group;

    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    show("dup", comm);
    MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &part);
    show("split", part);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &no, 0, &comm);
    show("Cart_create", comm);
    MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, 1 - rank, 0, &inter);
    show("Intercomm_create", inter);
    MPI_Intercomm_merge(inter, rank, &comm);
    show("Intercomm_merge", comm);
    MPI_Comm_create_group(MPI_COMM_WORLD, group, 0, &comm);
    show("create_group", comm);
    MPI_Comm_create(MPI_COMM_WORLD, group, &comm);
    show("create", comm);
    if (rank == 0)
        printf("no communicator, WORLD returns: %s\n", MPI_Type_size(MPI_DATATYPE_NULL, &bytes) ? "returns" : "?");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (rank == 0) {
        fflush(stdout);
        printf("no communicator, SELF returns: %s\n", MPI_Type_size(MPI_DATATYPE_NULL, &bytes) ? "returns" : "?");
    }
    MPI_Finalize();
    return 0;
}
END
{ mpiexec "${local[@]}" -n 2 ./inherit 2>err || echo "the job ends: $(grep -o 'Fatal error in internal_Type_size' err)"; } |
    tee seen
diff - seen <<'END' || { cat err; echo "it is otherwise now"; exit 1; }
dup: returns
split: returns
Cart_create: returns
Intercomm_create: returns
Intercomm_merge: is fatal
create_group: is fatal
create: is fatal
no communicator, WORLD returns: returns
the job ends: Fatal error in internal_Type_size
END
echo "as seen with MPICH 4.0.2"
