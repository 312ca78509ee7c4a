#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Linux (seen with 6.18): of a process with threads, /proc/PID/stat has the CPU time of all, /proc/PID/schedstat and the
# context switches of /proc/PID/status have those of the first thread alone.
#
# The kernel's sched-stats.rst calls schedstat information "on a per-process level".  A guess by that: its
# first number, nanoseconds on a CPU, is utime + stime of stat with a finer clock, and a process none of whose context
# switches rise does not run.
# Seen: while a second thread computes and the first one waits for it, stat's time grows by a second each second, and
# schedstat (all of its three numbers) and the context switches stand still.  So: a detector that compares
# schedstat takes such a process, which any OpenMP program can be, for one that is blocked; it reads
# /proc/PID/task/*/schedstat, or stat.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 no compiler.
set -euo pipefail
command -v gcc >/dev/null || { echo "SKIP: no gcc"; exit 77; }
work=$(mktemp -d)
pid=
trap '[ -z "$pid" ] || kill $pid; rm -rf "$work"' EXIT
cd "$work"
cat >compute.c <<'END'
#include <pthread.h>

static void *compute(void *arg)
{
    for (volatile unsigned long n = 0;; n++)
        ;
    return arg;
}

int main(void)
{
    pthread_t t;

    return pthread_create(&t, 0, compute, 0) || pthread_join(t, 0);
}
END
gcc -pthread -o compute compute.c
./compute &
pid=$!
ticks() { sed 's/.*) //' /proc/$pid/stat | cut -d' ' -f12; }
switches() { grep ctxt /proc/$pid/status | paste -sd' '; }
until [ "$(ticks)" -gt 10 ]; do sleep 0.1; done
before=$(ticks) schedstat=$(cat /proc/$pid/schedstat) switched=$(switches)
until [ "$(ticks)" -gt $((before + 100)) ]; do sleep 0.1; done
echo "stat: $before to $(ticks) ticks; schedstat: $schedstat to $(cat /proc/$pid/schedstat)"
[ "$schedstat" = "$(cat /proc/$pid/schedstat)" ] && [ "$switched" = "$(switches)" ] ||
    { echo "it is otherwise now"; exit 1; }
echo "as seen with Linux 6.18"
