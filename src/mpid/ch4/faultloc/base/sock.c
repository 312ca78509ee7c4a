/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/base/sock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Long enough that a burst of askers, or of strangers, does not push out those who wait (the
 * kernel cuts it to net.core.somaxconn). */
#define BACKLOG 1024
#define USER_TIMEOUT_MS 3000

socklen_t faultloc_sockaddr_make(const struct faultloc_inet *inet, uint16_t port,
                                 struct sockaddr_storage *out)
{
    memset(out, 0, sizeof(*out));
    if (inet->family == AF_INET) {
        struct sockaddr_in *in4 = (struct sockaddr_in *) out;
        in4->sin_family = AF_INET;
        in4->sin_port = htons(port);
        memcpy(&in4->sin_addr, inet->bytes, 4);
        return sizeof(*in4);
    }
    if (inet->family == AF_INET6) {
        struct sockaddr_in6 *in6 = (struct sockaddr_in6 *) out;
        in6->sin6_family = AF_INET6;
        in6->sin6_port = htons(port);
        memcpy(&in6->sin6_addr, inet->bytes, 16);
        return sizeof(*in6);
    }
    return 0;
}

void faultloc_sockaddr_split(const struct sockaddr *sa, struct faultloc_inet *inet, uint16_t *port)
{
    memset(inet, 0, sizeof(*inet));
    *port = 0;
    if (sa->sa_family == AF_INET) {
        const struct sockaddr_in *in4 = (const struct sockaddr_in *) sa;
        inet->family = AF_INET;
        memcpy(inet->bytes, &in4->sin_addr, 4);
        *port = ntohs(in4->sin_port);
    } else if (sa->sa_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *) sa;
        inet->family = AF_INET6;
        memcpy(inet->bytes, &in6->sin6_addr, 16);
        *port = ntohs(in6->sin6_port);
    }
}

const char *faultloc_inet_text(const struct faultloc_inet *inet, char *text, size_t size)
{
    if (inet->family == 0 || !inet_ntop(inet->family, inet->bytes, text, (socklen_t) size))
        snprintf(text, size, "none");
    return text;
}

