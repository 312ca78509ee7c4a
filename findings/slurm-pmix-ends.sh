#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Slurm 22.05.8 (Debian 22.05.8-4+deb12u3) with PMIx 4.2.2: under `srun --mpi=pmix` a rank that is killed takes the whole
# step with it, whatever --kill-on-bad-exit says, and PMIx_Abort() of one process does, too.
#
# srun(1) says of --kill-on-bad-exit=0 that the step is not terminated if a task exits with a non-zero exit code, and
# PMIx_Abort(3) that it aborts the processes in its array.  A guess by that: with --kill-on-bad-exit=0 --wait=0 the
# others live on after a kill -9 of one, as with --mpi=none and pmi2; and PMIx_Abort() of one process ends that one, or
# says that it is not supported.
# Seen: Slurm's plugin cancels the step as soon as the connection of a client is lost without PMIx_Finalize(): all are
# killed at once.  PMIx_Abort() of one process has no error, and all are killed, its caller as well.
# So: a program that is to go on after the loss of a rank, and a tool that has a second to locate it, use --mpi=pmi2.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, no root or no namespaces.
. "$(dirname "$0")/lib/slurm.sh"

compile rank <<'END'
#include <pmix.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Process 1 is killed, or process 0 aborts it; the last one says later that it lives. */
int main(int argc, char **argv)
{
    int rank = atoi(getenv("SLURM_PROCID")), pmix = strcmp(argv[1], "none");
    pmix_proc_t me, one;
    pmix_info_t info;
    bool yes = true;

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (pmix) {
        if (PMIx_Init(&me, NULL, 0))
            return 1;
        PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
        PMIx_Fence(NULL, 0, &info, 1);
    }
    sleep(2);
    if (rank == 1 && strcmp(argv[1], "abort"))
        raise(SIGKILL);
    if (rank == 0 && !strcmp(argv[1], "abort")) {
        PMIX_LOAD_PROCID(&one, me.nspace, 1);
        PMIx_Abort(3, "one", &one, 1);
    }
    sleep(6);
    if (rank == 2)
        printf("the others live\n");
    sleep(2);
    if (pmix)
        PMIx_Finalize(NULL, 0);
    return 0;
}
END

run() {
    local what=$1
    shift
    timeout 60 srun -N 2 -n 4 --overcommit --kill-on-bad-exit=0 --wait=0 "$@" </dev/null >out 2>>err || :
    grep -q 'live' out || echo 'all are killed' >>out
    echo "$what: $(tr -d '\n' <out)"
}
{
    run 'a rank is killed, --mpi=none' --mpi=none ./rank none
    run 'a rank is killed, --mpi=pmix' --mpi=pmix ./rank kill
    run 'PMIx_Abort() of one' --mpi=pmix ./rank abort
} | tee seen
diff - seen <<'END' || { cat err; echo "it is otherwise now"; exit 1; }
a rank is killed, --mpi=none: the others live
a rank is killed, --mpi=pmix: all are killed
PMIx_Abort() of one: all are killed
END
echo "as seen with Slurm $version and PMIx 4.2.2"
