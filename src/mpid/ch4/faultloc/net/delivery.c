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

#define STUCK_TRIES 3 /* sent again: by then 1.4 s are over, as a rule */
#define STUCK_NS (1000 * FTREE_MS)
#define SOCKETS_MAX 65536 /* of further ones nothing is read */
#define SEGS_OUT_AT 136 /* in tcp_info of <linux/tcp.h>, of which <netinet/tcp.h> has the beginning */
#define DSACK_DUPS_AT 216
#define TIMER_RETRANSMITS 1 /* idiag_timer: data, or the request for a connection, are sent again */

struct question {
    const struct faultloc_address *table;
    int32_t nodes, self, node;
    enum ftree_path path;
    uint32_t within_ms, rtt_us;
    /* takes a connection; false: no more are wanted */
    bool (*take)(struct question *q, const struct inet_diag_msg *m, const struct tcp_info *t);
    bool delivers;
    struct faultloc_stuck *stuck;
    int32_t n, room;
    struct faultloc_sent *total;
    uint32_t segs_out, dsack_dups; /* of the connection that is taken; 0: the kernel does not say */
    bool is_whole; /* the kernel has said all */
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

/* The node at the other end, if it is asked about, and no agent is at either end. */
static int32_t peer_of(const struct question *q, const struct inet_diag_msg *m)
{
    struct faultloc_inet peer = inet_of(m->idiag_family, m->id.idiag_dst);
    int32_t n = q->node == FTREE_NONE ? 0 : q->node;
    int32_t end = q->node == FTREE_NONE ? q->nodes : q->node + 1;

    if (m->idiag_uid != geteuid() || is_port_of(&q->table[q->self], ntohs(m->id.idiag_sport)))
        return FTREE_NONE;
    while (n < end && !is_at(q, n, &peer))
        n++;
    return n < end && !is_port_of(&q->table[n], ntohs(m->id.idiag_dport)) ? n : FTREE_NONE;
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

static bool take_moving(struct question *q, const struct inet_diag_msg *m, const struct tcp_info *t)
{
    q->delivers = peer_of(q, m) != FTREE_NONE && is_moving(q, t);
    return !q->delivers;
}

/* For how long nothing was acknowledged, at least: each timeout is twice the one before, but for some
 * of the first ones of a request for a connection (tcp_syn_linear_timeouts). */
static ftree_time since(const struct inet_diag_msg *m, const struct tcp_info *t, ftree_time sent)
{
    uint32_t doubled = t->tcpi_backoff < 31 ? t->tcpi_backoff : 31;
    uint32_t as_before = m->idiag_retrans > doubled ? m->idiag_retrans - doubled : 0;
    uint64_t first_us = t->tcpi_rto >> doubled;

    return ((((uint64_t) 1 << doubled) - 1) + as_before) * first_us * 1000 + sent;
}

/* A peer whose process does not read acknowledges all the same, until its window is full; that is
 * another timer. */
static bool take_stuck(struct question *q, const struct inet_diag_msg *m, const struct tcp_info *t)
{
    uint32_t rto_ms = t->tcpi_rto / 1000;
    struct faultloc_stuck s = {.inode = m->idiag_inode,
                               .c = {.rank = FTREE_NONE,
                                     .connecting = m->idiag_state == TCP_SYN_SENT,
                                     .bytes = m->idiag_wqueue,
                                     .tries = m->idiag_retrans,
                                     .packet = t->tcpi_pmtu}};

    if (m->idiag_timer != TIMER_RETRANSMITS || m->idiag_retrans < STUCK_TRIES)
        return true;
    s.c.sent = rto_ms > m->idiag_expires ? (rto_ms - m->idiag_expires) * FTREE_MS : 0;
    s.c.since = since(m, t, s.c.sent);
    s.c.node = s.c.since >= STUCK_NS ? peer_of(q, m) : FTREE_NONE;
    if (s.c.node != FTREE_NONE)
        q->stuck[q->n++] = s;
    return q->n < q->room;
}

static bool take_sent(struct question *q, const struct inet_diag_msg *m, const struct tcp_info *t)
{
    int32_t node = peer_of(q, m);

    if (node == FTREE_NONE)
        return true;
    q->total[node].packets += q->segs_out;
    if (t->tcpi_total_retrans > q->dsack_dups)
        q->total[node].lost += t->tcpi_total_retrans - q->dsack_dups;
    return true;
}

static uint32_t number_at(const struct rtattr *a, size_t at)
{
    uint32_t number = 0;

    if (RTA_PAYLOAD(a) >= at + sizeof(number))
        memcpy(&number, (const char *) RTA_DATA(a) + at, sizeof(number));
    return number;
}

static bool take_message(struct question *q, const struct nlmsghdr *h)
{
    const struct inet_diag_msg *m = NLMSG_DATA(h);
    struct tcp_info info = {.tcpi_last_data_recv = UINT32_MAX};
    uint32_t len = h->nlmsg_len - (uint32_t) NLMSG_LENGTH(sizeof(*m));
    const struct rtattr *a = (const struct rtattr *) (m + 1);

    if (h->nlmsg_len < NLMSG_LENGTH(sizeof(*m)))
        return true;
    q->segs_out = q->dsack_dups = 0;
    for (; RTA_OK(a, len); a = RTA_NEXT(a, len))
        if (a->rta_type == INET_DIAG_INFO && RTA_PAYLOAD(a) >= sizeof(info)) {
            memcpy(&info, RTA_DATA(a), sizeof(info));
            q->segs_out = number_at(a, SEGS_OUT_AT);
            q->dsack_dups = number_at(a, DSACK_DUPS_AT);
        }
    return q->take(q, m, &info);
}

/* ---- asking the kernel ----------------------------------------------------------------------- */

/* For all that are in these states, from the own address on that path. */
static bool send_request(int fd, const struct faultloc_inet *own, uint32_t states)
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
                 .idiag_states = states},
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
static bool take_reply(struct question *q, int fd, int32_t *sockets)
{
    union {
        struct nlmsghdr h;
        char bytes[REPLY_MAX];
    } reply;
    ssize_t n = recv(fd, &reply, sizeof(reply), 0);
    struct nlmsghdr *h = &reply.h;

    if (n <= 0)
        return false;
    for (uint32_t left = (uint32_t) n; NLMSG_OK(h, left); h = NLMSG_NEXT(h, left)) {
        if (h->nlmsg_type != SOCK_DIAG_BY_FAMILY) {
            q->is_whole = h->nlmsg_type == NLMSG_DONE;
            return false; /* the end, or an error */
        }
        if (!take_message(q, h) || ++*sockets == SOCKETS_MAX)
            return false;
    }
    return true;
}

static void ask_kernel(struct question *q, uint32_t states)
{
    const struct timeval patience = {.tv_usec = PATIENCE_US};
    const struct faultloc_inet *own = &q->table[q->self].path[q->path];
    int fd = own->family ? socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG) : -1;
    int32_t sockets = 0;

