#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# The end of a job. A healthy one over TCP that ends with MPI_Barrier and MPI_Finalize ends always,
# where stock MPICH hangs more often than not: who waits in the process manager's barrier goes on
# turning the network. And that barrier is left when a rank is lost, be it that this one had been
# there before or not.
# Exit code: 0 passed, 1 failed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/same.sh"
export UCX_TLS=tcp,self

"$here/build.sh" --mpi "$mpi" --out "$bin" finalize die
for ((try = 1; try <= 20; try++)); do
    limit=60 outcome_once on 1 -n 4 "$bin/finalize"
    grep -qx "exit code 0" "$work/on" || bad "job $try of 20: $(cat "$work/on" "$work/on.err")"
    ! grep -F '[faultloc]' "$work/on.err" || bad "job $try of 20: FaultLoc finds fault with it"
done
echo "ok: 20 healthy jobs of four ranks have ended"
for ((try = 1; try <= 10; try++)); do
    limit=30 outcome_once on 1 -n 4 "$bin/finalize" --timer 700
    grep -qx "exit code 0" "$work/on" || bad "job $try of 10: $(cat "$work/on" "$work/on.err")"
done
echo "ok: 10 jobs that a timer interrupts have ended"

for ((try = 1; try <= 5; try++)); do
    rm -rf "$work/pids" "$work/report.json"
    mkdir "$work/pids"
    export FAULTLOC_TEST_PIDFILE=$work/pids DIE_RANKS=2
    limit=60 outcome_once on 1 -disable-auto-cleanup -n 4 "$bin/die" --ranks 2 --how kill \
        --when finalize
    grep -qx "exit code 137" "$work/on" || bad "lost in MPI_Finalize: $(cat "$work/on" "$work/on.err")"
    grep -q "^\[faultloc\] rank 2 on .* was the first to end: signal 9" "$work/on.err" ||
        bad "lost in MPI_Finalize: $(cat "$work/on.err")"
    ! grep "expecting cmd" "$work/on.err" || bad "lost in MPI_Finalize: PMI is out of step"
    ! grep "ended, too" "$work/on.err" || bad "lost in MPI_Finalize: another rank did not end well"
done
echo "ok: a rank was lost in MPI_Finalize; the others have left it"
