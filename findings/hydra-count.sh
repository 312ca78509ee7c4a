#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Hydra 4.0.2 (Debian's mpich 4.0.2-3+b1): "-n 0", or -n with what is no number, starts a process on every slot of the
# hosts.
#
# mpiexec -n "$ranks" is in each job script, and $ranks is computed, or from a variable of the batch system that another
# one does not set.  A guess: no number, or a number of processes below one, is refused.
# Seen: 0, a negative number, a word and the empty string are as if -n were not given: as many processes as the
# hosts have slots, exit code 0.  Of 2x and 2.9 the digits are taken.  Nothing is said of any of them.  So: a job that
# runs with more ranks than was thought had such a value; the script tests it: [ "$ranks" -ge 1 ].
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/hydra.sh"

run() {
    local code=0
    mpiexec "${ssh[@]}" -hosts h1:2,h2:2 -n "$1" sh -c 'echo $HOST' >out 2>err || code=$?
    echo "-n '$1': $(wc -l <out) processes, exit code $code, $(wc -l <err) lines of errors"
}
{
    for n in 3 0 -1 many '' 2x 2.9; do run "$n"; done
} | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
-n '3': 3 processes, exit code 0, 0 lines of errors
-n '0': 4 processes, exit code 0, 0 lines of errors
-n '-1': 4 processes, exit code 0, 0 lines of errors
-n 'many': 4 processes, exit code 0, 0 lines of errors
-n '': 4 processes, exit code 0, 0 lines of errors
-n '2x': 2 processes, exit code 0, 0 lines of errors
-n '2.9': 2 processes, exit code 0, 0 lines of errors
END
echo "as seen with Hydra 4.0.2"
