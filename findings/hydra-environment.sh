#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Hydra 4.0.2 (Debian's mpich 4.0.2-3+b1): -genvnone and -genvlist hold nothing back from the ranks on mpiexec's own host.
#
# mpiexec says of -genvnone "do not pass any environment variables", and of -genvlist "environment variable list to
# pass".  A guess by that: all ranks of a job have the same variables of the user's, those of the list.
# Seen: it is so for ranks on other hosts.  Those on mpiexec's host, whose proxy is a child of mpiexec, have its whole
# environment as well (-envnone and -envlist: the same).  So a forgotten UCX_TLS, FI_PROVIDER or OMP_NUM_THREADS holds on
# one host of the job alone, and the ranks differ in what they speak.  So: env -i before mpiexec, which keeps it from all.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/hydra.sh"

export LISTED=listed FORGOTTEN=forgotten
run() {
    mpiexec "${ssh[@]}" -hosts "$(hostname),h2" -ppn 1 "$@" -n 2 sh -c 'echo "$PMI_RANK:" $LISTED $FORGOTTEN' >out
    echo "${*:-nothing said}: own host$(sed -n 's/^0://p' out), other host$(sed -n 's/^1://p' out)"
}
{
    run
    run -genvlist LISTED
    run -envlist LISTED
    run -genvnone
} | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
nothing said: own host listed forgotten, other host listed forgotten
-genvlist LISTED: own host listed forgotten, other host listed
-envlist LISTED: own host listed forgotten, other host listed
-genvnone: own host listed forgotten, other host
END
echo "as seen with Hydra 4.0.2"
