#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# An agent ends the job by a signal to a rank, and tells the launcher: it names no crash, cleans up
# at once, and ends as after an abort. Also where the rank is under a script, which ends with a code
# of its own.
# Exit code: 0 passed, 1 failed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/same.sh"
limit=30
export MPIR_CVAR_FAULTLOC_ACTION=abort MPIR_CVAR_FAULTLOC_PATIENCE_MS=0
"$here/build.sh" --mpi "$mpi" --out "$bin" ending

# ended ARGS...
ended() {
    outcome on 1 "$@"
    grep -qx 'exit code 1' "$work/on" || bad "$*: $(cat "$work/on" "$work/on.err")"
    grep -qE '^\[faultloc\] FaultLoc ended the job because of its verdict process-stopped \(action abort\), by a signal to rank 0 on ' \
        "$work/on.err" || bad "$*: it is not said: $(cat "$work/on.err")"
    grep -qE '^\[faultloc\]   process-stopped: rank 1 ' "$work/on.err" || bad "$*: $(cat "$work/on.err")"
    ! grep -E 'process-crash|was the first|ended, too' "$work/on.err" || bad "$*: a crash is named"
    echo "ok: mpiexec $*"
}

# Two nodes in name: rank 0 is alone on the first.
name='export MPIR_CVAR_FAULTLOC_NODE_NAME=n$((PMI_RANK > 0));'
ended -n 3 bash -c "$name exec $bin/ending"
ended -n 3 bash -c "$name $bin/ending; exit 0"
ended -n 3 bash -c "$name $bin/ending & exit 0"
ended -disable-auto-cleanup -n 3 bash -c "$name exec $bin/ending"
