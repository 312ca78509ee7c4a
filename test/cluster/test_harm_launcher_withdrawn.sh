#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Nothing of a verdict that was withdrawn is left: a host that was silent comes back with its
# verdict's withdrawal, and then its management network alone, over which mpiexec is connected to
# it, is silent for six seconds. That harms no healthy job, and mpiexec sends that host no packet
# but for what it has to say.
# Exit code: 0 passed, 1 failed, 77 no root, no namespaces or no nft here.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cluster=$here/cluster
"$cluster" check >/dev/null || exit $?
command -v nft >/dev/null || { echo "no program 'nft' (Debian package nftables)"; exit 77; }

name=w$$
work=$(mktemp -d)
pid=
finish() {
    [ -z "$pid" ] || kill "$pid" 2>/dev/null || :
    "$cluster" down --quiet --name "$name" || :
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

bad() { echo "FAILED: $*"; sed 's/^/    /' "$work/err"; exit 1; }

# await SECONDS WHAT COMMAND...
await() {
    local end=$((SECONDS + $1)) what=$2
    shift 2
    until "$@"; do
        [ $SECONDS -lt $end ] || bad "no $what"
        [ -d "/proc/$pid" ] || bad "mpiexec has ended before there was $what"
        sleep 0.02
    done
}

# silence NETWORK...: what comes to h3 from there is lost; hear: no more.
silence() {
    ip netns exec "$name-h3" nft -f - <<TABLE
table inet silent {
    chain c {
        type filter hook input priority 0;
        ip saddr { $* } drop
    }
}
TABLE
}
hear() { ip netns exec "$name-h3" nft delete table inet silent; }

"$cluster" up --quiet --name "$name" --hosts 4
job=/run/faultloc-cluster/$name/job
"$cluster" run --quiet --name "$name" --faultloc --env MPIR_CVAR_FAULTLOC_REPORT= \
    -- alltoall --seconds 20 </dev/null >"$work/out" 2>"$work/err" &
pid=$!
await 60 loop test -e "$job/pids/looping"
silence 10.0.0.0/24, 10.1.0.0/24
await 30 verdict grep -qE '^\[faultloc\] (node-outage|unknown): node h3' "$work/err"
hear
await 30 withdrawal grep -qE '^\[faultloc\] withdrawn: ' "$work/err"
silence 10.1.0.0/24
sleep 6 # this is the fault
[ -d "/proc/$pid" ] || bad "the silence has ended the job"
hear
code=0
wait "$pid" || code=$?
pid=
[ $code = 0 ] || bad "mpiexec's exit code is $code"
! grep -q 'was lost' "$work/err" || bad "the job lost a proxy"
grep -q '^\[faultloc\] node-outage: node h3' "$work/err" || bad "the first verdict was another"
echo "ok: a verdict, its withdrawal, six seconds of silence: the job ends well"
