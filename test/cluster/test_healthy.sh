#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Healthy jobs, 20 s each, with FaultLoc: the output and exit code that they have without, no
# verdict; and while all ranks talk, not one packet on the agents' ports.
# Exit code: 0 passed, 1 failed, 77 no root or no namespaces here.
set -euo pipefail
cluster=$(dirname "${BASH_SOURCE[0]}")/cluster
name=t$$
work=$(mktemp -d)
job=/run/faultloc-cluster/$name/job

finish() {
    local code=$?
    "$cluster" down --name "$name" --quiet 2>/dev/null || :
    rm -rf "$work"
    exit $code
}
trap finish EXIT

bad() { echo "FAILED: $*"; exit 1; }

# await FILE: until it is there; 120 s are enough for the slowest machine.
await() {
    local end=$((SECONDS + 120))
    until [ -e "$1" ]; do
        [ $SECONDS -lt $end ] || bad "the job did not come to its loop: $(cat "$work"/*.err)"
        sleep 0.1
    done
}

# Reads the counters again and again until the job comes to its end; the last reading before counts:
# at the end the agents say good-bye.
watch_ports() {
    "$cluster" count read --name "$name" >"$work/ports"
    while [ ! -e "$job/pids/ending" ] && kill -0 "$1" 2>/dev/null; do
        "$cluster" count read --name "$name" >"$work/ports.new"
        [ -e "$job/pids/ending" ] || mv "$work/ports.new" "$work/ports"
    done
}

# run LABEL PROGRAM ARGS...: once more, up to five times, where MPICH's own MPI_Finalize hung (see
# test/mpi/testutil.c), which it does with FaultLoc and without.
run() {
    local try
    for try in 1 2 3 4 5; do
        run_once "$@"
        grep -q "MPICH's own MPI_Finalize hangs" "$work/$1.err" || return 0
    done
}

# Output in LABEL.out, sorted, without the lines that differ by nature.
run_once() {
    local label=$1 code=0 pid
    shift
    rm -rf "$job"
    "$cluster" run --quiet --name "$name" "${options[@]}" -- "$@" \
        >"$work/$label.raw" 2>"$work/$label.err" &
    pid=$!
    if [ "$label" = on ]; then
        await "$job/pids/looping"
        "$cluster" count start --name "$name"
        watch_ports $pid
    fi
    wait $pid || code=$?
    { grep -vE '^rank [0-9]+ host ' "$work/$label.raw" || :; } | sort >"$work/$label.out"
    echo "exit code $code" >>"$work/$label.out"
}

# compare OPTIONS PROGRAM ARGS...: without FaultLoc it has these options, by which it says the same
# and takes less time.
compare() {
    local -a quick
    read -r -a quick <<<"$1"
    shift
    options=(--env MPIR_CVAR_FAULTLOC=0)
    run off "$1" "${quick[@]}"
    options=(--faultloc --env "MPIR_CVAR_FAULTLOC_REPORT=$work/report.json")
    run on "$@"
    diff "$work/off.out" "$work/on.out" ||
        bad "$*: with FaultLoc output or exit code differ (<: off, >: on): $(cat "$work/on.err")"
    ! grep -F '[faultloc]' "$work/on.err" || bad "$*: FaultLoc says something about a healthy job"
    [ ! -e "$work/report.json" ] || bad "$*: there is a report on a healthy job"
    [ -s "$work/ports" ] || bad "$*: no agent's port was found"
    echo "ok: $*: same output, $(tail -n 1 "$work/on.out"), no verdict"
}

"$cluster" up --name "$name" --hosts 4 --quiet || exit
compare "--seconds 1" alltoall --seconds 20
awk '$3 + $5 > 0 { print; bad = 1 } END { exit bad }' "$work/ports" ||
    bad "packets on the agents' ports (host, port, packets and bytes in, packets and bytes out)"
echo "ok: no packet on $(wc -l <"$work/ports") ports of the agents"
compare "--turn 0.5 --seconds 2" turns --turn 5 --seconds 20
awk '{ p += $3; b += $4 } END { print "while waits are long: " p " packets, " b " bytes in all" }' \
    "$work/ports"
