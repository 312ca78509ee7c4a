#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Linux (seen with 6.18), TCP_INFO: a side that answers the other's keepalive probes looks as if it heard nothing.
#
# tcpi_last_data_recv and tcpi_last_ack_recv are the milliseconds since data and since an acknowledgment arrived; a
# keepalive probe is a segment with an acknowledgment.  A guess by that: on an idle connection on which
# either side has SO_KEEPALIVE, last_ack_recv stays below the interval of the probes on both sides.
# Seen: only on the side that asks.  The side that is asked throws the probe away, as a segment that it had before,
# and notes no time, though it answers: both times grow as if the other side were silent, and only
# tcpi_segs_in counts the probes.  So: a detector that takes an old last_ack_recv for silence sets SO_KEEPALIVE on
# its own side, or compares tcpi_segs_in.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 no python3.
set -euo pipefail
command -v python3 >/dev/null || { echo "SKIP: no python3"; exit 77; }
python3 - <<'END'
import socket, struct, sys, time

server = socket.create_server(("127.0.0.1", 0))
asks = socket.create_connection(server.getsockname())
asked, _ = server.accept()
asks.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
asks.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 1)
asks.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 1)


def info(s):
    """Of struct tcp_info: last_data_recv, last_ack_recv, segs_in."""
    data = s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
    return struct.unpack_from("2I", data, 52) + struct.unpack_from("I", data, 140)


before = info(asked)[2]
while info(asked)[2] < before + 4:
    time.sleep(0.1)
time.sleep(0.2)
here, there = info(asks), info(asked)
print("asks:  last_ack_recv %d ms" % here[1])
print("asked: last_ack_recv %d ms, last_data_recv %d ms, %d segments meanwhile" %
      (there[1], there[0], there[2] - before))
if here[1] > 1500 or there[1] < 3000:
    sys.exit("it is otherwise now")
print("as seen with Linux 6.18")
END
