#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# chrony 4.3 (Debian 4.3-2+deb12u3): a host whose time servers are gone is synchronized, by "chronyc tracking" and "chronyc
# waitsync".
#
# To tell which node of a job failed first needs clocks that agree; a prolog or a health check calls "chronyc waitsync 1 0.1",
# which "waits for chronyd to synchronise", or looks for "Leap status: Normal".  A guess: when no server has answered
# for so long that chronyd itself writes "Can't synchronise: no selectable sources", tracking says "Not synchronised",
# and waitsync fails.
# Seen, after eight polls in vain: "Leap status     : Normal", the server's address as the reference, waitsync's exit
# code is 0, and "chronyc activity" counts one source online.  Only the root dispersion grows, by microseconds in a
# second; waitsync does not look at it.  So: look at "chronyc -c sources" (? and reach 0, with exit code 0, too), or at
# the age of "Ref time" in tracking.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, or chronyd does not run.
. "$(dirname "$0")/lib/packages.sh"
version=4.3-2+deb12u3
unpack "chrony $version" "chrony=$version" libedit2=3.1-20221030-2 libseccomp2=2.5.4-1+deb12u1
export LD_LIBRARY_PATH=$libraries
usr/sbin/chronyd --version 2>/dev/null | grep -q 'version 4.3' || { echo "SKIP: it does not run here"; exit 77; }
pids=()
trap 'kill "${pids[@]}" 2>/dev/null || :; wait 2>/dev/null || :; rm -rf "$work"' EXIT

# Neither touches the clock (-x).  The folder of their sockets has to be closed to others.
port=$((20000 + $$ % 20000))
mkdir -m 700 run
printf '%s\n' "local stratum 5" allow "port $port" >server.conf
printf '%s\n' "server 127.0.0.1 port $port minpoll -3 maxpoll -3 iburst" "port 0" >client.conf
for name in server client; do
    printf '%s\n' "cmdport 0" "bindcmdaddress $PWD/run/$name" "pidfile $PWD/$name.pid" >>$name.conf
    usr/sbin/chronyd -x -d -u "$(id -un)" -f "$PWD/$name.conf" >$name.log 2>&1 &
    pids+=($!)
done
chronyc() { timeout 20 usr/bin/chronyc -n -h "$PWD/run/client" "$@"; }
await() { for _ in $(seq 150); do grep -q "$1" client.log 2>/dev/null && return; sleep 0.2; done; return 1; }
await 'Selected source' || { echo "SKIP: chronyd does not run here"; cat ./*.log; exit 77; }
show() {
    local code=0
    chronyc waitsync 1 0.1 >out || code=$?
    echo "$1: waitsync: exit code $code; $(chronyc tracking | grep 'Leap status' | tr -s ' '); reference" \
        "$(chronyc -c tracking | cut -d, -f2); $(chronyc activity | grep online | head -n 1); source" \
        "$(chronyc -c sources | cut -d, -f2), reach $(chronyc -c sources | cut -d, -f6 | sed 's/[1-9].*/more than 0/')"
}
{
    show "with a server"
    kill "${pids[0]}"
    await "no selectable sources" || echo "in vain"
    for _ in $(seq 50); do [ "$(chronyc -c sources | cut -d, -f6)" = 0 ] && break; sleep 0.2; done
    sleep 2
    show "without"
} >seen
cat seen
diff - seen <<'END' || { cat client.log; echo "it is otherwise now"; exit 1; }
with a server: waitsync: exit code 0; Leap status : Normal; reference 127.0.0.1; 1 sources online; source *, reach more than 0
without: waitsync: exit code 0; Leap status : Normal; reference 127.0.0.1; 1 sources online; source ?, reach 0
END
echo "as seen with chrony $version"
