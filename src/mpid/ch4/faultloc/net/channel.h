/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_CHANNEL_H_INCLUDED
#define FAULTLOC_CHANNEL_H_INCLUDED

#include "faultloc/base/sock.h"
#include "faultloc/net/frame.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/*
 * The control channel: how the agents of a job talk, over TCP, on the data and on the management
 * path.  In a healthy job it carries nothing and holds no connection.
 *
 * Conventions, said once:
 *   - A channel belongs to one thread.  It has no thread, timer or signal of its own, never
 *     blocks, and never raises a signal.
 *   - A time is in nanoseconds of CLOCK_MONOTONIC and comes from the caller.
 *   - int functions return 0 or an errno.
 *   - Callbacks are made from faultloc_channel_process() only.  A callback may call every function
 *     of this header but faultloc_channel_process() and faultloc_channel_destroy().
 *   - The caller has called sodium_init().
 *
 * The loop of its owner:
 *
 *     poll({faultloc_channel_fd(ch), ...}, until faultloc_channel_deadline(ch));
 *     faultloc_channel_process(ch, now());
 *
 * What a peer is believed: nothing before it proves the job's key (net/frame.h), and then
 * only its node number.  Every length, count and time it can influence has a limit.
 */

struct faultloc_channel;

/* What the channel learned of the way to a role at a node over one path.  Facts about the far
 * side; what fails on the own side at once is faultloc_channel_send()'s return value. */
enum faultloc_channel_reach {
    /* TCP connected: the kernel there answers, and somebody listens.  A stopped process comes this
     * far and no further. */
    FAULTLOC_CHANNEL_CONNECTED,
    /* The kernel there answers, nobody listens. */
    FAULTLOC_CHANNEL_REFUSED,
    /* No answer, or a router says there is no way. */
    FAULTLOC_CHANNEL_UNREACHABLE,
    /* The own side of the path is down. */
    FAULTLOC_CHANNEL_LOCAL_DOWN,
    /* A connection broke.  EPROTO: who listens there lacks the job's key. */
    FAULTLOC_CHANNEL_LOST,
    /* The peer ended the connection in order, because it leaves or needs the room: no fault.  What
     * it had not read is lost: send it again. */
    FAULTLOC_CHANNEL_CLOSED
};

/* What was refused, and counted. */
#define FAULTLOC_INTRUDERS(X) \
    X(FAULTLOC_INTRUDER_NO_HELLO, "connected and did not prove the job's key") \
    X(FAULTLOC_INTRUDER_BAD_HELLO, "sent no valid proof of the job's key") \
    X(FAULTLOC_INTRUDER_BAD_FRAME, "sent a frame that is not valid") \
    X(FAULTLOC_INTRUDER_BAD_SERVER, "listens on an agent's port without the job's key") \
    X(FAULTLOC_INTRUDER_FLOOD, "opened more connections than are held at a time")

enum faultloc_intruder {
#define FAULTLOC_INTRUDER_ENUM(name, text) name,
    FAULTLOC_INTRUDERS(FAULTLOC_INTRUDER_ENUM)
#undef FAULTLOC_INTRUDER_ENUM
    FAULTLOC_INTRUDER_COUNT
};

struct faultloc_channel_callbacks {
    /* A message from node `from`, proven.  `path` is the way it came, `role` the listening end's:
     * the own one of a message that came in by faultloc_channel_send(), the peer's of an answer.
     * `conn` is for faultloc_channel_reply().  `bytes` are the channel's, valid until return. */
    void (*message)(void *ctx, int32_t from, enum ftree_path path, enum ftree_role role,
                    uint64_t conn, const void *bytes, size_t len);
    /* About the last connection that faultloc_channel_send() opened there.  `error` is the errno,
     * 0 when connected.  Connections that the channel drops itself are not reported. */
    void (*reach)(void *ctx, int32_t node, enum ftree_path path, enum ftree_role role,
                  enum faultloc_channel_reach reach, int error);
    /* Somebody was refused.  Called for the first of each kind in the channel's life; the others
     * are counted only.  May be NULL. */
    void (*intruder)(void *ctx, enum faultloc_intruder kind, const struct faultloc_inet *peer);
    /* A packet from node `from`, proven, that came without a connection, `age` ns ago as the kernel
     * says.  May be NULL: then none are taken. */
    void (*packet)(void *ctx, int32_t from, enum ftree_path path, uint64_t age, const void *bytes,
                   size_t len);
};

