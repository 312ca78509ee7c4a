#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Hydra 4.0.2 (Debian's mpich 4.0.2-3+b1): a job whose standard input is larger than a pipe is killed, unless rank 0
# reads it fast enough, also where no rank reads it.
#
# mpiexec hands its standard input on to rank 0.  A guess: what rank 0 has not read yet waits, as in a pipe or with ssh,
# and what it never reads does no harm.
# Seen: the proxy writes without waiting, and where the pipe to rank 0 is full (64 KiB) it fails, "process reading stdin
# too slowly; can't keep up", and kills all ranks of its host; mpiexec ends with 255.  It is so for "mpiexec ./app <FILE"
# with an application that reads later, and for one that does not read at all, in a script that has been redirected.
# So: </dev/null for what needs no input, and the name of the file, not its content, for what does.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/hydra.sh"

# Two ranks that do not read for a second; the input has $1 bytes.
run() {
    local code=0
    head -c "$1" /dev/zero >input
    timeout 60 "$hydra" "${local[@]}" -n 2 sh -c 'sleep 1; echo done' <input >out 2>&1 || code=$?
    echo "$1 bytes: exit code $code, $(grep -c 'done' out) of 2 ranks done$(grep -o '; can.t keep up' out)"
}
{
    run 60000
    run 80000
} | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
60000 bytes: exit code 0, 2 of 2 ranks done
80000 bytes: exit code 255, 0 of 2 ranks done; can't keep up
END
echo "as seen with Hydra 4.0.2"
