#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# MPI_THREAD_MULTIPLE with several threads in MPI at the same time. Those that poll are asked while
# they do.  A thread whose waits are short, however many there are, never stalls.
# Exit code: 0 passed, 1 failed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/same.sh"

same -n 2 threads --threads 3 --rounds 100
export MPIR_CVAR_FAULTLOC_STALL_MS=500
same -n 2 threads --threads 8 --rounds 4 --pause-ms 800

# short THREADS: on a busy machine a wait may be long after all.
short() {
    local longest
    MPIR_CVAR_FAULTLOC_TRACE=$work/trace outcome on 1 -n 2 "$bin/threads" --threads "$1" --rounds 400 --collective 1
    grep -qx 'exit code 0' "$work/on" || bad "threads --collective: $(cat "$work/on" "$work/on.err")"
    longest=$(sed -n 's/^LONGEST \([0-9]*\) ms$/\1/p' "$work/on.err")
    [ "${longest:?}" -gt 200 ] || ! grep 'waits in' "$work/trace" ||
        bad "a rank stalls, but none of its calls took more than $longest ms"
    echo "ok: $1 threads whose waits are short, $longest ms at most"
}
short 1
short 3
