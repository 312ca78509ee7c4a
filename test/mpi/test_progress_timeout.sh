#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# MPICH's own limit of a wait, MPIR_CVAR_PROGRESS_TIMEOUT (5.0): it tells what is pending after so many
# seconds, and fails the wait after twice as many. With FaultLoc beside it the verdict comes first,
# and alone, and is repeated where the job ends; a wait that only lasts long accuses nobody.
# Exit code: 0 passed, 1 failed, 77 this MPICH has no such limit, which 4.3 has by another name and
# where it was configured with --enable-g=progress.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/same.sh"

grep -q MPIR_CVAR_PROGRESS_TIMEOUT "$mpi/lib/libmpi.so" || {
    echo "SKIP: this MPICH has no MPIR_CVAR_PROGRESS_TIMEOUT, as 5.0 has"
    exit 77
}
"$here/build.sh" --mpi "$mpi" --out "$bin" hang
export MPIR_CVAR_PROGRESS_TIMEOUT=5

outcome off 0 -n 4 "$bin/hang" --kind recv-recv --ranks 0,2
outcome on 1 -n 4 "$bin/hang" --kind recv-recv --ranks 0,2
grep -q 'pending requests in pool' "$work/on" || bad "no pending requests are told: $(cat "$work/on")"
diff <(grep '^exit code' "$work/off") <(grep '^exit code' "$work/on") || bad "the exit codes differ"
verdict='^\[faultloc\] deadlock: ranks 0, 2 '
timed_out='Operation timed out'
repeated='^\[faultloc\]   deadlock: ranks 0, 2 '
grep -oE "$verdict|$timed_out|$repeated" "$work/on.err" | uniq >"$work/order"
printf '%s\n' '[faultloc] deadlock: ranks 0, 2 ' "$timed_out" '[faultloc]   deadlock: ranks 0, 2 ' |
    diff - "$work/order" || bad "not the verdict, then the limit, then the note: $(cat "$work/on.err")"
grep -q '^\[faultloc\] MPI ended the job: rank .* fatal error of MPI: operation timed out, in MPI_' \
    "$work/on.err" || bad "who was ended by the limit is not told: $(cat "$work/on.err")"
[ "$(grep -c '"confidence":' "$work/report.json")" = 1 ] ||
    bad "not one verdict: $(cat "$work/report.json")"
echo "ok: a deadlock is located, then MPICH's limit ends the job"

rm -f "$work/report.json"
export MPIR_CVAR_PROGRESS_TIMEOUT=8
outcome on 1 -n 4 "$bin/hang" --kind late-send --ranks 0,2 --late 10
grep -qx 'exit code 0' "$work/on" || bad "the job fails: $(cat "$work/on" "$work/on.err")"
grep -q 'pending requests in pool' "$work/on" || bad "the wait was too short: $(cat "$work/on")"
! grep -F ', confidence ' "$work/on.err" || bad "a wait below the limit is accused"
echo "ok: a wait of which MPICH tells, and which ends"
