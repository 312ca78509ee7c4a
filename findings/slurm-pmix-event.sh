#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Slurm 22.05.8 (Debian 22.05.8-4+deb12u3) with PMIx 4.2.2: a process that calls PMIx_Notify_event() ends the whole step.
#
# PMIx has events for whoever has registered a handler; a library may have codes of its own, below PMIX_EXTERNAL_ERR_BASE,
# to tell its other processes, of a fault for instance.  A guess: the handlers are called, on all nodes for
# PMIX_RANGE_NAMESPACE, on its own for PMIX_RANGE_LOCAL, and the step goes on; or the call is not supported.
# Seen: PMIx_Notify_event() is a success, handlers of the same node are called, and slurmstepd takes any event for an error:
# "Error handler invoked: status = ...", and cancels the step on all nodes.  The other node's handlers are not called.
# PMIX_RANGE_PROC_LOCAL alone, which does not leave the process, does no harm.  So: under srun --mpi=pmix events are no
# means of talking between processes.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, no root or no namespaces.
. "$(dirname "$0")/lib/slurm.sh"

compile notify <<'END'
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pmix_proc_t me;
static volatile int registered, called;

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[], size_t ninfo,
                     pmix_info_t *results, size_t nresults, pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    printf("rank %u: event\n", me.rank);
    fflush(stdout);
    if (done)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

static void on_registered(pmix_status_t status, size_t id, void *arg)
{
    registered = 1;
}

static void on_notified(pmix_status_t status, void *arg)
{
    printf("rank %u: notified, %s\n", me.rank, PMIx_Error_string(status));
    fflush(stdout);
    called = 1;
}

int main(int argc, char **argv)
{
    pmix_status_t code = PMIX_EXTERNAL_ERR_BASE - 7;
    pmix_data_range_t range = atoi(argv[1]);
    bool yes = true;
    pmix_info_t info;
    pmix_proc_t all;

    if (PMIx_Init(&me, NULL, 0))
        return 1;
    PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, on_registered, NULL);
    while (!registered)
        usleep(1000);
    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
    PMIX_LOAD_PROCID(&all, me.nspace, PMIX_RANK_WILDCARD);
    PMIx_Fence(&all, 1, &info, 1);
    if (me.rank == 0 && PMIx_Notify_event(code, &me, range, NULL, 0, on_notified, NULL) == PMIX_SUCCESS)
        while (!called)
            usleep(1000);
    sleep(5);
    printf("rank %u: goes on\n", me.rank);
    fflush(stdout);
    PMIx_Fence(&all, 1, &info, 1);
    PMIx_Finalize(NULL, 0);
    return 0;
}
END
[ -e notify ] || { echo "SKIP: it is not compiled here"; exit 77; }
# Ranks 0 and 1 are on one node, 2 and 3 on the other.  Which of node n1's handlers are called before the end is chance.
run() {
    local code=0
    timeout 60 srun -N 2 -n 4 --ntasks-per-node=2 --mpi=pmix ./notify "$2" </dev/null >out 2>err || code=$?
    echo "$1: exit code $code, $(grep -o 'notified.*' out || :), $(grep -c 'goes on' out || :) of 4 ranks go on," \
        "$(grep -cE 'rank [23]: event' out || :) events on the other node, \"$(grep -om1 'Error handler invoked' err || :)\""
}
{
    run PMIX_RANGE_PROC_LOCAL 7
    run PMIX_RANGE_LOCAL 2
    run PMIX_RANGE_NAMESPACE 3
} | tee seen
diff - seen <<'END' || { cat err; echo "it is otherwise now"; exit 1; }
PMIX_RANGE_PROC_LOCAL: exit code 0, notified, SUCCESS, 4 of 4 ranks go on, 0 events on the other node, ""
PMIX_RANGE_LOCAL: exit code 137, notified, SUCCESS, 0 of 4 ranks go on, 0 events on the other node, "Error handler invoked"
PMIX_RANGE_NAMESPACE: exit code 137, notified, SUCCESS, 0 of 4 ranks go on, 0 events on the other node, "Error handler invoked"
END
echo "as seen with Slurm $version and PMIx 4.2.2"
