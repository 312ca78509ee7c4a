#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# mpiexec in a pipe whose reader goes away, as in "mpiexec ... | head", ends as any filter does: by
# SIGPIPE and without a word; so it is with FaultLoc and without, and there is no report of a fault.
# Exit code: 0 passed, 1 failed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/same.sh"

"$here/build.sh" --mpi "$mpi" --out "$bin" alltoall

# filtered ON COMMAND...
filtered() {
    local code on=$1
    shift
    rm -f "$work/report.json"
    code=$(
        # shellcheck disable=SC2030 # it is for mpiexec
        export MPIR_CVAR_FAULTLOC=$on MPIR_CVAR_FAULTLOC_REPORT=$work/report.json
        { (ulimit -c 0; exec timeout -s INT -k 5 60 "$mpi/bin/mpiexec" -n 2 "$@" </dev/null \
            3>&- 2>"$work/err") || echo $? >&3; } 3>&1 >"$work/pipe" &
        head -n 2 <"$work/pipe" >"$work/out"
        wait
    )
    # timeout(1) ends as its command did: by the signal, which a shell calls 141
    if [ "$code" != 141 ] || [ "$(wc -l <"$work/out")" != 2 ] || [ -s "$work/err" ]; then
        bad "FaultLoc $on, $*: exit code $code: $(cat "$work/out" "$work/err")"
    fi
    [ ! -e "$work/report.json" ] || bad "FaultLoc $on, $*: there is a report on it"
    echo "ok: FaultLoc $on: $(basename "$1")"
}

mkfifo "$work/pipe"
for on in 0 1; do
    filtered $on yes
    # shellcheck disable=SC2016 # expanded by the inner shell
    filtered $on bash -c 'yes & exec "$@"' bash "$bin/alltoall" --seconds 50
done
