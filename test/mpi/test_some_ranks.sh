#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# FaultLoc is on in some ranks only: it says so, once, and the job runs on without.  Other settings
# that differ between the ranks are those of rank 0: the same fault is located, and the job ended or
# not.
# Exit code: 0 passed, 1 failed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/same.sh"
limit=60

"$here/build.sh" --mpi "$mpi" --out "$bin" alltoall

# each_by SCRIPT N ARGS...: each rank sets up its environment with the script first
each_by() {
    local script=$1 n=$2
    shift 2
    # shellcheck disable=SC2016
    outcome_once on 0 -n "$n" bash -c 'eval "$0"; exec "$@"' "$script" "$bin/alltoall" "$@"
}

# disabled N SCRIPT OFF: the first rank in which it is off
disabled() {
    each_by "$2" "$1" --iterations 50
    grep -qx 'exit code 0' "$work/on" || bad "$2: $(cat "$work/on" "$work/on.err")"
    [ "$(grep -cF '[faultloc]' "$work/on.err")" = 1 ] &&
        grep -qF "disabled: MPIR_CVAR_FAULTLOC is not set on all ranks, e.g. not on rank $3;" \
            "$work/on.err" || bad "$2: $(cat "$work/on.err")"
    echo "ok: $2"
}
apart='export MPIR_CVAR_FAULTLOC_NODE_NAME=n$((PMI_RANK / 2))'
disabled 2 'MPIR_CVAR_FAULTLOC=$((PMI_RANK == 0))' 1
disabled 2 'MPIR_CVAR_FAULTLOC=$((PMI_RANK == 1))' 0
disabled 4 "$apart MPIR_CVAR_FAULTLOC=\$((PMI_RANK != 2))" 2
disabled 4 "$apart MPIR_CVAR_FAULTLOC=\$((PMI_RANK / 2))" 0

# The report's folder is the job's; rank 2 stops itself.
each_by 'export MPIR_CVAR_FAULTLOC=1 MPIR_CVAR_FAULTLOC_NODE_NAME=n$PMI_RANK
    export MPIR_CVAR_FAULTLOC_FANOUT=$((PMI_RANK + 1)) MPIR_CVAR_FAULTLOC_STALL_MS=$((PMI_RANK * 9000 + 500))
    [ $PMI_RANK != 0 ] || export MPIR_CVAR_FAULTLOC_ACTION=abort' 4 --seconds 60 --silent 2 --how stop
grep -q '^\[faultloc\] process-stopped: rank 2 ' "$work/on.err" &&
    grep -qx 'exit code 1' "$work/on" || bad "settings that differ: $(cat "$work/on" "$work/on.err")"
echo "ok: settings that differ are those of rank 0"
