#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# iproute2 6.1.0 (Debian 6.1.0-3): nstat in a network namespace subtracts the counters of another one, in which it was
# last called.
#
# nstat(8): it is "to monitor kernel snmp counters"; called again it has what was counted since the last call.  A
# guess: in a container, or by "ip netns exec", it has what was counted there since it was last called there.
# Seen: the last call is in a file for each user, /tmp/.nstat.u0, without the namespace.  After 20 datagrams on the
# host, 3 in a namespace are none, and 2 further ones are 2; back on the host 4 new ones are 19, for the file has the 5
# of the namespace now.  The exit code is 0, and nothing is said.  So: each namespace is given a file of its own by
# NSTAT_HISTORY, or nstat -a is read twice.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, no root or no namespaces.
. "$(dirname "$0")/lib/packages.sh"
own_network "$0" "$@"
unpack 'iproute2 6.1.0-3' iproute2=6.1.0-3 libelf1=0.188-2.1 libbpf1=1:1.1.2-0+deb12u1 libmnl0=1.0.4-3
export LD_LIBRARY_PATH=$libraries
command -v python3 >/dev/null && usr/bin/nstat -V >version 2>&1 || { echo "SKIP: it does not run here"; exit 77; }
unshare -n sleep 300 &
there=$!
trap 'kill $there; rm -rf "$work"' EXIT
until [ "$(readlink /proc/$there/ns/net)" != "$(readlink /proc/self/ns/net)" ] &&
    [ "$(cat /proc/$there/comm)" = sleep ]; do sleep 0.1; done
there() { nsenter -t $there -n "$@"; }
# In the place of the user's file.
export NSTAT_HISTORY=$PWD/history
count() {
    echo "$1: $("${@:2}" usr/bin/nstat UdpInDatagrams | sed -n 's/^UdpInDatagrams *\([0-9]*\) .*/\1/p' | grep . || echo nothing)"
}
datagrams() {
    "${@:2}" python3 -c '
import socket, sys
a, b = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in "ab")
a.bind(("127.0.0.1", 0))
for _ in range(int(sys.argv[1])):
    b.sendto(b"x", a.getsockname())
    a.recv(1)' "$1"
}
ip link set lo up
there ip link set lo up
{
    datagrams 20
    datagrams 3 there
    count "20 datagrams here"
    count "3 there" there
    datagrams 2 there
    count "2 more there" there
    datagrams 4
    count "4 more here"
} | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
20 datagrams here: 20
3 there: nothing
2 more there: 2
4 more here: 19
END
echo "as seen with iproute2 6.1.0"
