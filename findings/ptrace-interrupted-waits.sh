#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# elfutils 0.188, gdb 13.1, strace 6.1 (Debian 0.188-2.1, 13.1-3, 6.1-0.1): who takes the stack of a process ends its
# epoll_wait(), recv() with SO_RCVTIMEO or sigtimedwait() with EINTR.
#
# eu-stack -p, "gdb -batch -p" and "strace -p" are what a job that hangs is looked at with.  A guess: the process stands
# still for a moment, and goes on in the call that it waited in, as without; only its clock shows it.
# Seen: poll(), nanosleep() and sem_timedwait() go on; those three end at once with "Interrupted system call", by each of the
# programs, though no signal has a handler.  signal(7) has them for a process that is stopped and continued; a look at
# it is no less.  So: a program that takes EINTR for an error fails because it was looked at.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, no compiler, or no ptrace.
. "$(dirname "$0")/lib/packages.sh"
command -v gcc >/dev/null || { echo "SKIP: no compiler"; exit 77; }
unpack 'elfutils, gdb and strace' elfutils=0.188-2.1 libdw1=0.188-2.1 libelf1=0.188-2.1 libasm1=0.188-2.1 \
    gdb-minimal=13.1-3 strace=6.1-0.1 libunwind8=1.6.2-3 libreadline8=8.2-1.3 libmpfr6=4.2.0-1
cat >wait.c <<'END'
#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>

int main(int argc, char **argv)
{
    const char *call = argv[1];
    struct timespec t = {300, 0}, until;
    struct timeval tv = {300, 0};
    struct epoll_event e;
    sigset_t set;
    sem_t m;
    int s[2], fd = epoll_create1(0), rc = -1;
    char c;

    socketpair(AF_UNIX, SOCK_STREAM, 0, s);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 300;
    puts("waits");
    fflush(stdout);
    if (!strcmp(call, "epoll_wait"))
        rc = epoll_wait(fd, &e, 1, 300000);
    if (!strcmp(call, "poll"))
        rc = poll(&(struct pollfd){s[0], POLLIN}, 1, 300000);
    if (!strcmp(call, "nanosleep"))
        rc = nanosleep(&t, NULL);
    if (!strcmp(call, "recv")) {
        setsockopt(s[0], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
        rc = recv(s[0], &c, 1, 0);
    }
    if (!strcmp(call, "sem_timedwait")) {
        sem_init(&m, 0, 0);
        rc = sem_timedwait(&m, &until);
    }
    if (!strcmp(call, "sigtimedwait")) {
        sigemptyset(&set);
        sigaddset(&set, SIGUSR1);
        rc = sigtimedwait(&set, NULL, &t);
    }
    puts(rc < 0 && errno == EINTR ? "EINTR" : "ends");
    return 0;
}
END
gcc -D_GNU_SOURCE -w -o wait wait.c -pthread

with() { LD_LIBRARY_PATH=$libraries LC_ALL=C HOME=$work DEBUGINFOD_URLS='' timeout 60 "usr/bin/$1" "${@:2}" </dev/null; }
look() {
    case $1 in
    nobody) ;;
    eu-stack) with eu-stack -p "$2" ;;
    gdb) with gdb -nx -batch -p "$2" -ex bt ;;
    strace)
        with strace -o trace -p "$2" &
        for ((i = 0; i < 600; i++)); do
            tracer=$(sed -n 's/^TracerPid:\t//p' "/proc/$2/status" 2>/dev/null)
            [ "${tracer:-0}" = 0 ] || kill -TERM "$tracer" || :
            kill -0 $! || break
            sleep 0.1
        done
        wait $!
        ;;
    esac >>look.out 2>&1 || :
}
# What becomes of the wait: it has ended, or not within 3 s after the look.
wait_of() {
    local pid
    : >$2.out
    ./wait "$2" >$2.out &
    pid=$!
    until [ "$(cat $2.out)" = waits ] && [[ $(cat /proc/$pid/stat) == *') S '* ]]; do sleep 0.1; done
    look "$1" $pid
    for ((i = 0; i < 30; i++)); do kill -0 $pid 2>/dev/null || break; sleep 0.1; done
    echo "$2 $(if kill $pid 2>/dev/null; then echo goes on; else tail -n 1 $2.out; fi)"
}
for by in nobody eu-stack gdb strace; do
    line=
    for call in poll nanosleep sem_timedwait epoll_wait recv sigtimedwait; do line+=", $(wait_of $by $call)"; done
    echo "$by:${line#,}"
done >seen
cat seen
! grep -q 'not permitted' look.out || { echo "SKIP: no ptrace here"; exit 77; }
diff - seen <<'END' || { cat look.out; echo "it is otherwise now"; exit 1; }
nobody: poll goes on, nanosleep goes on, sem_timedwait goes on, epoll_wait goes on, recv goes on, sigtimedwait goes on
eu-stack: poll goes on, nanosleep goes on, sem_timedwait goes on, epoll_wait EINTR, recv EINTR, sigtimedwait EINTR
gdb: poll goes on, nanosleep goes on, sem_timedwait goes on, epoll_wait EINTR, recv EINTR, sigtimedwait EINTR
strace: poll goes on, nanosleep goes on, sem_timedwait goes on, epoll_wait EINTR, recv EINTR, sigtimedwait EINTR
END
echo "as seen with elfutils 0.188, gdb 13.1 and strace 6.1"
