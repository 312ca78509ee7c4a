#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Slurm 22.05.8 (Debian 22.05.8-4+deb12u3): half of its commands succeed for a job, a partition, a node or a user that
# is not there.
#
# A guess: as "squeue -j" and "scontrol show node" do, each command says that there is no such thing, and exits with 1,
# so that a misspelt name in a script is found.
# Seen: scancel of a job number that no job has says nothing and exits with 0, as if it were cancelled; sinfo -p prints
# nothing, sinfo -n prints the partition with 0 nodes, in state n/a, and squeue -u prints an error and a table without
# jobs: all with exit code 0.  squeue -w and scancel -u exit with 1.  So: an empty answer is no evidence that a
# partition has no node that is down, or that a user has no job; and whether a job is cancelled is asked by squeue.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, no root or no namespaces.
. "$(dirname "$0")/lib/slurm.sh"

run() {
    local code=0
    timeout 60 "$@" </dev/null >out 2>err || code=$?
    echo "$*: '$(tr -s ' ' <out)', $(grep -c . err || :) lines of errors, exit code $code"
}
{
    run scancel 999999
    run scancel -u nosuchuser
    run squeue -h -j 999999
    run squeue -h -u nosuchuser
    run squeue -h -w n9
    run sinfo -h -p nosuch
    run sinfo -h -o '%P %D %t' -n n9
    run scontrol show partition nosuch
    run scontrol show node n9
} | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
scancel 999999: '', 0 lines of errors, exit code 0
scancel -u nosuchuser: '', 1 lines of errors, exit code 1
squeue -h -j 999999: '', 1 lines of errors, exit code 1
squeue -h -u nosuchuser: '', 1 lines of errors, exit code 0
squeue -h -w n9: '', 1 lines of errors, exit code 1
sinfo -h -p nosuch: '', 0 lines of errors, exit code 0
sinfo -h -o %P %D %t -n n9: 'all* 0 n/a', 0 lines of errors, exit code 0
scontrol show partition nosuch: 'Partition nosuch not found', 0 lines of errors, exit code 1
scontrol show node n9: 'Node n9 not found', 0 lines of errors, exit code 1
END
echo "as seen with Slurm $version"
