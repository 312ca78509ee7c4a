/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_SOCK_H_INCLUDED
#define FAULTLOC_SOCK_H_INCLUDED

#include "faultloc/base/address.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

/*
 * Addresses and sockets as the control channel wants them: non-blocking, closed on exec, bound to
 * the address of one path.  Every function that returns int returns 0 or an errno, and then has
 * left nothing open.
 */

/* Longest text of an address, terminating zero included. */
#define FAULTLOC_ADDRESS_TEXT 64

/* Purpose: fills in *out from an address and a port in host order; returns its length, 0 when the
 * family is neither AF_INET nor AF_INET6. */
socklen_t faultloc_sockaddr_make(const struct faultloc_inet *inet, uint16_t port,
                                 struct sockaddr_storage *out);

/* Purpose: the inverse.  Of an unknown family, *inet gets family 0 and *port 0. */
void faultloc_sockaddr_split(const struct sockaddr *sa, struct faultloc_inet *inet, uint16_t *port);

/* Purpose: "10.0.0.1" or "fd00::1" into text[size]; "none" for family 0.  Returns text. */
const char *faultloc_inet_text(const struct faultloc_inet *inet, char *text, size_t size);

/* Purpose: whether two addresses are the same. */
bool faultloc_inet_equal(const struct faultloc_inet *a, const struct faultloc_inet *b);

/* Purpose: a socket that listens at that address only.  Port 0: the kernel picks one.
 * Errors: those of socket(2), bind(2), listen(2); EADDRINUSE: somebody has the port. */
int faultloc_sock_listen(const struct faultloc_inet *own, uint16_t port, int *fd);

/* Purpose: a socket for connect(2), bound to `own`, so that the path is really used.
 * Errors: those of socket(2) and bind(2); EADDRNOTAVAIL: this host has not (or no longer) that
 * address. */
int faultloc_sock_bound(const struct faultloc_inet *own, int *fd);

/* Purpose: a socket for packets at that address and port, which the kernel does not split and says
 * when they came.  Errors: those of socket(2) and bind(2). */
int faultloc_sock_packets(const struct faultloc_inet *own, uint16_t port, int *fd);

/* Purpose: bytes that one packet from `own` to there may have, without headers, as the kernel knows
 * it; 0: not known. */
size_t faultloc_sock_packet_room(const struct faultloc_inet *own, const struct sockaddr *to,
                                 socklen_t len);

/* Purpose: the same, as the TCP connection `fd` has it: never more than the other end takes, or than
 * has passed on the way.  0: not known. */
size_t faultloc_sock_segment_room(int fd);

/* Purpose: receives one packet, and how long ago it came, ns.  Returns as recvmsg(2). */
ssize_t faultloc_sock_receive_packet(int fd, void *bytes, size_t room,
                                     struct sockaddr_storage *from, uint64_t *age);

/* Purpose: sets what every connection has: no delay, and an end 3 s after bytes found no way. */
void faultloc_sock_tune(int fd);

/* Purpose: the port a socket is bound to, in host order; 0 when it has none. */
uint16_t faultloc_sock_port(int fd);

/* Purpose: whether a connected socket is connected to itself.  TCP allows that when the kernel
 * happens to pick the port that is asked for as the port to ask from; nobody listens there. */
bool faultloc_sock_is_own_peer(int fd);

/* Purpose: whether there and back takes longer than `ns` on a TCP connection, or something that was
 * sent on it was lost, as the kernel has measured. */
bool faultloc_sock_is_slow(int fd, uint64_t ns);

/* ---- beside bytes, over a Unix socket --------------------------------------------------------- */

#define FAULTLOC_SOCK_FDS 5

/* What came beside a packet: its sender, where the socket has SO_PASSCRED, and descriptors, which are
 * the receiver's. */
struct faultloc_beside {
    struct sockaddr_un from;
    socklen_t from_len;
    bool has_sender;
    uid_t uid;
    size_t fds;
    int fd[FAULTLOC_SOCK_FDS];
};

/* Purpose: sends one packet with n descriptors, FAULTLOC_SOCK_FDS at the most.  flags, errors: as
 * sendmsg(2). */
int faultloc_sock_send(int sock, const void *bytes, size_t len, const int *fd, size_t n, int flags);

/* Purpose: receives one packet, and what came beside it; `keep`: so many descriptors are wanted,
 * others are closed.  Returns as recvmsg(2). */
ssize_t faultloc_sock_receive(int sock, void *bytes, size_t room, int flags, size_t keep,
                              struct faultloc_beside *b);

/* ---- the ports of a node, picked by its first rank, for its agent and its deputy ------------- */

/* The listening sockets of one role, bound before the job's addresses are known. */
struct faultloc_ports {
    uint16_t port; /* host order */
    int fd[FTREE_PATHS]; /* -1 where the node has no such path */
};

/* Purpose: picks a port that is free on each of a node's own addresses, and listens there: who
 * connects from now on waits in the kernel.  *ports is the caller's, who gives it to
 * faultloc_channel_adopt() or faultloc_ports_close().
 * Errors: EINVAL (no path, or the same address twice), EADDRINUSE (no port is free on all), those
 * of socket(2), bind(2), listen(2). */
int faultloc_channel_pick_ports(const struct faultloc_inet own[FTREE_PATHS],
                                struct faultloc_ports *ports);

/* Purpose: closes what faultloc_channel_pick_ports() opened. */
void faultloc_ports_close(struct faultloc_ports *ports);

#endif /* FAULTLOC_SOCK_H_INCLUDED */
