#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# A rank that never comes, after 40 s in which it did: the verdict names it, says what it does, and ends
# the job.
# Exit code: 0 passed, 1 failed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/same.sh"
limit=120

"$here/build.sh" --mpi "$mpi" --out "$bin" outside

# hangs KIND RANK RULE WHAT
hangs() {
    # shellcheck disable=SC2016
    MPIR_CVAR_FAULTLOC_ACTION=abort outcome_once on 1 -n 8 bash -c \
        'export MPIR_CVAR_FAULTLOC_NODE_NAME=n$((PMI_RANK / 2)); exec "$@"' x \
        "$bin/outside" --kind "$1" --rank "$2" --after 40
    grep -q "^\[faultloc\] user-code-hang: rank $2 " "$work/on.err" &&
        grep -q "rule user-code-hang/$3\$" "$work/on.err" &&
        grep -q "rank $2 outside MPI for .*$4" "$work/on.err" &&
        grep -qx 'exit code 1' "$work/on" || bad "$1: $(cat "$work/on" "$work/on.err")"
    echo "ok: $1"
}
hangs sleep 3 blocked 'blocked'
hangs spin 6 burns-cpu 'burning CPU'
