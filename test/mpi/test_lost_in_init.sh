#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# A rank is lost in the last step of MPI_Init, or right after its own while others may be in theirs:
# every other comes out of MPI_Init, and the lost one is named.
# Exit code: 0 passed, 1 failed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/same.sh"

"$here/build.sh" --mpi "$mpi" --out "$bin" lost_in_init

# comes_out N WORDS ARGS...: how rank 1 is said to have ended.
comes_out() {
    local n=$1 words=$2 rank
    shift 2
    limit=40 outcome on 1 -disable-auto-cleanup -n "$n" "$bin/lost_in_init" "$@"
    for ((rank = 0; rank < n; rank++)); do
        [ $rank -eq 1 ] || grep -qx "rank $rank is out of MPI_Init" "$work/on" ||
            bad "-n $n lost_in_init $*: rank $rank stays in MPI_Init: $(cat "$work/on" "$work/on.err")"
    done
    sends=$(sed -n 's/^rank 1 was not killed, \([0-9]*\) messages$/\1/p' "$work/on")
    [ -z "$sends" ] || words="exit code 1 before MPI_Finalize"
    grep -q "^\[faultloc\] rank 1 on .* was the first to end: $words" "$work/on.err" ||
        bad "-n $n lost_in_init $*: $(cat "$work/on.err")"
}

for n in 3 4 8; do
    comes_out $n "signal 9"
    # they agree by a collective: it has the last message
    [ -z "$sends" ] || comes_out $n "signal 9" --send "$sends"
    [ -z "$sends" ] || bad "-n $n: rank 1 was not killed at its message $sends"
    echo "ok: $n ranks, one killed inside MPI_Init"
done
for ((run = 0; run < 10; run++)); do
    comes_out 8 "exit code 1 before MPI_Finalize" --when after
done
echo "ok: 8 ranks, one gone right after its MPI_Init, 10 times"
