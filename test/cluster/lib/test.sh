# shellcheck shell=bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##
# shellcheck disable=SC2034

# What tests with a cluster of their own share: its name, what is removed at the end, waiting for
# events. Sourced with the test's arguments: --help prints the comment at its head, down to the exit
# codes. The test sets `run` to the process of a job that must go on while something is awaited.

case ${1:-} in
    '') ;;
    --help) sed -n '/^# /{s/^# //p; /^Exit code/q}' "$0"; exit 0 ;;
    *) echo "${0##*/}: unknown option $1; see --help" >&2; exit 2 ;;
esac

here=$(cd "$(dirname "$0")" && pwd)
cluster=$here/cluster
name=t$$
work=$(mktemp -d)
job=/run/faultloc-cluster/$name/job
run=

finish() {
    local code=$?
    trap - EXIT
    "$cluster" down --name "$name" --quiet 2>/dev/null || :
    wait
    rm -rf "$work"
    exit $code
}
trap finish EXIT

# bad WHAT: ends the test; the job's standard error is in $work/err, what the program `faultloc` has
# printed in $work/said and $work/wrong.
bad() {
    echo "FAILED: $*"
    sed 's/^/    mpiexec: /' "$work/err" 2>/dev/null || :
    sed 's/^/    said: /' "$work/said" "$work/wrong" 2>/dev/null || :
    tail -n 40 "$job/trace" 2>/dev/null | sed 's/^/    trace: /' || :
    exit 1
}
ok() { echo "ok: $*"; }

# await SECONDS WHAT COMMAND...: asks again and again until the command says yes.
await() {
    local end=$((SECONDS + $1)) what=$2
    shift 2
    until "$@"; do
        [ -z "$run" ] || kill -0 "$run" 2>/dev/null || bad "the job ended; waited for: $what"
        [ $SECONDS -lt $end ] || bad "waited in vain: $what"
        sleep 0.05
    done
}

# await_loop: the job's loop runs, and rank 2, who may not be in it.
await_loop() {
    await 120 "the job's loop" test -e "$job/pids/looping"
    await 120 "all ranks" test -e "$job/pids/rank.2"
}

# await_end SECONDS: the end of the job; its exit code is then in $code.
await_end() {
    local pid=$run
    run=
    await "$1" "the job's end" ended "$pid"
    code=0
    wait "$pid" || code=$?
}
ended() { ! kill -0 "$1" 2>/dev/null; }

# find_program: $program is the program `faultloc` under test.
find_program() {
    for program in "${FAULTLOC_PROGRAM:-}" "${FAULTLOC_MPI:-}/bin/faultloc" \
        "${top_builddir:-.}/tools/faultloc"; do
        [ ! -x "$program" ] || return 0
    done
    bad "no program faultloc in FAULTLOC_MPI/bin; FAULTLOC_PROGRAM can name one"
}

fault() { "$cluster" fault --name "$name" --quiet "$@" || bad "cannot inject '$*'"; }
in_trace() { grep -qE -e "$1" "$job/trace" 2>/dev/null; }
in_err() { grep -qE -e "$1" "$work/err" 2>/dev/null; }
said() { grep -qE -e "$1" "$work/said" || bad "not said: $1"; }
