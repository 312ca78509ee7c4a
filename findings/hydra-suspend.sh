#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Hydra 4.0.2 (Debian's mpich 4.0.2-3+b1): SIGTSTP stops mpiexec alone; the ranks compute on.
#
# mpiexec hands signals on to the ranks (SIGUSR1, SIGINT).  A guess: a job that is to be suspended, by Ctrl-Z or by a
# batch system that sends SIGTSTP to the job's first process, has all its ranks stopped, as those of a shell's pipeline
# are, and SIGCONT has them go on.
# Seen: mpiexec is stopped, its proxy and all ranks run: they keep their cores, and what they print is read only after
# SIGCONT, so that a rank that prints much waits in write(2).  So: a suspended job is not suspended; SIGSTOP to the
# ranks themselves, or the freezer of a control group on each node, stops them.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/hydra.sh"

state() { sed 's/.*) \(.\) .*/\1/' "/proc/$1/stat" | sed 's/[RSD]/runs/; s/T/is stopped/'; }
await() { for ((i = 0; i < 200; i++)); do "$@" && return; sleep 0.05; done; echo "in vain: $*"; exit 1; }
grown() { [ "$(wc -l <steps)" -gt "$1" ]; }
is_stopped() { [ "$(state "$1")" = 'is stopped' ]; }

cat >rank.sh <<'END'
echo $$ >>pids
while :; do echo step >>steps; sleep 0.1; done
END
touch pids steps
"$hydra" "${local[@]}" -n 2 sh rank.sh </dev/null &
mpiexec=$!
trap 'kill -9 $mpiexec $(cat pids); rm -rf "$work"' EXIT
both() { [ "$(wc -l <pids)" = 2 ]; }
await both
kill -TSTP $mpiexec
await is_stopped $mpiexec
steps=$(wc -l <steps)
await grown $((steps + 20))
{
    echo "mpiexec $(state $mpiexec)"
    for pid in $(cat pids); do echo "a rank $(state "$pid")"; done
} | tee seen
kill -CONT $mpiexec
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
mpiexec is stopped
a rank runs
a rank runs
END
echo "as seen with Hydra 4.0.2"
