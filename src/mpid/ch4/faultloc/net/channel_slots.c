/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/net/channel_impl.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

/* ---- finding --------------------------------------------------------------------------------- */

bool faultloc_slots_busy(const struct faultloc_channel *ch)
{
    return ch->stats.unproven + ch->stats.inbound + ch->stats.outbound > 0;
}

struct faultloc_conn *faultloc_slots_find(const struct faultloc_channel *ch, uint64_t id)
{
    unsigned slot = (unsigned) (id & (FAULTLOC_SLOTS_MAX - 1));

    if (slot >= ch->slots || ch->conns[slot].id != id ||
        ch->conns[slot].state == FAULTLOC_CONN_FREE)
        return NULL;
    return &ch->conns[slot];
}

struct faultloc_conn *faultloc_slots_outbound(const struct faultloc_channel *ch, int32_t node,
                                              enum ftree_path path, enum ftree_role role)
{
    for (unsigned i = 0; i < ch->slots && ch->stats.outbound > 0; i++) {
        struct faultloc_conn *c = &ch->conns[i];
        if (c->state != FAULTLOC_CONN_FREE && !c->inbound && c->node == node && c->path == path &&
            c->role == role)
            return c;
    }
    return NULL;
}

/* Which of the three counts a connection is in. */
static unsigned *count_of(struct faultloc_channel *ch, const struct faultloc_conn *c)
{
    if (!c->inbound)
        return &ch->stats.outbound;
    return c->state == FAULTLOC_CONN_OPEN ? &ch->stats.inbound : &ch->stats.unproven;
}

/* ---- taking and leaving ---------------------------------------------------------------------- */

int faultloc_channel_watch(struct faultloc_channel *ch, int op, int fd, uint32_t events,
                           uint64_t id)
{
    struct epoll_event ev = {.events = events, .data = {.u64 = id}};
    return epoll_ctl(ch->epoll, op, fd, &ev) < 0 ? errno : 0;
}

int faultloc_slots_add(struct faultloc_channel *ch, uint64_t now, int fd,
                       struct faultloc_conn **out)
{
    unsigned i;

    for (i = 0; i < ch->slots; i++)
        if (ch->conns[i].state == FAULTLOC_CONN_FREE)
            break;
    int rc = i < ch->slots ? 0 : ENOBUFS;
    uint64_t id = ch->last_id + FAULTLOC_SLOTS_MAX + i;
    if (rc == 0)
        rc = faultloc_channel_watch(ch, EPOLL_CTL_ADD, fd, EPOLLIN, id);
    if (rc) {
        close(fd);
        return rc;
    }
    ch->last_id += FAULTLOC_SLOTS_MAX;
    *out = &ch->conns[i];
    **out = (struct faultloc_conn){.id = id, .fd = fd, .born = now, .active = now};
    return 0;
}

void faultloc_slots_close(struct faultloc_channel *ch, struct faultloc_conn *c)
{
    /* A process forked meanwhile may hold a copy of the descriptor: close() alone would neither
     * take it out of epoll nor tell the peer. */
    (void) faultloc_channel_watch(ch, EPOLL_CTL_DEL, c->fd, 0, 0);
    if (c->state != FAULTLOC_CONN_CONNECTING)
        shutdown(c->fd, SHUT_RDWR);
    close(c->fd);
    (*count_of(ch, c))--;
    faultloc_conn_release(c, &ch->mem);
}

void faultloc_slots_goodbye(struct faultloc_channel *ch, struct faultloc_conn *c)
{
    if (faultloc_conn_queue(c, &ch->mem, NULL, 0, SIZE_MAX) == 0)
        (void) faultloc_conn_flush(c);
    faultloc_slots_close(ch, c);
}

void faultloc_slots_update(struct faultloc_channel *ch, struct faultloc_conn *c)
{
    bool wants_out = c->state == FAULTLOC_CONN_CONNECTING || faultloc_conn_can_flush(c);

    if (wants_out != c->wants_out &&
        faultloc_channel_watch(ch, EPOLL_CTL_MOD, c->fd, wants_out ? EPOLLIN | EPOLLOUT : EPOLLIN,
                               c->id) == 0)
        c->wants_out = wants_out;
}

void faultloc_slots_flush(struct faultloc_channel *ch, struct faultloc_conn *c)
{
    int rc = faultloc_conn_flush(c);

    /* The kernel says it again when it is asked to read; then it is reported. */
    if (rc && !c->error)
        c->error = rc;
    faultloc_slots_update(ch, c);
}

/* ---- sending --------------------------------------------------------------------------------- */

enum faultloc_channel_reach faultloc_channel_reach_of(int error)
{
    switch (error) {
        case 0:
            return FAULTLOC_CHANNEL_CONNECTED;
        case ECONNREFUSED:
            return FAULTLOC_CHANNEL_REFUSED;
        case ECONNRESET:
        case EPIPE:
        case ENOTCONN:
        case EPROTO:
            return FAULTLOC_CHANNEL_LOST;
        case ETIMEDOUT:
        case EHOSTUNREACH:
        case EHOSTDOWN:
        case ENONET:
        case ENOPROTOOPT:
            return FAULTLOC_CHANNEL_UNREACHABLE;
        default:
            /* ENETUNREACH, ENETDOWN, EADDRNOTAVAIL, and the like say nothing about the far side:
             * who cannot ask must not accuse. */
            return FAULTLOC_CHANNEL_LOCAL_DOWN;
    }
}