/* 0 in a field: the default, in brackets.  Times in ns. */
struct faultloc_channel_limits {
    /* [65536] Bytes waiting on one connection, framing included. */
    size_t queue_bytes;
    /* [1/8 of RLIMIT_NOFILE, 16 to 256] Proven connections; over it the least recently used is
     * ended in order. */
    unsigned inbound;
    /* [the same] Connections of our own making; over it the least recently used is closed. */
    unsigned outbound;
    /* [8] Proven inbound connections of one node; over it its least recently used is ended. */
    unsigned per_peer;
    /* [1/8 of RLIMIT_NOFILE, 16 to 64] Connections that have not proven the key.  Over it one of
     * the address that has most of them is refused, so that a flood pushes out itself. */
    unsigned unproven;
    /* [10 ms] How long each of these is left in peace; until then accepting pauses, and who comes
     * waits in the kernel.  So at most unproven / grace are accepted per second.  Longer gives a
     * peer on a busy host more time for its proof, and makes all wait longer in a flood. */
    uint64_t grace;
    /* [8] Accepted per listening socket and call of faultloc_channel_process(). */
    unsigned accepts;
    /* [2 s] For the proof of the key. */
    uint64_t hello;
    /* [10 s] After which who connected closes.  The other side, that may never hear of it, closes
     * after three times that. */
    uint64_t idle;
};

struct faultloc_channel_config {
    int32_t self;
    int32_t nodes;
    const struct faultloc_address *table; /* [nodes]; the caller's, outlives the channel */
    uint8_t key[FAULTLOC_KEY_SIZE]; /* copied */
    struct faultloc_channel_callbacks callbacks;
    void *ctx; /* for the callbacks */
    struct faultloc_channel_limits limits;
    /* As realloc(3), and as free(3) when size is 0; NULL for the C library's. */
    void *(*alloc)(void *ctx, void *ptr, size_t size);
    void *alloc_ctx;
};

/* Purpose: makes a channel that listens nowhere yet; *out is the caller's, who ends it with
 * faultloc_channel_destroy().  Errors: EINVAL, ENOMEM, those of epoll_create1(2). */
int faultloc_channel_create(const struct faultloc_channel_config *cfg,
                            struct faultloc_channel **out);

/* Purpose: ends all connections, in order where they are proven, and frees the channel; NULL is
 * allowed.  What faultloc_channel_unsent() counts is lost.  Makes no callback. */
void faultloc_channel_destroy(struct faultloc_channel *ch);

/* Purpose: the descriptor that is readable when faultloc_channel_process() has work.  It stays the
 * channel's and the same for its life. */
int faultloc_channel_fd(const struct faultloc_channel *ch);

/* Purpose: when faultloc_channel_process() is to be called at the latest, ns; UINT64_MAX: not
 * before the descriptor is readable. */
uint64_t faultloc_channel_deadline(const struct faultloc_channel *ch);

/* Purpose: handles what is ready, then what is due.  The work of one call is bounded; what is left
 * keeps the descriptor readable.  Errors: those of epoll_wait(2). */
int faultloc_channel_process(struct faultloc_channel *ch, uint64_t now);

/* ---- listening ------------------------------------------------------------------------------- */

/* Purpose: listens for `role` on these sockets, which become the channel's also on error.
 * Errors: EINVAL, EBUSY (listens for that role already), those of epoll_ctl(2). */
int faultloc_channel_adopt(struct faultloc_channel *ch, enum ftree_role role,
                           struct faultloc_ports *ports);

