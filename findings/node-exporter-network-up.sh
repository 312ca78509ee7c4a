#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# node_exporter 1.5.0 (Debian 1.5.0-1+b6), Linux: node_network_up is 0 for interfaces that work, and
# node_network_carrier is not there for one that was taken down.
#
# Its words are "Value is 1 if operstate is 'up', 0 otherwise."  A guess: 1 for each interface that is up and carries
# packets, so that "node_network_up == 0" finds what is down; and node_network_carrier is 0 for one that has none.
# Seen: lo, a VXLAN and an ifb, all of them up, have 0: their operstate is "unknown", as of each driver that does not
# tell one.  An interface that an administrator has taken down has no node_network_carrier, for the kernel refuses to
# say; an alert "node_network_carrier == 0" is silent then.  So: whether it is up is bit 0 of node_network_flags, and
# an alert for a cable has absent() beside it.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, no root or no namespaces.
. "$(dirname "$0")/lib/packages.sh"
if [ "${1:-}" != inside ]; then
    unshare -n -m true 2>/dev/null || { echo "SKIP: no root, or no namespaces"; exit 77; }
    exec unshare -n -m "$0" inside
fi
outside=(nsenter -t "$PPID" -n)
unpack 'node_exporter 1.5.0-1+b6' prometheus-node-exporter=1.5.0-1+b6
command -v python3 >/dev/null || { echo "SKIP: no python3"; exit 77; }
mount -t sysfs none /sys
ip link set lo up
{
    ip link add up0 type veth peer name up1
    ip link add down0 type veth peer name down1
    ip link add vxlan0 type vxlan id 5 dstport 4789 dev up0
    ip link show ifb0 || ip link add ifb0 type ifb
} >links 2>&1 || { echo "SKIP: no such interfaces: $(cat links)"; exit 77; }
for name in up0 up1 down1 vxlan0 ifb0; do ip link set $name up; done
usr/bin/prometheus-node-exporter --collector.disable-defaults --collector.netclass --web.disable-exporter-metrics \
    --web.listen-address=127.0.0.1:9100 >log 2>&1 &
exporter=$!
trap 'kill $exporter; wait; rm -rf "$work"' EXIT
metrics() {
    python3 -c '
import urllib.request
get = urllib.request.build_opener(urllib.request.ProxyHandler({})).open
print(get("http://127.0.0.1:9100/metrics", timeout=60).read().decode())' 2>/dev/null
}
for ((i = 0; i < 120; i++)); do metrics >all && grep -q '^node_network_up{device="up0"} 1' all && break; sleep 0.5; done
value() { sed -n "s/^node_network_$1{device=\"$2\"} //p" all | grep . || echo absent; }
for name in lo up0 vxlan0 ifb0 down0 down1; do
    echo "$name: operstate $(cat /sys/class/net/$name/operstate), up $(value up $name), carrier $(value carrier $name)," \
        "bit 0 of flags $(($(value flags $name) & 1))"
done | tee seen
diff - seen <<'END' || { cat log; echo "it is otherwise now"; exit 1; }
lo: operstate unknown, up 0, carrier 1, bit 0 of flags 1
up0: operstate up, up 1, carrier 1, bit 0 of flags 1
vxlan0: operstate unknown, up 0, carrier 1, bit 0 of flags 1
ifb0: operstate unknown, up 0, carrier 1, bit 0 of flags 1
down0: operstate down, up 0, carrier absent, bit 0 of flags 0
down1: operstate lowerlayerdown, up 0, carrier 0, bit 0 of flags 1
END
echo "as seen with node_exporter 1.5.0"
