#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Linux (seen with 6.18): who may not look into a process reads of it in /proc/PID/wchan that it does not wait.
#
# proc(5) says of wchan, as of syscall and stack, that the permission to access it is governed by a check of ptrace
# access.  A guess by that: who lacks it gets an error, as he does for the other two, and so can tell "not to be known"
# from "0", which a process that runs has.
# Seen: open(2) and read(2) succeed and say "0", also of a process that sleeps: word for word as of one that runs.  So
# it is for another user's process, and for one of the same user that is not dumpable (a program with capabilities, or
# PR_SET_DUMPABLE).  So: a "0" of a process that /proc/PID/stat has in state S or D says that nothing is known.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 no root.
set -euo pipefail
setpriv --reuid 65534 --regid 65534 --clear-groups true 2>/dev/null ||
    { echo "SKIP: no root"; exit 77; }
sleep 60 &
pid=$!
trap 'kill "$pid"' EXIT
for _ in $(seq 100); do
    case $(cat /proc/$pid/comm /proc/$pid/wchan | paste -sd' ') in sleep\ *nanosleep*) break ;; esac
    sleep 0.1
done
[ "$(cat /proc/$pid/wchan)" != 0 ] || { echo "SKIP: the kernel names no wait channels"; exit 77; }
look() {
    local file
    for file in wchan syscall stack; do
        echo "$1, $file: $("${@:2}" cat /proc/$pid/$file 2>&1 | sed -n '1{ s/.*\(Permission denied\).*/\1/; s/^[^0P].*/a name or number/; s/^0./a name or number/; p }')"
    done
}
seen=$(
    look root env
    look 'another user' setpriv --reuid 65534 --regid 65534 --clear-groups
)
echo "$seen"
echo "$seen" | diff - <(cat <<'END'
root, wchan: a name or number
root, syscall: a name or number
root, stack: a name or number
another user, wchan: 0
another user, syscall: Permission denied
another user, stack: Permission denied
END
) || { echo "it is otherwise now"; exit 1; }
echo "as seen with Linux 6.18"
