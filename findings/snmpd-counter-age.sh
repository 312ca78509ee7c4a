#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Net-SNMP 5.9.3 (Debian 5.9.3+dfsg-2+deb12u1), Linux: the counters of an interface stand still for seconds and jump then.
#
# A rate is the difference of two readings of ifInOctets, divided by the time between them.  A guess: each answer has
# the kernel's counter at that time, so that readings a second apart show the traffic of that second.
# Seen: answers within two seconds or so have the same value, though a megabyte has passed between them; the one after
# that has all of it.  Nothing in the answer says how old the value is, and sysUpTime, which is asked for as the time of
# a reading, is of now.  So: a port that is asked each second has no traffic, no errors, and then several times
# its rate; readings 10 s apart or more are wrong by a third at most.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, no root or no namespaces.
. "$(dirname "$0")/lib/packages.sh"
command -v python3 >/dev/null || { echo "SKIP: no python3"; exit 77; }
own_network "$0" "$@"
snmpd=
unpack_snmpd
trap '[ -z "$snmpd" ] || kill "$snmpd"; wait; rm -rf "$work"' EXIT

ip link set lo up
printf 'rocommunity public 127.0.0.1\nagentaddress udp:127.0.0.1:1161\n' >snmpd.conf
usr/sbin/snmpd -f -Lf snmpd.log -C -c snmpd.conf -p snmpd.pid &
snmpd=$!
cat >send.py <<'END'
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for i in range(1000):
    s.sendto(b"x" * 1000, ("127.0.0.1", 9))
END
export MIBS=''
octets() { usr/bin/snmpget -v2c -c public -t 5 -Oqv 127.0.0.1:1161 .1.3.6.1.2.1.2.2.1.10.1 2>/dev/null || :; }
for ((i = 0; i < 60; i++)); do [[ $(octets) =~ ^[0-9]+$ ]] && break; sleep 0.5; done

# A reading just after the value has changed, one after a megabyte, and how long that one stays.
old=$(octets)
python3 send.py
for ((i = 0; i < 200; i++)); do
    first=$(octets)
    [ "$first" = "$old" ] || break
    sleep 0.1
done
python3 send.py
second=$(octets)
sleep 10
third=$(octets)
{
    echo "a megabyte later: $((second - first > 1000000))"
    echo "ten seconds later: $((third - first > 1000000))"
} | tee seen
diff - seen <<'END' || { cat snmpd.log; echo "it is otherwise now"; exit 1; }
a megabyte later: 0
ten seconds later: 1
END
echo "as seen with Net-SNMP $version"
