#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# All that runs on a host is killed: its ranks, agent, deputy and hydra's proxy, while nobody waits
# for them. The ranks on the other hosts learn of each of its ranks, for mpiexec knows.
# Exit code: 0 passed, 1 failed, 77 no root or no namespaces here.
set -euo pipefail
cluster=$(dirname "${BASH_SOURCE[0]}")/cluster
work=$(mktemp -d)
name=t$$
trap '"$cluster" down --name "$name" --quiet || :; rm -rf "$work"' EXIT

"$cluster" check
"$cluster" up --name "$name" --hosts 3 --quiet
"$cluster" run --name "$name" --quiet --hosts 3 --ppn 3 --faultloc \
    --env MPIR_CVAR_FAULTLOC_REPORT= --mpiexec-arg -disable-auto-cleanup -- \
    lost_ranks --count 3 >"$work/out" 2>"$work/err" &
for ((i = 0; i < 1200; i++)); do
    ! grep -q looping "$work/out" || break
    sleep 0.1
done
"$cluster" fault --name "$name" --quiet kill-all h1
wait $! || : # mpiexec's code is that of the killed
known=$(grep -c '^rank [3-8]: knows all 3$' "$work/out" || :)
if [ "$known" != 6 ]; then
    echo "only $known of 6 ranks know of all that were killed:" >&2
    cat "$work/out" "$work/err" >&2
    exit 1
fi
echo "ok: all ranks of a host are killed, 6 others know"
