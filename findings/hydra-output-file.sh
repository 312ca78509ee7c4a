#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Hydra 4.0.2 (Debian's mpich 4.0.2-3+b1): -outfile-pattern writes over the beginning of an older file and leaves its
# end; -prepend-rank mixes lines that are written in parts.
#
# mpiexec says of -outfile-pattern "Send stdout to this file", and of -prepend-rank "prepend rank to output".  A guess by
# that: a file that is there is truncated, as the shell and srun do (or the output is appended); each line has one
# prefix, and is from one rank.
# Seen: the file is neither truncated nor appended to.  After a run that printed less, which is one that failed, it
# ends with the lines of the run before: "step 1" of a job that died is followed by the old one's "result".
# A prefix is put before each piece that was read, not before each line: where ranks flush parts of lines, the pieces of
# other ranks stand between, and one line has two prefixes.  So: remove the files before a run, and have ranks write
# whole lines.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/hydra.sh"

{
    mpiexec "${local[@]}" -outfile-pattern out.%r -n 1 printf '%s\n' 'step 1 of 2' 'step 2 of 2' 'result 42'
    mpiexec "${local[@]}" -outfile-pattern out.%r -n 1 sh -c 'echo "step 1 of 2"; exit 3' >/dev/null || echo "exit code $?"
    cat out.0
    # Rank 1 begins its line after rank 0 has begun its own, and rank 0 ends it then.
    mpiexec "${local[@]}" -prepend-rank -n 2 sh -c \
        'sleep $PMI_RANK; printf "rank $PMI_RANK begins, "; sleep 2; echo "rank $PMI_RANK ends"'
} | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
exit code 3
step 1 of 2
step 2 of 2
result 42
[0] rank 0 begins, [1] rank 1 begins, [0] rank 0 ends
[1] rank 1 ends
END
echo "as seen with Hydra 4.0.2"