/* The same of an errno that came some time after connect(2). */
static enum faultloc_channel_reach late_reach_of(int error, bool connecting)
{
    if (error == ENETUNREACH) /* said by a router: own routes would have said so at once */
        return FAULTLOC_CHANNEL_UNREACHABLE;
    if (error == ECONNRESET && connecting)
        return FAULTLOC_CHANNEL_REFUSED;
    return faultloc_channel_reach_of(error);
}

const char *faultloc_intruder_text(enum faultloc_intruder kind)
{
    static const char *const text[] = {
#define INTRUDER_TEXT(name, text) text,
        FAULTLOC_INTRUDERS(INTRUDER_TEXT)
#undef INTRUDER_TEXT
    };
    return (unsigned) kind < FAULTLOC_INTRUDER_COUNT ? text[kind] : "did something unknown";
}

void faultloc_slots_end(struct faultloc_channel *ch, struct faultloc_conn *c,
                        enum faultloc_channel_reach reach, int error)
{
    const struct faultloc_conn was = {
        .inbound = c->inbound, .node = c->node, .path = c->path, .role = c->role};

    faultloc_slots_close(ch, c);
    if (!was.inbound)
        ch->cfg.callbacks.reach(ch->cfg.ctx, was.node, was.path,
                                was.role, reach, error);
}

void faultloc_slots_fail(struct faultloc_channel *ch, struct faultloc_conn *c, int error)
{
    faultloc_slots_end(ch, c, late_reach_of(error, c->state == FAULTLOC_CONN_CONNECTING), error);
}

void faultloc_slots_refuse(struct faultloc_channel *ch, struct faultloc_conn *c,
                           enum faultloc_intruder kind)
{
    const struct linger reset = {.l_onoff = 1, .l_linger = 0};
    const struct faultloc_inet peer = c->peer;

    /* No strangers' leftovers in TIME_WAIT on our port. */
    (void) setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    faultloc_slots_end(ch, c, FAULTLOC_CHANNEL_LOST, EPROTO);
    if (ch->stats.intruders[kind]++ == 0 && ch->cfg.callbacks.intruder)
        ch->cfg.callbacks.intruder(ch->cfg.ctx, kind, &peer);
}

/* Over a slow path one that asks may give up before it could prove anything: that is no
 * stranger. */
void faultloc_slots_no_hello(struct faultloc_channel *ch, struct faultloc_conn *c)
{
    if (faultloc_sock_is_slow(c->fd, ch->cfg.limits.hello / 20))
        faultloc_slots_close(ch, c);
    else
        faultloc_slots_refuse(ch, c, FAULTLOC_INTRUDER_NO_HELLO);
}

/* ---- making room ----------------------------------------------------------------------------- */

/* The least recently used proven connection of one direction; one that delivered nothing yet is
 * about to, so it is spared while there are others.  node < 0: of any. */
static struct faultloc_conn *least_used(const struct faultloc_channel *ch, bool inbound,
                                        int32_t node)
{
    struct faultloc_conn *found = NULL;

    for (unsigned i = 0; i < ch->slots; i++) {
        struct faultloc_conn *c = &ch->conns[i];
        if (c->state != FAULTLOC_CONN_OPEN || c->inbound != inbound ||
            (node >= 0 && c->node != node) || faultloc_conn_unsent(c) > 0)
            continue;
        if (!found || (c->heard && !found->heard) ||
            (c->heard == found->heard && c->active < found->active))
            found = c;
    }
    return found;
}

static unsigned count_node(const struct faultloc_channel *ch, int32_t node)
{
    unsigned count = 0;

    for (unsigned i = 0; i < ch->slots; i++)
        count += ch->conns[i].state == FAULTLOC_CONN_OPEN && ch->conns[i].inbound &&
                 ch->conns[i].node == node;
    return count;
}

bool faultloc_slots_inbound_room(struct faultloc_channel *ch, int32_t node)
{
    const struct faultloc_channel_limits *limits = &ch->cfg.limits;
    struct faultloc_conn *c;

    if (count_node(ch, node) >= limits->per_peer) {
        c = least_used(ch, true, node);
        if (!c)
            return false;
        faultloc_slots_goodbye(ch, c);
    }
    if (ch->stats.inbound >= limits->inbound) {
        c = least_used(ch, true, -1);
        if (!c)
            return false;
        faultloc_slots_goodbye(ch, c);
    }
    return true;
}

bool faultloc_slots_outbound_room(struct faultloc_channel *ch)
{
    struct faultloc_conn *c;

    if (ch->stats.outbound < ch->cfg.limits.outbound)
        return true;
    c = least_used(ch, false, -1);
    if (!c)
        return false;
    faultloc_slots_close(ch, c);
    return true;
}

static unsigned count_unproven_like(const struct faultloc_channel *ch,
                                    const struct faultloc_conn *like)
{
    unsigned count = 0;

    for (unsigned i = 0; i < ch->slots; i++)
        count += ch->conns[i].state == FAULTLOC_CONN_HELLO &&
                 faultloc_inet_equal(&ch->conns[i].peer, &like->peer);
    return count;
}

struct faultloc_conn *faultloc_slots_worst(const struct faultloc_channel *ch)
{
    struct faultloc_conn *found = NULL;
    unsigned most = 0;

    for (unsigned i = 0; i < ch->slots; i++) {
        struct faultloc_conn *c = &ch->conns[i];
        if (c->state != FAULTLOC_CONN_HELLO)
            continue;
        unsigned count = found && faultloc_inet_equal(&c->peer, &found->peer)
                             ? most
                             : count_unproven_like(ch, c);
        if (count > most || (count == most && c->id < found->id)) {
            found = c;
            most = count;
        }
    }
    return found;
}
