#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Net-SNMP 5.9.3 (Debian 5.9.3+dfsg-2+deb12u1), Linux: an interface that was removed stays in the ifTable, and one
# that is made anew under the same name has a second row.
#
# Who looks for the port of a host at a switch searches ifDescr for its name.  A guess: the table has the interfaces
# that are there, a row each, so that the first row of that name is the port.
# Seen: seconds after an interface was removed its row is still there, and says "down"; when an interface of the same
# name is made and up, there are two rows, the old one first.  The first row of the name says "down" of a port
# that is up: the row with the highest index is the port.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, no root or no namespaces.
. "$(dirname "$0")/lib/packages.sh"
own_network "$0" "$@"
snmpd=
unpack_snmpd
trap '[ -z "$snmpd" ] || kill "$snmpd"; wait; rm -rf "$work"' EXIT

make_port() {
    ip link add port1 type veth peer name host1
    ip link set port1 up
    ip link set host1 up
}
# column N: the values of that column of the ifTable, in rows of port1.
rows() { usr/bin/snmpwalk -v2c -c public -Oqn 127.0.0.1:1161 .1.3.6.1.2.1.2.2.1.2 | sed -n 's/.*\.\([0-9]*\) "port1"/\1/p'; }
show() {
    local row
    for row in $(rows); do
        usr/bin/snmpget -v2c -c public -Oqv 127.0.0.1:1161 ".1.3.6.1.2.1.2.2.1.8.$row"
    done | sed 's/^1$/up/; s/^2$/down/' | paste -sd' '
}
# say_once WHAT WANTED: what is said of port1, once that is so; else after 30 s
say_once() {
    for _ in $(seq 60); do
        [ "$(show)" != "$2" ] || break
        sleep 0.5
    done
    echo "$1: $(show)"
}

ip link set lo up
make_port
printf 'rocommunity public 127.0.0.1\nagentaddress udp:127.0.0.1:1161\n' >snmpd.conf
usr/sbin/snmpd -f -Lf snmpd.log -C -c snmpd.conf -p snmpd.pid &
snmpd=$!
{
    say_once 'an interface' up
    ip link del port1
    say_once 'removed' down
    make_port
    say_once 'made anew' 'down up'
} 2>/dev/null | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
an interface: up
removed: down
made anew: down up
END
echo "as seen with Net-SNMP $version"
