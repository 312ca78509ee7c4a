#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# iperf3 3.12 (Debian 3.12-1+deb12u2): with -J a measurement that has failed has exit code 0.
#
# Scripts that measure the paths of a cluster take iperf3's JSON.  A guess: as without -J, a server that is not there, or
# that is killed in the middle, makes exit code 1, and the JSON has the reason besides.
# Seen: without -J the exit code is 1 for both; with -J it is 0, nothing is on standard error, and the reason is in a
# field "error" of the JSON, beside the figures up to there.  So: a reader looks for "error" before it takes
# end.sum_received, which is not there or counts a part of the time.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, no root or no namespaces.
. "$(dirname "$0")/lib/packages.sh"
own_network "$0" "$@"
version=3.12-1+deb12u2
unpack "iperf3 $version" "iperf3=$version" "libiperf0=$version" libsctp1=1.0.19+dfsg-2
export LD_LIBRARY_PATH=$libraries
usr/bin/iperf3 --version >out 2>&1 || { echo "SKIP: it does not run here"; exit 77; }
ip link set lo up
server=
trap '[ -z "$server" ] || kill -KILL "$server"; wait 2>/dev/null; rm -rf "$work"' EXIT

run() {
    local code=0 what=$1
    shift
    timeout 60 usr/bin/iperf3 -c 127.0.0.1 -b 1M "$@" >out 2>err </dev/null || code=$?
    echo "$what $*: exit code $code, $([ -s err ] && echo 'words on standard error' || echo silence)," \
        "error: $(sed -n 's/.*"error":[[:space:]]*"\(.*\)".*/\1/p' out)"
}
# serve: a server that is killed a second after a test has begun
serve() {
    usr/bin/iperf3 -s --forceflush >server.out 2>&1 &
    server=$!
    until grep -q listening server.out; do kill -0 "$server"; sleep 0.1; done
    (
        for _ in $(seq 100); do grep -q Accepted server.out && break; sleep 0.1; done
        sleep 1
        kill -KILL "$server"
    ) &
}
{
    run absent -t 5
    run absent -t 5 -J
    serve
    run killed -t 5
    wait "$server" 2>/dev/null || :
    serve
    run killed -t 5 -J
    wait "$server" 2>/dev/null || :
} | tee seen
server=
diff - seen <<'END' || { cat err out; echo "it is otherwise now"; exit 1; }
absent -t 5: exit code 1, words on standard error, error: 
absent -t 5 -J: exit code 0, silence, error: unable to connect to server: Connection refused
killed -t 5: exit code 1, words on standard error, error: 
killed -t 5 -J: exit code 0, silence, error: control socket has closed unexpectedly
END
echo "as seen with iperf3 $version"
