#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# A process comes to a barrier of PMI and ends; the others come later, and go on. It was a process of
# their own host, or all of another. And mpiexec hands signals on to who is left. Stock hydra ends the
# job, and says that something of its own went wrong.
# Exit code: 0 passed, 1 failed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/same.sh"

# left LABEL MPIEXEC-ARGS... PROGRAM ARGS...: rank 1 leaves the barrier, and hydra has no complaint.
# SELF among the arguments is the process number of mpiexec.
left() {
    local label=$1 code=0
    shift
    rm -rf "$work/folder"
    mkdir "$work/folder"
    timeout -s INT -k 5 60 bash -c 'exec "${@/SELF/$$}"' - "$mpi/bin/mpiexec" \
        -disable-auto-cleanup "$@" </dev/null >"$work/out" 2>&1 || code=$?
    [ $code -eq 0 ] && [ "$(cat "$work/out")" = "rank 1 left the barrier" ] ||
        bad "$label: exit code $code: $(tail -n 20 "$work/out")"
    echo "ok: $label"
}

export MPIR_CVAR_FAULTLOC=0
"$here/build.sh" --mpi "$mpi" --out "$bin" pmi_client
apart="-launcher fork -hosts one,two -ppn 1"
left "a process of the same host has died" -n 2 "$bin/pmi_client" "$work/folder"
# shellcheck disable=SC2086  # options
left "the only process of another host has died" $apart -n 2 "$bin/pmi_client" "$work/folder"
# shellcheck disable=SC2086
left "a signal for who is left" $apart -n 2 "$bin/pmi_client" "$work/folder" SELF
