#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# libfabric 1.17.0 (Debian 1.17.0-3), tcp;ofi_rxm: a large send whose receiver is killed never ends, and cannot
# be cancelled.
#
# A guess: if the peer's kernel resets the connection, what is under way to it ends with an error in the
# completion queue; at the latest fi_cancel() makes it end, with FI_ECANCELED.
# Seen: a send that waits for its receiver to fetch the data (1 MB; a small one ends at once) gets neither a
# completion nor an error after SIGKILL.  fi_cancel() returns 0, and nothing follows.  So the request and its
# buffer are never given back: who must go on has to keep both, and must learn of the end elsewhere.
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

cat >large.c <<'END'
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BIG (1 << 20)
static struct fid_ep *ep;
static struct fid_cq *cq;
static struct fid_av *av;
static struct fi_context2 context[2];
static char name[256], *buffer;
static size_t size = sizeof(name);

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void open_endpoint(void)
{
    struct fi_info *hints = fi_allocinfo(), *info;
    struct fi_cq_attr cq_attr = {.format = FI_CQ_FORMAT_TAGGED};
    struct fi_av_attr av_attr = {.type = FI_AV_TABLE};
    struct fid_fabric *fabric;
    struct fid_domain *domain;

    hints->ep_attr->type = FI_EP_RDM;
    hints->caps = FI_TAGGED;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->fabric_attr->prov_name = strdup("tcp;ofi_rxm");
    if (fi_getinfo(FI_VERSION(1, 17), "127.0.0.1", NULL, FI_SOURCE, hints, &info) ||
        fi_fabric(info->fabric_attr, &fabric, NULL) || fi_domain(fabric, info, &domain, NULL) ||
        fi_cq_open(domain, &cq_attr, &cq, NULL) || fi_av_open(domain, &av_attr, &av, NULL) ||
        fi_endpoint(domain, info, &ep, NULL) || fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV) ||
        fi_ep_bind(ep, &av->fid, 0) || fi_enable(ep) || fi_getname(&ep->fid, name, &size))
        exit(1);
    buffer = calloc(1, BIG);
}

/* 1: a completion; 0: none in time; else the error's number */
static int wait_for(double seconds, int *prov)
{
    struct fi_cq_tagged_entry entry;
    struct fi_cq_err_entry error = {0};
    ssize_t n = -FI_EAGAIN;

    for (double end = now() + seconds; n == -FI_EAGAIN && now() < end;)
        n = fi_cq_read(cq, &entry, 1);
    if (n == 1)
        return 1;
    if (n != -FI_EAVAIL || fi_cq_readerr(cq, &error, 0) < 0)
        return 0;
    *prov = error.prov_errno;
    return error.err;
}

static void send_to(fi_addr_t to, size_t len, int i)
{
    ssize_t rc = -FI_EAGAIN;

    for (double end = now() + 5; rc == -FI_EAGAIN && now() < end;) {
        rc = fi_tsend(ep, buffer, len, NULL, to, 1, &context[i]);
        if (rc == -FI_EAGAIN)
            fi_cq_read(cq, NULL, 0);
    }
    if (rc)
        printf("fi_tsend: %zd\n", rc);
}

static pid_t fork_peer(fi_addr_t *to)
{
    int pipe_[2];
    pid_t pid;

    if (pipe(pipe_) || (pid = fork()) < 0)
        exit(1);
    if (pid == 0) {
        open_endpoint();
        if (write(pipe_[1], name, sizeof(name)) < 0 ||
            fi_trecv(ep, buffer, 8, NULL, FI_ADDR_UNSPEC, 1, 0, &context[0]))
            exit(1);
        for (;;)
            fi_cq_read(cq, NULL, 0);
    }
    static char other[256];
    if (read(pipe_[0], other, sizeof(other)) <= 0)
        exit(1);
    if (!ep)
        open_endpoint();
    if (fi_av_insert(av, other, 1, to, 0, NULL) != 1)
        exit(1);
    return pid;
}

int main(void)
{
    int prov = 0, rc;
    fi_addr_t to;
    pid_t peer = fork_peer(&to);

    send_to(to, 8, 0);
    printf("small send: %s\n", wait_for(10, &prov) == 1 ? "complete" : "not complete");
    send_to(to, BIG, 1);
    kill(peer, SIGKILL);
    waitpid(peer, NULL, 0);
    rc = wait_for(10, &prov);
    printf("large send, its receiver is killed: %d\n", rc);
    printf("fi_cancel: %zd\n", fi_cancel(&ep->fid, &context[1]));
    rc = wait_for(5, &prov);
    printf("after that: %d\n", rc);
    return 0;
}
END
gcc -O1 -w -I"$PWD/usr/include" -o large large.c -L"$PWD/usr/lib/x86_64-linux-gnu" \
    -Wl,--allow-shlib-undefined -lfabric
./large | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
small send: complete
large send, its receiver is killed: 0
fi_cancel: 0
after that: 0
END
echo "as seen with libfabric $version"
