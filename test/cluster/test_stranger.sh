#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Strangers at an agent's port, from another host and from the login host, by every path: all are
# refused, each kind is told once, and neither the job nor the agent comes to harm: the job ends as
# it should, and another one, while it is flooded, still has its lost host located.
# Exit code: 0 passed, 1 failed, 2 wrong usage, 77 no root or no namespaces here.
# shellcheck disable=SC2154
set -euo pipefail
. "$(dirname "$0")/lib/test.sh"
. "$here/lib/stranger.sh"
flood=10000

# start_job FOLDER OPTIONS...: alltoall on three hosts, until FOLDER/end is there.
start_job() {
    local options=("${@:2}")
    rm -rf "$job" "$1"
    mkdir "$1"
    "$cluster" run --quiet --name "$name" --faultloc \
        --env "MPIR_CVAR_FAULTLOC_REPORT=$1/report.json" ${options[@]+"${options[@]}"} -- \
        alltoall --seconds 3600 --until "$1/end" --pause-ms 5 \
        >"$work/out" 2>"$work/err" &
    run=$!
    await_loop
}

# What listens in the management network are the agent and its deputy.
agent_of() {
    local at
    at=$("$cluster" ports --name "$name" | awk -v host="$1" '$1 == host && $2 ~ /^10\.1\.0\./ && /faultloc-agent/')
    port=$(awk '{ n = split($2, a, ":"); print a[n] }' <<<"$at")
    pid=$(sed -n 's/.*pid=\([0-9]*\).*/\1/p' <<<"$at")
    [ -n "$port$pid" ] || bad "no agent found on $1: $("$cluster" ports --name "$name")"
}

descriptors() { find "/proc/$1/fd" -mindepth 1 2>/dev/null | wc -l; }
as_many_descriptors() { [ "$(descriptors "$pid")" -le "$1" ]; }
more_descriptors() { [ "$(descriptors "$pid")" -gt $(($1 + 8)) ]; }

# attack FROM ADDRESS MODE...: the stranger says whether it was turned away.
attack() {
    local from=$1 address=$2
    shift 2
    "$cluster" exec --name "$name" "$from" "$STRANGER" "$address" "$port" "$@" \
        >"$work/attack" 2>&1 || bad "from $from at $address, $*: $(cat "$work/attack")"
    ok "from $from at $address: $(cat "$work/attack")"
}

refusals() {
    sed -n 's/^\[faultloc\] node h2: refused [0-9.]*, which \(.*\) (further.*/\1/p' "$work/err"
}

find_stranger "$work" || {
    [ $? = 77 ] || exit 1
    echo "SKIP: no libsodium to build test/lib/stranger.c with (Debian package libsodium-dev)"
    exit 77
}
"$cluster" up --name "$name" --hosts 3 --quiet || exit

start_job "$work/one"
agent_of h2
before=$(descriptors "$pid")
for mode in no-key wrong-key huge-length random; do
    attack h1 10.0.0.2 $mode
    attack login 10.1.0.2 $mode
done
attack h1 10.0.0.2 flood $flood
attack login 10.1.0.2 flood $flood
await 30 "the agent closes all connections" as_many_descriptors "$before"
ok "the agent has as few descriptors as before"
was=$pid
agent_of h2
[ "$pid" = "$was" ] || bad "the agent on h2 is another process"

[ -n "$(refusals)" ] || bad "nothing was said about strangers"
[ -z "$(refusals | sort | uniq -d)" ] || bad "a kind of stranger was told more than once"
[ "$(refusals | wc -l)" = 3 ] || bad "not the three kinds that there were are told"
while read -r kind; do ok "told once: $kind"; done < <(refusals)
[ "$(grep -c '^\[faultloc\]' "$work/err")" = 3 ] || bad "more was said than of strangers"
: >"$work/one/end"
await_end 60
[ $code = 0 ] || bad "the job ended with $code"
grep -q 'all words right' "$work/out" || bad "the job did not do its work"
[ ! -e "$work/one/report.json" ] || bad "there is a report"
ok "the job ends with exit code 0, with no verdict"

# A flood while a host is lost: whoever has the key still comes through.
start_job "$work/two" --env MPIR_CVAR_FAULTLOC_ACTION=abort
agent_of h1
before=$(descriptors "$pid")
(while "$cluster" exec --name "$name" login "$STRANGER" 10.1.0.1 "$port" flood $flood; do :; done) \
    >/dev/null 2>&1 &
flooding=$!
await 30 "the flood" more_descriptors "$before"
"$cluster" fault --quiet --name "$name" power-off h3
await_end 60
kill $flooding 2>/dev/null || :
[ $code != 0 ] || bad "mpiexec ended with 0 though h3 was lost"
[ "$(grep -cE '^\[faultloc\] [a-z-]+: ' "$work/err")" = 1 ] || bad "not one verdict"
grep -qE '^\[faultloc\] node-outage: .*h3' "$work/err" || bad "h3 is not named"
[ "$(jq -r '.verdicts[].component.name' "$work/two/report.json")" = h3 ] || bad "not in the report"
ok "while it is flooded: $(grep -m1 '^\[faultloc\] node-outage' "$work/err")"
