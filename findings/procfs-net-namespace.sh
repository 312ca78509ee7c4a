#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Linux (seen with 6.18): who has entered another network namespace still reads the counters of the first one in
# /sys/class/net, and in /proc/net/dev if only a thread has entered.
#
# setns(2) moves the calling thread; "nsenter -t PID -n" runs a command with a container's network.  A guess: the
# interfaces in /proc/net/dev and /sys/class/net are then those of the container, as "ip link" shows them.
# Seen: /sys/class/net has those of the namespace in which sysfs was mounted.  The names are often the same (eth0), so
# the errors and the carrier of the host's interface are taken for the container's, with no error anywhere.  /proc/net
# is /proc/self/net, that of the first thread: a monitor with a thread for each container reads its own namespace in
# each, and only /proc/thread-self/net/dev, or a netlink socket that the thread opens, is the container's. So:
# /proc/PID/net/dev needs no setns at all; for sysfs, mount it anew in a mount namespace of one's own.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 no root, no namespaces or no python3.
set -euo pipefail
[ "$(id -u)" = 0 ] && command -v python3 >/dev/null && command -v ip >/dev/null ||
    { echo "SKIP: needs root, iproute2 and python3"; exit 77; }
if [ "${1:-}" != inside ]; then
    unshare -n -m true 2>/dev/null || { echo "SKIP: no namespaces"; exit 77; }
    exec unshare -n -m "$0" inside
fi
# The first namespace is this one, with "outer"; the other has "inner".
mount -t sysfs sysfs /sys
unshare -n sleep 60 &
other=$!
trap 'kill "$other"' EXIT
until [ "$(readlink /proc/$other/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.05; done
ip link add outer type veth peer name inner netns $other
seen=$(
    echo "nsenter, ip link: $(nsenter -t $other -n ip -br link | grep -o '^inner\|^outer')"
    echo "nsenter, /proc/net/dev: $(nsenter -t $other -n grep -o 'inner\|outer' /proc/net/dev)"
    echo "nsenter, /sys/class/net: $(nsenter -t $other -n ls /sys/class/net | grep -o 'inner\|outer')"
    OTHER=$other python3 - <<'END'
import ctypes, os, re, socket, threading

def monitor():
    ns = os.open("/proc/%s/ns/net" % os.environ["OTHER"], os.O_RDONLY)
    assert ctypes.CDLL(None).setns(ns, 0x40000000) == 0
    names = re.compile("inner|outer")
    for path in "/proc/net/dev", "/proc/thread-self/net/dev", "/proc/%s/net/dev" % os.environ["OTHER"]:
        print("thread, %s: %s" % (path.replace(os.environ["OTHER"], "PID"), " ".join(names.findall(open(path).read()))))
    print("thread, netlink: " + " ".join(name for _, name in socket.if_nameindex() if name != "lo"))

thread = threading.Thread(target=monitor)
thread.start()
thread.join()
END
)
echo "$seen"
diff - <(echo "$seen") <<'END' || { echo "it is otherwise now"; exit 1; }
nsenter, ip link: inner
nsenter, /proc/net/dev: inner
nsenter, /sys/class/net: outer
thread, /proc/net/dev: outer
thread, /proc/thread-self/net/dev: inner
thread, /proc/PID/net/dev: inner
thread, netlink: inner
END
echo "as seen with Linux 6.18"
