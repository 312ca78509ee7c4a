#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# libfabric 1.17.0 (Debian 1.17.0-3): a first message to an address at which nobody listens has three ends in three
# providers, and in none is it "connection refused".
#
# fi_av_insert() takes an address without a look at it; the send is what finds out.  A guess: with endpoints FI_EP_RDM over
# TCP, where the kernel of the other host refuses the connection at once, fi_send() or the completion queue says
# FI_ECONNREFUSED (111), and udp;ofi_rxd gives up after some seconds with an error.
# Seen: tcp;ofi_rxm says -FI_EAGAIN (-11), "try again", with nothing in the completion queue, as it does for a peer that
# is slow to connect; behind each try is a new connection that is refused.  sockets says -FI_ENOENT (-2) at once.
# udp;ofi_rxd takes the message, and has neither a completion nor an error for it.  Both were tried for 100 s.  So: who
# sends in a loop, as MPICH does, needs a limit of his own, or cannot tell a process that has ended from one that is slow
# to start.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/packages.sh"
unpack_libfabric libfabric-dev

cat >refused.c <<'END'
#include <arpa/inet.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct fid_cq *cq;

/* What the queue has: 0 nothing, else a completion or an error, and it is printed. */
static int look(void)
{
    struct fi_cq_err_entry error = {0};
    struct fi_cq_entry entry;
    ssize_t n = fi_cq_read(cq, &entry, 1);

    if (n == -FI_EAVAIL && fi_cq_readerr(cq, &error, 0) == 1)
        printf("error %d in the queue", error.err);
    else if (n == 1)
        printf("completion");
    return n != -FI_EAGAIN;
}

int main(int argc, char **argv)
{
    struct sockaddr_in nobody = {.sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct fi_cq_attr c = {.format = FI_CQ_FORMAT_CONTEXT, .wait_obj = FI_WAIT_UNSPEC};
    struct fi_av_attr a = {.type = FI_AV_TABLE};
    struct fi_info *hints = fi_allocinfo(), *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fi_context context;
    static char word[64];
    struct fid_ep *ep;
    struct fid_av *av;
    fi_addr_t to;
    ssize_t n;
    int found = 0;

    hints->caps = FI_MSG;
    hints->mode = FI_CONTEXT;
    hints->ep_attr->type = FI_EP_RDM;
    hints->fabric_attr->prov_name = strdup(argv[1]);
    if (fi_getinfo(FI_VERSION(1, 17), "127.0.0.1", NULL, FI_SOURCE, hints, &info) ||
        fi_fabric(info->fabric_attr, &fabric, NULL) || fi_domain(fabric, info, &domain, NULL) ||
        fi_endpoint(domain, info, &ep, NULL) || fi_cq_open(domain, &c, &cq, NULL) ||
        fi_av_open(domain, &a, &av, NULL) || fi_ep_bind(ep, &cq->fid, FI_SEND | FI_RECV) ||
        fi_ep_bind(ep, &av->fid, 0) || fi_enable(ep))
        return 1;
    printf("%s: insert %d, ", argv[1], fi_av_insert(av, &nobody, 1, &to, 0, NULL));
    for (time_t end = time(NULL) + 10;;) {
        n = fi_send(ep, word, sizeof(word), NULL, to, &context);
        found = look();
        if (n != -FI_EAGAIN || found || time(NULL) >= end)
            break;
        usleep(1000);
    }
    printf("send %zd, ", n);
    for (time_t end = time(NULL) + 10; !found && n == 0 && time(NULL) < end; usleep(1000))
        found = look();
    printf(found ? "\n" : "nothing in the queue\n");
    return 0;
}
END
gcc -w -I"$PWD/usr/include" -o refused refused.c -L"$LD_LIBRARY_PATH" -l:libfabric.so.1
! bash -c 'exec 3<>/dev/tcp/127.0.0.1/9' 2>/dev/null || { echo "SKIP: something listens at port 9"; exit 77; }
for provider in 'tcp;ofi_rxm' sockets 'udp;ofi_rxd'; do ./refused "$provider"; done | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
tcp;ofi_rxm: insert 1, send -11, nothing in the queue
sockets: insert 1, send -2, nothing in the queue
udp;ofi_rxd: insert 1, send 0, nothing in the queue
END
echo "as seen with libfabric $version"
