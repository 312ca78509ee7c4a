#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Net-SNMP 5.9.3 (Debian 5.9.3+dfsg-2+deb12u1), Linux: a port that was without carrier for a moment has no trace of it in
# ifLastChange.
#
# RFC 2863: "the value of sysUpTime at the time the interface entered its current operational state".  A guess by that:
# after a link was out for 0.3 s, five times, ifLastChange is the time of the last one, so that a flapping port shows by one
# question, and a port that has not changed since the job began was up all the time.
# Seen: it stays what it was, zero, since the agent began: it looks every few seconds and compares.  A
# change that lasts is dated within two seconds.  So: an old ifLastChange does not say that a link was up meanwhile; the host's
# own carrier_changes in /sys/class/net counts each.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, no root or no namespaces.
. "$(dirname "$0")/lib/packages.sh"
own_network "$0" "$@"
snmpd=
unpack_snmpd
trap '[ -z "$snmpd" ] || kill "$snmpd"; wait; rm -rf "$work"' EXIT

oid() { usr/bin/snmpget -v2c -c public -Oqtv 127.0.0.1:1161 ".1.3.6.1.2.1.2.2.1.$1.$row"; }
row_of_port() {
    row=$(usr/bin/snmpwalk -v2c -c public -Oqn 127.0.0.1:1161 .1.3.6.1.2.1.2.2.1.2 | sed -n 's/.*\.\([0-9]*\) "port1"/\1/p')
    [ -n "$row" ]
}
await() { for _ in $(seq 60); do "$@" 2>/dev/null && return; sleep 0.5; done; echo "in vain: $*"; exit 1; }
is_down() { [ "$(oid 8)" = 2 ]; }
is_up() { [ "$(oid 8)" = 1 ]; }

ip link set lo up
ip link add port1 type veth peer name host1
ip link set port1 up
ip link set host1 up
printf 'rocommunity public 127.0.0.1\nagentaddress udp:127.0.0.1:1161\n' >snmpd.conf
usr/sbin/snmpd -f -Lf snmpd.log -C -c snmpd.conf -p snmpd.pid &
snmpd=$!
await row_of_port
await is_up
{
    for _ in 1 2 3 4 5; do
        ip link set host1 down
        sleep 0.3
        ip link set host1 up
        sleep 4
        is_up
    done
    echo "after five outages of 0.3 s: ifLastChange $(oid 9)"
    ip link set host1 down
    await is_down
    echo "without carrier: ifLastChange is $([ "$(oid 9)" -gt 1500 ] && echo new || echo old)"
} | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
after five outages of 0.3 s: ifLastChange 0
without carrier: ifLastChange is new
END
echo "as seen with Net-SNMP $version"
