#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Environment Modules 5.2.0 and Lmod 8.6.19 (Debian 5.2.0-1, 8.6.19-1): of one folder of modulefiles "module load mpich"
# loads the release with the one, and the release candidate with the other.
#
# Both read the same files, and without a .version or .modulerc both take the highest version.  A guess: 4.1 is higher
# than 4.1rc1, as with packages, and the two agree.
# Seen: Environment Modules takes 4.1rc1, and of 4.1 and 4.1-debug, a build of the release, 4.1-debug: what is longer comes
# later.  Lmod takes 4.1 in both cases.  Of 4.9 and 4.10 both take 4.10.  So: a job that was tested under the one
# runs another MPI under the other, with no word of it, unless a version is named or a .version names it.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, no root or no namespaces.
. "$(dirname "$0")/lib/modules.sh"
for version in mpich/4.1 mpich/4.1rc1 ucx/4.9 ucx/4.10 hwloc/4.1 hwloc/4.1-debug; do
    echo "setenv LOADED $version" | modulefile $version
done
with_both <<'END' | tee seen
for name in mpich ucx hwloc; do
    module load $name
    echo "module load $name: exit code $?, $LOADED"
done
END
diff - seen <<'END' || { cat errors; echo "it is otherwise now"; exit 1; }
environment-modules:
module load mpich: exit code 0, mpich/4.1rc1
module load ucx: exit code 0, ucx/4.10
module load hwloc: exit code 0, hwloc/4.1-debug
lmod:
module load mpich: exit code 0, mpich/4.1
module load ucx: exit code 0, ucx/4.10
module load hwloc: exit code 0, hwloc/4.1
END
echo "as seen with Environment Modules 5.2.0 and Lmod 8.6.19"
