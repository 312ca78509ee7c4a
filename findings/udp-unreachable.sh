#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Linux (seen with 6.18): a connected UDP socket is told "connection refused", but never "no route to host".
#
# udp(7) says that fatal errors are passed to the user, those that come from the network among them.  A guess by that: a
# probe of a connected socket ends with ECONNREFUSED where the host lives and nobody listens, and with
# EHOSTUNREACH where the host does not answer ARP, or a router says that it is unreachable.
# Seen: ECONNREFUSED comes at once.  EHOSTUNREACH does not come at all without IP_RECVERR: the kernel takes it for
# one that may pass, each send(2) succeeds, and SO_ERROR is 0, for ever.  With IP_RECVERR it comes after 3 s.  So: no
# error on a connected UDP socket says nothing about a dead host, and a prober sets IP_RECVERR.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 no root, no namespaces or no python3.
set -euo pipefail
[ "$(id -u)" = 0 ] && command -v python3 >/dev/null && command -v ip >/dev/null ||
    { echo "SKIP: needs root, iproute2 and python3"; exit 77; }
a=unreach$$a b=unreach$$b
trap 'ip netns del $a; ip netns del $b' EXIT
ip netns add $a 2>/dev/null && ip netns add $b || { trap - EXIT; echo "SKIP: no namespaces"; exit 77; }
ip -n $a link add v0 type veth peer name v1 netns $b
ip -n $a addr add 10.9.0.1/24 dev v0
ip -n $b addr add 10.9.0.2/24 dev v1
for end in "$a lo" "$b lo" "$a v0" "$b v1"; do ip -n ${end% *} link set "${end#* }" up; done

seen=$(ip netns exec $a python3 - <<'END'
import errno, socket, time


def probe(what, address, option):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    if option:
        s.setsockopt(socket.IPPROTO_IP, 11, 1)
    s.connect((address, 9))
    errors, end = set(), time.time() + 8
    while time.time() < end and not errors:
        try:
            s.send(b"probe")
        except OSError as e:
            errors.add(e.errno)
        time.sleep(0.1)
        errors.add(s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR))
        errors.discard(0)
    print("%s%s: %s" % (what, ", IP_RECVERR" if option else "",
                        " ".join(errno.errorcode[e] for e in errors) or "no error in 8 s"))


probe("nobody listens", "10.9.0.2", False)
probe("no such host", "10.9.0.3", False)
probe("no such host", "10.9.0.3", True)
END
)
echo "$seen"
diff - <(echo "$seen") <<'END' || { echo "it is otherwise now"; exit 1; }
nobody listens: ECONNREFUSED
no such host: no error in 8 s
no such host, IP_RECVERR: EHOSTUNREACH
END
echo "as seen with Linux 6.18"
