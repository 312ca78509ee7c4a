#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# libfabric 1.17.0 (Debian 1.17.0-3), tcp;ofi_rxm: one-sided writes to a peer that is stopped, and killed then, are
# counted as done; one after that is refused for want of room, for ever. No error is ever told, unless
# FI_DELIVERY_COMPLETE was asked for.
#
# A guess: what a killed peer never received is counted by fi_cntr_readerr() of the endpoint's counter, or has an
# error in the completion queue, so who waits for all of a window's operations learns that some have failed.
# Seen: a completion without FI_DELIVERY_COMPLETE means that the own kernel has the data. The counter of errors
# stays at 0, and so does the queue. fi_writemsg() to the dead peer returns -FI_EAGAIN (-11) for at least 5 s: a loop
# that tries again, as MPICH's does, has no end of its own. With FI_DELIVERY_COMPLETE, which MPICH sets for all but
# small writes, those are not counted, nor as errors; for each there is an error in the queue, whose context is
# the write's own, also where that is NULL.
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

cat >write.c <<'END'
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct fid_ep *ep;
static struct fid_cq *cq;
static struct fid_cntr *counter;
static struct fid_av *av;
static struct fid_mr *mr;
static struct fi_context2 context[8];
static char buffer[65536];
static struct peer {
    char name[256];
    uint64_t address, key;
} own;
static size_t size = sizeof(own.name);
static int errors;
static uint64_t flags;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void open_endpoint(void)
{
    struct fi_info *hints = fi_allocinfo(), *info;
    struct fi_cq_attr cq_attr = {.format = FI_CQ_FORMAT_CONTEXT};
    struct fi_cntr_attr cntr_attr = {.events = FI_CNTR_EVENTS_COMP};
    struct fi_av_attr av_attr = {.type = FI_AV_TABLE};
    struct fid_fabric *fabric;
    struct fid_domain *domain;

    hints->ep_attr->type = FI_EP_RDM;
    hints->caps = FI_RMA | FI_MSG;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_PROV_KEY | FI_MR_ALLOCATED | FI_MR_LOCAL;
    hints->fabric_attr->prov_name = strdup("tcp;ofi_rxm");
    if (fi_getinfo(FI_VERSION(1, 17), "127.0.0.1", NULL, FI_SOURCE, hints, &info) ||
        fi_fabric(info->fabric_attr, &fabric, NULL) || fi_domain(fabric, info, &domain, NULL) ||
        fi_cq_open(domain, &cq_attr, &cq, NULL) || fi_av_open(domain, &av_attr, &av, NULL) ||
        fi_cntr_open(domain, &cntr_attr, &counter, NULL) || fi_endpoint(domain, info, &ep, NULL) ||
        fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV) || fi_ep_bind(ep, &av->fid, 0) ||
        fi_ep_bind(ep, &counter->fid, FI_WRITE) || fi_enable(ep) ||
        fi_getname(&ep->fid, own.name, &size) ||
        fi_mr_reg(domain, buffer, sizeof(buffer), FI_REMOTE_WRITE | FI_WRITE, 0, 0, 0, &mr, NULL))
        exit(1);
    own.address = info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t) buffer : 0;
    own.key = fi_mr_key(mr);
}

static void turn(void)
{
    struct fi_cq_entry entry;
    struct fi_cq_err_entry error = {0};

    if (fi_cq_read(cq, &entry, 1) == -FI_EAVAIL && fi_cq_readerr(cq, &error, 0) > 0)
        errors++;
    fi_cntr_read(counter);
}

static int write_to(fi_addr_t to, const struct peer *p, int i)
{
    struct iovec iov = {buffer, sizeof(buffer)};
    struct fi_rma_iov target = {p->address, sizeof(buffer), p->key};
    void *desc = fi_mr_desc(mr);
    struct fi_msg_rma msg = {&iov, &desc, 1, to, &target, 1, &context[i], 0};
    ssize_t rc = -FI_EAGAIN;

    for (double end = now() + 5; rc == -FI_EAGAIN && now() < end;) {
        rc = fi_writemsg(ep, &msg, flags);
        if (rc == -FI_EAGAIN)
            turn();
    }
    return (int) rc;
}

int main(int argc, char **argv)
{
    int pipe_[2];
    struct peer peer;
    fi_addr_t to;
    pid_t pid;

    (void) argv;
    flags = argc > 1 ? FI_DELIVERY_COMPLETE : 0;
    if (pipe(pipe_) || (pid = fork()) < 0)
        return 1;
    open_endpoint();
    if (pid == 0) {
        if (write(pipe_[1], &own, sizeof(own)) < 0)
            return 1;
        for (;;)
            turn();
    }
    if (read(pipe_[0], &peer, sizeof(peer)) != sizeof(peer) ||
        fi_av_insert(av, peer.name, 1, &to, 0, NULL) != 1)
        return 1;
    printf("write: %d\n", write_to(to, &peer, 0));
    for (double end = now() + 10; fi_cntr_read(counter) < 1 && now() < end;)
        turn();
    printf("counter: %d done, %d errors\n", (int) fi_cntr_read(counter), (int) fi_cntr_readerr(counter));
    kill(pid, SIGSTOP);
    printf("writes to a stopped peer: %d %d\n", write_to(to, &peer, 1), write_to(to, &peer, 2));
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    for (double end = now() + 5; now() < end;)
        turn();
    printf("it is killed: %d done, %d errors, %d errors in the queue\n", (int) fi_cntr_read(counter),
           (int) fi_cntr_readerr(counter), errors);
    printf("write after that: %d\n", write_to(to, &peer, 3));
    for (double end = now() + 5; now() < end;)
        turn();
    printf("in the end: %d done, %d errors, %d errors in the queue\n", (int) fi_cntr_read(counter),
           (int) fi_cntr_readerr(counter), errors);
    return 0;
}
END
gcc -O1 -w -I"$PWD/usr/include" -o write write.c -L"$PWD/usr/lib/x86_64-linux-gnu" \
    -Wl,--allow-shlib-undefined -lfabric
./write | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
write: 0
counter: 1 done, 0 errors
writes to a stopped peer: 0 0
it is killed: 3 done, 0 errors, 0 errors in the queue
write after that: -11
in the end: 3 done, 0 errors, 0 errors in the queue
END
./write delivery | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
write: 0
counter: 1 done, 0 errors
writes to a stopped peer: 0 0
it is killed: 1 done, 0 errors, 2 errors in the queue
write after that: -11
in the end: 1 done, 0 errors, 2 errors in the queue
END
echo "as seen with libfabric $version"
