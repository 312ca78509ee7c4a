#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# mpichversion and MPI_Get_library_version say that this MPICH has FaultLoc, and which.
# Exit code: 0 passed, 1 failed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/same.sh"

version=$(sed -n 's/^m4_define(\[FAULTLOC_VERSION_m4\],\[\(.*\)\])$/\1/p' \
    "$here/../../src/mpid/ch4/faultloc/version.m4")
[ -n "$version" ] || bad "version.m4 has no version"
cat >"$work/version.c" <<'END'
#include <mpi.h>
#include <stdio.h>
int main(void)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(text, &length);
    fputs(text, stdout);
    return 0;
}
END
export LD_LIBRARY_PATH=$mpi/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} # of one that is not where it is to be
"$mpi/bin/mpicc" -o "$work/version" "$work/version.c"
for program in "$mpi/bin/mpichversion" "$work/version"; do
    "$program" | grep "^MPICH Custom Information:.*FaultLoc $version\(,\|$\)" ||
        bad "$program does not say FaultLoc $version"
done
echo "ok: FaultLoc $version"
