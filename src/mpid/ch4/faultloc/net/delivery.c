/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/net/delivery.h"

#include "faultloc/base/sock.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define REPLY_MAX 32768
#define PATIENCE_US 100000 /* the kernel answers within the call; this is against surprises */

struct question {
    const struct faultloc_address *table;
    int32_t nodes, self, node;
    enum ftree_path path;
    uint32_t within_ms, rtt_us;
};

/* ---- which connections ----------------------------------------------------------------------- */

static struct faultloc_inet inet_of(uint8_t family, const void *bytes)
{
    struct faultloc_inet inet = {.family = family};

    memcpy(inet.bytes, bytes, family == AF_INET ? 4 : 16);
    return inet;
}

static bool is_port_of(const struct faultloc_address *a, uint16_t port)
{
    for (int role = 0; role < FTREE_ROLES; role++)
        if (port && a->port[role] == port)
            return true;
    return false;
}

static bool is_at(const struct question *q, int32_t node, const struct faultloc_inet *peer)
{
    return node != q->self && faultloc_inet_equal(&q->table[node].path[q->path], peer);
}

/* The other end is a node that is asked about, and no agent is at either end. */
static bool is_of_ranks(const struct question *q, const struct inet_diag_msg *m)
{
    struct faultloc_inet peer = inet_of(m->idiag_family, m->id.idiag_dst);
    int32_t n = q->node == FTREE_NONE ? 0 : q->node;
    int32_t end = q->node == FTREE_NONE ? q->nodes : q->node + 1;

    if (m->idiag_uid != geteuid() || is_port_of(&q->table[q->self], ntohs(m->id.idiag_sport)))
        return false;
    while (n < end && !is_at(q, n, &peer))
        n++;
    return n < end && !is_port_of(&q->table[n], ntohs(m->id.idiag_dport));
}

/* An acknowledgment says so only while there are data to be acknowledged: a peer that takes nothing
 * any more acknowledges probes of its window.  Nor while these are sent again and again: a peer
 * that hears nothing repeats its own data, and with them its last acknowledgment (tcp_ack() of
 * Linux notes the time of that, too).  One timeout may come of a queue that has just grown. */
static bool is_moving(const struct question *q, const struct tcp_info *t)
{
    return t->tcpi_rtt >= q->rtt_us &&
           (t->tcpi_last_data_recv <= q->within_ms ||
            (t->tcpi_unacked > 0 && t->tcpi_retransmits <= 1 &&
             t->tcpi_last_ack_recv <= q->within_ms));
}

static bool is_delivering(const struct question *q, const struct nlmsghdr *h)
{
    const struct inet_diag_msg *m = NLMSG_DATA(h);
    struct tcp_info info = {.tcpi_last_data_recv = UINT32_MAX};
    uint32_t len = h->nlmsg_len - (uint32_t) NLMSG_LENGTH(sizeof(*m));
    const struct rtattr *a = (const struct rtattr *) (m + 1);

    if (h->nlmsg_len < NLMSG_LENGTH(sizeof(*m)) || !is_of_ranks(q, m))
        return false;
    for (; RTA_OK(a, len); a = RTA_NEXT(a, len))
        if (a->rta_type == INET_DIAG_INFO && RTA_PAYLOAD(a) >= sizeof(info))
            memcpy(&info, RTA_DATA(a), sizeof(info));
    return is_moving(q, &info);
}

/* ---- asking the kernel ----------------------------------------------------------------------- */

/* For all that are connected, from the own address on that path. */
static bool send_request(int fd, const struct faultloc_inet *own)
{
    uint32_t len = own->family == AF_INET ? 4 : 16;
    struct {
        struct nlmsghdr h;
        struct inet_diag_req_v2 r;
        struct rtattr a;
        struct inet_diag_bc_op op;
        struct inet_diag_hostcond cond;
        uint8_t bytes[16];
    } m = {.h = {.nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
           .r = {.sdiag_family = (uint8_t) own->family,
                 .sdiag_protocol = IPPROTO_TCP,
                 .idiag_ext = 1 << (INET_DIAG_INFO - 1),
                 .idiag_states = 1 << TCP_ESTABLISHED},
           .a = {.rta_type = INET_DIAG_REQ_BYTECODE},
           .op = {.code = INET_DIAG_BC_S_COND},
           .cond = {.family = (uint8_t) own->family,
                    .prefix_len = (uint8_t) (8 * len),
                    .port = -1}};
    uint32_t code = (uint32_t) (sizeof(m.op) + sizeof(m.cond)) + len;

    memcpy(m.bytes, own->bytes, len);
    m.op.yes = (uint8_t) code;
    m.op.no = (uint16_t) (code + 4); /* behind the end: not wanted */
    m.a.rta_len = (uint16_t) RTA_LENGTH(code);
    m.h.nlmsg_len = (uint32_t) NLMSG_LENGTH(sizeof(m.r)) + m.a.rta_len;
    return send(fd, &m, m.h.nlmsg_len, 0) == (ssize_t) m.h.nlmsg_len;
}

/* True: the answer goes on. */
static bool take_reply(const struct question *q, int fd, bool *delivers)
{
    union {
        struct nlmsghdr h;
        char bytes[REPLY_MAX];
    } reply;
    ssize_t n = recv(fd, &reply, sizeof(reply), 0);
    struct nlmsghdr *h = &reply.h;

    if (n <= 0)
        return false;
    for (uint32_t left = (uint32_t) n; NLMSG_OK(h, left) && !*delivers; h = NLMSG_NEXT(h, left)) {
        if (h->nlmsg_type != SOCK_DIAG_BY_FAMILY)
            return false; /* the end, or an error */
        *delivers = is_delivering(q, h);
    }
    return !*delivers;
}

bool faultloc_delivers(const struct faultloc_address *table, int32_t nodes, int32_t self,
                       int32_t node, enum ftree_path path, ftree_time within, ftree_time rtt)
{
    const struct question q = {.table = table,
                               .nodes = nodes,
                               .self = self,
                               .node = node,
                               .path = path,
                               .within_ms = (uint32_t) (within / FTREE_MS),
                               .rtt_us = (uint32_t) (rtt / 1000)};
    const struct timeval patience = {.tv_usec = PATIENCE_US};
    bool delivers = false;
    int fd;

    if (node < FTREE_NONE || node >= nodes || table[self].path[path].family == 0)
        return false;
    fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (fd < 0)
        return false;
    (void) setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    if (send_request(fd, &table[self].path[path]))
        while (take_reply(&q, fd, &delivers)) {
        }
    close(fd);
    return delivers;
}
