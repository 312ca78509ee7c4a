#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# `faultloc status` on any node says what all nodes and ranks of a job do, as text and as JSON; many
# questions at once are all answered, and the job goes on; a node that does not answer is named.
# Exit code: 0 passed, 1 failed, 2 wrong usage, 77 no root or no namespaces here.
set -euo pipefail

. "$(dirname "$0")/lib/test.sh"
find_program

# asks CODE ARGUMENT...: the answer is in $work/said, what is wrong in $work/wrong.
asks() {
    local code=0 expected=$1
    shift
    "$program" status "$id" "$@" >"$work/said" 2>"$work/wrong" || code=$?
    [ $code = "$expected" ] || bad "faultloc status $*: exit code $code, not $expected"
}

job_of() {
    local s j
    for s in "$XDG_RUNTIME_DIR"/faultloc/*@h1.sock; do
        j=${s##*/}
        j=${j%@h1.sock}
        [ ! -S "$s" ] || ! "$program" status "$j" --here --node h1 >/dev/null 2>&1 || echo "$j"
    done | head -n 1
}

"$cluster" up --name "$name" --hosts 4 --quiet || exit
export XDG_RUNTIME_DIR=/run/faultloc-cluster/$name/runtime
"$cluster" run --quiet --name "$name" --faultloc --ppn 2 -- alltoall --seconds 3600 \
    >"$work/out" 2>"$work/err" &
run=$!
await_loop
id=
find_id() {
    id=$(job_of)
    [ -n "$id" ]
}
await 60 "an answer of h1's agent" find_id

# ---- all is well ---------------------------------------------------------------------------------

for host in h1 h3; do
    asks 0 --node $host
    said "^job $id: 8 ranks on 4 nodes"
    said '^nodes: 4 answered$'
    said '^no verdict$'
    [ "$(awk '$1 ~ /^[0-9]+$/ { n += $1 } END { print n }' "$work/said")" = 8 ] ||
        bad "the classes do not add up to 8 ranks"
done
ok "every node answers, whichever is asked"

asks 0 --json --ranks --node h2
said '"schema":"faultloc-status/2"'
said '"answered":\{"count":4,"runs":\[\[0,4\]\]\}'
ok "as JSON"

# ---- many questions ------------------------------------------------------------------------------

storm() {
    local i
    for ((i = 0; i < 25; i++)); do
        "$program" status "$id" --node "h$1" >/dev/null || { echo "h$1" >>"$work/storm"; return; }
    done
}
asking=()
for i in 1 2 3 4 1 2 3 4; do
    storm $i 2>>"$work/wrong" &
    asking+=($!)
done
wait "${asking[@]}"
[ ! -e "$work/storm" ] || bad "not answered: $(sort "$work/storm" | uniq -c | xargs)"
kill -0 "$run" 2>/dev/null || bad "the job ended"
! grep -q verdict "$job/trace" || bad "a verdict in a healthy job"
ok "200 questions, eight at a time: all were answered, the job goes on"

# ---- who does not answer -------------------------------------------------------------------------

fault power-off h3
lost() {
    "$program" status "$id" --node h1 >"$work/said" 2>"$work/wrong" || :
    grep -qE '^nodes: 3 answered; 1 lost \(h3\)$' "$work/said"
}
await 60 "h3 is named" lost
said '^verdict: node-outage: node h3'
said '^ +2  not known'
ok "a lost node is named, and its ranks are counted"
