#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Two ranks poll for each other's message, which looks as a deadlock, and then have had enough: the
# verdict is withdrawn, though the job ends at once.
# Exit code: 0 passed, 1 failed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/same.sh"

"$here/build.sh" --mpi "$mpi" --out "$bin" poll_limit
: >"$work/on.err"
outcome_once on 1 -n 2 "$bin/poll_limit" "$work/enough" &
job=$!
until grep -q '^\[faultloc\]   conclusion: ' "$work/on.err"; do
    kill -0 $job 2>/dev/null || bad "no verdict: $(cat "$work/on.err")"
    sleep 0.1
done
touch "$work/enough"
wait $job || bad "the job failed"
grep -q '^\[faultloc\] withdrawn: deadlock of ranks 0-1 .*: its ranks are no longer seen to wait' "$work/on.err" ||
    bad "not withdrawn: $(cat "$work/on.err")"
grep -qx 'exit code 0' "$work/on" || bad "$(cat "$work/on")"
echo "ok: a verdict on ranks that poll is withdrawn when they have had enough"
