#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# MPICH 4.0.2 (Debian 4.0.2-3+b1): the error handler of a session is not used, and cannot be made before there is one.
#
# MPI 4.0 has MPI_Session_init() take a handler, has MPI_Session_create_errhandler() among the calls that are good
# before it, and MPI_Group_from_session_pset() raise its errors at the session.  A guess: with MPI_ERRORS_RETURN there,
# a program asks for a process set that the launcher may not have, and goes on when it is told that there is none.
# Seen: it is ended, "Fatal error in internal_Group_from_session_pset: Invalid argument"; with a handler of its own
# (MPI_Session_set_errhandler), which is not called, as well.  MPI_Session_create_errhandler() before
# MPI_Session_init() ends the process with exit code 1.  MPI_ERRORS_RETURN that is given to
# MPI_Comm_create_from_group() holds.  So: look for a name by MPI_Session_get_nth_pset() before it is asked for.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/mpich.sh"

compile session <<'END'
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static void handle(MPI_Session *session, int *code, ...)
{
    puts("the handler is called");
}

int main(int argc, char **argv)
{
    MPI_Session session;
    MPI_Errhandler handler;
    MPI_Group group;
    MPI_Comm comm;

    setlinebuf(stdout);
    if (!strcmp(argv[1], "early"))
        MPI_Session_create_errhandler(handle, &handler);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    if (!strcmp(argv[1], "set")) {
        MPI_Session_create_errhandler(handle, &handler);
        MPI_Session_set_errhandler(session, handler);
    }
    if (!strcmp(argv[1], "comm")) {
        MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
        MPI_Comm_create_from_group(group, "", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
        MPI_Send(NULL, 0, MPI_INT, 99, 0, comm);
    } else if (strcmp(argv[1], "early")) {
        MPI_Group_from_session_pset(session, "site://none", &group);
    }
    puts("it goes on");
    return 0;
}
END
run() {
    code=0
    mpiexec "${local[@]}" -n 1 ./session "$1" >out 2>err || code=$?
    echo "$2: $(cat out err | grep -oE 'it goes on|the handler is called|Fatal error in [A-Za-z_]*|Attempting to use an MPI routine' |
        paste -sd ';')$([ $code = 0 ] || echo ', not 0')"
}
{
    run comm 'a send to no rank, MPI_ERRORS_RETURN'
    run init 'an unknown process set, MPI_ERRORS_RETURN'
    run set 'an unknown process set, a handler'
    run early 'a handler is made first'
} | tee seen
diff - seen <<'END' || { cat err; echo "it is otherwise now"; exit 1; }
a send to no rank, MPI_ERRORS_RETURN: it goes on
an unknown process set, MPI_ERRORS_RETURN: Fatal error in internal_Group_from_session_pset, not 0
an unknown process set, a handler: Fatal error in internal_Group_from_session_pset, not 0
a handler is made first: Attempting to use an MPI routine, not 0
END
echo "as seen with MPICH 4.0.2"
