#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Hydra 4.0.2 (Debian's mpich 4.0.2-3+b1): mpiexec's exit code is the bitwise or of all ranks' codes, and that of a
# signal is its bare number.
#
# mpiexec --help says nothing of it.  A guess by what shells, srun and others do: the highest code, or the first that
# is not zero, and 128 + N where signal N ended a rank.
# Seen: ranks that exit with 4 and 3 make 7, with 1 and 2 make 3, codes that no rank had.  A rank that SIGKILL ends makes 9
# (not 137), which exit(9) makes, too; one that SIGTERM ends makes 15, as do exit codes 7 and 8 together.  So: a job
# script cannot tell a killed rank from one that exits by the code of mpiexec; "EXIT CODE: 9" and "EXIT STRING:
# Killed (signal 9)" in what mpiexec prints can.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/hydra.sh"

# Two processes, without MPI: what each does, a second after it was started.
run() {
    local code=0
    mpiexec "${local[@]}" -n 1 sh -c "sleep 1; $1" : -n 1 sh -c "sleep 1; $2" >out 2>&1 || code=$?
    echo "$1; $2: $code $(grep -oE 'signal [0-9]+' out | head -n 1)"
}
{
    run 'exit 1' 'exit 2'
    run 'exit 4' 'exit 3'
    run 'exit 9' 'exit 0'
    run 'kill -9 $$' 'exit 0'
    run 'exit 7' 'exit 8'
    run 'kill -15 $$' 'exit 0'
} | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
exit 1; exit 2: 3 
exit 4; exit 3: 7 
exit 9; exit 0: 9 
kill -9 $$; exit 0: 9 signal 9
exit 7; exit 8: 15 
kill -15 $$; exit 0: 15 signal 15
END
echo "as seen with Hydra 4.0.2"
