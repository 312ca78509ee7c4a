#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# MPICH 4.0.2 (Debian 4.0.2-3+b1): a program that looks at the control variables before MPI_Init(), or opens a second
# session, ends with a segmentation fault.
#
# The tools interface may be started and ended any number of times (MPI_T_init_thread, MPI_T_finalize), also before
# MPI_Init() and after MPI_Finalize(), and MPI 4.0 has MPI_Session_init() again after MPI_Session_finalize().  A guess:
# a tool lists the variables, ends, and MPI_Init() goes on as without it; the second session is as good as the first.
# Seen: the library is set up once.  What comes after MPI_T_finalize(), MPI_Finalize() or MPI_Session_finalize() has
# ended it reads the variables through a pointer that is NULL: MPI_Init(), MPI_T_init_thread() and MPI_Session_init()
# die of SIGSEGV. So: a tool does not call MPI_T_finalize() before MPI_Init(), and reads its last values before
# MPI_Finalize() (or begins before it, and ends after); a program with sessions keeps the first one open.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/mpich.sh"

compile again <<'END'
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static void tool(void)
{
    int provided, variables;

    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_cvar_get_num(&variables);
    MPI_T_finalize();
}

static void session(void)
{
    MPI_Session session;

    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Session_finalize(&session);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        printf("%s%s", i > 1 ? ", " : "", argv[i]);
        fflush(stdout);
        if (!strcmp(argv[i], "MPI_T"))
            tool();
        else if (!strcmp(argv[i], "session"))
            session();
        else if (!strcmp(argv[i], "MPI_Init"))
            MPI_Init(NULL, NULL);
        else
            MPI_Finalize();
    }
    puts(": well");
    return 0;
}
END
run() { mpiexec "${local[@]}" -n 1 ./again "$@" >>out 2>>err || :; }
run MPI_Init MPI_T MPI_Finalize
run MPI_T MPI_Init MPI_Finalize
run MPI_Init MPI_Finalize MPI_T
run session
run session session
sed -n -e '/^MPI_[TI]/p' -e '/^session/p' -e 's/.*EXIT STRING: /  /p' out | tee seen
diff - seen <<'END' || { cat err; echo "it is otherwise now"; exit 1; }
MPI_Init, MPI_T, MPI_Finalize: well
MPI_T, MPI_Init
  Segmentation fault (signal 11)
MPI_Init, MPI_Finalize, MPI_T
  Segmentation fault (signal 11)
session: well
session, session
  Segmentation fault (signal 11)
END
echo "as seen with MPICH 4.0.2"
