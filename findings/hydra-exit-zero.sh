#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Hydra 4.0.2 (Debian's mpich 4.0.2-3+b1): a rank that exits with 0 before it has finalized ends the job, without a
# word, and mpiexec exits with 0.
#
# mpiexec waits for all processes, and reports a bad end ("BAD TERMINATION").  A guess: a process that exits with 0
# ends well, so the others go on; or, since PMI was initialized and not finalized, it is a bad end that is reported,
# with an exit code that is not 0.
# Seen: the other ranks are killed at once, nothing is printed, and the exit code is 0, as of a job that has done its
# work.  (A library that calls exit(0) in one rank does that.)  After the rank has finalized, the others go on, also
# if it exits with 3 then.  So: mpiexec's exit code 0 does not say that all ranks came to their end.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/hydra.sh"

# A rank, as a client of PMI-1.  Rank 0 does what it is told; rank 1 goes on for a while.
cat >rank.sh <<'END'
eval "exec 3<&$PMI_FD 4>&$PMI_FD"
pmi() { echo "cmd=$1" >&4; read -r answer <&3; }
pmi 'init pmi_version=1 pmi_subversion=1'
pmi barrier_in
if [ "$PMI_RANK" = 0 ]; then sleep 1; eval "$1"; fi
sleep 3
echo 'rank 1 goes on'
pmi finalize
END
run() {
    local code=0
    echo "$1"
    mpiexec "${local[@]}" -n 2 bash rank.sh "$1" 2>&1 |
        sed -n -e '/rank 1/p' -e 's/.*\(BAD TERMINATION\).*/\1/p' || code=${PIPESTATUS[0]}
    echo "exit code $code"
}
{
    run 'exit 0'
    run 'pmi finalize; exit 0'
    run 'pmi finalize; exit 3'
    run 'kill -9 $$'
} | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
exit 0
exit code 0
pmi finalize; exit 0
rank 1 goes on
exit code 0
pmi finalize; exit 3
rank 1 goes on
exit code 3
kill -9 $$
BAD TERMINATION
exit code 9
END
echo "as seen with Hydra 4.0.2"
