/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FTREE_NET_H_INCLUDED
#define FTREE_NET_H_INCLUDED

#include "ftree/base/base.h"
#include "ftree/wire/wire.h"

#pragma GCC visibility push(hidden)

/*
 * Sending: once (send.c), or until it is acknowledged (outbox.c); to nodes that only others reach,
 * by way of these (relay.c); in parts, what is too long for a message (parcel.c).
 */

/* What messages carry; those that tell the same to several nodes share it. */
struct payload {
    int32_t messages;
    uint16_t len;
    ftree_time sent; /* as of when it was written */
    uint8_t bytes[];
};

struct message {
    uint32_t id;
    int32_t to;
    int32_t by; /* by way of which it was sent last, FTREE_NONE: directly */
    uint8_t type;
    uint8_t tries;
    bool elsewhere; /* what it says took another way, too */
    bool answer; /* it acknowledges a message, and nobody acknowledges it */
    uint8_t waits; /* how often it waited for its receiver to be heard again */
    ftree_time sent, next; /* when it was sent last, and what it waits is over */
    struct payload *payload;
};

struct parcel_piece {
    uint8_t *bytes; /* NULL: it is not there */
    uint16_t len;
};

/* What came in parts. */
struct parcel {
    int32_t from;
    uint32_t number;
    uint8_t type; /* enum wire_type */
    uint16_t parts, got;
    struct parcel_piece *piece; /* [parts] */
    ftree_time at; /* when the last part came */
};

struct ftree_net {
    ftree_time srtt, rttvar, rto; /* RFC 6298; srtt 0: nothing measured */
    FTREE_ARRAY(struct message) outbox;
    FTREE_ARRAY(struct parcel) parcels;
};

/* send.c */
/* Sends m once, by one path, unacknowledged.  Returns 0 or an errno. */
int ftree_send(struct ftree *ft, ftree_time now, const struct ftree_route *to,
               struct wire_message *m);
/* Asks whether a node is there, and how its ranks are. */
void ftree_ask(struct ftree *ft, ftree_time now, const struct ftree_route *to, uint8_t paths,
               uint32_t nonce);
/* As ftree_send(), by all paths. */
void ftree_send_all_paths(struct ftree *ft, ftree_time now, const struct ftree_route *to,
                          struct wire_message *m);
void ftree_rtt(struct ftree *ft, ftree_time rtt);

ftree_time ftree_rto(const struct ftree *ft);
ftree_time ftree_silence_unit(const struct ftree *ft);
ftree_time ftree_silence_window(const struct ftree *ft);

/* relay.c */
/* Sends what was written, directly or (by not FTREE_NONE) by way of another.  Returns 0 or an
 * errno. */
int ftree_relay_send(struct ftree *ft, const struct ftree_route *to, int32_t by,
                     const uint8_t *bytes, size_t len);
void ftree_relay_pass_on(struct ftree *ft, int32_t from, enum ftree_path path,
                         const struct wire_relay *r);

/* outbox.c */
/* How a message that tells verdicts is acknowledged. */
enum announced {
    ANNOUNCED, /* by itself, and the victims follow */
    ANNOUNCED_NOBODY_WAITS, /* by itself, and that is all */
    ANNOUNCED_ASKING /* by the victims: soon, or just now */
};
void ftree_acknowledge(struct ftree *ft, ftree_time now, const struct ftree_route *to,
                       enum wire_type type, uint8_t flags, uint32_t id);
void ftree_outbox_put(struct ftree *ft, ftree_time now, int32_t to, struct wire_message *m);
struct payload *ftree_outbox_payload(struct ftree *ft, ftree_time now,
                                     const struct wire_message *m);
void ftree_outbox_release(struct ftree *ft, struct payload *payload);
/* The message, until the next one is posted; NULL: out of memory. */
struct message *ftree_outbox_post(struct ftree *ft, ftree_time now, int32_t to,
                                  enum wire_type type, uint32_t id, struct payload *payload);
void ftree_outbox_answer(struct ftree *ft, ftree_time now, int32_t to, enum ftree_path path,
                         struct wire_message *m);
enum announced ftree_outbox_answered(struct ftree *ft, int32_t to, enum ftree_path path,
                                     uint32_t id);
bool ftree_outbox_is_empty(const struct ftree *ft);
bool ftree_outbox_waits_for(const struct ftree *ft, int32_t from, uint32_t id);
void ftree_outbox_ack(struct ftree *ft, ftree_time now, int32_t from, uint32_t id);
void ftree_outbox_reached(struct ftree *ft, ftree_time now, int32_t node, enum ftree_reach reach);
void ftree_outbox_tick(struct ftree *ft, ftree_time now);
ftree_time ftree_outbox_deadline(const struct ftree *ft);
void ftree_outbox_busy(struct ftree *ft, ftree_time now, int32_t from, uint32_t id);
void ftree_outbox_heard(struct ftree *ft, ftree_time now, int32_t node);
void ftree_outbox_clear(struct ftree *ft);

/* parcel.c */
/* The next number after *last, which it becomes: they grow from one agent of a node to the next. */
uint32_t ftree_parcel_number(uint32_t *last, ftree_time now);
/* Sends bytes in parts; false: out of memory, or too long. */
bool ftree_parcel_send(struct ftree *ft, ftree_time now, int32_t to, enum wire_type type,
                       uint32_t number, const uint8_t *bytes, size_t len);
/* True: all of it is there, and appended to `out`. */
bool ftree_parcel_take(struct ftree *ft, ftree_time now, int32_t from, enum wire_type type,
                       const struct wire_part *part, struct ftree_bytes *out);
void ftree_parcel_tick(struct ftree *ft, ftree_time now);
ftree_time ftree_parcel_deadline(const struct ftree *ft);
void ftree_parcel_clear(struct ftree *ft);

#pragma GCC visibility pop

#endif /* FTREE_NET_H_INCLUDED */
