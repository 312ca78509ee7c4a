#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# The same as test/mpi/test_lost_peer.sh on hosts: 2 with 2 ranks each, and 4 with 1 each.
# Arguments: cases of lost_peer (default: all).
# Exit code: 0 passed, 1 failed, 77 no root or no namespaces here.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cluster=$here/cluster
. "$here/../mpi/lost_peer.sh"
mpi=${FAULTLOC_MPI:?names the MPI to be tested, as FAULTLOC_MPI=/opt/mpich-faultloc}

"$cluster" check >/dev/null || exit $?
work=$(mktemp -d)
name=l$$
trap '"$cluster" down --quiet --name "$name" || true; rm -rf "$work"' EXIT
"$here/../mpi/build.sh" --mpi "$mpi" --out "$work" lost_peer
[ $# -gt 0 ] || mapfile -t cases < <("$work/lost_peer" --list)
[ $# -eq 0 ] || cases=("$@")

failed=0
# try CASE RANKS OPTIONS...
try() {
    local label=$1 ranks=$2
    shift 2
    timeout -s INT -k 5 180 "$cluster" run --quiet --name "$name" --faultloc \
        --env MPIR_CVAR_FAULTLOC_REPORT= --mpiexec-arg -disable-auto-cleanup "$@" \
        -- "$work/lost_peer" --case "$label" --limit 60 </dev/null >"$work/out" 2>"$work/err" || true
    if survivors "$work/out" "$label" $((ranks - 1)); then
        echo "$label, $*: ok, control back after $(longest "$work/out") ms"
        return
    fi
    failed=$((failed + 1))
    echo "$label, $*: FAILED:"
    sed 's/^/    /' "$work/out" "$work/err"
}

"$cluster" up --quiet --name "$name" --hosts 4
for label in "${cases[@]}"; do
    try "$label" 4 --hosts 2 --ppn 2
    try "$label" 4 --hosts 4
done
[ $failed -eq 0 ] || { echo "FAILED: $failed of $((2 * ${#cases[@]}))"; exit 1; }