bool faultloc_inet_equal(const struct faultloc_inet *a, const struct faultloc_inet *b)
{
    return a->family == b->family && memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

static void set_int(int fd, int level, int option, int value)
{
    /* None of these options decides about right or wrong: an old kernel may refuse one. */
    (void) setsockopt(fd, level, option, &value, sizeof(value));
}

/* Makes a socket bound to own:port; `options` runs between socket(2) and bind(2). */
static int open_bound(const struct faultloc_inet *own, int type, uint16_t port,
                      void (*options)(int, int), int *fd)
{
    struct sockaddr_storage sa;
    socklen_t len = faultloc_sockaddr_make(own, port, &sa);

    if (len == 0)
        return EAFNOSUPPORT;
    int s = socket(own->family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (s < 0)
        return errno;
    options(s, own->family);
    if (bind(s, (struct sockaddr *) &sa, len) < 0) {
        int rc = errno;
        close(s);
        return rc;
    }
    *fd = s;
    return 0;
}

static void listening_options(int fd, int family)
{
    set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    if (family == AF_INET6)
        set_int(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
}

static void connecting_options(int fd, int family)
{
    (void) family;
    /* The port is picked by connect(2), per destination: binding uses none up. */
    set_int(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
    faultloc_sock_tune(fd);
}

int faultloc_sock_listen(const struct faultloc_inet *own, uint16_t port, int *fd)
{
    int s;
    int rc = open_bound(own, SOCK_STREAM, port, listening_options, &s);

    if (rc)
        return rc;
    if (listen(s, BACKLOG) < 0) {
        rc = errno;
        close(s);
        return rc;
    }
    *fd = s;
    return 0;
}

int faultloc_sock_bound(const struct faultloc_inet *own, int *fd)
{
    return open_bound(own, SOCK_STREAM, 0, connecting_options, fd);
}

/* A burst of several nodes waits in the socket while the process does not run. */
#define PACKETS_ROOM (1 << 20)

static void packet_options(int fd, int family)
{
    set_int(fd, SOL_SOCKET, SO_TIMESTAMPNS, 1);
    set_int(fd, SOL_SOCKET, SO_RCVBUF, PACKETS_ROOM);
    if (family == AF_INET6) {
        set_int(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
        set_int(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_DO);
    } else {
        set_int(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO);
    }
}

int faultloc_sock_packets(const struct faultloc_inet *own, uint16_t port, int *fd)
{
    return open_bound(own, SOCK_DGRAM, port, packet_options, fd);
}

#define UDP_HEADER 8
#define IP4_HEADER 20
#define IP6_HEADER 40

size_t faultloc_sock_packet_room(const struct faultloc_inet *own, const struct sockaddr *to,
                                 socklen_t len)
{
    const bool is6 = own->family == AF_INET6;
    const int headers = (is6 ? IP6_HEADER : IP4_HEADER) + UDP_HEADER;
    socklen_t size = sizeof(int);
    int fd, mtu = 0;

    if (open_bound(own, SOCK_DGRAM, 0, packet_options, &fd))
        return 0;
    if (connect(fd, to, len) < 0 || getsockopt(fd, is6 ? IPPROTO_IPV6 : IPPROTO_IP,
                                               is6 ? IPV6_MTU : IP_MTU, &mtu, &size) < 0)
        mtu = 0;
    close(fd);
    return mtu > headers ? (size_t) (mtu - headers) : 0;
}

size_t faultloc_sock_segment_room(int fd)
{
    socklen_t size = sizeof(int);
    int most = 0;

    if (getsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &most, &size) < 0 || most <= 0)
        return 0;
    return (size_t) most + sizeof(struct tcphdr) - UDP_HEADER;
}

/* How long ago the kernel got it, by the stamp beside it; 0: it has none. */
static uint64_t age_of(struct msghdr *m)
{
    struct timespec at, now;

    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
        int64_t age;
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPNS)
            continue;
        memcpy(&at, CMSG_DATA(c), sizeof(at));
        clock_gettime(CLOCK_REALTIME, &now);
        age = ((int64_t) now.tv_sec - at.tv_sec) * 1000000000 + (now.tv_nsec - at.tv_nsec);
        return age > 0 ? (uint64_t) age : 0; /* the clock may have been set */
    }
    return 0;
}

ssize_t faultloc_sock_receive_packet(int fd, void *bytes, size_t room,
                                     struct sockaddr_storage *from, uint64_t *age)
{
    union {
        char space[CMSG_SPACE(sizeof(struct timespec))];
        struct cmsghdr align;
    } beside;
    struct iovec part = {.iov_base = bytes, .iov_len = room};
    struct msghdr m = {.msg_name = from,
                       .msg_namelen = sizeof(*from),
                       .msg_iov = &part,
                       .msg_iovlen = 1,
                       .msg_control = &beside,
                       .msg_controllen = sizeof(beside)};
    ssize_t n = recvmsg(fd, &m, MSG_DONTWAIT);

    *age = n >= 0 ? age_of(&m) : 0;
    return n;
}

void faultloc_sock_tune(int fd)
{
    set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    set_int(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, USER_TIMEOUT_MS);
}

uint16_t faultloc_sock_port(int fd)
{
    struct sockaddr_storage sa;
    socklen_t len = sizeof(sa);
    struct faultloc_inet inet;
    uint16_t port;

    if (getsockname(fd, (struct sockaddr *) &sa, &len) < 0)
        return 0;
    faultloc_sockaddr_split((struct sockaddr *) &sa, &inet, &port);
    return port;
}

bool faultloc_sock_is_own_peer(int fd)
{
    struct sockaddr_storage own, peer;
    socklen_t own_len = sizeof(own), peer_len = sizeof(peer);

    return getsockname(fd, (struct sockaddr *) &own, &own_len) == 0 &&
           getpeername(fd, (struct sockaddr *) &peer, &peer_len) == 0 && own_len == peer_len &&
           memcmp(&own, &peer, own_len) == 0;
}

bool faultloc_sock_is_slow(int fd, uint64_t ns)
{
    struct tcp_info t;
    socklen_t len = sizeof(t);

    memset(&t, 0, sizeof(t));
    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &t, &len) == 0 &&
           (t.tcpi_rtt > ns / 1000 || t.tcpi_total_retrans > 0);
}

/* ---- beside bytes ---------------------------------------------------------------------------- */

union control {
    char bytes[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(FAULTLOC_SOCK_FDS * sizeof(int))];
    struct cmsghdr align;
};

int faultloc_sock_send(int sock, const void *bytes, size_t len, const int *fd, size_t n, int flags)
{
    union control control = {.bytes = {0}};
    struct iovec part = {.iov_base = (void *) (uintptr_t) bytes, .iov_len = len};
    struct msghdr m = {.msg_iov = &part,
                       .msg_iovlen = 1,
                       .msg_control = &control,
                       .msg_controllen = n ? CMSG_SPACE(n * sizeof(*fd)) : 0};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);

    if (c) {
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(n * sizeof(*fd));
        memcpy(CMSG_DATA(c), fd, n * sizeof(*fd));
    }
    return sendmsg(sock, &m, flags) < 0 ? errno : 0;
}