/* Purpose: listens for `role` on the port that the table gives it, on each of the own paths where
 * it does not yet.  Returns 0 when it now listens on all; else the errno of the first that
 * failed, with the others listening: call it again later to try the missing ones.
 * Errors: EADDRINUSE (the last owner of the port is not gone yet), EADDRNOTAVAIL (the address is
 * gone from this host), EDESTADDRREQ (the table gives no port, or no path), EINVAL, those of
 * socket(2). */
int faultloc_channel_listen(struct faultloc_channel *ch, enum ftree_role role);

/* Purpose: on how many paths the channel listens for `role`. */
unsigned faultloc_channel_listening(const struct faultloc_channel *ch, enum ftree_role role);

/* Purpose: listens for `role` no longer.  Connections that were accepted stay. */
void faultloc_channel_unlisten(struct faultloc_channel *ch, enum ftree_role role);

/* ---- sending --------------------------------------------------------------------------------- */

enum faultloc_send_flags {
    /* A new connection, whatever there is; an old one is dropped with what waits on it.  So what
     * reach() then reports is up to date. */
    FAULTLOC_SEND_FRESH = 1
};

/* Purpose: queues one message of 1 to FAULTLOC_BODY_MAX bytes, copied, for `role` at `node` over
 * `path`, and connects there if need be.  It leaves when the peer has proven the key.  0 means
 * queued: what becomes of the way there is reported by reach(), what becomes of the message only by
 * an answer.
 * Errors: EINVAL (no such node, path, role), EMSGSIZE, EDESTADDRREQ (the table has no address or
 * port for it, or none of ours on that path), EAFNOSUPPORT (IPv4 here, IPv6 there), ENOBUFS (too
 * much waits), ENOMEM, EMFILE, ENFILE; and of the own side of the path ENETUNREACH, ENETDOWN,
 * EADDRNOTAVAIL and others that faultloc_channel_reach_of() gives LOCAL_DOWN for.  Nothing was
 * queued then, and nothing will be reported about it. */
int faultloc_channel_send(struct faultloc_channel *ch, uint64_t now, int32_t node,
                          enum ftree_path path, enum ftree_role role, unsigned flags,
                          const void *bytes, size_t len);

/* Purpose: queues one message on the connection that a message came by.
 * Errors: ENOTCONN (it is gone), EMSGSIZE, ENOBUFS, ENOMEM. */
int faultloc_channel_reply(struct faultloc_channel *ch, uint64_t now, uint64_t conn,
                           const void *bytes, size_t len);

/* ---- packets, without a connection ----------------------------------------------------------- */

/* Purpose: takes packets, at the port of its agent on each of the own paths, or takes no more.  While
 * it does not, none can be sent either. */
void faultloc_channel_packets(struct faultloc_channel *ch, bool take);

/* Purpose: sends one packet to the agent at `node`; `large`: filled up to what one packet may have on
 * the way there, as the kernel knows it.  It is not split on its way.
 * Errors: EINVAL, EMSGSIZE, EDESTADDRREQ, EAFNOSUPPORT as above; ENOTCONN (takes none on that path);
 * those of sendto(2). */
int faultloc_channel_send_packet(struct faultloc_channel *ch, int32_t node, enum ftree_path path,
                                 bool large, const void *bytes, size_t len);

/* Purpose: bytes on connected connections that the kernel has not taken yet, for who wants to
 * leave only after the last message is out. */
size_t faultloc_channel_unsent(const struct faultloc_channel *ch);

/* ---- sending --------------------------------------------------------------------------------- */

/* Purpose: what an errno of connect(2), bind(2), send(2) or recv(2) says about a path. */
enum faultloc_channel_reach faultloc_channel_reach_of(int error);

/* Purpose: one line for people; the address is the reader's to add.  A constant string. */
const char *faultloc_intruder_text(enum faultloc_intruder kind);

#endif /* FAULTLOC_CHANNEL_H_INCLUDED */
