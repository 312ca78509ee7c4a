/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/net/channel_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

/* Accepting pauses for this long after an error that waiting may cure. */
#define ACCEPT_PAUSE_NS UINT64_C(100000000)

/* The two never meet: a connection's id is at least FAULTLOC_SLOTS_MAX. */
static uint64_t listener_id(unsigned role, unsigned path)
{
    return role * FTREE_PATHS + path;
}

/* ---- listening ----------------------------------------------------------------------------- */

/* Listens on `fd`, which it closes on error. */
static int add_listener(struct faultloc_channel *ch, unsigned role, unsigned path, int fd)
{
    int rc = faultloc_channel_watch(ch, EPOLL_CTL_ADD, fd, ch->accept_again ? 0 : EPOLLIN,
                                    listener_id(role, path));

    if (rc)
        close(fd);
    else
        ch->listeners[role][path] = fd;
    return rc;
}

int faultloc_channel_adopt(struct faultloc_channel *ch, enum ftree_role role,
                           struct faultloc_ports *ports)
{
    int rc = !faultloc_is_role(role) ? EINVAL : faultloc_channel_listening(ch, role) ? EBUSY : 0;

    for (unsigned path = 0; path < FTREE_PATHS && rc == 0; path++) {
        if (ports->fd[path] < 0)
            continue;
        rc = add_listener(ch, role, path, ports->fd[path]);
        ports->fd[path] = -1;
    }
    faultloc_ports_close(ports);
    return rc;
}

int faultloc_channel_listen(struct faultloc_channel *ch, enum ftree_role role)
{
    unsigned paths = 0;
    int first = 0;

    if (!faultloc_is_role(role))
        return EINVAL;
    const uint16_t port = ch->cfg.table[ch->cfg.self].port[role];
    for (unsigned path = 0; path < FTREE_PATHS && port; path++) {
        int fd, rc;
        if (faultloc_channel_own(ch, path)->family == 0)
            continue;
        paths++;
        if (ch->listeners[role][path] >= 0)
            continue;
        rc = faultloc_sock_listen(faultloc_channel_own(ch, path), port, &fd);
        if (rc == 0)
            rc = add_listener(ch, role, path, fd);
        if (rc && !first)
            first = rc;
    }
    return paths ? first : EDESTADDRREQ;
}

unsigned faultloc_channel_listening(const struct faultloc_channel *ch, enum ftree_role role)
{
    unsigned count = 0;

    for (unsigned path = 0; path < FTREE_PATHS && faultloc_is_role(role); path++)
        count += ch->listeners[role][path] >= 0;
    return count;
}

void faultloc_channel_unlisten(struct faultloc_channel *ch, enum ftree_role role)
{
    for (unsigned path = 0; path < FTREE_PATHS && faultloc_is_role(role); path++) {
        int fd = ch->listeners[role][path];
        if (fd < 0)
            continue;
        (void) faultloc_channel_watch(ch, EPOLL_CTL_DEL, fd, 0, 0);
        ch->listeners[role][path] = -1;
        close(fd);
    }
}

/* ---- accepting ----------------------------------------------------------------------------- */

