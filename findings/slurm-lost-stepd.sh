#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Slurm 22.05.8 (Debian 22.05.8-4+deb12u3): nobody is told of the loss of a slurmstepd, the parent of a node's tasks: the job
# is RUNNING, and srun waits, when all tasks have ended.
#
# The kernel may end a slurmstepd for want of memory as any process.  A guess: its tasks end with it, slurmd reports the
# step as failed on that node, and srun says so and ends, as after the loss of a node.
# Seen: a task that prints ends by SIGPIPE at its next line, one that is silent goes on, without a parent that knows of it;
# srun says nothing of either, and ten seconds after the last task has ended it still waits, and the job is RUNNING.  So: a
# job that is RUNNING may have no process left; look for the tasks themselves on each node, and for a slurmstepd of each.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, or no root.
. "$(dirname "$0")/lib/slurm.sh"

await() { for ((i = 0; i < 200; i++)); do "$@" && return; sleep 0.1; done; echo "in vain: $*"; exit 1; }
is_gone() { [ ! -e "/proc/$1" ]; }
lines() { [ "$(wc -l <tasks)" = "$1" ]; }
pid_of() { sed -n "s/^$1 //p" tasks; }
says() { if is_gone "$1"; then echo gone; else echo "goes on"; fi; }

# Task 0 is alone on n1; of n2's, task 1 prints, and task 2 is silent. All end when they are told.
cat >task.sh <<'END'
echo "$SLURM_PROCID $$" >>tasks
until [ -e end ]; do
    [ "$SLURM_PROCID" != 1 ] || echo a line
    sleep 0.2
done
END
touch tasks
SLURM_HOSTFILE=$PWD/hosts
export SLURM_HOSTFILE
printf 'n1\nn2\nn2\n' >hosts
timeout 120 srun -Q -n3 -N2 --distribution=arbitrary sh "$PWD/task.sh" </dev/null >out 2>err &
srun=$!
pids+=("$srun")
await lines 3
stepd=$(awk '{ print $4 }' "/proc/$(pid_of 1)/stat")
kill -KILL "$stepd"
await is_gone "$(pid_of 1)"
{
    echo "the task that prints: $(says "$(pid_of 1)"), the silent one: $(says "$(pid_of 2)")"
    touch end
    await is_gone "$(pid_of 0)"
    await is_gone "$(pid_of 2)"
    sleep 10
    echo "all tasks are gone: srun $(says "$srun"), $(wc -l <err) lines of errors, the job is $(squeue -h -o %T)"
} | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
the task that prints: gone, the silent one: goes on
all tasks are gone: srun goes on, 0 lines of errors, the job is RUNNING
END
echo "as seen with Slurm 22.05.8"
