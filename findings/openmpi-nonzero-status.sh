#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Open MPI 4.1.4 (Debian 4.1.4-3+b1): with orte_abort_on_non_zero_status 0 ranks that fail are a job that succeeded.
#
# mpirun ends the job as soon as a rank exits with a code other than 0; with "--mca orte_abort_on_non_zero_status 0" the
# others go on, as a run of many independent ranks wants.  A guess: in the end mpirun's exit code is that of a rank that
# failed, and it says so, as without the parameter.
# Seen: exit code 0 and no message, also where all ranks have failed.  So: ranks that are started so leave their
# results, or their codes, in files of their own.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/openmpi.sh"
run() {
    local code=0
    timeout 60 usr/bin/orterun --oversubscribe -n 2 "$@" </dev/null >out 2>&1 || code=$?
    echo "$*: exit code $code, $([ -s out ] && echo a || echo no) message"
}
parameter=(--mca orte_abort_on_non_zero_status 0)
{
    run true
    run sh -c 'exit 3'
    run "${parameter[@]}" sh -c 'exit 3'
    run "${parameter[@]}" sh -c 'exit $((3 * OMPI_COMM_WORLD_RANK))'
} >seen
cat seen
[[ $(head -n 1 seen) == *'code 0,'* ]] || { echo "SKIP: it does not run here"; exit 77; }
diff - seen <<'END' || { cat out; echo "it is otherwise now"; exit 1; }
true: exit code 0, no message
sh -c exit 3: exit code 3, a message
--mca orte_abort_on_non_zero_status 0 sh -c exit 3: exit code 0, no message
--mca orte_abort_on_non_zero_status 0 sh -c exit $((3 * OMPI_COMM_WORLD_RANK)): exit code 0, no message
END
echo "as seen with Open MPI 4.1.4"
