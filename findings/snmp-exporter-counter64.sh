#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Prometheus' SNMP exporter 0.21.0 (Debian 0.21.0-1+b5) with Net-SNMP 5.9.3: a Counter64 of 2^53 octets is 0.
#
# A port of 400 Gb/s carries 2^53 octets in two days.  A guess: ifHCInOctets of the exporter is what snmpget shows, and
# above 2^53, where a double has no odd numbers, rounded.
# Seen: the remainder of its division by 2^53; of the highest value the metric is 2^53 - 1.  Its --help alone has it:
# "Wrap 64-bit counters to avoid floating point rounding", and it is on; with --no-snmp.wrap-large-counters it is as
# guessed.  So: rate() takes it for a restart of the switch and is right, but for one interval; totals over a port's life,
# and two ports that are compared by them, are wrong.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, no root or no namespaces.
. "$(dirname "$0")/lib/packages.sh"
own_network "$0" "$@"
snmp=5.9.3+dfsg-2+deb12u1
unpack 'the SNMP exporter 0.21.0' prometheus-snmp-exporter=0.21.0-1+b5 snmpd=$snmp snmp=$snmp libsnmp40=$snmp \
    libsensors5=1:3.6.0-7.1 libpci3=1:3.9.0-4 libwrap0=7.6.q-32
command -v python3 >/dev/null || { echo "SKIP: no python3"; exit 77; }
export LD_LIBRARY_PATH=$libraries
pids=()
trap '[ -z "${pids[*]}" ] || kill "${pids[@]}"; wait; rm -rf "$work"' EXIT
ip link set lo up
cat >counter <<'END'
#!/bin/sh
case $1$2 in
-g.1.3.6.1.4.1.8072.9999.1.0 | -n.1.3.6.1.4.1.8072.9999) printf '.1.3.6.1.4.1.8072.9999.1.0\ncounter64\n%s\n' "$(cat "$0.value")" ;;
esac
END
chmod +x counter
cat >snmpd.conf <<END
rocommunity public 127.0.0.1
agentaddress udp:127.0.0.1:1161
pass .1.3.6.1.4.1.8072.9999 $PWD/counter
END
cat >snmp.yml <<'END'
port:
  walk: [1.3.6.1.4.1.8072.9999]
  version: 2
  auth: {community: public}
  metrics:
  - {name: octets, oid: 1.3.6.1.4.1.8072.9999.1, type: counter, help: of a port}
END
echo 0 >counter.value
usr/sbin/snmpd -f -Lf snmpd.log -C -c snmpd.conf -p snmpd.pid &
pids+=($!)
exporter() { exec usr/bin/prometheus-snmp-exporter --config.file=snmp.yml --web.listen-address="127.0.0.1:$1" "${@:2}"; }
exporter 9116 >exporter.log 2>&1 &
pids+=($!)
exporter 9117 --no-snmp.wrap-large-counters >exporter2.log 2>&1 &
pids+=($!)
metric() {
    python3 -c '
import sys, urllib.request
get = urllib.request.build_opener(urllib.request.ProxyHandler({})).open
url = "http://127.0.0.1:%s/snmp?module=port&target=127.0.0.1:1161" % sys.argv[1]
for line in get(url, timeout=60).read().decode().split("\n"):
    if line.startswith("octets "):
        print("%d" % float(line.split()[1]))' "$1" 2>/dev/null
}
for port in 9116 9117; do for ((i = 0; i < 120; i++)); do [ "$(metric $port)" = 0 ] && break; sleep 0.5; done; done
for value in 9007199254740991 9007199254740992 9007199254741992 18446744073709551615; do
    echo $value >counter.value
    echo "snmpget $(usr/bin/snmpget -v2c -c public -t 10 -Oqv 127.0.0.1:1161 .1.3.6.1.4.1.8072.9999.1.0)," \
        "exporter $(metric 9116), without wrapping $(metric 9117)"
done | tee seen
diff - seen <<'END' || { cat exporter.log; echo "it is otherwise now"; exit 1; }
snmpget 9007199254740991, exporter 9007199254740991, without wrapping 9007199254740991
snmpget 9007199254740992, exporter 0, without wrapping 9007199254740992
snmpget 9007199254741992, exporter 1000, without wrapping 9007199254741992
snmpget 18446744073709551615, exporter 9007199254740991, without wrapping 18446744073709551616
END
echo "as seen with the SNMP exporter 0.21.0"
