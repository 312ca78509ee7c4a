#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

set -euo pipefail

usage() {
    cat <<EOF
Usage: maint/run-test.sh TEST.sh [ARGUMENT]...

Runs a test script of test/mpi or test/cluster for "make check": two at a time, however parallel
make is, for they wait for most of their time; and for at most FAULTLOC_TEST_LIMIT seconds (default
600). The test's environment has top_srcdir, top_builddir and FAULTLOC_MPI, an MPI with bin/mpicc
and bin/mpiexec. Without MPICH (--without-mpich) the test is skipped, unless it has a line "# needs
no MPI".

Exit code: that of the test (0 passed, 77 skipped, another one failed); 2 wrong arguments.
EOF
}

case ${1:-} in
    --help | -h) usage; exit 0 ;;
    '' | -*) usage >&2; exit 2 ;;
esac
test=$1
shift
[ -f "$test" ] || { echo "run-test.sh: $test: no such test" >&2; exit 2; }
if [ -z "${FAULTLOC_MPI:-}" ] && ! grep -q '^# needs no MPI' "$test"; then
    echo "SKIP: needs MPI, and this is a build --without-mpich"
    exit 77
fi
if [ -n "${FAULTLOC_MPI:-}" ] && [ ! -x "$FAULTLOC_MPI/bin/mpicc" ]; then
    echo "run-test.sh: $FAULTLOC_MPI/bin/mpicc is missing; run make first" >&2
    exit 1
fi
case $test in /* | ./* | ../*) ;; *) test=./$test ;; esac

# One of two locks is held by this shell, which stays; the test must not inherit it, or a process
# that it leaves behind would stop others.
exec 8>>"${top_builddir:-.}/.test-lock-1" 9>>"${top_builddir:-.}/.test-lock-2"
flock --nonblock 8 || flock 9
limit=${FAULTLOC_TEST_LIMIT:-600}
code=0
timeout --kill-after=20 "$limit" "$test" "$@" 8>&- 9>&- </dev/null || code=$?
if [ $code -eq 124 ] || [ $code -eq 137 ]; then
    echo "run-test.sh: $test${*:+ $*} was ended after $limit s (FAULTLOC_TEST_LIMIT)"
    exit 1
fi
exit $code
