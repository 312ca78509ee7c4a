#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Services that are idle look as deadlocks: their ranks poll for messages, or wait for them in a thread
# while the main thread sleeps until a signal comes.  With the action abort the job is never ended, and
# the evidence says why.  Where ranks have had enough of polling the verdict is withdrawn, though the
# job ends at once.
# Exit code: 0 passed, 1 failed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/same.sh"
export MPIR_CVAR_FAULTLOC_ACTION=abort

"$here/build.sh" --mpi "$mpi" --out "$bin" idle

# idle KIND SAYS: until its verdict is there, and then until it is told to end.
idle() {
    local rank
    begin -n 2 "$bin/idle" "$1" "$work/$1.file"
    await "a verdict" grep -q '^\[faultloc\]   conclusion: ' "$work/err"
    touch "$work/$1.file"
    for rank in 0 1; do
        [ "$1" != signal ] || kill -TERM "$(cat "$work/$1.file.$rank")"
    done
    end_job
    grep -q "$2" "$work/err" && [ $code = 0 ] || bad "$1: exit code $code: $(all_said)"
    echo "ok: $1"
}
never='the job is never ended because of it: rank [01]'
idle poll "$never polls, and may have other work to do"
idle signal "$never has a thread that may be woken by a signal"
over='^\[faultloc\] withdrawn: deadlock of ranks 0-1 .*: its ranks are no longer seen to wait'
MPIR_CVAR_FAULTLOC_ACTION=report idle limit "$over"