/* The kernel hands out as many as there is room for, which may be more than are wanted. */
static void take_descriptors(struct faultloc_beside *b, const struct cmsghdr *c, size_t keep)
{
    int fd;

    for (size_t at = 0; CMSG_LEN(at + sizeof(fd)) <= c->cmsg_len; at += sizeof(fd)) {
        memcpy(&fd, CMSG_DATA(c) + at, sizeof(fd));
        if (b->fds < keep)
            b->fd[b->fds++] = fd;
        else
            close(fd);
    }
}

static void take_sender(struct faultloc_beside *b, const struct cmsghdr *c)
{
    struct ucred who;

    memcpy(&who, CMSG_DATA(c), sizeof(who));
    b->has_sender = true;
    b->uid = who.uid;
}

ssize_t faultloc_sock_receive(int sock, void *bytes, size_t room, int flags, size_t keep,
                              struct faultloc_beside *b)
{
    union control control;
    struct iovec part = {.iov_base = bytes, .iov_len = room};
    struct msghdr m = {.msg_name = &b->from,
                       .msg_namelen = sizeof(b->from),
                       .msg_iov = &part,
                       .msg_iovlen = 1,
                       .msg_control = &control,
                       .msg_controllen = sizeof(control)};
    ssize_t n;

    *b = (struct faultloc_beside){.has_sender = false};
    n = recvmsg(sock, &m, flags | MSG_CMSG_CLOEXEC);
    b->from_len = m.msg_namelen;
    for (struct cmsghdr *c = n < 0 ? NULL : CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c))
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
            take_descriptors(b, c, keep < FAULTLOC_SOCK_FDS ? keep : FAULTLOC_SOCK_FDS);
        else if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS &&
                 c->cmsg_len == CMSG_LEN(sizeof(struct ucred)))
            take_sender(b, c);
    return n;
}

/* ---- the ports of a node ------------------------------------------------------------------- */

/* Tries to find a port that is free on every path. */
#define PICK_TRIES 32

void faultloc_ports_close(struct faultloc_ports *ports)
{
    for (unsigned path = 0; path < FTREE_PATHS; path++) {
        if (ports->fd[path] >= 0)
            close(ports->fd[path]);
        ports->fd[path] = -1;
    }
    ports->port = 0;
}

/* One try: the kernel picks the port on the first path, the others must have it free too. */
static int pick_once(const struct faultloc_inet own[FTREE_PATHS], struct faultloc_ports *ports)
{
    int rc = 0;

    for (unsigned path = 0; path < FTREE_PATHS && rc == 0; path++) {
        if (own[path].family == 0)
            continue;
        rc = faultloc_sock_listen(&own[path], ports->port, &ports->fd[path]);
        if (rc == 0 && ports->port == 0)
            ports->port = faultloc_sock_port(ports->fd[path]);
    }
    if (rc)
        faultloc_ports_close(ports);
    return rc;
}

int faultloc_channel_pick_ports(const struct faultloc_inet own[FTREE_PATHS],
                                struct faultloc_ports *ports)
{
    int rc = EADDRINUSE;
    unsigned paths = 0;

    ports->port = 0;
    for (unsigned path = 0; path < FTREE_PATHS; path++) {
        ports->fd[path] = -1;
        paths += own[path].family != 0;
        for (unsigned other = 0; other < path; other++)
            if (own[path].family && faultloc_inet_equal(&own[path], &own[other]))
                return EINVAL;
    }
    if (paths == 0)
        return EINVAL;
    for (int i = 0; i < PICK_TRIES && rc == EADDRINUSE; i++)
        rc = pick_once(own, ports);
    return rc;
}