int faultloc_channel_spare(void)
{
    return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void watch_listeners(struct faultloc_channel *ch, uint32_t events)
{
    for (unsigned role = 0; role < FTREE_ROLES; role++)
        for (unsigned path = 0; path < FTREE_PATHS; path++)
            if (ch->listeners[role][path] >= 0)
                (void) faultloc_channel_watch(ch, EPOLL_CTL_MOD, ch->listeners[role][path], events,
                                              listener_id(role, path));
}

static void pause_accepting(struct faultloc_channel *ch, uint64_t until)
{
    ch->accept_again = until;
    watch_listeners(ch, 0);
}

void faultloc_channel_resume(struct faultloc_channel *ch)
{
    ch->accept_again = 0;
    if (ch->spare < 0)
        ch->spare = faultloc_channel_spare();
    watch_listeners(ch, EPOLLIN);
}

/* accept4(2) asks for a descriptor first, and only then whether anybody waits. */
static bool is_waited_at(int listener)
{
    struct pollfd p = {.fd = listener, .events = POLLIN};

    return poll(&p, 1, 0) > 0;
}

/* The process has no descriptor left: better refuse who waits than let the listening socket spin.
 * An unproven connection goes first, so that who has the key can still come in.  Errors: EAGAIN
 * (nobody waits), EMFILE. */
static int make_descriptor(struct faultloc_channel *ch, int listener)
{
    struct faultloc_conn *c = faultloc_slots_worst(ch);

    if (!is_waited_at(listener))
        return EAGAIN;
    if (c) {
        faultloc_slots_refuse(ch, c, FAULTLOC_INTRUDER_FLOOD);
        return 0;
    }
    if (ch->spare < 0)
        return EMFILE;
    close(ch->spare);
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    int rc = fd < 0 ? EMFILE : 0;
    if (fd >= 0)
        close(fd);
    ch->spare = faultloc_channel_spare();
    return rc;
}

/* Starts the handshake with who came to the listener of `role` and `path`. */
static void greet(struct faultloc_channel *ch, uint64_t now, int fd, unsigned role, unsigned path,
                  const struct sockaddr *peer)
{
    struct faultloc_conn *c;

    ch->stats.accepted++;
    if (faultloc_slots_add(ch, now, fd, &c))
        return;
    c->inbound = true;
    c->role = (uint8_t) role;
    c->path = (uint8_t) path;
    c->node = -1;
    faultloc_sockaddr_split(peer, &c->peer, &c->peer_port);
    faultloc_sock_tune(fd);
    faultloc_conn_challenge(c);
    ch->stats.unproven++;
    int rc = faultloc_conn_flush(c);
    if (rc)
        faultloc_slots_close(ch, c);
    else
        faultloc_slots_update(ch, c);
}

/* Whether an errno of accept4(2) is about the one connection, not about accepting. */
static bool is_about_one(int error)
{
    return error == EINTR || error == ECONNABORTED || error == EPROTO || error == ENOPROTOOPT ||
           error == ENETDOWN || error == ENETUNREACH || error == EHOSTDOWN ||
           error == EHOSTUNREACH || error == ENONET || error == EOPNOTSUPP || error == ETIMEDOUT ||
           error == EPERM;
}

/* Handles accept4's errno.  Returns false when this listener is done for now. */
static bool after_accept_error(struct faultloc_channel *ch, uint64_t now, int listener, int error)
{
    if (is_about_one(error))
        return true;
    if (error == EMFILE || error == ENFILE)
        error = make_descriptor(ch, listener);
    if (error == 0)
        return true;
    if (error != EAGAIN && error != EWOULDBLOCK)
        pause_accepting(ch, faultloc_channel_later(now, ACCEPT_PAUSE_NS));
    return false;
}

/* Room for one more that has not proven the key.  Each is given a little time before it is pushed
 * out, else a flood would leave nobody the time to prove anything; so a flood comes in at no more
 * than limits.unproven per limits.grace, and who has the key waits in line with it. */
static void make_unproven_room(struct faultloc_channel *ch, uint64_t now)
{
    struct faultloc_conn *c = faultloc_slots_worst(ch);
    uint64_t until = faultloc_channel_later(c->born, ch->cfg.limits.grace);

    if (until > now)
        pause_accepting(ch, until);
    else
        faultloc_slots_refuse(ch, c, FAULTLOC_INTRUDER_FLOOD);
}

/* Accepts one connection.  Returns false when that is all for now. */
static bool accept_one(struct faultloc_channel *ch, uint64_t now, unsigned role, unsigned path)
{
    struct sockaddr_storage peer = {.ss_family = AF_UNSPEC};
    socklen_t len = sizeof(peer);
    int listener = ch->listeners[role][path];
    int fd = accept4(listener, (struct sockaddr *) &peer, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);

    if (fd < 0)
        return after_accept_error(ch, now, listener, errno);
    greet(ch, now, fd, role, path, (struct sockaddr *) &peer);
    return true;
}

void faultloc_channel_on_listener(struct faultloc_channel *ch, uint64_t now, uint64_t id)
{
    const unsigned role = (unsigned) id / FTREE_PATHS;
    const unsigned path = (unsigned) id % FTREE_PATHS;

    for (unsigned i = 0; i < ch->cfg.limits.accepts; i++) {
        if (ch->stats.unproven >= ch->cfg.limits.unproven) {
            if (ch->listeners[role][path] >= 0 && is_waited_at(ch->listeners[role][path]))
                make_unproven_room(ch, now);
        }
        /* What was called so far may have ended or paused the listening, or made no room. */
        if (ch->listeners[role][path] < 0 || ch->accept_again ||
            ch->stats.unproven >= ch->cfg.limits.unproven || !accept_one(ch, now, role, path))
            return;
    }
}
