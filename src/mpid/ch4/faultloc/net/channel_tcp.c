/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/net/channel_impl.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#define EVENTS_MAX 64
#define SECOND_NS UINT64_C(1000000000)
/* What to wait for the other side to close an idle connection, in units of limits.idle. */
#define INBOUND_IDLE 3

/* ---- time ------------------------------------------------------------------------------------ */

/* When a connection's time is over. */
static uint64_t conn_deadline(const struct faultloc_channel *ch, const struct faultloc_conn *c)
{
    const struct faultloc_channel_limits *limits = &ch->cfg.limits;

    if (c->state == FAULTLOC_CONN_HELLO)
        return faultloc_channel_later(c->born, limits->hello);
    return faultloc_channel_later(c->active,
                                  c->inbound ? INBOUND_IDLE * limits->idle : limits->idle);
}

static void on_late(struct faultloc_channel *ch, struct faultloc_conn *c)
{
    if (c->state == FAULTLOC_CONN_HELLO)
        faultloc_slots_no_hello(ch, c);
    else if (c->state == FAULTLOC_CONN_CONNECTING)
        faultloc_slots_fail(ch, c, ETIMEDOUT);
    else
        faultloc_slots_close(ch, c);
}

static void expire(struct faultloc_channel *ch, uint64_t now)
{
    for (unsigned i = 0; faultloc_slots_busy(ch) && i < ch->slots; i++) {
        struct faultloc_conn *c = &ch->conns[i];
        if (c->state != FAULTLOC_CONN_FREE && conn_deadline(ch, c) <= now)
            on_late(ch, c);
    }
    if (ch->accept_again && ch->accept_again <= now)
        faultloc_channel_resume(ch);
}

uint64_t faultloc_channel_deadline(const struct faultloc_channel *ch)
{
    uint64_t deadline = ch->accept_again ? ch->accept_again : UINT64_MAX;

    for (unsigned i = 0; faultloc_slots_busy(ch) && i < ch->slots; i++) {
        const struct faultloc_conn *c = &ch->conns[i];
        if (c->state != FAULTLOC_CONN_FREE && conn_deadline(ch, c) < deadline)
            deadline = conn_deadline(ch, c);
    }
    return deadline;
}

int faultloc_channel_process(struct faultloc_channel *ch, uint64_t now)
{
    struct epoll_event ev[EVENTS_MAX];
    int n;

    do
        n = epoll_wait(ch->epoll, ev, EVENTS_MAX, 0);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return errno;
    /* Who is here already goes before who wants to come in: a proof that has arrived is read
     * before its connection could be pushed out. */
    for (int i = 0; i < n; i++)
        if (ev[i].data.u64 >= FAULTLOC_SLOTS_MAX)
            faultloc_channel_on_conn(ch, now, ev[i].data.u64, ev[i].events);
    for (int i = 0; i < n; i++)
        if (ev[i].data.u64 >= FAULTLOC_PACKET_ID && ev[i].data.u64 < FAULTLOC_SLOTS_MAX)
            faultloc_channel_on_packets(ch, (unsigned) ev[i].data.u64 - FAULTLOC_PACKET_ID);
        else if (ev[i].data.u64 < FAULTLOC_SLOTS_MAX)
            faultloc_channel_on_listener(ch, now, ev[i].data.u64);
    expire(ch, now);
    return 0;
}

int faultloc_channel_fd(const struct faultloc_channel *ch)
{
    return ch->epoll;
}

/* ---- sending --------------------------------------------------------------------------------- */

/* Whether an errno of connect(2), given at once, is about the far side after all. */
static bool is_remote(int error)
{
    return faultloc_channel_reach_of(error) != FAULTLOC_CHANNEL_LOCAL_DOWN;
}

/* A socket that connects, or has failed with *late, which is to be reported by reach(). */
static int start_connect(const struct faultloc_inet *own, const struct faultloc_inet *peer,
                         uint16_t port, int *fd, int *late)
{
    struct sockaddr_storage sa;
    socklen_t len = faultloc_sockaddr_make(peer, port, &sa);
    int rc = faultloc_sock_bound(own, fd);

    *late = 0;
    if (rc)
        return rc;
    do
        rc = connect(*fd, (struct sockaddr *) &sa, len) < 0 ? errno : 0;
    while (rc == EINTR);
    if (rc == 0 || rc == EINPROGRESS || rc == EALREADY)
        return 0;
    if (is_remote(rc)) {
        *late = rc;
        return 0;
    }
    close(*fd);
    return rc;
}

