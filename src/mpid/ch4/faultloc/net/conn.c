/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/net/conn.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>
#include <sys/socket.h>

#define OUT_ROOM_MIN 1024

size_t faultloc_conn_unsent(const struct faultloc_conn *c)
{
    return c->shake_out_len - c->shake_out_sent + c->out_len - c->out_sent;
}

bool faultloc_conn_can_flush(const struct faultloc_conn *c)
{
    return c->shake_out_sent < c->shake_out_len || c->out_sent < c->out_sealed;
}

/* Gives bytes[*sent .. len) to the kernel; *sent tells how far it came. */
static int send_some(int fd, const uint8_t *bytes, size_t len, size_t *sent)
{
    while (*sent < len) {
        ssize_t n = send(fd, bytes + *sent, len - *sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n >= 0) {
            *sent += (size_t) n;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS || errno == ENOMEM) {
            return EAGAIN;
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

int faultloc_conn_flush(struct faultloc_conn *c)
{
    int rc;

    if (c->state == FAULTLOC_CONN_CONNECTING)
        return 0;
    rc = send_some(c->fd, c->shake_out, c->shake_out_len, &c->shake_out_sent);
    if (rc == 0)
        rc = send_some(c->fd, c->out, c->out_sealed, &c->out_sent);
    if (c->out_sent == c->out_len)
        c->out_sent = c->out_sealed = c->out_len = 0;
    return rc == EAGAIN ? 0 : rc;
}

/* Makes room for `more` bytes at the end of out, first by forgetting what was sent. */
static int make_room(struct faultloc_conn *c, const struct faultloc_memory *mem, size_t more)
{
    size_t room = c->out_room ? c->out_room : OUT_ROOM_MIN;

    if (c->out_sent > 0) {
        memmove(c->out, c->out + c->out_sent, c->out_len - c->out_sent);
        c->out_len -= c->out_sent;
        c->out_sealed -= c->out_sent;
        c->out_sent = 0;
    }
    while (room < c->out_len + more)
        room *= 2;
    if (room > c->out_room) {
        uint8_t *out = mem->alloc(mem->ctx, c->out, room);
        if (!out)
            return ENOMEM;
        c->out = out;
        c->out_room = room;
    }
    return 0;
}

/* Signs the frames that are not yet; their order in `out` is that of their numbers. */
static void seal_all(struct faultloc_conn *c)
{
    while (c->out_sealed < c->out_len) {
        faultloc_frame_seal(&c->session, c->out + c->out_sealed);
        c->out_sealed += faultloc_frame_size(c->out + c->out_sealed);
    }
}

int faultloc_conn_queue(struct faultloc_conn *c, const struct faultloc_memory *mem,
                        const void *bytes, size_t len, size_t limit)
{
    size_t size = FAULTLOC_FRAME_OVERHEAD + len;
    int rc;

    if (c->out_len - c->out_sent + size > limit)
        return ENOBUFS;
    rc = make_room(c, mem, size);
    if (rc)
        return rc;
    faultloc_frame_begin(c->out + c->out_len, len);
    if (len > 0)
        memcpy(c->out + c->out_len + FAULTLOC_FRAME_HEAD, bytes, len);
    c->out_len += size;
    if (c->state == FAULTLOC_CONN_OPEN)
        seal_all(c);
    return 0;
}

/* How long the handshake message is that the state waits for; 0: none. */
static size_t shake_size(const struct faultloc_conn *c)
{
    if (c->state == FAULTLOC_CONN_CHALLENGE)
        return FAULTLOC_CHALLENGE_SIZE;
    if (c->state == FAULTLOC_CONN_HELLO)
        return FAULTLOC_HELLO_SIZE;
    return 0;
}

bool faultloc_conn_shaken(const struct faultloc_conn *c)
{
    return shake_size(c) > 0 && c->shake_in_len == shake_size(c);
}

static int recv_some(int fd, uint8_t *bytes, size_t room, size_t *len)
{
    ssize_t n;

    do
        n = recv(fd, bytes + *len, room - *len, MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return errno == EWOULDBLOCK ? EAGAIN : errno;
    if (n == 0)
        return ECONNRESET;
    *len += (size_t) n;
    return 0;
}

int faultloc_conn_fill(struct faultloc_conn *c)
{
    if (shake_size(c) > 0)
        return recv_some(c->fd, c->shake_in, shake_size(c), &c->shake_in_len);
    return recv_some(c->fd, c->in, FAULTLOC_FRAME_MAX, &c->in_len);
}

void faultloc_conn_challenge(struct faultloc_conn *c)
{
    faultloc_frame_challenge(c->shake_out);
    c->shake_out_len = FAULTLOC_CHALLENGE_SIZE;
    c->state = FAULTLOC_CONN_HELLO;
}

int faultloc_conn_make_in(struct faultloc_conn *c, const struct faultloc_memory *mem)
{
    c->in = mem->alloc(mem->ctx, NULL, FAULTLOC_FRAME_MAX);
    return c->in ? 0 : ENOMEM;
}

int faultloc_conn_answer(struct faultloc_conn *c, const struct faultloc_memory *mem,
                         const uint8_t key[FAULTLOC_KEY_SIZE], uint32_t self)
{
    struct faultloc_hello who = {
        .from = self, .to = (uint32_t) c->node, .path = c->path, .role = c->role};
    int rc = faultloc_frame_hello(key, c->shake_in, &who, c->shake_out, &c->session);

    if (rc)
        return rc;
    c->shake_out_len = FAULTLOC_HELLO_SIZE;
    c->state = FAULTLOC_CONN_WELCOME;
    return faultloc_conn_make_in(c, mem);
}

int faultloc_conn_verify(struct faultloc_conn *c, const uint8_t key[FAULTLOC_KEY_SIZE],
                         struct faultloc_hello *who)
{
    return faultloc_frame_verify(key, c->shake_out, c->shake_in, who, &c->session);
}

void faultloc_conn_open(struct faultloc_conn *c)
{
    c->state = FAULTLOC_CONN_OPEN;
    seal_all(c);
}

void faultloc_conn_release(struct faultloc_conn *c, const struct faultloc_memory *mem)
{
    if (c->in)
        mem->alloc(mem->ctx, c->in, 0);
    if (c->out)
        mem->alloc(mem->ctx, c->out, 0);
    sodium_memzero(&c->session, sizeof(c->session));
    memset(c, 0, sizeof(*c));
    c->fd = -1;
}
