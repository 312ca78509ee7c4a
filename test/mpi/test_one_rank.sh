#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# A job of one rank, with mpiexec and without.
# Exit code: 0 passed, 1 failed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/same.sh"

same -n 1 alltoall --iterations 1000
same -n 1 sendrecv_self --pairs 1000

for value in 0 1; do
    MPIR_CVAR_FAULTLOC=$value "$bin/sendrecv_self" --pairs 10 >"$work/single.$value" 2>&1 ||
        bad "without mpiexec, MPIR_CVAR_FAULTLOC=$value: $(cat "$work/single.$value")"
done
cmp "$work/single.0" "$work/single.1" || bad "without mpiexec the output differs"
echo "ok: without mpiexec: $(cat "$work/single.1")"
