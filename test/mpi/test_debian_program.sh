#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# A program that was compiled and linked with Debian's own MPICH (libmpich-dev, taken apart in a
# temporary folder) runs on this one by the links of maint/debian-links.sh, without being built again:
# it does its work, and FaultLoc names its rank that is killed.
# Exit code: 0 passed, 1 failed, 77 no such package to be had, no gcc, or another ABI version here.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/same.sh"

skip() { echo "SKIP: $*"; exit 77; }
[ -e "$mpi/lib/libmpi.so.12" ] || skip "no libmpi.so.12 in $mpi/lib"
command -v gcc >/dev/null && command -v apt-get >/dev/null || skip "no gcc or no apt-get"
cd "$work"
apt-get download -qq libmpich-dev libmpich12 2>/dev/null || skip "no packages libmpich-dev and libmpich12"
for package in ./*.deb; do dpkg-deb -x "$package" debian; done
debian=$(dirname "$(find "$work/debian" -name libmpich.so -not -path '*/mpich/*' | head -n 1)")
include=$(dirname "$(find "$work/debian" -name mpi.h | head -n 1)")
gcc -O1 -I"$include" -o program "$here/anysource.c" "$here/testutil.c" -L"$debian" -lmpich \
    -Wl,--unresolved-symbols=ignore-in-shared-libs
readelf -d program | grep -q 'NEEDED.*libmpich\.so\.12' || skip "Debian's library is no libmpich.so.12"

mkdir links pids
"$here/../../maint/debian-links.sh" links "$mpi/lib"
export LD_LIBRARY_PATH=$work/links MPIR_CVAR_FAULTLOC=1 MPIR_CVAR_FAULTLOC_REPORT=$work/report.json
export FAULTLOC_TEST_PIDFILE=$work/pids UCX_TLS=tcp,self
timeout 60 "$mpi/bin/mpiexec" -n 2 ./program --seconds 1 </dev/null >out 2>err ||
    bad "exit code $?: $(cat err)"
! grep -F '[faultloc]' err || bad "something was said about a healthy job"

rm -f pids/*
"$mpi/bin/mpiexec" -n 2 ./program --seconds 3600 </dev/null >out 2>err &
job=$!
until [ -e pids/looping ] && [ -e pids/rank.1 ]; do
    kill -0 $job 2>/dev/null || bad "it ended before its loop: $(cat err)"
    sleep 0.05
done
kill -KILL "$(cut -d' ' -f2 pids/rank.1)"
wait $job && bad "exit code 0 after a crash" || :
job=
grep -q '^\[faultloc\] process-crash: rank 1 ' err || bad "no verdict: $(cat err)"
echo "ok: a program linked with Debian's libmpich.so.12 has FaultLoc"
