#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Open MPI 4.1.4 (Debian 4.1.4-3+b1): a program that is not there ends mpirun with 132, the code of an illegal
# instruction, and a working directory that is not there with 135, that of a bus error.
#
# A rank that signal N ends has mpirun exit with 128 + N, 137 after SIGKILL.  A guess by that, and by what shells and
# env(1) do: a program that is not there is 127, one that cannot be executed 126, or all of these are 1; no code above
# 128 is of a process that never began.
# Seen: 132 for both programs, and 135.  132 = 128 + SIGILL and 135 = 128 + SIGBUS are what a job has on a node with a
# wrong build or with bad memory, so that who sorts jobs by their exit code takes a misspelt path for a fault of the
# hardware.  So: mpirun's words "unable to launch the specified application" decide.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/openmpi.sh"
run() {
    local code=0
    timeout 60 usr/bin/orterun -n 1 "$@" </dev/null >out 2>&1 || code=$?
    echo "${*/#$work/.}: exit code $code, $(grep -c 'unable to launch' out) line of no launch"
}
run true >first
[[ $(cat first) == *'code 0,'* ]] || { echo "SKIP: it does not run here"; exit 77; }
touch plain
{
    run sh -c 'exit 3'
    run sh -c 'kill -ILL $$'
    run "$work/absent"
    run "$work/plain"
    run --wdir "$work/absent" true
} | tee seen
diff - seen <<'END' || { cat out; echo "it is otherwise now"; exit 1; }
sh -c exit 3: exit code 3, 0 line of no launch
sh -c kill -ILL $$: exit code 132, 0 line of no launch
./absent: exit code 132, 1 line of no launch
./plain: exit code 132, 1 line of no launch
--wdir ./absent true: exit code 135, 1 line of no launch
END
echo "as seen with Open MPI 4.1.4"
