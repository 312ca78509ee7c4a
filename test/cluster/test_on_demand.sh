#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# A running job is asked, and told. `faultloc ask` says that a node or a rank is well, and which verdict
# there is where it is not; SIGUSR1 to mpiexec prints the status, and goes to the ranks as well;
# `faultloc set` changes settings on all nodes, which a later report says, and what is wrong is refused.
# Exit code: 0 passed, 1 failed, 2 wrong usage, 77 no root or no namespaces here.
set -euo pipefail

. "$(dirname "$0")/lib/test.sh"
find_program

# says HOST CODE COMMAND ARGUMENT...: the program on that host; what it says is in $work/said, its errors
# are in $work/wrong.
says() {
    local host=$1 code=0 expected=$2
    shift 2
    "$cluster" exec --name "$name" "$host" "$program" "$@" --node "$host" >"$work/said" 2>"$work/wrong" ||
        code=$?
    [ $code = "$expected" ] || bad "faultloc $*: exit code $code, not $expected"
}
complained() { grep -qE -e "$1" "$work/wrong" || bad "no complaint: $1"; }
# rules_used HOST N: N agents there have begun to use the rules that were set.
rules_used() { [ "$(grep -c " $1: uses the rules mine\$" "$job/trace")" = "$2" ]; }

"$cluster" up --name "$name" --hosts 4 --quiet || exit

# Rank 2 (h3) is nobody's peer, so that its end is found when somebody asks.
"$cluster" run --quiet --name "$name" --faultloc --ppn 1 \
    --env "MPIR_CVAR_FAULTLOC_REPORT=$work/report.json" \
    --env "MPIR_CVAR_FAULTLOC_PATIENCE_MS=500" -- aside --rank 2 --seconds 3600 \
    >"$work/out" 2>"$work/err" &
run=$!
await_loop
has_socket() {
    "$cluster" exec --name "$name" h1 "$program" status --here --node h1 >"$work/said" \
        2>"$work/wrong"
}
await 30 "the socket of h1's agent" has_socket

# ---- ask -----------------------------------------------------------------------------------------

says h1 0 ask h2
said '^node h2: its agent answers, after [0-9.]+ ms; it is well, asked by h1$'
said '^  over data: answered$'
said '^  over mgmt: answered$'
said '^  state: [0-9]+ CPUs, load '
said '^  rank 1 \(pid [0-9]+\): '
said '^  message of rank 1, [0-9.]+ s ago: (send|receive) of '
said '^  no verdict$'
ok "a node that is well says so, with its state and last messages"
says h1 0 ask rank 0
said '^rank 0 on node h1: its agent answers; it is well, asked by h1$'
ok "a rank of the own node, too"
says h1 0 ask "rank 3" --json
[ "$(jq -r '.schema, .node, .rank, .well, .messages[0].rank' "$work/said" | xargs)" = \
    "faultloc-ask/1 h4 3 true 3" ] || bad "not the JSON of rank 3"
ok "as JSON"
says h1 2 ask h9
complained 'the job has no node "h9"'
says h1 2 ask rank 4
complained 'the job has no rank "4": it has ranks 0 to 3'
says h1 2 ask rank 1 --job nothing
complained 'no such job on this host'
says h1 2 ask
ok "what is not there is refused"

# ---- SIGUSR1 -------------------------------------------------------------------------------------

kill -USR1 "$(cat "$job/mpiexec.pid")"
await 30 "the status" in_err '^\[faultloc\] .*4 ranks on 4 nodes'
ok "SIGUSR1 prints the status of all"

# ---- set -----------------------------------------------------------------------------------------

says h1 0 set stall-ms=700
said '^set on 4 of 4 nodes of job [^ ]*$'
await 30 "what was set, for people" in_err "^\[faultloc\] user $(id -u) has set stall-ms=700\$"
ok "the stall limit is set on all nodes"
"$program" rules print | sed '0,/"name": "built-in"/s//"name": "mine"/' >"$work/mine.json"
says h4 0 set "rules=$work/mine.json"
said '^set on 4 of 4 nodes'
for host in h1 h2 h3 h4; do
    await 30 "the rules in use on $host" in_trace "$host: uses the rules mine\$"
done
ok "rules are sent to all nodes, from any"
fault agent-kill h2
await 60 "the next agent of h2" in_trace 'h2: succeeds as agent$'
await 30 "the rules of the next agent of h2" rules_used h2 2
ok "the agent that follows uses them, too"
head -c 2000 "$work/mine.json" >"$work/broken.json"
says h1 1 set "rules=$work/broken.json"
complained 'broken.json: rules: line [0-9]+, column [0-9]+: '
says h1 2 set "rules=$work/none.json"
complained 'none.json: No such file'
says h1 2 set stall-ms=99
complained 'stall-ms must be a whole number from 100 to 3600000, not 99'
says h1 2 set action=perhaps
complained 'action must be abort or report, not perhaps'
says h1 2 set patience-ms=5
complained 'no such setting .*: patience-ms=5'
says h1 2 set
complained 'missing SETTING=VALUE'
ok "what cannot be set is refused, with the reason"

# ---- somebody else -------------------------------------------------------------------------------

if command -v setpriv >/dev/null; then
    code=0
    "$cluster" exec --name "$name" h1 setpriv --reuid 65534 --regid 65534 --clear-groups \
        "$program" set action=report --user "$(id -u)" >"$work/said" 2>"$work/wrong" || code=$?
    [ $code = 2 ] || bad "another user may set something"
    complained 'no such job on this host'
    ok "another user finds no job"
fi

# ---- a fault, and the action that was set ---------------------------------------------------------

fault stop 2
says h1 1 ask rank 2
said '^  rank 2 \(pid [0-9]+\): stopped'
said 'process-stopped: rank 2'
ok "of a rank that is stopped the verdict is said"
await 30 "the report" test -s "$work/report.json"
[ "$(jq -r '.settings[] | "\(.uid) \(.what)"' "$work/report.json" | sed 's/of [0-9]* bytes/of N bytes/' |
    xargs)" = "$(id -u) stall-ms=700 $(id -u) rules of N bytes" ] || bad "the report has no settings"
"$program" check "$work/report.json" >/dev/null || bad "the report is not valid"
ok "the report says who has set what"
says h2 0 set action=abort
await_end 60
[ "$code" != 0 ] || bad "the job ended well"
grep -q 'FaultLoc ended the job because of its verdict .*(action abort), by MPI_Abort of rank' \
    "$work/err" || bad "mpiexec does not say why ranks called MPI_Abort"
ok "the action that was set ends the job because of the verdict that stands"
