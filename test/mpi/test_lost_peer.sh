#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# One of three ranks on this machine ends itself while the others do something that needs it: each
# of them gets an error of class MPIX_ERR_PROC_FAILED, nothing toward the lost rank succeeds from
# then on, and the two go on with each other. Arguments: cases of lost_peer (default: all).
# Exit code: 0 passed, 1 failed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/same.sh"
. "$here/lost_peer.sh"

"$here/build.sh" --mpi "$mpi" --out "$bin" lost_peer
[ $# -gt 0 ] || mapfile -t cases < <("$bin/lost_peer" --list)
[ $# -eq 0 ] || cases=("$@")
failed=0
for name in "${cases[@]}"; do
    MPIR_CVAR_FAULTLOC=1 MPIR_CVAR_FAULTLOC_REPORT='' timeout -s INT -k 5 120 \
        "$mpi/bin/mpiexec" -disable-auto-cleanup -n 3 "$bin/lost_peer" --case "$name" --limit 60 \
        </dev/null >"$work/out" 2>"$work/err" || true
    if survivors "$work/out" "$name" 2; then
        echo "$name: ok, control back after $(longest "$work/out") ms"
    else
        failed=$((failed + 1))
        echo "$name: FAILED:"
        sed 's/^/    /' "$work/out" "$work/err"
    fi
done
[ $failed -eq 0 ] || bad "$failed of ${#cases[@]} cases"
