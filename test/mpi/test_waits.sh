#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# What a rank says of its wait when it is asked. Over OFI no rank waits in MPI_Finalize for others.
# Exit code: 0 passed, 1 failed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/same.sh"

device=$(LD_LIBRARY_PATH=$mpi/lib "$mpi/bin/mpichversion" | sed -n 's/^MPICH Device:[[:space:]]*//p')
[ "$device" = ch4:ucx ] || export WAITS_LEAVE_AT_ONCE=1
"$here/build.sh" --mpi "$mpi" --out "$bin" waits
# nobody else is to ask: no rank waits for an hour
export MPIR_CVAR_FAULTLOC_STALL_MS=3600000
# tell ASYNC [OPTION]: ASYNC 1: MPICH has a thread of its own for progress
tell() {
    head -c 4096 /dev/zero >"$work/shared"
    MPIR_CVAR_ASYNC_PROGRESS=$1 outcome on 1 -n 4 "$bin/waits" "$work/shared" "${@:2}"
    printf 'all waits are told\nexit code 0\n' | diff - "$work/on" || bad "$(cat "$work/on.err")"
}
tell 0
if grep -q MPIR_THREAD_VCI_HANDLE_MUTEX "$mpi/lib/libmpi.so"; then
    echo "left out: several threads in MPI, of which nothing is told where each VCI has a lock"
    exit 0
fi
tell 0 --threads
tell 1 --threads