    if (fd < 0)
        return;
    (void) setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    if (send_request(fd, own, states))
        while (take_reply(q, fd, &sockets)) {
        }
    close(fd);
}

bool faultloc_delivers(const struct faultloc_address *table, int32_t nodes, int32_t self,
                       int32_t node, enum ftree_path path, ftree_time within, ftree_time rtt)
{
    struct question q = {.table = table,
                         .nodes = nodes,
                         .self = self,
                         .node = node,
                         .path = path,
                         .within_ms = (uint32_t) (within / FTREE_MS),
                         .rtt_us = (uint32_t) (rtt / 1000),
                         .take = take_moving};

    if (node >= FTREE_NONE && node < nodes)
        ask_kernel(&q, 1 << TCP_ESTABLISHED);
    return q.delivers;
}

int32_t faultloc_stuck(const struct faultloc_address *table, int32_t nodes, int32_t self,
                       enum ftree_path path, struct faultloc_stuck *stuck, int32_t room)
{
    struct question q = {.table = table,
                         .nodes = nodes,
                         .self = self,
                         .node = FTREE_NONE,
                         .path = path,
                         .take = take_stuck,
                         .stuck = stuck,
                         .room = room};

    if (room > 0)
        ask_kernel(&q, 1 << TCP_ESTABLISHED | 1 << TCP_CLOSE_WAIT | 1 << TCP_SYN_SENT);
    return q.n;
}

bool faultloc_sent(const struct faultloc_address *table, int32_t nodes, int32_t self,
                   enum ftree_path path, struct faultloc_sent *total)
{
    struct question q = {.table = table,
                         .nodes = nodes,
                         .self = self,
                         .node = FTREE_NONE,
                         .path = path,
                         .take = take_sent,
                         .total = total};

    ask_kernel(&q, 1 << TCP_ESTABLISHED);
    return q.is_whole;
}
