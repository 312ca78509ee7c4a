#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# A process in a session of its own has a rank's output open when all ranks have ended. FaultLoc's
# own are waited for for a moment, so that they can tell what they have to, and no longer; others as
# without FaultLoc.
# Exit code: 0 passed, 1 failed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/same.sh"
limit=100
"$here/build.sh" --mpi "$mpi" --out "$bin" holder

# Those that this test has left: the program's path is its own.
end_holders() {
    local pid
    ps -eo pid=,args= | awk -v p="$bin/holder" '$2 == p { print $1 }' |
        while read -r pid; do kill -9 "$pid" 2>/dev/null || :; done
}

# ends yes|no MIN MAX ARGS...: whether the last word is heard, and after how many seconds mpiexec
# ends.
ends() {
    local word=$1 min=$2 max=$3 begin=$SECONDS took got=no
    shift 3
    outcome_once on 1 -n 2 "$bin/holder" "$@"
    took=$((SECONDS - begin))
    end_holders
    ! grep -qx 'last word' "$work/on.err" || got=yes
    [ $got = "$word" ] || bad "holder $*: last word heard: $got: $(cat "$work/on.err")"
    if [ $took -lt "$min" ] || [ $took -gt "$max" ]; then bad "holder $*: ended after $took s"; fi
    echo "ok: holder $*: last word heard: $got, ended after $took s"
}

ends yes 0 30 --name faultloc-agent --seconds 1
ends no 0 30 --name faultloc-agent --seconds 60
ends yes 16 90 --name daemon --seconds 16
grep -q '^\[faultloc\] the 2 ranks on .* ended or left MPI 1[0-9] s ago; mpiexec waits because of 1 of them$' \
    "$work/on.err" && grep -q '^\[faultloc\]   rank 0 on .* (pid [0-9]*): ended, but its output is held open by process [0-9]* (daemon)$' \
    "$work/on.err" || bad "mpiexec does not say who holds the output: $(cat "$work/on.err")"
ends yes 0 30 --name faultloc-agent --seconds 1 --killed 1
ends no 0 30 --name faultloc-agent --seconds 60 --killed 1
ends no 0 30 --name daemon --seconds 60 --killed 1
