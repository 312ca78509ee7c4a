#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Healthy programs do the same with FaultLoc as without: one rank, with mpiexec and without; several
# on one node, where nobody else can be asked; more than cores; sessions without MPI_Init;
# MPI_Comm_spawn, or the way in which this MPI refuses it.
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

same -n 2 alltoall --iterations 1000
same -n 2 turns --turn 3 --seconds 6
same -n 2 anysource --seconds 3
same -n $((4 * $(nproc))) alltoall --iterations 20
MPIR_CVAR_NOLOCAL=1 same -n $((2 * $(nproc))) alltoall --iterations 20
same -n 1 sessions
same -n 3 sessions
same -n 2 spawn
