#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# UCX 1.13.1 (Debian 1.13.1-1), ucx_perftest: after its server was killed the client goes on, and measures.
#
# It is what a path is measured with.  A guess: the client ends with an error and an exit code that is not 0 within
# seconds after the kernel of the server has reset the connections.
# Seen: it does not end.  tag_bw goes on to count messages, some millions in a second, many times what the path
# carried: a send on an endpoint that has failed is over at once.  tag_lat prints nothing any more, and waits.  With -e
# (error handling) it is the same.  So: a figure of ucx_perftest holds if the server has ended well, too; and a
# script puts timeout(1) before it.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/packages.sh"
unpack_ucx_utils
pids=()
trap 'kill -KILL "${pids[@]}" 2>/dev/null || :; wait 2>/dev/null || :; rm -rf "$work"' EXIT
export UCX_TLS=tcp UCX_NET_DEVICES=lo
usr/bin/ucx_info -v >/dev/null || { echo "SKIP: it does not run here"; exit 77; }

lines() { grep -c '^.thread 0' out || :; }
messages() { awk '/^.thread 0/ { n = $3 } END { print n + 0 }' out; }
# The server is killed after two lines of the client; what that has counted 3 s later, and 8 s later.
run() {
    local port=$((20000 + RANDOM % 10000)) counted server client
    : >out
    usr/bin/ucx_perftest -p $port >/dev/null 2>&1 &
    server=$!
    pids+=("$server")
    sleep 1
    stdbuf -oL timeout 60 usr/bin/ucx_perftest -p $port "$@" -s 8 -n 2000000000 127.0.0.1 >out 2>&1 &
    client=$!
    pids+=("$client")
    while [ "$(lines)" -lt 2 ]; do kill -0 "$client"; sleep 0.2; done
    kill -KILL "$server"
    sleep 3
    counted=$(messages)
    sleep 5
    counted=$(($(messages) - counted))
    [ "$counted" -lt 1000000 ] || counted=millions
    echo "$*: $(kill -0 "$client" 2>/dev/null && echo 'goes on' || echo 'has ended'), counts $counted"
    kill "$client" || :
}
{
    run -t tag_bw
    run -t tag_bw -e
    run -t tag_lat
} | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
-t tag_bw: goes on, counts millions
-t tag_bw -e: goes on, counts millions
-t tag_lat: goes on, counts 0
END
echo "as seen with UCX $version"
