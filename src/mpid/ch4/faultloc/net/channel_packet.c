/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/net/channel_impl.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

/*
 * Packets without a connection.  They go between the agents' ports of the two networks; the sockets
 * are there only while bursts are under way.  What is not of this job is dropped without a word.
 */

#define TAKEN 64 /* packets of one path in one turn */

static void open_path(struct faultloc_channel *ch, unsigned path)
{
    const struct faultloc_inet *own = faultloc_channel_own(ch, path);
    const uint16_t port = ch->cfg.table[ch->cfg.self].port[FTREE_ROLE_AGENT];
    int fd;

    if (ch->packets[path] >= 0 || own->family == 0 || port == 0 ||
        faultloc_sock_packets(own, port, &fd))
        return;
    if (faultloc_channel_watch(ch, EPOLL_CTL_ADD, fd, EPOLLIN, FAULTLOC_PACKET_ID + path))
        close(fd);
    else
        ch->packets[path] = fd;
}

void faultloc_channel_packets(struct faultloc_channel *ch, bool take)
{
    for (unsigned path = 0; path < FTREE_PATHS; path++) {
        if (take && ch->cfg.callbacks.packet) {
            open_path(ch, path);
        } else if (ch->packets[path] >= 0) {
            close(ch->packets[path]); /* epoll forgets it, too */
            ch->packets[path] = -1;
        }
    }
}

/* The interface's MTU, or what a connection has: an MTU that is smaller at the other end is no fault. */
static size_t room_of(const struct faultloc_channel *ch, int32_t node, enum ftree_path path,
                      const struct sockaddr *to, socklen_t to_len)
{
    size_t room = faultloc_sock_packet_room(faultloc_channel_own(ch, path), to, to_len);

    for (unsigned i = 0; i < ch->slots; i++) {
        const struct faultloc_conn *c = &ch->conns[i];
        size_t most = c->state == FAULTLOC_CONN_OPEN && c->node == node && c->path == path
                          ? faultloc_sock_segment_room(c->fd)
                          : 0;
        if (most > 0 && most < room)
            room = most;
    }
    return room;
}

int faultloc_channel_send_packet(struct faultloc_channel *ch, int32_t node, enum ftree_path path,
                                 bool large, const void *bytes, size_t len)
{
    uint8_t packet[FAULTLOC_PACKET_MAX];
    struct sockaddr_storage to;
    size_t size = FAULTLOC_PACKET_HEAD + len + FAULTLOC_FRAME_MAC;

    if (node < 0 || node >= ch->cfg.nodes || path >= FTREE_PATHS || len == 0)
        return EINVAL;
    if (len > sizeof(packet) - FAULTLOC_PACKET_HEAD - FAULTLOC_FRAME_MAC)
        return EMSGSIZE;
    if (ch->packets[path] < 0)
        return ENOTCONN;
    const struct faultloc_address *far = &ch->cfg.table[node];
    const struct faultloc_inet *own = faultloc_channel_own(ch, path);
    if (far->path[path].family != own->family)
        return far->path[path].family ? EAFNOSUPPORT : EDESTADDRREQ;
    socklen_t to_len = faultloc_sockaddr_make(&far->path[path], far->port[FTREE_ROLE_AGENT], &to);
    if (large) {
        size_t room = room_of(ch, node, path, (struct sockaddr *) &to, to_len);
        room = room > sizeof(packet) ? sizeof(packet) : room;
        size = room > size ? room : size;
    }
    faultloc_packet_seal(ch->cfg.key,
                         &(struct faultloc_packet){(uint32_t) ch->cfg.self, (uint32_t) node, path},
                         bytes, len, packet, size);
    return sendto(ch->packets[path], packet, size, 0, (struct sockaddr *) &to, to_len) < 0 ? errno
                                                                                           : 0;
}

/* From that node's own address, to here, over this path. */
static bool is_of_job(const struct faultloc_channel *ch, const struct faultloc_packet *who,
                      unsigned path, const struct sockaddr_storage *from)
{
    struct faultloc_inet peer;
    uint16_t port;

    if (who->from >= (uint32_t) ch->cfg.nodes || who->from == (uint32_t) ch->cfg.self ||
        who->to != (uint32_t) ch->cfg.self || who->path != path)
        return false;
    faultloc_sockaddr_split((const struct sockaddr *) from, &peer, &port);
    return faultloc_inet_equal(&peer, &ch->cfg.table[who->from].path[path]);
}

void faultloc_channel_on_packets(struct faultloc_channel *ch, unsigned path)
{
    for (int i = 0; path < FTREE_PATHS && ch->packets[path] >= 0 && i < TAKEN; i++) {
        uint8_t packet[FAULTLOC_PACKET_MAX];
        struct sockaddr_storage from;
        struct faultloc_packet who;
        const uint8_t *body;
        uint64_t age;
        size_t len;
        ssize_t n =
            faultloc_sock_receive_packet(ch->packets[path], packet, sizeof(packet), &from, &age);
        if (n < 0)
            return;
        if (!faultloc_packet_open(ch->cfg.key, packet, (size_t) n, &who, &body, &len) &&
            is_of_job(ch, &who, path, &from))
            ch->cfg.callbacks.packet(ch->cfg.ctx, (int32_t) who.from, (enum ftree_path) path, age,
                                     body, len);
    }
}
