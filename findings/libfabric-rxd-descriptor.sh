#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# libfabric 1.17.0 (Debian 1.17.0-3), udp;ofi_rxd: a completion queue with a descriptor to wait for is opened, and
# has none.
#
# fi_cq_open() with wait_obj FI_WAIT_FD asks for a file descriptor that poll(2) can wait for.  A guess: a provider
# that has none refuses with -FI_ENOSYS when the queue is opened, as shm does, so that who opens it can choose
# another way.
# Seen: udp;ofi_rxd opens the queue (0) and the endpoint with it; only fi_control() with FI_GETWAIT fails with
# -FI_ENOSYS.  tcp;ofi_rxm has a descriptor.  So the answer of fi_cq_open() is not enough: ask for the descriptor
# at the start.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
set -euo pipefail
version=1.17.0-3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq "libfabric1=$version" "libfabric-dev=$version" \
    libpsm-infinipath1=3.3+20.604758e7-6.2 libpsm2-2=11.2.185-2 librdmacm1=44.0-2 libibverbs1=44.0-2 \
    ibverbs-providers=44.0-2 libnl-3-200=3.7.0-0.2+b1 libnl-route-3-200=3.7.0-0.2+b1 \
    libnuma1=2.0.16-1 2>/dev/null ||
    { echo "SKIP: no packages of libfabric $version"; exit 77; }
for package in ./*.deb; do dpkg-deb -x "$package" .; done
LD_LIBRARY_PATH=$(find "$PWD" -name '*.so.*' -exec dirname {} + | sort -u | tr '\n' ':')
export LD_LIBRARY_PATH

cat >descriptor.c <<'END'
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    struct fi_info *hints = fi_allocinfo(), *info;
    struct fi_cq_attr attr = {.format = FI_CQ_FORMAT_TAGGED, .wait_obj = FI_WAIT_FD};
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_cq *cq;
    int rc, fd = -1;

    hints->ep_attr->type = FI_EP_RDM;
    hints->caps = FI_TAGGED;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->fabric_attr->prov_name = strdup(argv[1]);
    if (fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info) ||
        fi_fabric(info->fabric_attr, &fabric, NULL) || fi_domain(fabric, info, &domain, NULL))
        return 1;
    rc = fi_cq_open(domain, &attr, &cq, NULL);
    printf("%s: fi_cq_open %d", argv[1], rc);
    if (!rc)
        printf(", FI_GETWAIT %d", fi_control(&cq->fid, FI_GETWAIT, &fd));
    puts(fd >= 0 ? ", a descriptor" : ", none");
    return 0;
}
END
gcc -O1 -w -I"$PWD/usr/include" -o descriptor descriptor.c -L"$PWD/usr/lib/x86_64-linux-gnu" \
    -Wl,--allow-shlib-undefined -lfabric
for provider in 'tcp;ofi_rxm' 'udp;ofi_rxd' shm; do ./descriptor "$provider"; done | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
tcp;ofi_rxm: fi_cq_open 0, FI_GETWAIT 0, a descriptor
udp;ofi_rxd: fi_cq_open 0, FI_GETWAIT -38, none
shm: fi_cq_open -38, none
END
echo "as seen with libfabric $version"
