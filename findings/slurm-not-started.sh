#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Slurm 22.05.8 (Debian 22.05.8-4+deb12u3): a rank whose working directory is not there runs in /tmp and succeeds, and a
# program that is not there has exit code 2.
#
# srun(1) says of --chdir: "Have the remote processes do a chdir to path before beginning execution."  A guess: on a
# node where the path is not there, because a file system is not mounted, the rank does not begin, and srun's exit code
# is not 0; and as with env(1) and shells a program that is not there is 127, one that cannot be executed 126.
# Seen: the rank runs in /tmp, with exit code 0 and two lines of standard error; what it writes to a relative name is in
# the node's /tmp.  A program that is not there is 2, one without permission 13: the numbers of errno, which are codes
# of many programs as well.  So: a job checks where it is on each node ([ "$PWD" = "$SLURM_SUBMIT_DIR" ]) before it
# writes.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, no root or no namespaces.
. "$(dirname "$0")/lib/slurm.sh"

touch plain
run() {
    local code=0
    timeout 60 srun -Q -n 1 --mpi=none "$@" </dev/null >out 2>err || code=$?
    echo "${*/#$work/.}: '$(cat out)', exit code $code"
}
{
    run -D "$work/absent" pwd
    run -D "$work/absent" sh -c 'exit 5'
    run "$work/absent"
    run "$work/plain"
} | tee seen
diff - seen <<'END' || { cat err; echo "it is otherwise now"; exit 1; }
-D ./absent pwd: '/tmp', exit code 0
-D ./absent sh -c exit 5: '', exit code 5
./absent: '', exit code 2
./plain: '', exit code 13
END
echo "as seen with Slurm $version"
