#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Linux (seen with 6.18), control groups v2: a process that is frozen looks asleep (S), one that computed, too.
#
# proc(5) has letters for what a process does; a stopped one has T.  A guess for one that cgroup.freeze holds, as batch
# systems and container engines suspend jobs ("docker pause"): T as well, or D, as the freezer of v1 makes it.
# Seen: S, as of one that waits for input, whatever it did before, and /proc/PID/wchan is "get_signal", which is
# that of no sleep in a system call.  SIGSTOP is not seen in it before it is thawed; SIGKILL ends it at once.  So: state and
# CPU time do not tell a frozen job from one that waits; "frozen 1" in cgroup.events of its group does.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 no root or no control groups v2.
set -euo pipefail
root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
group=$root/frozen$$
[ -n "$root" ] && mkdir "$group" 2>/dev/null || { echo "SKIP: needs root and control groups v2"; exit 77; }
processes= seen=$(mktemp)
trap 'rm "$seen"; kill -9 $processes 2>/dev/null || true; for i in {1..100}; do rmdir "$group" 2>/dev/null && break; sleep 0.05; done' EXIT

state() { sed -n 's/^State:\t\(.\).*/\1/p' "/proc/$1/status"; }
await() { for ((i = 0; i < 200; i++)); do "$@" && return; sleep 0.05; done; echo "in vain: $*"; exit 1; }
is_frozen() { grep -qx "frozen $1" "$group/cgroup.events"; }
has_state() { [ "$(state "$1")" = "$2" ]; }
is_gone() { ! kill -0 "$1" 2>/dev/null; }

sleep 100 &
sleeper=$!
yes >/dev/null &
worker=$!
processes="$sleeper $worker"
for pid in $processes; do echo "$pid" >"$group/cgroup.procs"; done
await has_state $worker R
echo 1 >"$group/cgroup.freeze"
await is_frozen 1
{
    echo "asleep before: $(state $sleeper), $(cat /proc/$sleeper/wchan)"
    echo "computing before: $(state $worker), $(cat /proc/$worker/wchan)"
    kill -STOP $sleeper
    sleep 0.5
    echo "stopped while frozen: $(state $sleeper)"
    { kill -KILL $worker && wait $worker; } 2>/dev/null || true
    await is_gone $worker
    echo "killed while frozen: gone"
    echo 0 >"$group/cgroup.freeze"
    await has_state $sleeper T
    echo "thawed: $(state $sleeper)"
} | tee "$seen"
diff - "$seen" <<'END' || { echo "it is otherwise now"; exit 1; }
asleep before: S, get_signal
computing before: S, get_signal
stopped while frozen: S
killed while frozen: gone
thawed: T
END
echo "as seen with Linux 6.18"
