#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Eight hosts behind two switches, as a topology file says: the odd ones behind s0, the even ones
# behind s1. A host that loses its power is located by the head of its own switch, the head of a
# switch by the root; a string in the file's place does the same; and with a wrong file the job is
# told where it is wrong, once, and goes on with the tree by fan-out.
# Exit code: 0 passed, 1 failed, 77 no root or no namespaces here.
set -euo pipefail
cluster=$(dirname "${BASH_SOURCE[0]}")/cluster
work=$(mktemp -d)

finish() {
    local code=$?
    trap - EXIT
    if [ $code = 1 ]; then echo "what the runs left is in $work"; else rm -rf "$work"; fi
    exit $code
}
trap finish EXIT

bad() {
    echo "FAILED: $*"
    exit 1
}
ok() { echo "ok: $*"; }

# expect_fln HOST FLN TOPOLOGY: without its power HOST is located, by FLN.
expect_fln() {
    local fln
    rm -rf "$work/run-1"
    "$cluster" scenario --name "t$$" --hosts 8 --faultloc --keep "$work" \
        --env "MPIR_CVAR_FAULTLOC_TOPOLOGY=$3" --fault "power-off $1" -- alltoall --seconds 3600
    fln=$(jq -r '.verdicts[0].fln' "$work/run-1/report.json")
    [ "$fln" = "$2" ] || bad "$1 was located by $fln, not by $2"
    ok "$1 was located by $2"
}

# told TEXT: how often the job was told so.
told() { grep -cF "[faultloc] $1" "$work/run-1/err" || :; }

cat >"$work/topology.conf" <<END
# h9 is not in the job
SwitchName=s0 Nodes=h[1,3,5,7,9]
SwitchName=s1 Nodes=h[2,4,6,8]
SwitchName=top Switches=s[0-1]
END
expect_fln h8 h2 "$work/topology.conf"
[ "$(told "$work/topology.conf")" = 0 ] || bad "something is said about a good file"
expect_fln h2 h1 "$work/topology.conf"
expect_fln h8 h5 "switch:2 node:4"

sed 's/Nodes=h\[2/Nodes=h3,h[2/' "$work/topology.conf" >"$work/wrong.conf"
expect_fln h8 h1 "$work/wrong.conf"
why="$work/wrong.conf, line 3, column 21: node h3 is behind switch s0 (line 2) already; \
using a tree of fan-out 32"
[ "$(told "$why")" = 1 ] || bad "the job was told $(told "$why") times: $why"
ok "a wrong file is told, once"
