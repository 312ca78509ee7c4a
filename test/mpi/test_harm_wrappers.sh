#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Programs that a script starts: one that ends before them, waits for them, gives them a session of
# their own. Where they end well the job ends as without FaultLoc; a rank that crashes under a
# script is named.
# Exit code: 0 passed, 1 failed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/same.sh"
limit=60
export UCX_HANDLE_ERRORS=none

for program in alltoall crash; do
    "$here/build.sh" --mpi "$mpi" --out "$bin" $program
done

# alike SCRIPT: the same output and exit code. That a code is not 0 after MPI_Finalize is said.
alike() {
    local script=${1//APP/$bin/alltoall --seconds 0.3}
    outcome off 0 -n 2 bash -c "$script"
    outcome on 1 -n 2 bash -c "$script"
    diff "$work/off" "$work/on" ||
        bad "'$1': output or exit code differ (<: without, >: with FaultLoc): $(cat "$work/on.err")"
    ! grep -F '[faultloc]' "$work/on.err" | grep -vE 'exit code [0-9]+ after MPI_Finalize$' ||
        bad "'$1': FaultLoc finds fault with it"
    echo "ok: $1"
}

# named SCRIPT: rank 1 crashes, and is named; all is cleaned up.
named() {
    local script=${1//APP/$bin/crash --how 11 --after 0.3 --rank 1}
    outcome on 1 -n 2 bash -c "$script"
    ! grep -qxE 'exit code (0|124)' "$work/on" || bad "'$1': $(cat "$work/on" "$work/on.err")"
    grep -qE '^\[faultloc\] process-crash: rank 1 ' "$work/on.err" ||
        bad "'$1': the crash is not named: $(cat "$work/on.err")"
    echo "ok: $1: named"
}

alike 'APP; exit 0'
alike 'APP & exit 0'
alike 'APP & exit 3'
alike '(sleep 0.2; exec APP) & exit 0'
alike 'APP & until false; do sleep 0.1; kill -0 $! 2>/dev/null && exit 3; done'
alike 'APP >/dev/null 2>&1 & exit 0'
alike 'setsid APP'
alike 'setsid -f APP'
alike 'setsid APP & exit 0'
alike 'sleep 1 & exit 0'
named 'APP'
named 'APP; exit 0'
named 'APP & exit 0'
named 'APP & wait; exit 0'
named 'APP; sleep 50'
