#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# libfabric 1.17.0 (Debian 1.17.0-3): hints that name a domain or a fabric choose nothing over TCP and UDP, and of the
# formats of addresses FI_SOCKADDR_IN6 chooses, FI_SOCKADDR_IN does not.
#
# fi_getinfo(3) says: "specifying a non-zero value for input hints indicates that a provider must support the requested
# value or fail the operation with -FI_ENODATA".  A guess by that: with the domain "lo" in the hints only the loopback is
# offered, with a name that no interface has nothing is, and with FI_SOCKADDR_IN no IPv6.
# Seen: domain_attr->name and fabric_attr->name are ignored by tcp (with ofi_rxm, too), net, udp and sockets: all
# interfaces are offered, whatever name is asked for, by fi_info -d and -f, too.  FI_SOCKADDR_IN offers IPv6 as well;
# FI_SOCKADDR_IN6 is IPv6 alone.  What does choose is a source address.  So: look for the domain and for the format in
# the list that fi_getinfo() returns, and do not take the first.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, no root or no namespaces.
. "$(dirname "$0")/lib/packages.sh"
own_network "$0" "$@"
unpack_libfabric libfabric-bin
usr/bin/fi_info --version >version 2>&1 || { echo "SKIP: it does not run here"; exit 77; }

ip link set lo up
ip link add eth0 type veth peer name switch0
ip link set switch0 addrgenmode none up
ip link set eth0 addrgenmode none
ip addr add 10.0.0.1/24 dev eth0
ip addr add fd00::1/64 dev eth0 nodad
ip link set eth0 up

# The interfaces that are offered with those options, and their networks, of all providers.
show() {
    local provider
    for provider in tcp 'tcp;ofi_rxm' net udp sockets; do
        usr/bin/fi_info -p "$provider" "$@" 2>&1 |
            awk '$1 == "fabric:" { net = $2 } $1 == "domain:" { print $2 "=" net } /^fi_getinfo/ { print "error", $2 }' |
            sort -u | paste -sd' '
    done | sort | uniq -c | sed "s@^ *\([0-9]*\)@${*:-no hint}, \1 providers:@"
}
{
    show
    for hint in '-d lo' '-d nosuch' '-f 127.0.0.1/32' '-a FI_SOCKADDR_IN' '-a FI_SOCKADDR_IN6' '-s 127.0.0.1'; do
        # shellcheck disable=SC2086
        show $hint
    done
} | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
no hint, 5 providers: eth0=10.0.0.0/24 eth0=fd00::/64 lo=127.0.0.1/32 lo=::1/128
-d lo, 5 providers: eth0=10.0.0.0/24 eth0=fd00::/64 lo=127.0.0.1/32 lo=::1/128
-d nosuch, 5 providers: eth0=10.0.0.0/24 eth0=fd00::/64 lo=127.0.0.1/32 lo=::1/128
-f 127.0.0.1/32, 5 providers: eth0=10.0.0.0/24 eth0=fd00::/64 lo=127.0.0.1/32 lo=::1/128
-a FI_SOCKADDR_IN, 5 providers: eth0=10.0.0.0/24 eth0=fd00::/64 lo=127.0.0.1/32 lo=::1/128
-a FI_SOCKADDR_IN6, 5 providers: eth0=fd00::/64 lo=::1/128
-s 127.0.0.1, 5 providers: lo=127.0.0.1/32
END
echo "as seen with libfabric $version"
