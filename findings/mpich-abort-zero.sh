#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# MPICH 4.0.2 (Debian 4.0.2-3+b1): MPI_Abort() with a code that is a multiple of 256 is a job that has done its work.
#
# MPI_Abort(comm, code) is what a program calls that cannot go on; mpiexec has an exit code.  A guess: mpiexec's is not
# 0 after an abort, whatever the code was; a launcher knows of the abort ("cmd=abort" of PMI).
# Seen: mpiexec exits with the low eight bits: with 0 after MPI_Abort(comm, 0), a call by programs that have an error
# code of another kind in hand, and after MPI_Abort(comm, 256) or 512.  "Abort(256) on node 0" stands in what is
# printed, and there is no "BAD TERMINATION".  An error that MPI's own handler finds fatal has a code that is not 0.
# So: a job script that goes by the exit code takes an aborted job for a good one; a program aborts with 1 to 255.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/mpich.sh"

compile abort <<'END'
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        MPI_Abort(MPI_COMM_WORLD, atoi(argv[1]));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
END
for code in 1 0 256 512 257; do
    exit=0
    mpiexec "${local[@]}" -n 2 ./abort $code >out 2>err || exit=$?
    echo "MPI_Abort($code): exit code $exit, $(cat out err | grep -cE '^Abort\(') line of the abort, $(cat out err | grep -c BAD) of a bad termination"
done | tee seen
diff - seen <<'END' || { cat err; echo "it is otherwise now"; exit 1; }
MPI_Abort(1): exit code 1, 1 line of the abort, 0 of a bad termination
MPI_Abort(0): exit code 0, 1 line of the abort, 0 of a bad termination
MPI_Abort(256): exit code 0, 1 line of the abort, 0 of a bad termination
MPI_Abort(512): exit code 0, 1 line of the abort, 0 of a bad termination
MPI_Abort(257): exit code 1, 1 line of the abort, 0 of a bad termination
END
echo "as seen with MPICH 4.0.2"
