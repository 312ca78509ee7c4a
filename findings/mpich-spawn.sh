#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# MPICH 4.0.2 (Debian 4.0.2-3+b1, ch4:ucx): MPI_Comm_spawn() and MPI_Open_port() never work, and say "Other MPI error".
#
# MPICH's release notes name dynamic processes, mpiexec (Hydra) serves them, and MPI has the classes MPI_ERR_SPAWN and
# MPI_ERR_UNSUPPORTED_OPERATION.  A guess: MPI_Comm_spawn() of a program that is there starts it; where it cannot, the
# class is one of these, and the list of error codes that the call fills says so of each process.
# Seen: both fail with MPI_ERR_OTHER, and nothing is asked of Hydra: the device has no port for a parent to listen at,
# which the text of MPI_Open_port()'s error alone says.  The list of codes is not written.  With the default handler
# the job ends, "Error in spawn call", which reads like a fault of the program that was to be started.  So: what spawns
# workers (mpi4py.futures) needs another device (ch4:ofi), or all of its ranks from mpiexec.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/mpich.sh"

compile spawn <<'END'
#include <mpi.h>
#include <stdio.h>

static const char *text(int rc)
{
    int class = MPI_SUCCESS;

    if (rc)
        MPI_Error_class(rc, &class);
    return class == MPI_SUCCESS ? "success" : class == MPI_ERR_SPAWN ? "MPI_ERR_SPAWN" :
           class == MPI_ERR_UNSUPPORTED_OPERATION ? "MPI_ERR_UNSUPPORTED_OPERATION" :
           class == MPI_ERR_OTHER ? "MPI_ERR_OTHER" : "another error";
}

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME];
    int codes[2] = {-7, -7};
    MPI_Comm parent, workers;

    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL) {
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        printf("spawn: %s", text(MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_SELF, &workers, codes)));
        printf(", codes %s\n", codes[0] == -7 ? "not written" : "written");
        printf("open port: %s\n", text(MPI_Open_port(MPI_INFO_NULL, port)));
    }
    MPI_Finalize();
    return 0;
}
END
mpiexec "${local[@]}" -n 1 "$PWD/spawn" 2>err | tee seen
diff - seen <<'END' || { cat err; echo "it is otherwise now"; exit 1; }
spawn: MPI_ERR_OTHER, codes not written
open port: MPI_ERR_OTHER
END
echo "as seen with MPICH 4.0.2"
