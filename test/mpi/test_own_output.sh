#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# A program that has closed standard output and error, and has files of its own in their place, gets
# nothing of FaultLoc's into them: neither from its ranks nor from the agent, whether it is linked
# with libmpi or loads it. What it was given as standard error has the report, also a file.
# Exit code: 0 passed, 1 failed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/same.sh"
limit=60
# rank 0 has something to say in MPI_Init
export MPIR_CVAR_FAULTLOC_ACTION=abort MPIR_CVAR_FAULTLOC_PATIENCE_MS=0 MPIR_CVAR_FAULTLOC_FANOUT=0
export FAULTLOC_TEST_RESULTS=$work/results

"$here/build.sh" --mpi "$mpi" --out "$bin" own_output
"${CC:-cc}" -I"$mpi/include" -DLOADED="\"$mpi/lib/libmpi.so\"" "$here/own_output.c" \
    -o "$work/loading" -ldl

# stopped COMMAND...: a job of two ranks of which one is stopped; it has a report
stopped() {
    rm -rf "$work/results" "$work/report.json"
    mkdir "$work/results"
    outcome on 1 -n 2 "$@"
    grep -q '"process-stopped"' "$work/report.json" || bad "$*: no report: $(cat "$work/on.err")"
}
for program in "$bin/own_output" "$work/loading"; do
    for when in before after; do
        stopped "$program" $when "$work/results"
        for rank in 0 1; do
            [ "$(cat "$work/results/result.$rank")" = data ] ||
                bad "$program $when: rank $rank: $(cat "$work/results/result.$rank")"
        done
        # what MPI_Init said has gone where standard error was
        [ $when = before ] || grep -q 'MPIR_CVAR_FAULTLOC_FANOUT=0 is out of range' "$work/on.err" ||
            bad "$program $when: $(cat "$work/on.err")"
        echo "ok: $(basename "$program"), $when MPI_Init"
    done
done

# shellcheck disable=SC2016 # expanded by the inner shell
given='exec "$@" 2>"$FAULTLOC_TEST_RESULTS/err.$PMI_RANK"'
stopped bash -c "$given" bash "$bin/own_output" after "$work/results"
grep -q '^\[faultloc\] process-stopped: rank 1' "$work/results/err.0" &&
    grep -q 'MPIR_CVAR_FAULTLOC_FANOUT=0 is out of range' "$work/results/err.0" ||
    bad "a file as standard error: $(cat "$work/results/err.0")"
[ "$(cat "$work/results/result.0")" = data ] || bad "a file as standard error, and one of its own"
stopped bash -c 'exec "$@" 2>&-' bash "$bin/own_output" before "$work/results"
[ "$(cat "$work/results/result.0")" = data ] || bad "without standard error"
echo "ok: a file as standard error, and none"
