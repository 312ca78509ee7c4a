#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Ranks that return from main without MPI_Finalize. Stock hydra takes exit code 0 for a success, and
# is otherwise in a race between the ranks; with FaultLoc the first is named, and the exit code says
# that something was wrong.
# Exit code: 0 passed, 1 failed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/same.sh"

# named N CODE WORDS ARGS...: the exit code, and how the first to end is said to have ended.
named() {
    local n=$1 code=$2 words=$3
    shift 3
    "$here/build.sh" --mpi "$mpi" --out "$bin" nofinalize
    outcome on 1 -n "$n" "$bin/nofinalize" "$@"
    grep -qx "exit code $code" "$work/on" || bad "-n $n nofinalize $*: $(cat "$work/on" "$work/on.err")"
    grep -q "^\[faultloc\] rank [0-9]* on .* was the first to end: $words before MPI_Finalize" \
        "$work/on.err" || bad "-n $n nofinalize $*: $(cat "$work/on.err")"
    echo "ok: mpiexec -n $n nofinalize $*: exit code $code, $words"
}

named 1 1 "exit code 0"
named 2 1 "exit code 0"
named 2 5 "exit code 5" --code 5
