##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# unpack WHAT PACKAGE=VERSION...: the packages of WHAT are unpacked in a temporary folder, $work, in which the script goes
# on; $libraries is where their libraries are.  The command $outside leads to the network where there is none.
set -euo pipefail
outside=()
unpack() {
    local package
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    cd "$work"
    "${outside[@]}" apt-get download -qq "${@:2}" 2>/dev/null || { echo "SKIP: no packages of $1"; exit 77; }
    for package in ./*.deb; do dpkg-deb -x "$package" .; done
    # shellcheck disable=SC2034
    libraries=$(echo "$PWD"/usr/lib/*-linux-gnu)
}

# own_network SCRIPT [inside]: the script goes on in a network namespace of its own.
own_network() {
    if [ "${2:-}" != inside ]; then
        unshare -n true 2>/dev/null || { echo "SKIP: no root, or no namespaces"; exit 77; }
        exec unshare -n "$1" inside
    fi
    outside=(nsenter -t "$PPID" -n)
}

# unpack_libfabric PACKAGE: 1.17.0, and that package of it.
unpack_libfabric() {
    version=1.17.0-3
    unpack "libfabric $version" "$1=$version" libfabric1=$version libpsm-infinipath1=3.3+20.604758e7-6.2 \
        libpsm2-2=11.2.185-2 librdmacm1=44.0-2 libibverbs1=44.0-2 libnl-3-200=3.7.0-0.2+b1 \
        libnl-route-3-200=3.7.0-0.2+b1 libnuma1=2.0.16-1
    export LD_LIBRARY_PATH=$libraries
}
unpack_ucx_utils() {
    version=1.13.1-1
    unpack "UCX $version" "ucx-utils=$version" "libucx0=$version" libnuma1=2.0.16-1
    export LD_LIBRARY_PATH=$libraries
}
unpack_elfutils() {
    version=0.188-2.1
    unpack "elfutils $version" "elfutils=$version" "libdw1=$version" "libelf1=$version" "libasm1=$version"
}
unpack_snmpd() {
    version=5.9.3+dfsg-2+deb12u1
    unpack "Net-SNMP $version" "snmpd=$version" "snmp=$version" "libsnmp40=$version" libsensors5=1:3.6.0-7.1 \
        libpci3=1:3.9.0-4 libwrap0=7.6.q-32
    export LD_LIBRARY_PATH=$libraries
}

# start_snmpd: with the interfaces of the own network, by SNMPv1 and v2c at port 1161 of 127.0.0.1; ended with this script.
start_snmpd() {
    snmpd=
    trap '[ -z "$snmpd" ] || kill "$snmpd"; wait; rm -rf "$work"' EXIT
    ip link set lo up
    printf 'rocommunity public 127.0.0.1\nagentaddress udp:127.0.0.1:1161\n' >snmpd.conf
    usr/sbin/snmpd -f -Lf snmpd.log -C -c snmpd.conf -p snmpd.pid &
    snmpd=$!
}
