##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# For the findings about what libfabric 1.17.0 makes of its environment: fi_info is unpacked in a temporary folder, in which the
# script goes on.
set -euo pipefail
version=1.17.0-3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq libfabric-bin=$version libfabric1=$version libpsm-infinipath1=3.3+20.604758e7-6.2 \
    libpsm2-2=11.2.185-2 librdmacm1=44.0-2 libibverbs1=44.0-2 libnl-3-200=3.7.0-0.2+b1 libnl-route-3-200=3.7.0-0.2+b1 \
    libnuma1=2.0.16-1 2>/dev/null || { echo "SKIP: no packages of libfabric $version"; exit 77; }
for package in ./*.deb; do dpkg-deb -x "$package" .; done
LD_LIBRARY_PATH=$(echo "$PWD"/usr/lib/*-linux-gnu)
export LD_LIBRARY_PATH
usr/bin/fi_info --version >version 2>&1 || { echo "SKIP: it does not run here"; exit 77; }
