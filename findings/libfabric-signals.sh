#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# libfabric 1.17.0 (Debian 1.17.0-3): a program that is linked with it and is interrupted, or crashes, ends
# with exit code 1 instead of by the signal.
#
# A guess: a network library leaves signals alone, at least until its provider is used.
# Seen: Debian's libfabric.so.1 is linked with libpsm_infinipath.so.1 (for TrueScale adapters), whose
# constructor catches SIGINT, SIGILL, SIGABRT, SIGBUS, SIGSEGV and SIGTERM before main() begins, without any
# such adapter and without a call of libfabric.  After a signal the process ends by exit code 1.  So a shell
# or a process manager does not learn of the signal, and no core is written.  With IPATH_NO_BACKTRACE set it
# leaves the signals alone; a handler of the program's own takes their place.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
set -euo pipefail
version=1.17.0-3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq "libfabric1=$version" "libfabric-dev=$version" \
    libpsm-infinipath1=3.3+20.604758e7-6.2 libpsm2-2=11.2.185-2 librdmacm1=44.0-2 libibverbs1=44.0-2 \
    ibverbs-providers=44.0-2 libnl-3-200=3.7.0-0.2+b1 libnl-route-3-200=3.7.0-0.2+b1 libnuma1=2.0.16-1 2>/dev/null ||
    { echo "SKIP: no packages of libfabric $version"; exit 77; }
for package in ./*.deb; do dpkg-deb -x "$package" .; done
LD_LIBRARY_PATH=$(find "$PWD" -name '*.so.*' -exec dirname {} + | sort -u | tr '\n' ':')
export LD_LIBRARY_PATH

cat >signals.c <<'END'
#include <rdma/fabric.h>
#include <signal.h>
#include <stdio.h>

int main(void)
{
    struct sigaction now;

    printf("libfabric %u.%u, caught:", FI_MAJOR(fi_version()), FI_MINOR(fi_version()));
    for (int i = 1; i < 32; i++)
        if (sigaction(i, NULL, &now) == 0 && now.sa_handler != SIG_DFL)
            printf(" %d", i);
    puts("");
    fflush(stdout);
    return raise(SIGTERM);
}
END
gcc -O1 -I"$PWD/usr/include" -o signals signals.c -L"$PWD/usr/lib/x86_64-linux-gnu" -Wl,--allow-shlib-undefined -lfabric
run() { local code=0; "$@" 2>/dev/null || code=$?; echo "exit code $code"; }
{ run ./signals; run env IPATH_NO_BACKTRACE=1 ./signals; } | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
libfabric 1.17, caught: 2 4 6 7 11 15
exit code 1
libfabric 1.17, caught:
exit code 143
END
echo "as seen with libfabric $version"
