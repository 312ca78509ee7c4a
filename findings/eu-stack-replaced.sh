#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# elfutils 0.188 (Debian 0.188-2.1), eu-stack -p: a program that was built again while it runs has no names any more.
#
# A job that has run for hours is asked where it is, and its user has built the next version meanwhile, under the same
# name.  A guess: the names are still right, for the kernel keeps the old file for the process (/proc/PID/exe), and
# eu-stack, which asks for a process, looks there.
# Seen: libraries have names, the program's own functions have none, with exit code 0 and no word of why: the name in
# /proc/PID/maps is "PATH (deleted)", which is no file, and -e is refused beside -p.  So: an empty place in a stack is
# not a program without symbols; "gdb /proc/PID/exe PID" has the names.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/packages.sh"
unpack_elfutils
pid=
trap '[ -z "$pid" ] || kill $pid; rm -rf "$work"' EXIT

cat >app.c <<'END'
#include <unistd.h>

__attribute__((noinline)) int solve_step(int n)
{
    n += pause();
    return n + 1;
}

int main(int argc, char **argv)
{
    return solve_step(argc) + 1;
}
END
gcc -O1 -g -o app app.c
./app &
pid=$!
for ((i = 0; i < 200; i++)); do grep -q '^34 ' "/proc/$pid/syscall" 2>/dev/null && break; sleep 0.01; done
show() {
    local code=0
    LD_LIBRARY_PATH=$libraries usr/bin/eu-stack -p $pid >out 2>/dev/null || code=$?
    echo "$1: $(grep -oE ' (__libc_pause|pause|solve_step|main)( |$)' out | tr -d '\n' | sed 's/^ //; s/__libc_//'), exit code $code"
}
{
    show "the program as it was started"
    rm app
    gcc -O1 -g -DNEXT -o app app.c
    show "built again"
} | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
the program as it was started: pause solve_step main, exit code 0
built again: pause, exit code 0
END
echo "as seen with elfutils 0.188"
