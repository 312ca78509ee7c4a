/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/net/channel_impl.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

/*
 * What happens on one connection: connected, handshake, frames.  Every function that makes a
 * callback, or calls one that does, looks its connection up again afterwards.
 */

/* The socket says whether connect(2) came to something. */
static void on_connected(struct faultloc_channel *ch, uint64_t now, struct faultloc_conn *c)
{
    int error = c->error;
    socklen_t len = sizeof(error);

    if (error == 0 && getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
        error = errno;
    if (error == 0 && faultloc_sock_is_own_peer(c->fd))
        error = ECONNREFUSED;
    if (error) {
        faultloc_slots_fail(ch, c, error);
        return;
    }
    c->state = FAULTLOC_CONN_CHALLENGE;
    c->active = now;
    faultloc_slots_update(ch, c);
    ch->cfg.callbacks.reach(ch->cfg.ctx, c->node, c->path, c->role, FAULTLOC_CHANNEL_CONNECTED, 0);
}

/* A HELLO must have been made for this very socket. */
static bool is_for_us(const struct faultloc_channel *ch, const struct faultloc_conn *c,
                      const struct faultloc_hello *who)
{
    return who->from < (uint32_t) ch->cfg.nodes && who->to == (uint32_t) ch->cfg.self &&
           who->path == c->path && who->role == c->role;
}

static void on_hello(struct faultloc_channel *ch, struct faultloc_conn *c)
{
    struct faultloc_hello who;

    if (faultloc_conn_verify(c, ch->cfg.key, &who) || !is_for_us(ch, c, &who)) {
        faultloc_slots_refuse(ch, c, FAULTLOC_INTRUDER_BAD_HELLO);
        return;
    }
    c->node = (int32_t) who.from;
    if (!faultloc_slots_inbound_room(ch, c->node) || faultloc_conn_make_in(c, &ch->mem)) {
        faultloc_slots_close(ch, c);
        return;
    }
    faultloc_conn_open(c);
    ch->stats.unproven--;
    ch->stats.inbound++;
    /* WELCOME */
    if (faultloc_conn_queue(c, &ch->mem, NULL, 0, SIZE_MAX))
        faultloc_slots_close(ch, c);
}

static void on_challenge(struct faultloc_channel *ch, struct faultloc_conn *c)
{
    int rc = faultloc_conn_answer(c, &ch->mem, ch->cfg.key, (uint32_t) ch->cfg.self);

    if (rc == EPROTO)
        faultloc_slots_refuse(ch, c, FAULTLOC_INTRUDER_BAD_SERVER);
    else if (rc)
        faultloc_slots_close(ch, c);
}

/* A frame with an empty body, which is the channel's own. */
static void on_empty_frame(struct faultloc_channel *ch, struct faultloc_conn *c)
{
    if (c->inbound)
        faultloc_slots_refuse(ch, c, FAULTLOC_INTRUDER_BAD_FRAME);
    else if (c->state == FAULTLOC_CONN_OPEN)
        faultloc_slots_end(ch, c, FAULTLOC_CHANNEL_CLOSED, 0);
    else
        faultloc_conn_open(c);
}

static void on_bad_frame(struct faultloc_channel *ch, struct faultloc_conn *c)
{
    faultloc_slots_refuse(ch, c,
                          c->inbound || c->state == FAULTLOC_CONN_OPEN
                              ? FAULTLOC_INTRUDER_BAD_FRAME
                              : FAULTLOC_INTRUDER_BAD_SERVER);
}

static void on_frame(struct faultloc_channel *ch, struct faultloc_conn *c, const uint8_t *body,
                     size_t len)
{
    if (len == 0) {
        on_empty_frame(ch, c);
    } else if (c->state != FAULTLOC_CONN_OPEN) {
        faultloc_slots_refuse(ch, c, FAULTLOC_INTRUDER_BAD_SERVER);
    } else {
        c->heard = true;
        ch->cfg.callbacks.message(ch->cfg.ctx, c->node, c->path, c->role, c->id, body, len);
    }
}

/* Hands on all complete frames.  The buffer is taken from the connection meanwhile: a callback may
 * end the connection while it still reads its message. */
static void on_frames(struct faultloc_channel *ch, struct faultloc_conn *c)
{
    const uint64_t id = c->id;
    uint8_t *in = c->in;
    size_t have = c->in_len, used = 0;
    const uint8_t *body;
    size_t len;
    int size = 0;

    c->in = NULL;
    do {
        used += (size_t) size;
        size = faultloc_frame_open(&c->session, in + used, have - used, &body, &len);
        if (size > 0)
            on_frame(ch, c, body, len);
        else if (size < 0)
            on_bad_frame(ch, c);
        c = faultloc_slots_find(ch, id);
    } while (c && size > 0);

    if (!c) {
        ch->mem.alloc(ch->mem.ctx, in, 0);
        return;
    }
    memmove(in, in + used, have - used);
    c->in = in;
    c->in_len = have - used;
}

static void on_bytes(struct faultloc_channel *ch, uint64_t now, struct faultloc_conn *c)
{
    c->active = now;
    if (c->state == FAULTLOC_CONN_WELCOME || c->state == FAULTLOC_CONN_OPEN)
        on_frames(ch, c);
    else if (!faultloc_conn_shaken(c))
        return;
    else if (c->state == FAULTLOC_CONN_HELLO)
        on_hello(ch, c);
    else
        on_challenge(ch, c);
}

static void on_readable(struct faultloc_channel *ch, uint64_t now, struct faultloc_conn *c)
{
    int rc = faultloc_conn_fill(c);

    if (c->error && rc != 0 && rc != EAGAIN)
        rc = c->error;
    if (rc == EPIPE) /* Linux says so where an end was followed by a reset */
        rc = ECONNRESET;
    if (rc == 0)
        on_bytes(ch, now, c);
    else if (rc == EAGAIN)
        return;
    else if (c->state == FAULTLOC_CONN_HELLO && c->shake_in_len > 0)
        faultloc_slots_no_hello(ch, c);
    else
        faultloc_slots_fail(ch, c, rc);
}

void faultloc_channel_on_conn(struct faultloc_channel *ch, uint64_t now, uint64_t id,
                              uint32_t events)
{
    struct faultloc_conn *c = faultloc_slots_find(ch, id);

    if (c && c->state == FAULTLOC_CONN_CONNECTING) {
        on_connected(ch, now, c);
        c = faultloc_slots_find(ch, id);
    }
    if (c && (events & (EPOLLIN | EPOLLHUP | EPOLLERR))) {
        on_readable(ch, now, c);
        c = faultloc_slots_find(ch, id);
    }
    if (c)
        faultloc_slots_flush(ch, c);
}
