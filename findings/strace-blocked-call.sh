#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# strace 6.1 (Debian 6.1-0.1): of a process that waits in a system call "strace -k -p" has no stack, and "strace -c -p" an
# empty table.
#
# A rank that hangs is what strace -p is called for.  strace(1) says of -k that it prints the stack "after each system call", of
# -c that it counts "time, calls, and errors for each system call".  A guess: for the call that the process is in when strace
# comes, and still is when it goes, there is its stack, and a row in the table with the time that was seen (-w).
# Seen: plain "strace -p" has the begin of its line ("recvfrom(3, "), and the arguments that the kernel fills in are
# missing; -k adds no stack, as it is printed when a call returns, -c no row, and -T no time.  For a process that makes calls
# both have what they promise.  So: eu-stack -p or gdb has the stack of a rank that hangs, and an empty table of -c says
# that it is in one call, or in none.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, or processes may not be traced.
. "$(dirname "$0")/lib/packages.sh"
unpack 'strace 6.1-0.1' strace=6.1-0.1 libunwind8=1.6.2-3
export LD_LIBRARY_PATH=$libraries
usr/bin/strace -V 2>/dev/null | grep -q 'stack-trace=libunwind' || { echo "SKIP: it does not run here"; exit 77; }

cat >wait.c <<'END'
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

__attribute__((noinline)) void wait_for_peer(int fd)
{
    char c;

    recv(fd, &c, 1, 0);
}

int main(int argc, char **argv)
{
    int fd[2];

    (void)argv;
    alarm(300);
    socketpair(AF_UNIX, SOCK_STREAM, 0, fd);
    if (argc > 1) {
        struct timeval soon = { 0, 100000 };
        setsockopt(fd[0], SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof(soon));
    }
    for (;;)
        wait_for_peer(fd[0]);
}
END
gcc -O1 -g -fno-optimize-sibling-calls -o wait wait.c
./wait &
blocked=$!
./wait again &
busy=$!
trap '{ kill -KILL "$blocked" "$busy"; wait; } 2>/dev/null || :; rm -rf "$work"' EXIT
for pid in $blocked $busy; do until [[ $(tr '\0' ' ' <"/proc/$pid/cmdline") == ./wait* ]]; do sleep 0.1; done; done
sleep 1

show() {
    timeout -s INT 3 usr/bin/strace -o out "${@:3}" -p "$2" 2>err || :
    grep -q attached err || { echo "SKIP: processes may not be traced here"; exit 77; }
    echo "$1, ${*:3}: recvfrom $(grep -q recvfrom out && echo is there || echo is not there), its time" \
        "$(grep -qE '<0\.[0-9]+>|^ *[0-9.]+ .* recvfrom' out && echo is there || echo is not)," \
        "wait_for_peer $(grep -q wait_for_peer out && echo is there || echo is not)"
}
{
    show "blocked" "$blocked" -k
    show "blocked" "$blocked" -T
    show "blocked" "$blocked" -c -w
    show "makes calls" "$busy" -k
    show "makes calls" "$busy" -T
    show "makes calls" "$busy" -c -w
} >seen
cat seen
diff - seen <<'END' || { cat out err; echo "it is otherwise now"; exit 1; }
blocked, -k: recvfrom is there, its time is not, wait_for_peer is not
blocked, -T: recvfrom is there, its time is not, wait_for_peer is not
blocked, -c -w: recvfrom is not there, its time is not, wait_for_peer is not
makes calls, -k: recvfrom is there, its time is not, wait_for_peer is there
makes calls, -T: recvfrom is there, its time is there, wait_for_peer is not
makes calls, -c -w: recvfrom is there, its time is there, wait_for_peer is not
END
echo "as seen with strace 6.1"
