#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# A rank that never comes, after 40 s in which it did: the verdict names it, says what it does and where in
# its code.  With the action abort two threads that wait for each other end the job after a minute, and no
# sooner; one that sleeps for a time of its own never does, nor one that awaits the answer of a service, of
# which the verdict says that it is not sure.  One is a stage of a pipeline, and those before it go on.  A rank
# that its kernel holds because of a memory limit is named at once, with the limit (needs root, and version 1
# of control groups).
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
MPIR_CVAR_FAULTLOC_ACTION=abort hangs service 1 115 user-code-hang/awaits-answer "outside MPI" \
    "awaiting an answer: process [0-9]* (outside) by a socket" &
jobs="$jobs $!"
hangs pipe 6 110 user-code-hang/others-go-on "outside MPI" "blocked in a pipe" --pattern stream --work-ms 5 &
jobs="$jobs $!"
for job in $jobs; do wait "$job" || bad "a hang was not reported as it should be"; done
cat "$work"/{spin,callback,mutex,sleep,service,pipe}.err >"$work/all.err"
grep -q 'stay_[a-z]* outside_kinds.h:' "$work/all.err" || grep -q 'without libdw' "$work/all.err" ||
    bad "none has a stack: $(cat "$work/all.err")"
grep -q 'the job is never ended because of it: rank 3 is in a call with a timeout of its own' "$work/sleep.err" &&
    ! grep -q 'the job is ended because .*: user-code-hang' "$work/sleep.err" ||
    bad "a job was ended because of a rank that sleeps: $(cat "$work/sleep" "$work/sleep.err")"
grep -q '^\[faultloc\] user-code-hang: rank 1 .* waits outside MPI for another process -- software, confidence low$' \
    "$work/service.err" && ! grep -q 'the job is ended because .*: user-code-hang' "$work/service.err" ||
    bad "one that awaits an answer is accused: $(cat "$work/service" "$work/service.err")"
grep -qx 'exit code 1' "$work/mutex" || bad "the job was not ended: $(cat "$work/mutex" "$work/mutex.err")"
grep -q 'may be ended after [0-9]* s: rank 5 can be woken only by its own threads' "$work/mutex.err" ||
    bad "the verdict does not say when the job may be ended: $(cat "$work/mutex.err")"
stopped=$(sed -n 's/^STOPS .* at \([0-9]*\)[.].*/\1/p' "$work/mutex.raw")
[ $(($(cat "$work/mutex.end") - stopped)) -ge 60 ] || bad "the job was ended too soon"
echo "ok: six ways to hang, and where"

group=/sys/fs/cgroup/memory/faultloc-outside-$$
if mkdir "$group" 2>/dev/null && echo 1 2>/dev/null >"$group/memory.oom_control"; then
    trap 'rm -rf "$work"; rmdir "$group" 2>/dev/null || :' EXIT
    echo 33554432 >"$group/memory.limit_in_bytes"
    outcome_once memory 1 -n 4 "$bin/outside" --kind memory --rank 1 --after 2 --limit 20 \
        --file "$group/cgroup.procs"
    grep -q 'rule user-code-hang/memory-limit$' "$work/memory.err" &&
        grep -q 'held by the memory limit of its control group: 3[12][.0-9]* of 32.0 MiB used in /faultloc' \
            "$work/memory.err" ||
        bad "a rank that its memory limit holds was not named: $(cat "$work/memory.err")"
    ! grep -q '^\[faultloc\] io-hang' "$work/memory.err" || bad "it is no io-hang: $(cat "$work/memory.err")"
    echo "ok: a memory limit"
else
    echo "no control group can be made: nothing is known of a memory limit"
fi
