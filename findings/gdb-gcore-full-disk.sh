#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# gdb 13.1 (Debian's gdb-minimal 13.1-3): on a full disk generate-core-file says "Saved corefile", with exit code 0.
#
# "gdb -batch -p PID -ex 'gcore FILE'" keeps the memory of a rank that hangs before the job is ended.  A guess: where
# the disk has no room for it the exit code is 1, and no file that looks like a core is left.
# Seen: a file of as much as there was room for, "Saved corefile" and exit code 0; that there was no room is said in
# warnings before it.  gdb opens such a core, and has no stack of it.  So: a script looks for "warning:", or for a
# stack in the core, before it ends the job.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, no root or no namespaces.
. "$(dirname "$0")/lib/packages.sh"
if [ "${1:-}" != inside ]; then
    unshare -m true 2>/dev/null || { echo "SKIP: no root, or no namespaces"; exit 77; }
    exec unshare -m "$0" inside
fi
unpack 'gdb 13.1-3' gdb-minimal=13.1-3 libreadline8=8.2-1.3 libmpfr6=4.2.0-1
mkdir small large
mount -t tmpfs -o size=64k tmpfs small
sleep 300 &
pid=$!
trap 'kill $pid; umount small; rm -rf "$work"' EXIT
until [ "$(cat /proc/$pid/comm)" = sleep ]; do sleep 0.1; done
gdb() {
    LD_LIBRARY_PATH=$libraries LC_ALL=C HOME=$work DEBUGINFOD_URLS='' timeout 60 usr/bin/gdb -nx -batch "$@" </dev/null
}
run() {
    local code=0 frames
    gdb -p "$pid" -ex "generate-core-file $1/core" >out 2>&1 || code=$?
    frames=$(gdb -c $1/core -ex bt 2>&1 | grep -c '^#[0-9]* *0x' || :)
    echo "$1: exit code $code, says it is saved: $(grep -q '^Saved corefile' out && echo yes || echo no)," \
        "warns of no space: $(grep -q 'warning:.*No space left' out && echo yes || echo no)," \
        "a stack in it: $([ "$frames" = 0 ] && echo no || echo yes)"
}
for folder in large small; do run $folder; done | tee seen
! grep -q 'not permitted' out || { echo "SKIP: no ptrace here"; exit 77; }
diff - seen <<'END' || { cat out; echo "it is otherwise now"; exit 1; }
large: exit code 0, says it is saved: yes, warns of no space: no, a stack in it: yes
small: exit code 0, says it is saved: yes, warns of no space: yes, a stack in it: no
END
echo "as seen with gdb 13.1"
