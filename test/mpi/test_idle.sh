#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Services that are idle look as deadlocks: their ranks poll for messages, or wait for them in a thread
# while the main thread sleeps until a signal comes.  With the action abort the job is never ended, and
# the evidence says why.
# Exit code: 0 passed, 1 failed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/same.sh"
export MPIR_CVAR_FAULTLOC_ACTION=abort

"$here/build.sh" --mpi "$mpi" --out "$bin" idle

# idle KIND WHY: until its verdict is there, and then until it is told to end.
idle() {
    local job rank
    : >"$work/$1.err"
    outcome_once "$1" 1 -n 2 "$bin/idle" "$1" "$work/$1.file" &
    job=$!
    until grep -q '^\[faultloc\]   conclusion: ' "$work/$1.err"; do
        kill -0 $job 2>/dev/null || bad "$1: no verdict: $(cat "$work/$1.err")"
        sleep 0.1
    done
    grep -q "the job is never ended because of it: rank [01] $2" "$work/$1.err" ||
        bad "$1: the evidence does not say why the job is not ended: $(cat "$work/$1.err")"
    touch "$work/$1.file"
    for rank in 0 1; do
        [ "$1" != signal ] || kill -TERM "$(cat "$work/$1.file.$rank")"
    done
    wait $job || bad "$1: the job failed"
    grep -qx 'exit code 0' "$work/$1" || bad "$1: $(cat "$work/$1" "$work/$1.err")"
    echo "ok: $1"
}
idle poll "polls, and may have other work to do"
idle signal "has a thread that may be woken by a signal"