static int open_outbound(struct faultloc_channel *ch, uint64_t now, int32_t node,
                         enum ftree_path path, enum ftree_role role,
                         struct faultloc_conn **out)
{
    const struct faultloc_inet *own = faultloc_channel_own(ch, path);
    const struct faultloc_inet *peer = &ch->cfg.table[node].path[path];
    const uint16_t port = ch->cfg.table[node].port[role];
    int fd, late, rc;

    if (own->family == 0 || peer->family == 0 || port == 0)
        return EDESTADDRREQ;
    if (own->family != peer->family)
        return EAFNOSUPPORT;
    if (!faultloc_slots_outbound_room(ch))
        return ENOBUFS;
    rc = start_connect(own, peer, port, &fd, &late);
    if (rc == 0)
        rc = faultloc_slots_add(ch, now, fd, out);
    if (rc)
        return rc;
    struct faultloc_conn *c = *out;
    c->state = FAULTLOC_CONN_CONNECTING;
    c->error = late;
    c->node = node;
    c->path = (uint8_t) path;
    c->role = (uint8_t) role;
    c->peer = *peer;
    c->peer_port = port;
    ch->stats.outbound++;
    faultloc_slots_update(ch, c);
    return 0;
}

int faultloc_channel_send(struct faultloc_channel *ch, uint64_t now, int32_t node,
                          enum ftree_path path, enum ftree_role role, unsigned flags,
                          const void *bytes, size_t len)
{
    int rc = 0;

    if (node < 0 || node >= ch->cfg.nodes || path >= FTREE_PATHS || !faultloc_is_role(role))
        return EINVAL;
    if (len == 0 || len > FAULTLOC_BODY_MAX)
        return EMSGSIZE;
    struct faultloc_conn *c = faultloc_slots_outbound(ch, node, path, role);
    if (c && (flags & FAULTLOC_SEND_FRESH)) {
        faultloc_slots_close(ch, c);
        c = NULL;
    }
    const bool is_new = !c;
    if (is_new)
        rc = open_outbound(ch, now, node, path, role, &c);
    if (rc)
        return rc;
    rc = faultloc_conn_queue(c, &ch->mem, bytes, len, ch->cfg.limits.queue_bytes);
    if (rc == 0) {
        c->active = now;
        faultloc_slots_flush(ch, c);
    } else if (is_new) {
        faultloc_slots_close(ch, c);
    }
    return rc;
}

int faultloc_channel_reply(struct faultloc_channel *ch, uint64_t now, uint64_t conn,
                           const void *bytes, size_t len)
{
    struct faultloc_conn *c = faultloc_slots_find(ch, conn);
    int rc;

    if (!c || c->state != FAULTLOC_CONN_OPEN)
        return ENOTCONN;
    if (len == 0 || len > FAULTLOC_BODY_MAX)
        return EMSGSIZE;
    rc = faultloc_conn_queue(c, &ch->mem, bytes, len, ch->cfg.limits.queue_bytes);
    if (rc == 0) {
        c->active = now;
        faultloc_slots_flush(ch, c);
    }
    return rc;
}

size_t faultloc_channel_unsent(const struct faultloc_channel *ch)
{
    size_t unsent = 0;

    for (unsigned i = 0; i < ch->slots; i++)
        if (ch->conns[i].state == FAULTLOC_CONN_OPEN)
            unsent += faultloc_conn_unsent(&ch->conns[i]);
    return unsent;
}

/* ---- life ------------------------------------------------------------------------------------ */

static void *libc_alloc(void *ctx, void *ptr, size_t size)
{
    (void) ctx;
    if (size > 0)
        return realloc(ptr, size);
    free(ptr);
    return NULL;
}

/* A share of the descriptors that leaves the application its own. */
static unsigned default_connections(unsigned most)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur / 8 > most)
        return most;
    return limit.rlim_cur / 8 < 16 ? 16 : (unsigned) (limit.rlim_cur / 8);
}

