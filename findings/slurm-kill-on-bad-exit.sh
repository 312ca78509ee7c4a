#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Slurm 22.05.8 (Debian 22.05.8-4+deb12u3): with --kill-on-bad-exit srun's exit code is that of the tasks that it has
# killed, 143, not that of the task that failed.
#
# srun(1): the exit code is the highest of all tasks, 128 + N of one that signal N ended; -K ends a step as soon as a task
# exits with a code that is not 0.  A guess: a step that ends because a task exits with 3 has exit code 3, as
# without -K, and 143 is left to steps that somebody cancelled.
# Seen: 143, whatever the code of the first, also where that is 200; 3 without -K.  So: what resubmits a job by its exit
# code takes a failure for a cancellation where -K, or KillOnBadExit=1 of slurm.conf, is on; srun's first "task N:
# Exited with exit code 3" has the cause.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, or no root.
. "$(dirname "$0")/lib/slurm.sh"

run() {
    local code=0
    timeout 60 srun -Q -n2 -N2 "${@:2}" sh -c "[ \$SLURM_PROCID = 1 ] || { $1; }; sleep 3; exit 0" </dev/null >out 2>&1 || code=$?
    echo "$1${2:+, $2}: srun $code, $(grep -oE 'task 0: .*' out | head -n 1)"
}
{
    run 'exit 3'
    run 'exit 3' -K
    run 'exit 200' -K
} | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
exit 3: srun 3, task 0: Exited with exit code 3
exit 3, -K: srun 143, task 0: Exited with exit code 3
exit 200, -K: srun 143, task 0: Exited with exit code 200
END
echo "as seen with Slurm 22.05.8"
