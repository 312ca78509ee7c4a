/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_CHANNEL_IMPL_H_INCLUDED
#define FAULTLOC_CHANNEL_IMPL_H_INCLUDED

#include "faultloc/net/channel.h"
#include "faultloc/net/conn.h"

/*
 * Inside the TCP channel; nobody else but its test includes this.
 *
 *   channel_tcp.c     its life, sending, time
 *   channel_slots.c   the connections it holds: finding, ending, making room
 *   channel_accept.c  listening and accepting
 *   channel_packet.c  packets without a connection
 *   channel_event.c   what happens on one connection
 *   conn.c            one connection's bytes        frame.c   their meaning
 *
 * Connections live in one array of fixed size; a free slot has state FREE.  A connection's id is a
 * number that only grows, with the slot in its low bits: a stale id, from epoll or from the caller,
 * finds nothing.  Every function that makes a callback looks its connection up again afterwards,
 * because the callback may have ended it.
 */

#define FAULTLOC_SLOT_BITS 16
#define FAULTLOC_SLOTS_MAX (1u << FAULTLOC_SLOT_BITS)

struct faultloc_channel {
    struct faultloc_channel_config cfg;
    struct faultloc_memory mem;
    int epoll;
    int spare; /* given up for a moment when descriptors run out */
    uint64_t accept_again; /* when accepting goes on, 0: it is not paused */
    int listeners[FTREE_ROLES][FTREE_PATHS]; /* -1: none */
    int packets[FTREE_PATHS]; /* sockets for packets, -1: none */
    struct faultloc_conn *conns;
    unsigned slots;
    uint64_t last_id;
    struct faultloc_channel_stats {
        unsigned unproven, inbound, outbound; /* connections now, by kind */
        uint64_t accepted; /* ever */
        uint64_t intruders[FAULTLOC_INTRUDER_COUNT];
    } stats;
};

static inline const struct faultloc_inet *faultloc_channel_own(const struct faultloc_channel *ch,
                                                               unsigned path)
{
    return &ch->cfg.table[ch->cfg.self].path[path];
}

static inline uint64_t faultloc_channel_later(uint64_t time, uint64_t span)
{
    return time > UINT64_MAX - span ? UINT64_MAX : time + span;
}

static inline bool faultloc_is_role(int role)
{
    return role >= 0 && role < FTREE_ROLES;
}

/* ---- channel_slots.c ------------------------------------------------------------------------- */

/* Purpose: whether there is any connection.  A healthy job has none, and then nothing is worth
 * walking over the slots. */
bool faultloc_slots_busy(const struct faultloc_channel *ch);

/* Purpose: the connection of that id, NULL when it is gone. */
struct faultloc_conn *faultloc_slots_find(const struct faultloc_channel *ch, uint64_t id);

/* Purpose: the connection that faultloc_channel_send() opened there, NULL when there is none. */
struct faultloc_conn *faultloc_slots_outbound(const struct faultloc_channel *ch, int32_t node,
                                              enum ftree_path path, enum ftree_role role);

/* Purpose: takes a slot for the socket `fd`, which it closes on error.  *out has no state yet and
 * is not counted.  Errors: ENOBUFS, those of epoll_ctl(2). */
int faultloc_slots_add(struct faultloc_channel *ch, uint64_t now, int fd,
                       struct faultloc_conn **out);

/* Purpose: ends a connection without a report. */
void faultloc_slots_close(struct faultloc_channel *ch, struct faultloc_conn *c);

/* Purpose: ends a proven inbound connection so that the peer does not take it for a fault. */
void faultloc_slots_goodbye(struct faultloc_channel *ch, struct faultloc_conn *c);

/* Purpose: ends a connection and, if it is outbound, calls reach(). */
void faultloc_slots_end(struct faultloc_channel *ch, struct faultloc_conn *c,
                        enum faultloc_channel_reach reach, int error);

/* Purpose: the same, with what `error` says. */
void faultloc_slots_fail(struct faultloc_channel *ch, struct faultloc_conn *c, int error);

/* Purpose: ends a connection whose other end is not of this job, counts it, and calls intruder()
 * the first time. */
void faultloc_slots_refuse(struct faultloc_channel *ch, struct faultloc_conn *c,
                           enum faultloc_intruder kind);

/* One of which the proof did not come in time. */
void faultloc_slots_no_hello(struct faultloc_channel *ch, struct faultloc_conn *c);

/* Purpose: gives the kernel what it takes; what fails is reported when the connection is next
 * read. */
void faultloc_slots_flush(struct faultloc_channel *ch, struct faultloc_conn *c);

/* Purpose: has epoll say "writable" only while there is something to write. */
void faultloc_slots_update(struct faultloc_channel *ch, struct faultloc_conn *c);

/* Purpose: room for one more proven inbound connection of `node`, or one more outbound one; where
 * need be the least recently used is ended.  Returns false when all have something to say yet. */
bool faultloc_slots_inbound_room(struct faultloc_channel *ch, int32_t node);
bool faultloc_slots_outbound_room(struct faultloc_channel *ch);

/* Purpose: the oldest unproven connection of the address that has most of them; NULL: none. */
struct faultloc_conn *faultloc_slots_worst(const struct faultloc_channel *ch);

/* Purpose: epoll_ctl(2).  Ids below FAULTLOC_SLOTS_MAX are listeners, and behind these sockets for
 * packets, others connections. */
#define FAULTLOC_PACKET_ID (FTREE_ROLES * FTREE_PATHS)
int faultloc_channel_watch(struct faultloc_channel *ch, int op, int fd, uint32_t events,
                           uint64_t id);

/* ---- channel_accept.c ------------------------------------------------------------------------ */

/* Purpose: accepts some of who came to the listening socket of that id. */
void faultloc_channel_on_listener(struct faultloc_channel *ch, uint64_t now, uint64_t id);

/* Purpose: ends the pause that ch->accept_again is the end of. */
void faultloc_channel_resume(struct faultloc_channel *ch);

/* Purpose: a descriptor of no use, to be given up when there are no others; -1: none. */
int faultloc_channel_spare(void);

/* ---- channel_packet.c ------------------------------------------------------------------------ */

/* Purpose: takes what has come to the socket of that path. */
void faultloc_channel_on_packets(struct faultloc_channel *ch, unsigned path);

/* ---- channel_event.c ------------------------------------------------------------------------- */

/* Purpose: handles epoll's events on the connection of that id, if it is still there. */
void faultloc_channel_on_conn(struct faultloc_channel *ch, uint64_t now, uint64_t id,
                              uint32_t events);

#endif /* FAULTLOC_CHANNEL_IMPL_H_INCLUDED */
