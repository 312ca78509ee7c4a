##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# For the findings about lldpd 1.0.16 with Net-SNMP 5.9.3, from packages in a temporary folder, in which the script goes on: a
# switch (here, port1, with snmpd) and a host that is at its port (on_host COMMAND), each with lldpd.
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
