#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# The cluster tool itself, without FaultLoc: what it makes, what it refuses, what it leaves behind.
# Exit code: 0 passed, 1 failed, 77 no root or no namespaces here.
set -euo pipefail
cluster=$(dirname "${BASH_SOURCE[0]}")/cluster
name=t$$
work=$(mktemp -d)

finish() {
    local code=$?
    "$cluster" down --name "$name" --quiet 2>/dev/null || :
    ip netns del "$name-h2" 2>/dev/null || :
    rm -rf "$work"
    exit $code
}
trap finish EXIT

bad() { echo "FAILED: $*"; exit 1; }
is() { [ "$2" = "$3" ] || bad "$1: got '$2', not '$3'"; echo "ok: $1"; }
on() { "$cluster" exec --name "$name" "$@"; }
traces() {
    ip netns list | grep -c "^$name-" || :
    find /etc/netns /run/faultloc-cluster /dev/shm -name "*$name*" 2>/dev/null | wc -l
    ip -o link | wc -l
}

"$cluster" up --name "$name" --hosts 3 --quiet || exit
is "a host has its name" "$(on h2 uname -n)" h2
is "a name is the data address on a host" "$(on h2 getent hosts h3 | awk '{ print $1 }')" 10.0.0.3
is "and the management address on the login host" \
    "$(on login getent hosts h3 | awk '{ print $1 }')" 10.1.0.3
is "the login host is on one network alone" \
    "$(on login ip -o -4 addr show scope global | wc -l)" 1
on h1 sh -c ': >/dev/shm/mine'
is "hosts share no memory" "$(on h2 ls /dev/shm)" ""
is "a host's memory lasts" "$(on h1 ls /dev/shm)" mine
code=0
"$cluster" up --name "$name" --hosts 2 --quiet 2>"$work/err" || code=$?
is "a second cluster of the same name is refused" $code 1
code=0
on h9 true 2>/dev/null || code=$?
is "an unknown host is refused" $code 1

"$cluster" run --name "$name" --quiet -- alltoall --iterations 100 >"$work/out"
is "a job runs over all hosts" "$(grep -c '^rank [0-9]* host h[123] pid' "$work/out")" 3
code=0
"$cluster" run --name "$name" --quiet -- crash --how abort --after 0.1 --code 9 \
    >/dev/null 2>&1 || code=$?
is "mpiexec's exit code is passed on" $code 9

on h2 sleep 3600 2>/dev/null &
"$cluster" fault power-off h2 --name "$name" --quiet 2>"$work/err" || bad "$(cat "$work/err")"
wait $! 2>/dev/null || :
is "power-off takes every process" "$("$cluster" status | grep -A4 "cluster $name:" |
    awk '$1 == "h2" { print $2, $3, $4, $5 }')" "off eth0=down eth1=down processes=0"
"$cluster" down --name "$name" --quiet
is "nothing is left" "$(traces | head -n 2 | paste -sd' ')" "0 0"

# Can HOST be heard from h1? A closed port says so, too.
heard() {
    case $(on h1 timeout 5 bash -c ": <>/dev/tcp/$1/9" 2>&1) in
        *refused*) echo yes ;;
        *) echo no ;;
    esac
}

"$cluster" up --name "$name" --hosts 5 --switches 2 --quiet
is "two switches and their spine are told as Slurm would" \
    "$(sed 's/^SwitchName=//' "/run/faultloc-cluster/$name/topology.conf" | paste -sd' ')" \
    "leaf1 Nodes=h[1-2] leaf2 Nodes=h[3-5] spine Switches=leaf[1-2]"
is "hosts behind two switches hear each other" "$(heard 10.0.0.5) $(heard 10.1.0.5)" "yes yes"
# shellcheck disable=SC2016
told_of() {
    "$cluster" run --name "$name" --quiet "$@" -- sh -c 'echo "$MPIR_CVAR_FAULTLOC_TOPOLOGY"' | uniq
}
is "the job is told of the switches" "$(told_of)" \
    "/run/faultloc-cluster/$name/topology.conf"
is "unless somebody says otherwise" "$(told_of --env MPIR_CVAR_FAULTLOC_TOPOLOGY=none)" none
is "the last rank can be alone" "$("$cluster" run --name "$name" --quiet --ranks 11 --alone -- \
    uname -n | sort | uniq -c | awk '{ print $2 ":" $1 }' | paste -sd' ')" \
    "h1:2 h2:3 h3:2 h4:3 h5:1"
ip -n "$name-dsw2" link set br0 down
is "a switch can be lost" "$(heard 10.0.0.2) $(heard 10.0.0.5) $(heard 10.1.0.5)" "yes no yes"
"$cluster" down --name "$name" --quiet
is "nothing of the switches is left" "$(traces | head -n 2 | paste -sd' ')" "0 0"

ip netns add "$name-h2"
code=0
"$cluster" up --name "$name" --hosts 2 --quiet 2>"$work/err" || code=$?
is "a stranger's namespace of the same name is refused" $code 1
is "and stays" "$(ip netns list | grep -c "^$name-h2")" 1
is "alone" "$(traces | head -n 2 | paste -sd' ')" "1 0"
