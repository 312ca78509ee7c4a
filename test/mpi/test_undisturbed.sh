#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# A rank that stays away from MPI with a thread in each of the calls in which one may wait: a verdict is
# made, the stacks of all of them are taken, and each call comes out as it did before.
# Exit code: 0 passed, 1 failed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/same.sh"

"$here/build.sh" --mpi "$mpi" --out "$bin" undisturbed
mkfifo "$work/go"
begin -n 4 "${two_a_node[@]}" "$bin/undisturbed" "$work/go"
told() { sed -n '/^\[faultloc\] user-code-hang: rank 1 /,$p' "$work/err" | grep -q 'full report'; }
await "a verdict" told
if "$mpi/libexec/faultloc-handler" --version | grep -q 'with stacks'; then
    for function in receive_all write_ send_ epoll_; do
        grep -q "\"$function\"" "$work/report.json" || grep -q '^\[faultloc\]   no stacks' "$work/err" ||
            bad "no stack has $function: $(cat "$work/err")"
    done
fi
echo >"$work/go"
end_job
[ $code = 0 ] && grep -q '^[0-9]* calls, 0 came out otherwise$' "$work/out" ||
    bad "a call was disturbed: code $code, $(cat "$work/out" "$work/err")"
echo "ok: $(cat "$work/out")"
