#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Two jobs with one number, as two calls of mpiexec in a batch job have it, at the same time: both can
# be asked, and each has its report.
# Exit code: 0 passed, 1 failed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/same.sh"
faultloc=${FAULTLOC_PROGRAM:?names the program faultloc}
"$here/build.sh" --mpi "$mpi" --out "$bin" fork_child
mkdir -m 700 "$work/run"
export XDG_RUNTIME_DIR=$work/run PBS_JOBID=4711.server
unset SLURM_JOB_ID SLURM_STEP_ID
cd "$work"
jobs=()
trap '[ ${#jobs[@]} -eq 0 ] || kill "${jobs[@]}" 2>/dev/null || :; rm -rf "$work"' EXIT

asked() { "$faultloc" status "$@" >"$work/answer" 2>&1; }

# start N: a job of N ranks, which goes on until the file is there.
start() {
    MPIR_CVAR_FAULTLOC=1 timeout 300 "$mpi/bin/mpiexec" -n "$1" "$bin/fork_child" --kind hold \
        --file "$work/go" </dev/null >"$work/$1.out" 2>"$work/$1.err" &
    jobs+=($!)
}

start 2
await "the first job" asked --job 4711.server
grep -q '^job 4711.server: 2 ranks' "$work/answer" || bad "$(cat "$work/answer")"
start 3
await "the second job" asked --job 4711.server.2
grep -q '^job 4711.server: 3 ranks' "$work/answer" || bad "$(cat "$work/answer")"
asked --job 4711.server && grep -q ': 2 ranks' "$work/answer" || bad "$(cat "$work/answer")"
! asked && grep -q 'several jobs: select one with --job' "$work/answer" &&
    grep -q 'found: job 4711.server, ' "$work/answer" &&
    grep -q 'found: job 4711.server.2, ' "$work/answer" || bad "not both listed: $(cat "$work/answer")"
echo "ok: both can be asked"

has_reports() { [ -s faultloc-4711.server.json ] && [ -s faultloc-4711.server.2.json ]; }
crash() { # N: rank 1 of that job
    local pid
    pid=$(sed -n 's/^rank 1 pid //p' "$1.out")
    kill -SEGV "$pid"
}
crash 2
await "the first report" test -s faultloc-4711.server.json
cp faultloc-4711.server.json first
crash 3
await "both reports" has_reports
cmp -s first faultloc-4711.server.json || bad "the first report was replaced"
grep -q '"size": 2' faultloc-4711.server.json && grep -q '"size": 3' faultloc-4711.server.2.json ||
    bad "not the right ones: $(cat ./*.json)"
grep -q 'full report: .*/faultloc-4711.server.2.json$' 3.err || bad "not named: $(cat 3.err)"
echo "ok: each has its report"
wait || :
jobs=()
