#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Programs with sessions: faultloc begins with the first communicator of all ranks, or with MPI_Init,
# whichever comes first; and once only. MPICH 4.0 begins it with MPI_Init alone.
# Exit code: 0 passed, 1 failed, 77 skipped: MPICH 4.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/same.sh"

if LD_LIBRARY_PATH=$mpi/lib "$mpi/bin/mpichversion" | grep -q '^MPICH Version:[[:space:]]*4'; then
    echo "skipped: with MPICH 4 sessions alone do not begin faultloc"
    exit 77
fi
"$here/build.sh" --mpi "$mpi" --out "$bin" sessions

# job HOW PATTERN: what is said of it, if anything
job() {
    MPIR_CVAR_FAULTLOC_ACTION=abort limit=60 outcome_once on 1 -n 4 "$bin/sessions" --how "$1"
    if [ -n "$2" ]; then
        grep -qE "^.faultloc. $2" "$work/on.err" || bad "$1: $(cat "$work/on" "$work/on.err")"
    elif grep -F '[faultloc]' "$work/on.err"; then
        bad "$1: FaultLoc finds fault with it"
    fi
    case $1 in
        kill | deadlock) ;;
        *) grep -qx "exit code 0" "$work/on" || bad "$1: $(cat "$work/on" "$work/on.err")" ;;
    esac
    echo "ok: $1"
}

job kill 'process-crash: rank 1 '
job deadlock 'deadlock: ranks 0-1 '
job init ''
job mixed ''
job part 'not on yet: '
job again 'disabled: MPI has ended in this process before'
