#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Slurm 22.05.8 (Debian 22.05.8-4+deb12u3): srun and salloc exit with 0 when the job's node has gone down.
#
# srun(1) says of its return value that it is the highest exit code of the tasks, 128 + N for a signal.  A guess: a job whose
# node is lost (DOWN, for it does not respond, or because an operator or a health check has set it so) is NODE_FAIL, and
# srun's exit code is not 0, so that a script that goes on "if srun ..." does not.
# Seen: "Node failure on n2" on standard error, JobState=NODE_FAIL, and exit code 0 of an srun that had its tasks on that node
# alone, for none of them has told an exit code.  With a second node, srun's code is that of the tasks there, which Slurm ends
# by SIGTERM: 143, or 0 where they catch it and leave in good order.  salloc exits with the code of its command, which runs on.  So: a script tests the job's state (scontrol show job) or looks for
# "Node failure".
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, no root or no namespaces.
. "$(dirname "$0")/lib/slurm.sh"

await() { for _ in $(seq 150); do "$@" && return; sleep 0.2; done; echo "in vain: $*"; exit 1; }
have_begun() { [ "$(grep -c begins out)" = "$1" ]; }
are_idle() { [ "$(sinfo -h -o '%t %D')" = "idle 2" ]; }

# lose WHAT TASKS COMMAND...: n2 goes down when so many tasks of the command have begun.
lose() {
    local code=0 job=
    timeout 100 "${@:3}" >out 2>err </dev/null &
    await have_begun "$2"
    job=$(squeue -h -o %i)
    scontrol update nodename=n2 state=down reason=test
    wait $! || code=$?
    grep -q 'Node failure on n2' err || echo "$1: says nothing of it"
    echo "$1: exit code $code, $(scontrol show job "$job" | grep -o 'JobState=[^ ]*')"
    scontrol update nodename=n2 state=resume
    await are_idle
}
default='echo begins; sleep 60 & wait'
caught='trap "kill \$!; exit 0" TERM; echo begins; sleep 60 & wait'
{
    lose "srun, one node" 1 srun -N 1 -w n2 sh -c "$default"
    lose "srun, two nodes" 2 srun -N 2 sh -c "$default"
    lose "srun, two nodes, SIGTERM is caught" 2 srun -N 2 sh -c "$caught"
    lose "salloc" 1 salloc -N 1 -w n2 sh -c 'srun sh -c "echo begins; sleep 60 & wait"; echo "srun $?" >&2'
} >seen
cat seen
diff - seen <<'END' || { cat out err; echo "it is otherwise now"; exit 1; }
srun, one node: exit code 0, JobState=NODE_FAIL
srun, two nodes: exit code 143, JobState=NODE_FAIL
srun, two nodes, SIGTERM is caught: exit code 0, JobState=NODE_FAIL
salloc: exit code 0, JobState=NODE_FAIL
END
echo "as seen with Slurm $version"
