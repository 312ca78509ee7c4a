#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# lldpd 1.0.16 (Debian 1.0.16-1+deb12u1) with Net-SNMP 5.9.3: where a cable is pulled, LLDP-MIB forgets at once who was
# at its end; and a row cannot be asked for by the time filter.
#
# Who looks for the switch port of a silent host asks lldpRemSysName.  A guess: the neighbour's row stays until its
# time to live is over, 120 s by default, so that it can be read after the fault; and since lldpRemTimeMark is a
# TimeFilter (RFC 4502: a row is there for each time at or before its last change), snmpget with the time 0 finds the row.
# Seen: the row goes with the carrier, within seconds, while ifOperStatus of the port says "down"; after the link
# comes back it has another index.  With the time 0 there is no such instance; only snmpwalk finds the row.  So: which
# host is at which port is read before there is a fault, and kept.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, no root or no namespaces.
. "$(dirname "$0")/lib/lldpd.sh"

agent=127.0.0.1:1161
sysname=.1.0.8802.1.1.2.1.4.1.1.9
port=$(ip -o link show port1 | cut -d: -f1)
row() { usr/bin/snmpwalk -v2c -c public -Onq $agent $sysname 2>/dev/null | sed -n "s/^$sysname\.\([0-9.]*\) \"$(hostname)\"$/\1/p"; }
oper() { usr/bin/snmpget -v2c -c public -Oqv $agent .1.3.6.1.2.1.2.2.1.8."$port" | sed 's/^1$/up/; s/^2$/down/'; }
# once WHAT PORT ROWS: what is said once that is so; else after 60 s
once() {
    for _ in $(seq 120); do
        [ "$(oper), $(row | wc -l)" != "$2, $3" ] || break
        sleep 0.5
    done
    echo "$1: port $(oper), neighbours $(row | wc -l)"
}
{
    once 'link' up 1
    first=$(row)
    usr/bin/snmpget -v2c -c public -Oqv $agent "$sysname.0.${first#*.}" 2>&1 | sed 's/ currently.*//; s/^/by time 0: /'
    begin=$SECONDS
    on_host ip link set eth0 down
    once 'cable out' down 0
    [ $((SECONDS - begin)) -lt 60 ] && echo "within a minute"
    on_host ip link set eth0 up
    once 'cable in' up 1
    [ "$(row | cut -d. -f2-)" != "$(echo "$first" | cut -d. -f2-)" ] && echo "another index"
} | tee seen
diff - seen <<'END' || { tail -n 3 switch.log host.log; echo "it is otherwise now"; exit 1; }
link: port up, neighbours 1
by time 0: No Such Instance
cable out: port down, neighbours 0
within a minute
cable in: port up, neighbours 1
another index
END
echo "as seen with lldpd $version"
