#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Linux (seen with 6.18): an error of recv(2) on an established TCP connection with IP_RECVERR is not its end.
#
# ip(7) says that with IP_RECVERR TCP passes all received errors to the process at once, and warns that this does not
# allow it to recover from changes of routes.  A guess by that: a connection to a host that has gone ends with
# EHOSTUNREACH as soon as its address cannot be resolved, after 3 s, instead of a quarter of an hour.
# Seen: recv() says EHOSTUNREACH after 3 s, and every 3 s again, and the connection is still established: when
# the host is back after 10 s, what was sent arrives, the answer comes, and nothing is lost.  Without the option recv()
# says nothing in that time.  So: the error is a hint about the path, of value to a detector; a program that closes
# at it gives up a connection that was well.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 no root, no namespaces or no python3.
set -euo pipefail
[ "$(id -u)" = 0 ] && command -v python3 >/dev/null && command -v ip >/dev/null ||
    { echo "SKIP: needs root, iproute2 and python3"; exit 77; }
a=recverr$$a b=recverr$$b
trap 'ip netns del $a; ip netns del $b' EXIT
ip netns add $a 2>/dev/null && ip netns add $b || { trap - EXIT; echo "SKIP: no namespaces"; exit 77; }
ip -n $a link add v0 type veth peer name v1 netns $b
ip -n $a addr add 10.9.0.1/24 dev v0
ip -n $b addr add 10.9.0.2/24 dev v1
for end in "$a lo" "$b lo" "$a v0" "$b v1"; do ip -n ${end% *} link set "${end#* }" up; done

run() {
    ip netns exec $b python3 -c '
import socket
server = socket.create_server(("10.9.0.2", 7000))
c, _ = server.accept()
while data := c.recv(100):
    c.sendall(data)' &
    ip netns exec $a python3 - "$1" "ip -n $b addr %s 10.9.0.2/24 dev v1" "ip -n $a neigh flush dev v0" <<'END'
import socket, subprocess, sys, time

option, addr, flush = sys.argv[1:]
while True:
    try:
        s = socket.create_connection(("10.9.0.2", 7000))
        break
    except OSError:
        time.sleep(0.05)
if option == "IP_RECVERR":
    s.setsockopt(socket.IPPROTO_IP, 11, 1)
s.setblocking(False)
errors = answer = None


def listen(seconds):
    global errors, answer
    end = time.time() + seconds
    while time.time() < end and not answer:
        try:
            answer = s.recv(100)
        except BlockingIOError:
            time.sleep(0.02)
        except OSError as e:
            errors = e.strerror


subprocess.check_call((addr % "del").split())
subprocess.check_call(flush.split())
s.send(b"words")
listen(10)
subprocess.check_call((addr % "add").split())
listen(30)
print("%s: recv says %s, then: %s" % (option, errors or "nothing", (answer or b"nothing").decode()))
s.close()
END
    wait
}
seen=$(run "no option"; run IP_RECVERR)
echo "$seen"
diff - <(echo "$seen") <<'END' || { echo "it is otherwise now"; exit 1; }
no option: recv says nothing, then: words
IP_RECVERR: recv says No route to host, then: words
END
echo "as seen with Linux 6.18"
