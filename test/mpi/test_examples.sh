#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# The examples of the manual pages are compiled as their users would, and run: in a healthy job, and
# in one of which a rank dies. Those in Fortran where this MPI has a Fortran compiler.
# That MPI_Finalize comes back after a failure is not asked of them: they have said all by then.
# Exit code: 0 passed, 1 failed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/same.sh"

examples=$here/../../doc/examples
declare -A healthy=([failures]='^rank [0-3]: 0 failed$' [event]='^rank [0-3]: no event$'
    [verdicts]='"verdicts": *\[')
declare -A faulty=([failures]='^rank [013]: 1 failed: 2$'
    [event]='^rank [013]: process-crash of rank 2 on node .*, confidence 0[.][0-9]*$|^rank [013]: process-crash of rank 2 on node .*, confidence 1[.]000$'
    [verdicts]='"class": "process-crash"')
declare -A ranks=([failures]=4 [event]=4 [verdicts]=1)

report=

# wants COUNT REGEX WHAT
wants() {
    [ "$(grep -cE -e "$2" "$work/out")" = "$1" ] ||
        bad "$3: not $1 lines match '$2': $(cat "$work/out" "$work/err")"
}

# try COMPILER NAME SUFFIX
try() {
    local compiler=$1 name=$2 source=$examples/$2.$3 program=$work/$2-$3
    (cd "$work" && "$compiler" -o "$program" "$source") >"$work/log" 2>&1 ||
        bad "$compiler does not compile $name.$3: $(cat "$work/log")"
    limit=120 by_rank 1 -n 4 "$program"
    wants "${ranks[$name]}" "${healthy[$name]}" "$name.$3, healthy"
    ! grep -q '"class"' "$work/out" || bad "$name.$3: a verdict in a healthy job"
    limit=40 by_rank 1 -disable-auto-cleanup -n 4 "$program" 2
    wants $((ranks[$name] == 1 ? 1 : ranks[$name] - 1)) "${faulty[$name]}" "$name.$3, faulty"
    echo "ok: $name.$3"
}

for name in failures event verdicts; do
    try "$mpi/bin/mpicc" $name c
done
if [ -x "$mpi/bin/mpifort" ]; then
    for name in failures event verdicts; do
        try "$mpi/bin/mpifort" $name f90
    done
else
    echo "skipped: the examples in Fortran: this MPI has none (no $mpi/bin/mpifort)"
fi
