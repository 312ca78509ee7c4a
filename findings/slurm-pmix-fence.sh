#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Slurm 22.05.8 (Debian 22.05.8-4+deb12u3) with PMIx 4.2.2: PMIx_Fence across nodes is no barrier, unless it is asked to
# collect data.
#
# PMIx_Fence(3) and the standard say that it executes a blocking barrier across the processes named.  A guess by
# that: under `srun --mpi=pmix` it returns when all have called it, and where a process is late, dead or stopped it does
# not return, or returns an error, or PMIX_ERR_TIMEOUT where PMIX_TIMEOUT is given.
# Seen: it returns PMIX_SUCCESS at once, though a process of another node has not called it.  Only with
# PMIX_COLLECT_DATA it waits as it should: without, Slurm's plugin begins no exchange (mpi.conf(5) names PMIxFenceBarrier,
# which is off).  So: success of a fence is no sign that the others live, or have come so far; and what
# is only safe behind a barrier (closing a connection, removing a file) asks for data to be collected.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, no root or no namespaces.
. "$(dirname "$0")/lib/slurm.sh"

compile fence <<'END'
#include <pmix.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

/* The second process comes four seconds late. */
static void fence(const char *what, pmix_proc_t me, pmix_info_t *info, size_t n)
{
    double begin = now();
    pmix_status_t rc;

    if (me.rank == 1)
        sleep(4);
    rc = PMIx_Fence(NULL, 0, info, n);
    if (me.rank == 0)
        printf("%s: %s, %s\n", what, PMIx_Error_string(rc),
               now() - begin < 2 ? "at once" : "when the other has come");
    sleep(me.rank == 0 ? 6 : 2);
}

int main(void)
{
    pmix_proc_t me;
    pmix_info_t info;
    bool yes = true;

    if (PMIx_Init(&me, NULL, 0))
        return 1;
    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
    fence("fence that collects data", me, &info, 1);
    fence("fence", me, NULL, 0);
    PMIx_Finalize(NULL, 0);
    return 0;
}
END

run() { timeout 60 srun -N 2 --ntasks-per-node=1 --mpi=pmix ./fence </dev/null 2>>err | sort; }
run | tee seen
diff - seen <<'END' || { cat err; echo "it is otherwise now"; exit 1; }
fence that collects data: SUCCESS, when the other has come
fence: SUCCESS, at once
END
echo "as seen with Slurm $version and PMIx 4.2.2"
