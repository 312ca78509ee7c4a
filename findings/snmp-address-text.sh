#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Net-SNMP 5.9.3 (Debian 5.9.3+dfsg-2+deb12u1): of two MAC addresses in a column snmpwalk prints one as numbers, the
# other as text.
#
# Who looks for the switch port of a MAC address walks ifPhysAddress, lldpRemPortId or the like, by numbers, for Debian
# has no MIBs.  snmpcmd(1) has -Ox, "Display string values as Hex strings", and -Oa for ASCII.  A guess: without either,
# an address has one form, 'Hex-STRING: 52 54 00 ...', for the type of the object is the same for all.
# Seen: the form goes by the bytes of each value: where all six happen to be printable it is 'STRING: "BABCDE"'.  A
# reader that wants hex digits has no match for that host, and one that takes bytes apart by spaces reads a wrong one.
# So: -Ox, always.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, no root or no namespaces.
. "$(dirname "$0")/lib/packages.sh"
own_network "$0" "$@"
unpack_snmpd

ip link add port1 address 52:54:00:12:34:56 type veth peer name port2 address 42:41:42:43:44:45
start_snmpd
addresses() {
    MIBS='' usr/bin/snmpwalk -v2c -c public -t 5 -On "$@" 127.0.0.1:1161 .1.3.6.1.2.1.2.2.1.6 2>/dev/null |
        sed -n 's/.* = \([A-Z].*[^ ]\) *$/\1/p' | sort
}
for ((i = 0; i < 60; i++)); do [ "$(addresses | wc -l)" = 2 ] && break; sleep 0.5; done
{
    addresses
    echo "-Ox:"
    addresses -Ox
} | tee seen
diff - seen <<'END' || { cat snmpd.log; echo "it is otherwise now"; exit 1; }
Hex-STRING: 52 54 00 12 34 56
STRING: "BABCDE"
-Ox:
Hex-STRING: 42 41 42 43 44 45
Hex-STRING: 52 54 00 12 34 56
END
echo "as seen with Net-SNMP $version"
