# shellcheck shell=bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# For the tests in this folder, to be sourced: a program must do the same with FaultLoc as without.
# Needs no root: all on this machine, by mpiexec's fork launcher.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mpi=${FAULTLOC_MPI:?names the MPI to be tested, as FAULTLOC_MPI=/opt/mpich-faultloc}
bin=${FAULTLOC_TEST_BIN:-${XDG_CACHE_HOME:-$HOME/.cache}/faultloc/test-programs}/$(
    printf '%s' "$mpi" | cksum | cut -d' ' -f1)
work=$(mktemp -d)
job= # one in the background
# An agent may write its report once more while the folder goes.
trap '[ -z "$job" ] || kill "$job" 2>/dev/null || :; rm -rf "$work" 2>/dev/null || rm -rf "$work"' EXIT
export UCX_LOG_LEVEL=${UCX_LOG_LEVEL:-error}

bad() { echo "FAILED: $*"; exit 1; }

# outcome LABEL VALUE MPIEXEC-ARGS...: output, sorted, and exit code in LABEL; stderr in LABEL.err.
# Once more, up to five times, where MPICH's own MPI_Finalize hung (see testutil.c), which it does
# with FaultLoc and without.
outcome() {
    local again
    for again in 1 2 3 4 5; do
        outcome_once "$@"
        grep -q "MPICH's own MPI_Finalize hangs" "$work/$1.err" || return 0
    done
}

outcome_once() {
    local label=$1 value=$2 code=0
    shift 2
    MPIR_CVAR_FAULTLOC=$value MPIR_CVAR_FAULTLOC_REPORT=${report:-$work/report.json} \
        timeout -s INT -k 5 "${limit:-120}" "$mpi/bin/mpiexec" "$@" </dev/null \
        >"$work/$label.raw" 2>"$work/$label.err" || code=$?
    { sort "$work/$label.raw"; echo "exit code $code"; } >"$work/$label"
    [ $code -ne 124 ] || echo "not ended after ${limit:-120} s" >>"$work/$label"
}

# same MPIEXEC-ARGS... PROGRAM ARGS...: without FaultLoc and with it. A program in this folder is
# compiled first. With tries=N an outcome that varies by itself may need several tries to be equal.
same() {
    local try args=("$@") i
    for i in "${!args[@]}"; do
        [ -f "$here/${args[i]}.c" ] || continue
        "$here/build.sh" --mpi "$mpi" --out "$bin" "${args[i]}"
        args[i]=$bin/${args[i]}
    done
    for ((try = 1; try <= ${tries:-1}; try++)); do
        outcome off 0 "${args[@]}"
        outcome on 1 "${args[@]}"
        ! grep -qF '[faultloc]' "$work/on.err" || break
        ! cmp -s "$work/off" "$work/on" || break
    done
    diff "$work/off" "$work/on" ||
        bad "mpiexec $*: output or exit code differ (<: without, >: with FaultLoc): $(
            cat "$work/on.err")"
    ! grep -F '[faultloc]' "$work/on.err" || bad "mpiexec $*: FaultLoc finds fault with it"
    [ ! -e "$work/report.json" ] || bad "mpiexec $*: there is a report on it"
    echo "ok: mpiexec $*: $(paste -sd';' "$work/on" | tr -s ' ')"
}

# Before a program: two ranks are on one node, in name.
# shellcheck disable=SC2016
two_a_node=(bash -c 'export MPIR_CVAR_FAULTLOC_NODE_NAME=n$((PMI_RANK / 2)); exec "$@"' bash)

# begin MPIEXEC-ARGS...: a job with FaultLoc in the background; what it prints is in out and err. What
# the last one printed is taken away first: the shell in the background may come to it late.
begin() {
    : >"$work/out" >"$work/err"
    MPIR_CVAR_FAULTLOC=1 MPIR_CVAR_FAULTLOC_REPORT=${report-$work/report.json} \
        timeout -s INT -k 5 300 "$mpi/bin/mpiexec" "$@" </dev/null >"$work/out" 2>"$work/err" &
    job=$!
}

# end_job: waits for it; its exit code is then in $code.
end_job() {
    code=0
    wait "$job" || code=$?
    job=
}

# await WHAT COMMAND...: asks again and again until the command says yes.
await() {
    local end=$((SECONDS + 120))
    until "${@:2}"; do
        [ -z "$job" ] || kill -0 "$job" 2>/dev/null ||
            bad "the job ended; waited for: $1: $(all_said)"
        [ $SECONDS -lt $end ] || bad "waited in vain: $1: $(all_said)"
        sleep 0.1
    done
}
all_said() { cat "$work"/{o,out,err,answer,*.out,*.err} 2>/dev/null || :; }

# by_rank VALUE MPIEXEC-ARGS...: the output in out, rank by rank, for hydra mixes their lines; the
# exit code in $code.
by_rank() {
    rm -f "$work"/said.*
    code=0
    MPIR_CVAR_FAULTLOC=$1 MPIR_CVAR_FAULTLOC_REPORT=${report-$work/report.json} \
        timeout -s INT -k 5 "${limit:-120}" "$mpi/bin/mpiexec" -outfile-pattern "$work/said.%r" \
        "${@:2}" </dev/null >"$work/said.by-mpiexec" 2>"$work/err" || code=$?
    cat "$work"/said.* >"$work/out"
}
