#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Slurm 22.05.8 (Debian 22.05.8-4+deb12u3) with PMIx 4.2.2: PMIx_Get() with PMIX_TIMEOUT ends in time for a process of
# the same node, and does not for one of another node.
#
# The standard says that PMIX_TIMEOUT is the time in seconds after which the operation ends with an error.  A guess by
# that: under `srun --mpi=pmix`, PMIx_Get() of a key that a process has not put yet, with PMIX_TIMEOUT 2, returns
# PMIX_ERR_TIMEOUT after 2 s, wherever that process is.
# Seen: it does on the own node.  Of a process of another node it has not returned after 20 s, ten times as long, and
# nothing is said: the request is with the other node then, where the time does not count.  So: who asks for the
# address of a process that may hang before it has put it sets a clock of its own (PMIx_Get_nb()).
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, no root or no namespaces.
. "$(dirname "$0")/lib/slurm.sh"

compile get <<'END'
#include <pmix.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *of;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void late(int number)
{
    printf("%s: no answer after 20 s\n", of);
    fflush(stdout);
    _exit(0);
}

static void get(pmix_proc_t me, pmix_rank_t rank, const char *what)
{
    double begin = now();
    pmix_value_t *value;
    pmix_proc_t other;
    pmix_info_t info;
    pmix_status_t rc;
    int two = 2;

    of = what;
    alarm(20);
    PMIX_LOAD_PROCID(&other, me.nspace, rank);
    PMIX_INFO_LOAD(&info, PMIX_TIMEOUT, &two, PMIX_INT);
    rc = PMIx_Get(&other, "key", &info, 1, &value);
    alarm(0);
    printf("%s: %s %s\n", what, PMIx_Error_string(rc), now() - begin < 10 ? "in time" : "late");
    fflush(stdout);
}

int main(void)
{
    pmix_proc_t me;
    pmix_info_t info;
    bool yes = true;

    signal(SIGALRM, late);
    if (PMIx_Init(&me, NULL, 0))
        return 1;
    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
    PMIx_Fence(NULL, 0, &info, 1);
    if (me.rank == 0) {
        get(me, 1, "a process of the same node");
        get(me, 2, "a process of another node");
    }
    sleep(60);
    PMIx_Finalize(NULL, 0);
    return 0;
}
END

timeout 60 srun -N 2 -n 4 --overcommit --mpi=pmix --kill-on-bad-exit=1 ./get </dev/null 2>>err | tee seen || :
diff - seen <<'END' || { cat err; echo "it is otherwise now"; exit 1; }
a process of the same node: TIMEOUT in time
a process of another node: no answer after 20 s
END
echo "as seen with Slurm $version and PMIx 4.2.2"
