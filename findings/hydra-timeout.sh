#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Hydra 4.0.2 (Debian's mpich 4.0.2-3+b1): with MPIEXEC_TIMEOUT=2m, or any value that is no whole number, the job runs without
# a limit.
#
# mpiexec is to end the job after so many seconds.  A guess: "2m", "0:02" and "1.5" are refused before the job begins, or
# what can be read of them counts.
# Seen: one line, "Invalid character m in MPIEXEC_TIMEOUT", among the job's own output, and the job runs for as long as it
# likes.  -1 has no limit either, without a line.  A whole number works.  So: a script that
# means minutes computes the seconds, and the limit that has to hold is that of the batch system, or of timeout(1).
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/hydra.sh"
run() {
    : >ended
    MPIEXEC_TIMEOUT=$1 mpiexec "${local[@]}" -n 1 sh -c 'sleep 5; echo yes >ended' >out 2>&1 || :
    echo "MPIEXEC_TIMEOUT=$1: the job $([ -s ended ] && echo 'had its time' || echo 'was ended');" \
        "$(grep -E 'Invalid|TIMED' out | sed 's/^.*\] //' || :)"
}
for value in 2 2s 2m 0:02 1.5 -1; do run $value; done | tee seen
diff - seen <<'END' || { cat out; echo "it is otherwise now"; exit 1; }
MPIEXEC_TIMEOUT=2: the job was ended; APPLICATION TIMED OUT, TIMEOUT = 2s
MPIEXEC_TIMEOUT=2s: the job had its time; Invalid character s in MPIEXEC_TIMEOUT
MPIEXEC_TIMEOUT=2m: the job had its time; Invalid character m in MPIEXEC_TIMEOUT
MPIEXEC_TIMEOUT=0:02: the job had its time; Invalid character : in MPIEXEC_TIMEOUT
MPIEXEC_TIMEOUT=1.5: the job had its time; Invalid character . in MPIEXEC_TIMEOUT
MPIEXEC_TIMEOUT=-1: the job had its time; 
END
echo "as seen with Hydra 4.0.2"
