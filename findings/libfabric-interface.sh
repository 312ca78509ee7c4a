#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# libfabric 1.17.0 (Debian 1.17.0-3): FI_TCP_IFACE with the name of an interface that is not there is as if it were
# not set, and with that of one whose cable is out it offers the loopback.
#
# fi_tcp(7) says: "A specific network interface can be requested with this variable".  A guess by that: fi_getinfo()
# offers that interface, and where it does not exist or has no link, nothing (-FI_ENODATA), so that the job does not
# start and says why.
# Seen: with a name that no interface has, all interfaces are offered, the management network's among them.  Where the
# interface is there and has no carrier, or is down, lo is offered alone: fi_getinfo() succeeds with an address that is
# of no use to other hosts.  udp and sockets do the same.  So: compare the name of the domain that fi_getinfo() returns
# with what was asked for.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, no root or no namespaces.
. "$(dirname "$0")/lib/packages.sh"
own_network "$0" "$@"
unpack_libfabric libfabric-bin
usr/bin/fi_info --version >version 2>&1 || { echo "SKIP: it does not run here"; exit 77; }

ip link set lo up
for n in 0 1; do
    ip link add eth$n type veth peer name switch$n
    ip addr add 10.$n.0.1/24 dev eth$n
    ip link set eth$n up
    ip link set switch$n addrgenmode none up
done
# The interfaces that are offered, of three providers.
offered() {
    local provider
    for provider in tcp udp sockets; do
        env "FI_${provider^^}_IFACE=$1" usr/bin/fi_info -p $provider 2>&1 |
            sed -n 's/^ *domain: //p; s/^fi_getinfo: /error /p' | sort -u | paste -sd' '
    done | sort -u | sed "s/^/$2: /"
}
{
    offered eth1 'eth1 has a link'
    offered eth7 'no eth7'
    ip link set switch1 down
    offered eth1 'eth1 without a carrier'
    ip link set eth1 down
    offered eth1 'eth1 is down'
} | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
eth1 has a link: eth1 lo
no eth7: eth0 eth1 lo
eth1 without a carrier: lo
eth1 is down: lo
END
echo "as seen with libfabric $version"
