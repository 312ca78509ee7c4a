#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Slurm 22.05.8 (Debian 22.05.8-4+deb12u3): a HealthCheckProgram that fails changes nothing; jobs go on to the node.
#
# slurm.conf(5) has it executed on all nodes at an interval; a Prolog or an Epilog whose exit code is not 0 drains the
# node.  A guess: so does a health check that exits with 1, or that a signal ends, and its output is the reason.
# Seen: the node stays idle without a reason, and the next job runs on it.  The exit code and the output are in
# slurmd's log of the node alone, as "health_check failed".  So: the program has to call "scontrol update
# nodename=... state=drain reason=..." itself, and a node on which it crashes has passed.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, no root or no namespaces.
. "$(dirname "$0")/lib/slurm.sh"
printf 'HealthCheckProgram=%s\nHealthCheckInterval=1\n' "$PWD/check" >>slurm.conf
set_check() {
    printf '#!/bin/sh\n%s\n' "$1" >check.new
    chmod +x check.new
    mv check.new check
}
logged() {
    for ((i = 0; i < 600; i++)); do grep -qs "$1" slurmd.n1.log && return; sleep 0.1; done
    echo "not in slurmd's log: $1"
}
await() { for ((i = 0; i < 300; i++)); do [[ $(sinfo -h -N -n n1 -o %t) == "$1"* ]] && break; sleep 0.1; done; }
node() {
    local code=0
    timeout 60 srun -w n1 true </dev/null >job.out 2>&1 || code=$?
    await idle
    echo "$1: node $(sinfo -h -N -n n1 -o '%T, reason %E'), exit code of a job on it $code"
}
{
    set_check 'echo memory is bad; exit 1'
    scontrol reconfigure
    logged 'health_check failed: rc:1 output:memory is bad'
    node "exit code 1"
    set_check 'kill -9 $$'
    logged 'health_check killed by signal 9'
    node "killed"
    # slurmd's own environment is not passed on.
    set_check "LD_LIBRARY_PATH=$LD_LIBRARY_PATH SLURM_CONF=$SLURM_CONF $(command -v scontrol) update nodename=n1 \\
        state=drain reason='memory is bad'"
    await drain
    echo "calls scontrol: node $(sinfo -h -N -n n1 -o '%T, reason %E')"
} | tee seen
diff - seen <<'END' || { grep health slurmd.n1.log | tail -n 5; echo "it is otherwise now"; exit 1; }
exit code 1: node idle, reason none, exit code of a job on it 0
killed: node idle, reason none, exit code of a job on it 0
calls scontrol: node drained, reason memory is bad
END
echo "as seen with Slurm 22.05.8"
