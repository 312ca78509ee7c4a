#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Net-SNMP 5.9.3 (Debian 5.9.3+dfsg-2+deb12u1), Linux: snmpd's "proc" never finds a process with a name of more than 15
# characters.
#
# snmpd.conf(5) says of proc that it "monitors the number of processes called NAME (as reported by "/bin/ps -e")".  A
# guess: "proc prometheus-node-exporter" counts the processes of that program; or a name that cannot fit is refused.
# Seen: the count is 0 and prErrorFlag is 1, "No prometheus-node-exporter process running", while it runs: compared is
# the kernel's name of it, of 15 characters, with the whole of the one in the file.  Nothing is said in the log.  With
# the first 15 characters it is found, as is each other program that begins with them.  So: names are cut to 15
# characters in snmpd.conf, and an alarm for a daemon with a longer one is no evidence that it has ended.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, no root or no namespaces.
. "$(dirname "$0")/lib/packages.sh"
own_network "$0" "$@"
pids=()
unpack_snmpd
trap '[ -z "${pids[*]}" ] || kill "${pids[@]}"; wait; rm -rf "$work"' EXIT

long=fabric-monitor-of-ports # 23 characters
for name in $long ${long:0:15} fabric-mon; do
    cp "$(command -v sleep)" "$name"
    [ "$name" = ${long:0:15} ] || { ./"$name" 300 & pids+=($!); }
done
ip link set lo up
cat >snmpd.conf <<END
rocommunity public 127.0.0.1
agentaddress udp:127.0.0.1:1161
proc $long
proc ${long:0:15}
proc fabric-mon
END
usr/sbin/snmpd -f -Lf snmpd.log -C -c snmpd.conf -p snmpd.pid &
pids+=($!)
# A column of prTable, in the order of the file.
column() { usr/bin/snmpget -v2c -c public -t 5 -Oqv 127.0.0.1:1161 ".1.3.6.1.4.1.2021.2.1.$1.$2" 2>/dev/null; }
for ((i = 0; i < 60; i++)); do [ "$(column 5 3 || :)" = 1 ] && break; sleep 0.5; done
for i in 1 2 3; do
    echo "proc $(column 2 $i): $(column 5 $i) running, error $(column 100 $i), $(column 101 $i)"
done | tr -d '"' | tee seen
diff - seen <<'END' || { cat snmpd.log; echo "it is otherwise now"; exit 1; }
proc fabric-monitor-of-ports: 0 running, error 1, No fabric-monitor-of-ports process running
proc fabric-monitor-: 1 running, error 0, 
proc fabric-mon: 1 running, error 0, 
END
echo "as seen with Net-SNMP $version"
