#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# MPICH 4.0.2 (Debian 4.0.2-3+b1, ch4:ucx): the functions for going on after a failure are there, and each ends the job.
#
# mpi.h declares MPIX_Comm_revoke(), _shrink(), _agree() and _failure_ack(), the library has them, and there is a
# variable MPIR_CVAR_ENABLE_FT.  A guess: they work, or return an error of class MPI_ERR_UNSUPPORTED_OPERATION where
# the device lacks them, so that a program which looks for the symbols, and sets MPI_ERRORS_RETURN, has a way around.
# Seen: each fails an assertion in the library and aborts, also where no process has failed, and with
# MPIR_CVAR_ENABLE_FT=1.  So: that configure finds MPIX_Comm_shrink() says nothing; what was written for MPICH's older
# device (ch3), where they work, is tried before it is needed.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/mpich.sh"

compile failure <<'END'
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    MPI_Comm comm, other;
    int rank, flag = 1, rc;

    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (!strcmp(argv[1], "revoke"))
        rc = MPIX_Comm_revoke(comm);
    else if (!strcmp(argv[1], "shrink"))
        rc = MPIX_Comm_shrink(comm, &other);
    else if (!strcmp(argv[1], "agree"))
        rc = MPIX_Comm_agree(comm, &flag);
    else
        rc = MPIX_Comm_failure_ack(comm);
    if (rank == 0)
        puts(rc ? "an error" : "success");
    MPI_Finalize();
    return 0;
}
END
for name in revoke shrink agree failure_ack; do
    code=0
    mpiexec "${local[@]}" -n 2 -genv MPIR_CVAR_ENABLE_FT 1 ./failure $name >out 2>err || code=$?
    echo "$name: $(grep -E '^(an error|success)' out || :)$(grep -oE -m 1 'Assertion failed' out err | sed 's/.*://'), exit code $code"
done | tee seen
diff - seen <<'END' || { cat err; echo "it is otherwise now"; exit 1; }
revoke: Assertion failed, exit code 1
shrink: Assertion failed, exit code 1
agree: Assertion failed, exit code 1
failure_ack: Assertion failed, exit code 1
END
echo "as seen with MPICH 4.0.2"
