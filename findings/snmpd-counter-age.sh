#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Net-SNMP 5.9.3 (Debian 5.9.3+dfsg-2+deb12u1), Linux: the counters of an interface stand still for seconds and jump then.
#
# A rate is the difference of two readings of ifInOctets, divided by the time between them.  A guess: each answer has
# the kernel's counter at that time, so that readings a second apart show the traffic of that second.
# Seen: answers within two seconds or so have the same value, though 200 kB have passed between them; the one after that
# has all of it.  Nothing in the answer says how old the value is, and sysUpTime, which is asked for as the time of
# a reading, is of now.  So: a port that is asked each second has no traffic, no errors, and then several times
# its rate; readings 10 s apart or more are wrong by a third at most.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, no root or no namespaces.
. "$(dirname "$0")/lib/packages.sh"
own_network "$0" "$@"
unpack_snmpd

start_snmpd
# Some 200 kB, from this process, for a program takes its time to start.  Nobody listens, so that each second one is refused.
exec 3>/dev/udp/127.0.0.1/9
send() { for ((n = 0; n < 400; n++)); do printf '%01000d' 0 >&3 2>/dev/null || :; done; }
export MIBS=''
octets() { usr/bin/snmpget -v2c -c public -t 5 -Oqv 127.0.0.1:1161 .1.3.6.1.2.1.2.2.1.10.1 2>/dev/null || :; }
for ((i = 0; i < 60; i++)); do [[ $(octets) =~ ^[0-9]+$ ]] && break; sleep 0.5; done

# A reading just after the value has changed, one after more has passed, and one ten seconds later.  On a busy machine the
# second one may come too late.
attempt() {
    local old
    old=$(octets)
    send
    for ((i = 0; i < 200; i++)); do
        first=$(octets)
        [ "$first" = "$old" ] || break
        sleep 0.1
    done
    send
    second=$(octets)
}
{
    for _ in 1 2 3 4 5; do
        attempt
        [ "$second" != "$first" ] || break
    done
    echo "more at once: $((second - first > 100000))"
    sleep 10
    echo "more ten seconds later: $(($(octets) - first > 100000))"
} | tee seen
diff - seen <<'END' || { cat snmpd.log; echo "it is otherwise now"; exit 1; }
more at once: 0
more ten seconds later: 1
END
echo "as seen with Net-SNMP $version"
