#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Linux (seen with 6.18), elfutils 0.188 (Debian 0.188-2.1): a process whose main() has ended by pthread_exit() is a
# zombie in /proc while its other threads work, and eu-stack says that there is no such process.
#
# pthread_exit(3) says that main() calls it to let the other threads go on.  A guess by that: the state in
# /proc/PID/stat is that of a process which lives, its files and memory are in /proc/PID, and eu-stack -p prints the
# stacks of the threads that are left.
# Seen: the state is Z, as of a process that has ended and was not waited for; ps says <defunct>.  cmdline and maps
# are empty, fd has no entry, exe cannot be read, and eu-stack fails.  Only num_threads, which is 1 for a process that
# has ended, and /proc/PID/task, where another thread is R and has maps, tell of its life; so does a pidfd, which
# cannot be read from.  So: Z is the end of a process only where num_threads is 1.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 no compiler, or the packages are not to be had.
set -euo pipefail
work=$(mktemp -d)
pid=
trap '[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null || :; rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq elfutils=0.188-2.1 libdw1=0.188-2.1 libelf1=0.188-2.1 libasm1=0.188-2.1 2>/dev/null ||
    { echo "SKIP: no packages of elfutils 0.188-2.1"; exit 77; }
for package in ./*.deb; do dpkg-deb -x "$package" .; done
library=$(echo "$PWD"/usr/lib/*-linux-gnu)
cat >worker.c <<'END'
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *work(void *arg)
{
    for (volatile long turns = 0;; turns++)
        ;
    return arg;
}

/* Of a process: whether its pidfd says that it has ended. */
static int ask(int pid)
{
    struct pollfd p = {.fd = syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};

    printf("pidfd: %s\n", poll(&p, 1, 0) == 1 ? "has ended" : "lives");
    return 0;
}

int main(int argc, char **argv)
{
    pthread_t thread;

    if (argc > 1 && strcmp(argv[1], "leave"))
        return ask(atoi(argv[1]));
    pthread_create(&thread, NULL, work, NULL);
    if (argc > 1)
        pthread_exit(NULL);
    pthread_join(thread, NULL);
    return 0;
}
END
cc -w -O0 -pthread -o worker worker.c || { echo "SKIP: no compiler"; exit 77; }

# look STATE ARGUMENT...: once the first thread is in that state.
look() {
    local wanted=$1
    shift
    ./worker "$@" &
    pid=$!
    until [ "$(find "/proc/$pid/task" -mindepth 1 -maxdepth 1 | wc -l)" = 2 ] &&
        [ "$(cut -d' ' -f3 "/proc/$pid/stat")" = "$wanted" ]; do
        kill -0 $pid
        sleep 0.1
    done
    echo "state $(cut -d' ' -f3 "/proc/$pid/stat"), threads $(cut -d' ' -f20 "/proc/$pid/stat")"
    [ "$(wc -c <"/proc/$pid/cmdline")" != 0 ] && echo "a command line" || echo "no command line"
    [ "$(wc -c <"/proc/$pid/maps")" != 0 ] && echo "maps" || echo "no maps"
    [ -n "$(ls "/proc/$pid/fd")" ] && echo "files" || echo "no files"
    for task in "/proc/$pid/task"/*; do
        [ "$task" = "/proc/$pid/task/$pid" ] ||
            echo "the other thread: $(cut -d' ' -f3 "$task/stat"), $([ "$(wc -c <"$task/maps")" != 0 ] || echo "no ")maps"
    done
    ./worker $pid
    LD_LIBRARY_PATH=$library usr/bin/eu-stack -p $pid >out 2>err || :
    echo "eu-stack: $(grep -c '^TID' out || :) threads$(sed -n 's/.*\(No such process\).*/, \1/p' err)"
    kill -KILL $pid
    wait $pid 2>/dev/null || :
    pid=
}
{
    echo "main() waits:"
    look S
    echo "main() has ended:"
    look Z leave
} | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
main() waits:
state S, threads 2
a command line
maps
files
the other thread: R, maps
pidfd: lives
eu-stack: 2 threads
main() has ended:
state Z, threads 2
no command line
no maps
no files
the other thread: R, maps
pidfd: lives
eu-stack: 0 threads, No such process
END
echo "as seen with Linux 6.18 and elfutils 0.188"
