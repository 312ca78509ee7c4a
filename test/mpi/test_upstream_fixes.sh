#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# What patches/upstream-fixes mends of MPICH's own defects, with FaultLoc off and on: each program
# fails with stock MPICH 4.0.2. unsigned_minmax does so where the datatype engine is yaksa (not with
# --enable-lean). For hydra's see test_hydra_fixes.sh.
# Exit code: 0 passed, 1 failed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/same.sh"

# right VALUE SAYS MPIEXEC-ARGS... PROGRAM ARGS...: it ends well and says so.
right() {
    local value=$1 says=$2
    shift 2
    limit=60 outcome_once out "$value" "$@"
    grep -qx "exit code 0" "$work/out" && grep -qx "$says" "$work/out" ||
        bad "mpiexec $*: $(cat "$work/out"; tail -n 20 "$work/out.err")"
    ! grep -F '[faultloc]' "$work/out.err" || bad "mpiexec $*: FaultLoc finds fault with it"
}

# How far the one function is from the other in libmpi; nothing where its symbols were stripped.
distance() {
    nm "$mpi"/lib/libmpi.so | awk '
        $3 == "MPIR_Err_create_code" { from = "0x" $1 }
        $3 == "MPIR_Err_combine_codes" { to = "0x" $1 }
        END { if (from && to) print to, "-", from }'
}

# The function alone, with a free that shows: what it logs is in builds with debug logging only.
failed_procs() {
    local source=${top_builddir:-$here/../../build}/mpich/src/mpid/ch4/src/ch4_globals.c
    if [ ! -f "$source" ]; then
        echo "failed-procs is left out: there is no $source"
        return
    fi
    {
        cat <<'END'
#include <stdio.h>
#define MPI_SUCCESS 0
#define MPIR_FUNC_ENTER
#define MPIR_FUNC_EXIT
#define MPL_DBG_FDEST stdout
#define MPL_DBG_MSG_FMT(kind, level, what) fprintf what
static char list[] = "2,3\n";
static char *MPIR_pmi_get_failed_procs(void) { return list; }
static char *MPIR_pmi_get_jobattr(const char *name) { return name ? list : NULL; } /* 5.0 */
static void MPL_free(char *text) { text[0] = '\0'; }
END
        sed -n '/^int MPIDI_check_for_failed_procs(void)/,/^}/p' "$source"
        echo 'int main(void) { return MPIDI_check_for_failed_procs(); }'
    } >"$work/failed_procs.c"
    "$mpi/bin/mpicc" -o "$work/failed_procs" "$work/failed_procs.c"
    "$work/failed_procs" | grep -q ": 2,3$" || bad "the list of failed processes is freed too soon"
    echo "ok: the list of failed processes is freed after its last use"
}

failed_procs
"$here/build.sh" --mpi "$mpi" --out "$bin" unsigned_minmax coll_error error_ring win_create \
    neighbor_alltoallw inter_split finalize
apart=$(distance)
[ -n "$apart" ] || echo "error_ring is left out: $mpi/lib/libmpi.so is stripped"
for value in 0 1; do
    right $value "unsigned_minmax: right" -n 2 "$bin/unsigned_minmax"
    right $value "coll_error: said" -n 2 "$bin/coll_error"
    right $value "coll_error: said" -n 2 "$bin/coll_error" --nonblocking
    [ -z "$apart" ] ||
        right $value "error_ring: ends" -n 1 "$bin/error_ring" --distance "$((apart))"
    right $value "win_create: right" -n 3 "$bin/win_create"
    MPIR_CVAR_NOLOCAL=1 right $value "win_create: right" -n 3 "$bin/win_create"
    right $value "neighbor_alltoallw: right" -n 4 "$bin/neighbor_alltoallw"
    right $value "inter_split: merged" -n 6 "$bin/inter_split"
    echo "ok: reductions, errors, windows, neighbours and intercommunicators, MPIR_CVAR_FAULTLOC=$value"
done
for ((try = 1; try <= 20; try++)); do
    limit=60 outcome_once out 0 -env UCX_TLS tcp,self -env MPIR_CVAR_NOLOCAL 1 -n 4 "$bin/finalize"
    grep -qx "exit code 0" "$work/out" || bad "job $try of 20 does not end: $(cat "$work/out")"
done
echo "ok: 20 jobs over TCP have ended without FaultLoc"
