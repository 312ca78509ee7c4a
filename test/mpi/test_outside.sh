#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# A rank that never comes, after 40 s in which it did: the verdict names it, says what it does and where in
# its code.  With the action abort one that is blocked ends the job after a minute, and no sooner.
# Exit code: 0 passed, 1 failed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/same.sh"
limit=180

"$here/build.sh" --mpi "$mpi" --out "$bin" outside

# hangs KIND RANK LIMIT RULE WHERE WHAT [ARGUMENT...]: what comes of it is in files KIND*.
hangs() {
    local report=$work/$1.json
    # shellcheck disable=SC2016
    outcome_once "$1" 1 -n 8 bash -c \
        'export MPIR_CVAR_FAULTLOC_NODE_NAME=n$((PMI_RANK / 2)); exec "$@"' x \
        "$bin/outside" --kind "$1" --rank "$2" --after 40 --limit "$3" "${@:7}"
    grep -q "^\[faultloc\] ${4%/*}: rank $2 " "$work/$1.err" &&
        grep -q "rule $4\$" "$work/$1.err" &&
        grep -q "rank $2 $5 for .*$6" "$work/$1.err" &&
        { grep -q "1 rank ($2) .*stay_$1 outside_kinds.h:" "$work/$1.err" ||
            grep -q "^\[faultloc\]   no stacks: " "$work/$1.err"; } || # a busy machine
        bad "$1: $(cat "$work/$1" "$work/$1.err")"
}
hangs spin 6 80 user-code-hang/burns-cpu "outside MPI" active --multiple 1 &
jobs=$!
hangs callback 2 80 mpi-hang/blocked "stuck in MPI_Reduce_local" blocked &
jobs="$jobs $!"
MPIR_CVAR_FAULTLOC_ACTION=abort hangs sleep 3 170 user-code-hang/blocked "outside MPI" blocked &
jobs="$jobs $!"
for job in $jobs; do wait "$job" || bad "a hang was not reported as it should be"; done
cat "$work"/{spin,callback,sleep}.err >"$work/all.err"
grep -q 'stay_[a-z]* outside_kinds.h:' "$work/all.err" || grep -q 'without libdw' "$work/all.err" ||
    bad "none has a stack: $(cat "$work/all.err")"
grep -qx 'exit code 1' "$work/sleep" || bad "the job was not ended: $(cat "$work/sleep" "$work/sleep.err")"
stopped=$(sed -n 's/^STOPS .* at \([0-9]*\)[.].*/\1/p' "$work/sleep.raw")
[ $(($(date +%s) - stopped)) -ge 60 ] || bad "the job was ended too soon"
echo "ok: three ways to hang, and where"
