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
# shellcheck disable=SC2016
MPIR_CVAR_FAULTLOC=1 MPIR_CVAR_FAULTLOC_REPORT=$work/report.json timeout -k 5 300 \
    "$mpi/bin/mpiexec" -n 4 bash -c 'export MPIR_CVAR_FAULTLOC_NODE_NAME=n$((PMI_RANK / 2)); exec "$@"' x \
    "$bin/undisturbed" "$work/go" </dev/null >"$work/out" 2>"$work/err" &
job=$!
trap 'kill $job 2>/dev/null || :; rm -rf "$work"' EXIT
while ! sed -n '/^\[faultloc\] user-code-hang: rank 1 /,$p' "$work/err" | grep -q 'full report'; do
    kill -0 $job 2>/dev/null || bad "the job has ended: $(cat "$work/out" "$work/err")"
    sleep 0.2
done
if "$mpi/libexec/faultloc-handler" --version | grep -q 'with stacks'; then
    for function in receive_all write_ send_ epoll_for; do
        grep -q "\"$function\"" "$work/report.json" || grep -q '^\[faultloc\]   no stacks' "$work/err" ||
            bad "no stack has $function: $(cat "$work/err")"
    done
fi
echo >"$work/go"
code=0
wait $job || code=$?
[ $code = 0 ] && grep -q '^[0-9]* calls, 0 came out otherwise$' "$work/out" ||
    bad "a call was disturbed: code $code, $(cat "$work/out" "$work/err")"
echo "ok: $(cat "$work/out")"
