#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# What building, testing and the demo need, as Debian names it.
packages=(
    gcc libc6-dev make autoconf automake libtool m4 perl python3 patch diffutils file
    xz-utils ca-certificates curl pkg-config
    libucx-dev libhwloc-dev libsodium-dev libjson-c-dev libdw-dev libsnmp-dev
    libcurl4-openssl-dev libfftw3-dev check openssl
    iproute2 iputils-ping nftables procps util-linux jq valgrind gnuplot-nox
)
# What some tests need besides: daemons, and what ch4:ofi is linked with, which nobody gets who only
# builds.
test_packages=(
    slurm-wlm munge snmpd openipmi ipmitool
    libfabric-dev libpsm-infinipath1-dev libpsm2-dev librdmacm-dev libibverbs-dev
)

usage() {
    cat <<EOF
Usage: maint/packages.sh [--list | --missing | --install] [--tests]

The Debian (and Ubuntu) packages that the build, the tests and the demo need. slurm-wlm and munge
(test/cluster/test_slurm.sh), snmpd, openipmi and ipmitool (handlers_campaign.sh) are among them only
with --tests, because they bring daemons; without them these tests are skipped.

  --list     print them (the default)
  --missing  print those that are not installed
  --install  install those that are not installed; needs root, and does nothing if none is missing
  --tests    also those with daemons; maint/test.sh, and so CI, says it
  --help     this text

Exit code: 0 done, 1 failed, 2 wrong arguments.
EOF
}

missing() {
    local name
    for name in "${packages[@]}"; do
        dpkg-query -W -f '${db:Status-Abbrev}\n' "$name" 2>/dev/null | grep -q '^.i' || echo "$name"
    done
}

install_missing() {
    local names log
    if ! command -v dpkg-query >/dev/null 2>&1; then
        warn "this is not a Debian or Ubuntu machine; ./configure names what is missing"
        return 0
    fi
    mapfile -t names < <(missing)
    if [ ${#names[@]} -eq 0 ]; then
        say "all ${#packages[@]} packages are installed"
        return 0
    fi
    [ "$(id -u)" = 0 ] || die "these packages are missing, and only root can install them:" \
        "sudo apt-get install ${names[*]}"
    export DEBIAN_FRONTEND=noninteractive
    log=$(mktemp "${TMPDIR:-/tmp}/faultloc-apt.XXXXXX")
    "$top_srcdir/maint/progress.sh" --title "apt-get update" --log "$log" -- apt-get update \
        || warn "apt-get update failed; trying with the existing lists"
    "$top_srcdir/maint/progress.sh" --title "installing ${names[*]}" --log "$log" -- \
        apt-get install -y --no-install-recommends "${names[@]}"
    rm -f "$log"
}

[ "${2:-}" != --tests ] || packages+=("${test_packages[@]}")
case ${1:---list} in
    --help | -h) usage ;;
    --list) printf '%s\n' "${packages[@]}" ;;
    --missing) missing ;;
    --install) install_missing ;;
    *) usage_error "unknown argument $1" ;;
esac
