#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# maint/check-bases.sh with a configure in whose builds a test passes, one fails and one is skipped, or
# none does: what is not built, not at hand or has no result is never well.
# Exit code: 0 passed, 1 failed.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/maint" "$work/m/maint"
cp "${top_srcdir:?}"/maint/{bases,check-bases.sh,common.sh,get-mpich.sh,progress.sh} "$work/maint"
cp "$top_srcdir/sources.mk" "$work"
echo 'm4_define([MPICH_VERSION_m4],[5.0.1])dnl' >"$work/m/maint/version.m4"
cat >"$work/configure" <<'END'
#!/bin/sh
printf 'all:\n\ttest "$$HOW" != unbuilt\ncheck-scripts:\n\tmkdir -p test/mpi; set $(scripts)\\\n' >Makefile
printf '; for r in $$HOW; do echo ":global-test-result: $$r" >$${1%%.*}.trs; shift; done\n' >>Makefile
END
chmod +x "$work/configure"

# expect CODE RESULTS ROW ARGUMENT...
expect() {
    local code=0 want=$1 row=$3 out
    out=$(HOW=$2 XDG_CACHE_HOME=$work/none "$work/maint/check-bases.sh" --dir "$work/$RANDOM" "${@:4}" 2>&1) || code=$?
    if [ $code != "$want" ] || ! grep -qx " *$row" <<<"$(tr -s ' ' <<<"$out")"; then
        echo "FAILED: $2: exit code $code, not $want, or no row '$row': $out"
        exit 1
    fi
    echo "ok: ${2:-none}: $row"
}
scripts=(--scripts 'test/mpi/test_ends.sh test/mpi/test_late.sh test/mpi/test_waits.sh')
of=("${scripts[@]}" --base 5.0.1 --from "$work/m")
expect 0 "PASS SKIP" "5.0.1 yes 1 0 1" "${of[@]}"
expect 1 "PASS FAIL SKIP" "5.0.1 yes 1 1 1" "${of[@]}"
expect 1 "SKIP" "5.0.1 yes 0 0 1" "${of[@]}"
expect 1 "" "5.0.1 yes 0 0 0" "${of[@]}"
expect 1 "unbuilt" "5.0.1 no - - -" "${of[@]}"
expect 1 "PASS FAIL" "failed: test/mpi/test_late" "${of[@]}"
expect 2 "" ".*--scripts: no test/mpi/test_x.sh.*" --scripts test/mpi/test_x.sh
expect 1 "PASS" "4.3.2 not at hand - - -" --base 4.3.2 --base 5.0.1 --from "$work/m"
