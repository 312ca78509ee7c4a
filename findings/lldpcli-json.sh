#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# lldpd 1.0.16 (Debian 1.0.16-1+deb12u1): lldpcli's JSON has another shape for one neighbour than for two.
#
# Who asks which switch port a host is at runs "lldpcli -f json show neighbors".  A guess: "interface" is a list (or an
# object by port) for any number of neighbours, and a port that is not there is an error.
# Seen: with one neighbour it is an object, {"port1": ...}; with two it is a list of such objects; with none the key is
# missing. So what was written and tried on a host with one cable fails on one with two.  (json0, which lldpcli(8) has,
# too, has lists throughout.)  A port that is not there has no neighbour, with exit code 0.  So: -f json0.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, no root or no namespaces.
. "$(dirname "$0")/lib/lldpd.sh"
command -v python3 >/dev/null || { echo "SKIP: no python3"; exit 77; }

cli() { timeout 20 usr/sbin/lldpcli -u "$PWD/switch" "$@"; }
# until_seen COUNT: that many neighbours are seen; else after 60 s
until_seen() {
    for _ in $(seq 120); do
        [ "$(cli -f keyvalue show neighbors 2>/dev/null | grep -c '\.rid=')" != "$1" ] || break
        sleep 0.5
    done
}
shape() {
    cli -f "$1" show neighbors | python3 -c '
import json, sys
lldp = json.load(sys.stdin)["lldp"]
lldp = lldp[0] if isinstance(lldp, list) else lldp
print({dict: "object", list: "list", type(None): "missing"}[type(lldp.get("interface"))])'
}
show() { echo "$1: json $(shape json), json0 $(shape json0)"; }
{
    until_seen 1
    show 'one neighbour'
    ip link add port2 type veth peer name eth1 netns "$host"
    ip link set port2 up
    on_host ip link set eth1 up
    until_seen 2
    show 'two neighbours'
    on_host ip link set eth0 down
    on_host ip link set eth1 down
    until_seen 0
    show 'no neighbour'
    cli -f json show neighbors ports no-such-port >out 2>&1 && echo "a port that is not there: exit code 0, $(grep -ci error out || :) errors"
} | tee seen
diff - seen <<'END' || { cat switch.log; echo "it is otherwise now"; exit 1; }
one neighbour: json object, json0 list
two neighbours: json list, json0 list
no neighbour: json missing, json0 missing
a port that is not there: exit code 0, 0 errors
END
echo "as seen with lldpd $version"
