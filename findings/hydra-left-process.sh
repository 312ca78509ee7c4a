#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Hydra 4.0.2 (Debian's mpich 4.0.2-3+b1): a daemon that a rank has left behind keeps mpiexec from ending, though it has
# nothing of the rank's any more.
#
# A guess: mpiexec ends when the ranks have ended; at most it waits, as ssh does, for a process that still has a
# rank's standard output, so that a daemon in a session of its own with /dev/null as its standard files is free.
# Seen: it waits for that one, too.  A rank gets the pipes of its output twice, as 1 and 2 and under the numbers that
# they had in the proxy (here 14 and 16), which nobody knows of, and which each child inherits; and mpiexec waits until
# the last of them is closed.  It is so for a rank that was killed, as well: "BAD TERMINATION" comes after the daemon's
# end.  So: a job all of whose ranks are gone and whose mpiexec goes on has left a process, which /proc/*/fd shows; what
# starts a daemon closes all descriptors (setsid with {3..255}>&-, closefrom(3)).
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/hydra.sh"

# What the rank starts, with 5 s to live; how the rank ends.
run() {
    local code=0 begin=$SECONDS
    mpiexec "${local[@]}" -n 1 bash -c "$2"' sleep 5 </dev/null >/dev/null 2>&1 & sleep 0.2; '"$3" >out 2>&1 || code=$?
    echo "$1: exit code $code, $([ $((SECONDS - begin)) -lt 3 ] && echo 'at once' || echo 'when the daemon has ended')"
}
{
    run 'no daemon' 'false &&' 'exit 0'
    run 'a daemon' 'setsid' 'exit 0'
    run 'a daemon, the rank is killed' 'setsid' 'kill -9 $$'
    run 'a daemon that has closed all' 'for n in {3..255}; do eval "exec $n>&-"; done; setsid' 'exit 0'
} | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
no daemon: exit code 0, at once
a daemon: exit code 0, when the daemon has ended
a daemon, the rank is killed: exit code 9, when the daemon has ended
a daemon that has closed all: exit code 0, at once
END
echo "as seen with Hydra 4.0.2"
