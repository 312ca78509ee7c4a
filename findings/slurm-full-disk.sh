#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Slurm 22.05.8 (Debian 22.05.8-4+deb12u3): where the disk of its output is full, srun throws the output away and
# succeeds.
#
# srun writes what the ranks print, to the file of -o or to its own standard output.  A guess: where that fails, srun
# says so and exits with another code than 0, as cat(1) does, or the ranks' own write fails in the end (EPIPE).
# Seen: nothing is said, the ranks' writes succeed, and the exit code is 0; the file ends in the middle of a line.
# With a file for each rank ("%t"), which the ranks write themselves, their write fails, and it is theirs to say so.
# So: the end of a job's output is no evidence of how far it came, and a job that has to be sure of its output uses
# "%t", or a last line that is looked for.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, no root or no namespaces.
. "$(dirname "$0")/lib/slurm.sh"

mkdir full
mount -t tmpfs -o size=64k tmpfs full
trap 'kill -KILL "${pids[@]}" 2>/dev/null || :; wait 2>/dev/null || :; umount "$work/full"; rm -rf "$work"' EXIT
# A rank prints some 170 kB, and exits with 7 if a write fails.
cat >print <<'END'
i=0
while [ $i -lt 10000 ]; do
    echo "this is line $i" || exit 7
    i=$((i + 1))
done 2>/dev/null
END
run() { timeout 60 srun -n 1 --mpi=none "$@" sh print </dev/null 2>err || code=$?; }
show() {
    echo "$1: exit code $code, $(cat full/* | wc -c) bytes$(grep -o ' Exited with exit code .*' err || :)"
    rm full/*
    code=0
}
code=0
{
    run -o full/out
    show 'srun -o FILE'
    run >full/out
    show 'srun >FILE'
    run -o full/out.%t
    show 'srun -o FILE.%t'
} | tee seen
diff - seen <<'END' || { cat err; echo "it is otherwise now"; exit 1; }
srun -o FILE: exit code 0, 65536 bytes
srun >FILE: exit code 0, 65536 bytes
srun -o FILE.%t: exit code 7, 65536 bytes Exited with exit code 7
END
echo "as seen with Slurm $version"
