/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_CONN_H_INCLUDED
#define FAULTLOC_CONN_H_INCLUDED

#include "faultloc/net/frame.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * One connection of the control channel: its bytes in and out and its handshake.  It decides
 * nothing about other connections, time or callbacks; that is net/channel_tcp.c, the only
 * user of this header.
 *
 *   client: CONNECTING -> CHALLENGE -> WELCOME -> OPEN
 *   server:                  HELLO             -> OPEN
 */
enum faultloc_conn_state {
    FAULTLOC_CONN_FREE, /* the slot is not in use */
    FAULTLOC_CONN_CONNECTING, /* TCP has not said yes or no */
    FAULTLOC_CONN_CHALLENGE, /* client: waits for the server's challenge */
    FAULTLOC_CONN_WELCOME, /* client: waits for the server's proof */
    FAULTLOC_CONN_HELLO, /* server: waits for the client's proof */
    FAULTLOC_CONN_OPEN /* both have proven the key */
};

/* Memory comes from the channel's creator: as realloc(3), and as free(3) when size is 0. */
struct faultloc_memory {
    void *(*alloc)(void *ctx, void *ptr, size_t size);
    void *ctx;
};

struct faultloc_conn {
    uint64_t id; /* never used twice; its low bits are the slot */
    uint64_t born; /* ns */
    uint64_t active; /* ns, last time of use */
    enum faultloc_conn_state state;
    int fd;
    int error; /* errno that a system call took from the socket early */
    bool inbound;
    bool wants_out; /* registered for EPOLLOUT */
    bool heard; /* delivered a message */
    uint8_t path;
    uint8_t role;
    int32_t node; /* the other end; once proven if inbound */
    struct faultloc_inet peer;
    uint16_t peer_port;
    /* Handshake: what comes in and what goes out.  Fixed and small, so that a stranger makes
     * nobody allocate. */
    uint8_t shake_in[FAULTLOC_HELLO_SIZE];
    uint8_t shake_out[FAULTLOC_HELLO_SIZE];
    size_t shake_in_len;
    size_t shake_out_len;
    size_t shake_out_sent;
    struct faultloc_session session;
    /* Frames in: room for the longest. */
    uint8_t *in;
    size_t in_len;
    /* Frames out: [0, sent) is with the kernel, [sent, sealed) is signed, [sealed, len) waits for
     * the session to begin. */
    uint8_t *out;
    size_t out_room;
    size_t out_len;
    size_t out_sealed;
    size_t out_sent;
};

/* All functions that return int return 0 or an errno, EAGAIN meaning "not now". */

/* Purpose: bytes that wait to be given to the kernel. */
size_t faultloc_conn_unsent(const struct faultloc_conn *c);

/* Purpose: whether there are bytes that may be given to the kernel as soon as it takes them. */
bool faultloc_conn_can_flush(const struct faultloc_conn *c);

/* Purpose: gives the kernel what it takes.  Errors: those of send(2) that end the connection. */
int faultloc_conn_flush(struct faultloc_conn *c);

/* Purpose: appends one frame; len 0 is the channel's own.  Errors: ENOBUFS when more than `limit`
 * bytes would wait, ENOMEM. */
int faultloc_conn_queue(struct faultloc_conn *c, const struct faultloc_memory *mem,
                        const void *bytes, size_t len, size_t limit);

/* Purpose: reads once what the state allows: the missing part of the handshake or some frames.
 * Errors: EAGAIN, ECONNRESET (the other end closed), those of recv(2). */
int faultloc_conn_fill(struct faultloc_conn *c);

/* Purpose: whether the handshake message that is waited for is complete in shake_in. */
bool faultloc_conn_shaken(const struct faultloc_conn *c);

/* Purpose: server: begins: puts the challenge into shake_out, state HELLO. */
void faultloc_conn_challenge(struct faultloc_conn *c);

/* Purpose: client: answers the complete challenge, state WELCOME.
 * Errors: EPROTO (not a challenge), ENOMEM. */
int faultloc_conn_answer(struct faultloc_conn *c, const struct faultloc_memory *mem,
                         const uint8_t key[FAULTLOC_KEY_SIZE], uint32_t self);

/* Purpose: server: verifies the complete HELLO; does not change the state.
 * Errors: EACCES, EPROTO. */
int faultloc_conn_verify(struct faultloc_conn *c, const uint8_t key[FAULTLOC_KEY_SIZE],
                         struct faultloc_hello *who);

/* Purpose: server: room for frames, once the client is proven; faultloc_conn_answer() makes the
 * client's.  Errors: ENOMEM. */
int faultloc_conn_make_in(struct faultloc_conn *c, const struct faultloc_memory *mem);

/* Purpose: both: state OPEN; signs all frames that waited for it. */
void faultloc_conn_open(struct faultloc_conn *c);

/* Purpose: frees what the connection holds but its descriptor, wipes its key, state FREE. */
void faultloc_conn_release(struct faultloc_conn *c, const struct faultloc_memory *mem);

#endif /* FAULTLOC_CONN_H_INCLUDED */