static void set_defaults(struct faultloc_channel_limits *limits)
{
    if (!limits->queue_bytes)
        limits->queue_bytes = 65536;
    if (!limits->inbound)
        limits->inbound = default_connections(256);
    if (!limits->outbound)
        limits->outbound = default_connections(256);
    if (!limits->per_peer)
        limits->per_peer = 8;
    if (!limits->unproven)
        limits->unproven = default_connections(64);
    if (!limits->grace)
        limits->grace = SECOND_NS / 100;
    if (!limits->accepts)
        limits->accepts = 8;
    if (!limits->hello)
        limits->hello = 2 * SECOND_NS;
    if (!limits->idle)
        limits->idle = 10 * SECOND_NS;
}

static bool is_valid(const struct faultloc_channel_config *cfg)
{
    const struct faultloc_channel_limits *limits = &cfg->limits;

    return cfg->nodes > 0 && cfg->self >= 0 && cfg->self < cfg->nodes && cfg->table &&
           cfg->callbacks.message && cfg->callbacks.reach &&
           limits->inbound < FAULTLOC_SLOTS_MAX / 4 && limits->outbound < FAULTLOC_SLOTS_MAX / 4 &&
           limits->unproven < FAULTLOC_SLOTS_MAX / 4 && limits->idle < UINT64_MAX / INBOUND_IDLE;
}

/* Memory for the connections; none is in use. */
static int make_slots(struct faultloc_channel *ch)
{
    const struct faultloc_channel_limits *limits = &ch->cfg.limits;
    /* One more than the limits add up to: a newcomer gets its slot before it is counted. */
    unsigned slots = limits->inbound + limits->outbound + limits->unproven + 1;

    ch->conns = ch->mem.alloc(ch->mem.ctx, NULL, slots * sizeof(*ch->conns));
    if (!ch->conns)
        return ENOMEM;
    ch->slots = slots;
    memset(ch->conns, 0, slots * sizeof(*ch->conns));
    return 0;
}

static void init_descriptors(struct faultloc_channel *ch)
{
    for (unsigned role = 0; role < FTREE_ROLES; role++)
        for (unsigned path = 0; path < FTREE_PATHS; path++)
            ch->listeners[role][path] = -1;
    for (unsigned path = 0; path < FTREE_PATHS; path++)
        ch->packets[path] = -1;
    ch->epoll = epoll_create1(EPOLL_CLOEXEC);
    ch->spare = faultloc_channel_spare();
}

int faultloc_channel_create(const struct faultloc_channel_config *cfg,
                            struct faultloc_channel **out)
{
    struct faultloc_memory mem = {.alloc = cfg->alloc ? cfg->alloc : libc_alloc,
                                  .ctx = cfg->alloc_ctx};
    int rc;

    *out = NULL;
    if (!is_valid(cfg))
        return EINVAL;
    struct faultloc_channel *ch = mem.alloc(mem.ctx, NULL, sizeof(*ch));
    if (!ch)
        return ENOMEM;
    *ch = (struct faultloc_channel){.cfg = *cfg, .mem = mem};
    set_defaults(&ch->cfg.limits);
    init_descriptors(ch);
    rc = ch->epoll < 0 ? errno : make_slots(ch);
    if (rc)
        faultloc_channel_destroy(ch);
    else
        *out = ch;
    return rc;
}

void faultloc_channel_destroy(struct faultloc_channel *ch)
{
    if (!ch)
        return;
    struct faultloc_memory mem = ch->mem;
    for (unsigned role = 0; role < FTREE_ROLES; role++)
        faultloc_channel_unlisten(ch, (enum ftree_role) role);
    faultloc_channel_packets(ch, false);
    for (unsigned i = 0; i < ch->slots; i++) {
        struct faultloc_conn *c = &ch->conns[i];
        if (c->state == FAULTLOC_CONN_OPEN && c->inbound)
            faultloc_slots_goodbye(ch, c);
        else if (c->state != FAULTLOC_CONN_FREE)
            faultloc_slots_close(ch, c);
    }
    if (ch->epoll >= 0)
        close(ch->epoll);
    if (ch->spare >= 0)
        close(ch->spare);
    if (ch->conns)
        mem.alloc(mem.ctx, ch->conns, 0);
    sodium_memzero(ch->cfg.key, sizeof(ch->cfg.key));
    mem.alloc(mem.ctx, ch, 0);
}
