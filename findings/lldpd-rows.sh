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
set -euo pipefail
if [ "${1:-}" != inside ]; then
    unshare -n -m true 2>/dev/null || { echo "SKIP: no root, or no namespaces"; exit 77; }
    exec unshare -n -m "$0" inside
fi
version=1.0.16-1+deb12u1
snmp=5.9.3+dfsg-2+deb12u1
work=$(mktemp -d)
pids=()
trap '[ -z "${pids[*]}" ] || kill "${pids[@]}" 2>/dev/null || :; wait; rm -rf "$work"' EXIT
cd "$work"
# the network is another one here
nsenter -t "$PPID" -n apt-get download -qq "lldpd=$version" "snmpd=$snmp" "snmp=$snmp" "libsnmp40=$snmp" \
    libsensors5=1:3.6.0-7.1 libpci3=1:3.9.0-4 libwrap0=7.6.q-32 libevent-2.1-7=2.1.12-stable-8+deb12u1 2>/dev/null ||
    { echo "SKIP: no packages of lldpd $version"; exit 77; }
for package in ./*.deb; do dpkg-deb -x "$package" .; done
LD_LIBRARY_PATH=$(echo "$PWD"/usr/lib/*-linux-gnu)
export LD_LIBRARY_PATH
# lldpd wants a user of its own, a name with an address, and a folder; all of them are seen here alone.
mount -t tmpfs none /run
mkdir /run/lldpd
{ cat /etc/passwd; echo '_lldpd:x:991:991::/run/lldpd:/usr/sbin/nologin'; } >passwd
{ cat /etc/group; echo '_lldpd:x:991:'; } >group
{ cat /etc/hosts; echo "127.0.0.1 $(hostname)"; } >hosts
for file in passwd group hosts; do mount --bind $file /etc/$file; done

# The switch is here; the host has a network of its own.
unshare -n sleep 600 &
host=$!
pids+=("$host")
until [ "$(readlink /proc/$host/ns/net)" != "$(readlink /proc/self/ns/net)" ] &&
    [ "$(cat /proc/$host/comm)" = sleep ]; do sleep 0.1; done
on_host() { nsenter -t $host -n "$@"; }
ip link set lo up
ip link add port1 type veth peer name eth0 netns $host
ip link set port1 up
on_host ip link set eth0 up
cat >snmpd.conf <<END
rocommunity public 127.0.0.1
agentaddress udp:127.0.0.1:1161
master agentx
agentXSocket unix:$PWD/agentx
END
usr/sbin/snmpd -f -Lf snmpd.log -C -c snmpd.conf -p snmpd.pid &
pids+=($!)
until [ -S agentx ]; do kill -0 $!; sleep 0.1; done
usr/sbin/lldpd -d -L "$PWD/usr/sbin/lldpcli" -x -X "unix:$PWD/agentx" -u "$PWD/switch" >switch.log 2>&1 &
pids+=($!)
nsenter -t $host -n usr/sbin/lldpd -d -L "$PWD/usr/sbin/lldpcli" -u "$PWD/host" >host.log 2>&1 &
pids+=($!)

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
