#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# A rank that never comes, after 40 s in which it did: the verdict names it, says what it does and where in
# its code.  With the action abort two threads that wait for each other end the job after a minute, and no
# sooner; one that sleeps for a time of its own never does.  One is a stage of a pipeline, and those before it
# go on.
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
    date +%s >"$work/$1.end"
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
MPIR_CVAR_FAULTLOC_ACTION=abort hangs mutex 5 170 user-code-hang/blocked "outside MPI" "blocked in a lock" &
jobs="$jobs $!"
MPIR_CVAR_FAULTLOC_ACTION=abort hangs sleep 3 115 user-code-hang/blocked "outside MPI" "blocked in a sleep" &
jobs="$jobs $!"
hangs pipe 6 110 user-code-hang/others-go-on "outside MPI" "blocked in a pipe" --pattern stream --work-ms 5 &
jobs="$jobs $!"
for job in $jobs; do wait "$job" || bad "a hang was not reported as it should be"; done
cat "$work"/{spin,callback,mutex,sleep,pipe}.err >"$work/all.err"
grep -q 'stay_[a-z]* outside_kinds.h:' "$work/all.err" || grep -q 'without libdw' "$work/all.err" ||
    bad "none has a stack: $(cat "$work/all.err")"
grep -q 'the job is never ended because of it: rank 3 is in a call with a timeout of its own' "$work/sleep.err" &&
    ! grep -q 'the job is ended because' "$work/sleep.err" ||
    bad "a job was ended because of a rank that sleeps: $(cat "$work/sleep" "$work/sleep.err")"
grep -qx 'exit code 1' "$work/mutex" || bad "the job was not ended: $(cat "$work/mutex" "$work/mutex.err")"
grep -q 'may be ended after [0-9]* s: rank 5 can be woken by its own threads alone' "$work/mutex.err" ||
    bad "the verdict does not say when the job may be ended: $(cat "$work/mutex.err")"
stopped=$(sed -n 's/^STOPS .* at \([0-9]*\)[.].*/\1/p' "$work/mutex.raw")
[ $(($(cat "$work/mutex.end") - stopped)) -ge 60 ] || bad "the job was ended too soon"
echo "ok: five ways to hang, and where"
