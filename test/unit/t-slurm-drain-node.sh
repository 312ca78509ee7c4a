#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# The example slurm-drain-node, with a scontrol in its PATH that shows a node in a given state and
# writes down what it was asked for: whom it drains, and whom it leaves alone.
# Environment: top_srcdir.
# Exit code: 0 passed, 1 failed.
# needs no MPI
set -euo pipefail

case ${1:-} in --help) sed -n '/^# The example/,/^# Exit/s/^# //p' "$0"; exit 0 ;; esac
cd "${top_srcdir:?}"
command=("$PWD/doc/slurm-drain-node")
. test/unit/program.sh

mkdir "$work/bin"
cat >"$work/bin/scontrol" <<'END'
#!/bin/sh
printf '%s\n' "$@" >"$CALLS.last"
case $1 in
    update) { echo call; cat "$CALLS.last"; } >>"$CALLS"; [ -z "$REFUSED" ] || { echo "$REFUSED"; exit 1; } ;;
    -o) [ -n "$STATE" ] || { echo "Node $4 not found"; exit 1; }
        echo "NodeName=$4 Arch=x86_64 State=$STATE ThreadsPerCore=1 Comment=(null)$REASON" ;;
    *) exit 1 ;;
esac
END
chmod +x "$work/bin/scontrol"
export PATH=$work/bin:$PATH CALLS=$work/calls STATE=IDLE REASON='' REFUSED=''
export FAULTLOC_CLASS=node-outage FAULTLOC_ORIGIN=hardware FAULTLOC_KIND=node FAULTLOC_HOST=h3 \
    FAULTLOC_TEXT='node h3 (rank 2) is down' FAULTLOC_JOB=17.0
reason='Reason=FaultLoc: node-outage: node h3 (rank 2) is down; job 17.0'

# drains TEXT ARGUMENT...: one call, with the reason; leaves TEXT ARGUMENT...: none;
# quiet ARGUMENT...: nothing is asked or said.
drains() {
    rm -f "$CALLS"
    expect 0 "$@"
    printf 'call\nupdate\nNodeName=%s\nState=DRAIN\n%s\n' "$FAULTLOC_HOST" "$reason" |
        diff - "$CALLS" || bad "$1: not the call above"
}
leaves() {
    rm -f "$CALLS"
    expect 0 "$@"
    [ ! -e "$CALLS" ] || bad "$1: it has called scontrol update: $(cat "$CALLS")"
}

quiet() {
    rm -f "$CALLS.last"
    run "$@"
    [ "$code$(cat "$work/out" "$work/err")" = 0 ] || bad "$FAULTLOC_CLASS $*: $code $(cat "$work/out" "$work/err")"
    [ ! -e "$CALLS.last" ] || bad "$FAULTLOC_CLASS $*: it has called scontrol"
    ok "nothing for $FAULTLOC_ORIGIN, $FAULTLOC_KIND"
}

drains "drained node h3: FaultLoc: node-outage: node h3"
STATE=ALLOCATED drains "drained node h3"
STATE=MIXED+CLOUD drains "drained node h3"
STATE='ALLOCATED*' drains "drained node h3"
REASON=' Reason=none' drains "drained node h3"
drains "drained node h3" --scontrol "env scontrol"
leaves "would drain node h3: FaultLoc: node-outage: node h3 (rank 2) is down; job 17.0" --dry-run

# another's reason, and its own of before
REASON=' Reason=NHC: check_fs_mount failed [root@2026-11-23T02:00:00]' \
    leaves "is left alone: it has the reason 'NHC: check_fs_mount failed"
STATE=IDLE+DRAIN REASON=' Reason=disk [ann@2026-11-23T02:00:00]' leaves "it has the reason 'disk [ann@"
STATE=MIXED+DRAIN REASON=' Reason=FaultLoc: node-outage: job 16 [root@2026-11-23T02:00:00]' \
    leaves "it has the reason 'FaultLoc:"
for state in DOWN 'DOWN*' DOWN+DRAIN IDLE+DRAIN 'IDLE*+DRAIN' FAILING UNKNOWN IDLE+POWERED_DOWN; do
    STATE=$state leaves "node h3 is left alone: it is $state"
done

# what is not about a node, or not about hardware
FAULTLOC_ORIGIN=software FAULTLOC_CLASS=process-crash FAULTLOC_KIND=rank quiet
FAULTLOC_ORIGIN=software FAULTLOC_CLASS=node-frozen quiet
FAULTLOC_ORIGIN=unknown FAULTLOC_CLASS=unknown quiet
FAULTLOC_CLASS=nic-fault FAULTLOC_KIND=nic quiet
FAULTLOC_CLASS=switch-fault FAULTLOC_KIND=switch quiet --kinds node,switch
reason=${reason/node-outage/nic-fault} FAULTLOC_CLASS=nic-fault FAULTLOC_KIND=nic \
    drains "drained node h3: FaultLoc: nic-fault" --kinds node,nic
[ -s "$CALLS" ] || bad "a nic is not drained with --kinds"

# what cannot be done, and hostile facts
REFUSED='slurm_update error: Invalid user id' expect 1 "did not drain node h3: slurm_update error: Invalid user"
STATE='' expect 1 "does not show node h3: Node h3 not found"
for host in 'h[1-9]' 'h1,h2' 'ALL h1' '' '-h' '$(id)'; do
    rm -f "$CALLS"
    FAULTLOC_HOST=$host expect 2 "FAULTLOC_HOST='$host' is not the name of one node"
    [ ! -e "$CALLS" ] || bad "'$host': it has called scontrol update"
done
FAULTLOC_CLASS='' expect 2 "is not set"
expect 2 "unknown argument x" x
expect 2 "needs a value" --kinds
expect 0 "Exit code" --help

[ $failed -eq 0 ] || exit 1
echo "all passed"
