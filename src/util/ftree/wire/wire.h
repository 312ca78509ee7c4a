/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef WIRE_H_INCLUDED
#define WIRE_H_INCLUDED

#include "ftree/ftree.h"
#include "ftree/rules/rules.h"

#pragma GCC visibility push(hidden)

/*
 * The wire format.  A message is a header of 8 bytes (magic, version, type, flags, id) and a body
 * that depends on the type; integers are little-endian.  Times are sent as ages in ns, so clocks
 * need not agree.  Decoding checks every length, number and index against the job before the
 * message is used, and a message with bytes left over is malformed.
 */

#define WIRE_MAGIC 0xf7
#define WIRE_VERSION 25
#define WIRE_HEADER 8

/* The one table of messages: type, name, body (a member of wire_message.u), the flags that it may
 * have, and whether it is acknowledged by its number and sent again until it is (outbox.c).  A
 * probe is acknowledged by its answer. */
#define WIRE_TYPES(X) \
    X(WIRE_ACK, "ack", ack, WIRE_FLAG_NOBODY_WAITS, false) \
    X(WIRE_BUSY, "busy", ack, 0, false) \
    X(WIRE_SYMPTOM, "symptom", symptom, WIRE_FLAG_SUBSTITUTE, true) \
    X(WIRE_PROBE, "probe", probe, 0, false) \
    X(WIRE_ANSWER, "answer", answer, 0, false) \
    X(WIRE_STATE, "state", state, WIRE_FLAG_DELIVERS, false) \
    X(WIRE_LOG, "log", log, 0, false) \
    X(WIRE_INDIRECT_PROBE, "indirect-probe", indirect_probe, 0, false) \
    X(WIRE_INDIRECT_RESULT, "indirect-result", indirect_result, WIRE_FLAG_DELIVERS, false) \
    X(WIRE_FLOOD_QUERY, "flood-query", round, 0, true) \
    X(WIRE_VERDICT_UP, "verdict-up", verdict, WIRE_FLAG_SUBSTITUTE | WIRE_FLAG_MORE, true) \
    X(WIRE_VERDICT_DOWN, "verdict-down", summaries, 0, true) \
    X(WIRE_VICTIMS, "victims", victims, 0, true) \
    X(WIRE_GOODBYE, "goodbye", nothing, WIRE_FLAG_MORE, true) \
    X(WIRE_RELEASE, "release", nothing, 0, true) \
    X(WIRE_RELAY, "relay", relay, WIRE_FLAG_PASSED_ON, false) \
    X(WIRE_WAITS_UP, "waits-up", part, 0, true) \
    X(WIRE_WAITS_LOOK, "waits-look", part, 0, true) \
    X(WIRE_WAITS_SEEN, "waits-seen", part, 0, true) \
    X(WIRE_QUERY_UP, "query-up", part, 0, true) \
    X(WIRE_QUERY_DOWN, "query-down", part, 0, true) \
    X(WIRE_QUERY_ANSWER, "query-answer", part, 0, true) \
    X(WIRE_QUERY_RESULT, "query-result", part, 0, true) \
    X(WIRE_PACKET, "packet", packet, 0, false) \
    X(WIRE_HEARD, "heard", heard, 0, false) \
    X(WIRE_FABRIC, "fabric", fabric, 0, false)

enum wire_type {
    WIRE_TYPES(FTREE_ENUM) WIRE_TYPE_COUNT
};

/* The sender could not reach who would be responsible: the receiver is to act for it. */
#define WIRE_FLAG_SUBSTITUTE 1
/* Of an acknowledgment: nobody there or below waits, and no victims will be named. */
#define WIRE_FLAG_NOBODY_WAITS 2
/* Of a verdict on its way up: another one goes with it, before or behind it, to be announced
 * together.  Of a goodbye: another one follows, once all below the sender have left, too. */
#define WIRE_FLAG_MORE 4
/* Of what is relayed: `node` is whom it is from, else to whom it is to be passed on. */
#define WIRE_FLAG_PASSED_ON 8
/* Data of ranks came through lately: of a state, over the data path of the node that says so, which
 * is slow; of what came of an indirect probe, between its sender and the target, which did not
 * answer. */
#define WIRE_FLAG_DELIVERS 16

/* A burst is so many packets on each path, in groups, of each of which the last packet is large. */
#define WIRE_BURST_GROUPS 8
#define WIRE_BURST_EACH 7
#define WIRE_BURST_PACKETS (WIRE_BURST_GROUPS * WIRE_BURST_EACH) /* bits of a word */

/* Ranks in trouble that fit into an answer; the rest shows at the next probe. */
#define WIRE_TROUBLES_MAX 16

struct wire_probe {
    uint32_t nonce; /* 0: it is asked as a witness */
    uint32_t round; /* of a flood query, 0: none */
    uint8_t ask; /* enum rules_ask */
    int32_t rank; /* the rank someone waits for, FTREE_NONE */
    ftree_time first; /* the first symptom */
};

struct wire_trouble {
    int32_t rank;
    int32_t pid;
    uint8_t phase;
    char proc_state;
};

struct wire_answer {
    uint32_t nonce;
    uint8_t role;
    bool leaving;
    uint8_t asked_phase; /* of the rank asked about */
    int32_t asked_peer; /* whom it waits for in turn, FTREE_NONE */
    bool asked_reported; /* its own agent has that already */
    int32_t troubles;
    struct wire_trouble trouble[WIRE_TROUBLES_MAX];
    struct ftree_ranks waiting; /* local ranks that wait */
};

struct wire_state {
    uint32_t nonce;
    struct ftree_node_state state;
};

struct wire_log {
    uint32_t nonce;
    struct ftree_log log;
};

/* Asks a node to ask another one. */
struct wire_indirect_probe {
    uint32_t nonce;
    int32_t target;
    bool burst; /* for a burst, else for an answer */
};

/* What came of it over one path. */
struct wire_indirect_result {
    uint32_t nonce;
    int32_t target;
    uint8_t path;
    uint8_t reach; /* enum ftree_reach */
    uint8_t way[2]; /* of a burst, RULES_WAY_*: in, out, as the sender of this sees them; else 0 */
};

/* One packet of a burst; it comes as a datagram, or not at all. */
struct wire_packet {
    uint32_t nonce;
    uint8_t number; /* of WIRE_BURST_PACKETS */
    bool back; /* its sender was asked for the burst */
    uint64_t sent; /* the sender's clock, ns */
};

/* The packets of a burst on one path, bit i: number i. */
struct wire_way {
    uint64_t sent; /* to the other node, */
    uint64_t heard; /* from there, */
    uint64_t late; /* and which of these came far later than the quickest on any path, */
    uint32_t worst_us; /* up to so much */
};

/* What the node that was asked for a burst has sent and heard. */
struct wire_heard {
    uint32_t nonce;
    bool over; /* else it has just begun, and takes packets */
    struct wire_way way[FTREE_PATHS];
    char losses[FTREE_LOSSES_MAX]; /* what its data interface counts; see base/io.h */
};

enum wire_fabric_step {
    WIRE_FABRIC_ASK, /* node `node`, from there, */
    WIRE_FABRIC_ASK_WAIT, /* if and as long as a rank there waits for one of it */
    WIRE_FABRIC_OPEN, /* an end at the receiver */
    WIRE_FABRIC_ADDRESS, /* it is open; bytes: where */
    WIRE_FABRIC_CLOSE, /* nothing came from it: has it been there all the time? */
    WIRE_FABRIC_OVER, /* it has; or `says` none: bytes, why */
    WIRE_FABRIC_SAID, /* what came of asking `node`; bytes: more words */
    WIRE_FABRIC_STEPS
};

/* Whether the fabric brings messages from one node to another; see examine/fabric.c. */
struct wire_fabric {
    uint32_t nonce;
    uint8_t step; /* enum wire_fabric_step */
    uint8_t says; /* enum ftree_fabric */
    int32_t node;
    uint32_t us; /* there and back */
    size_t len;
    const uint8_t *bytes; /* the writer's, or part of the message that was read */
};

/* A whole message on its way by another node; see net/relay.c. */
struct wire_relay {
    int32_t node;
    size_t len;
    const uint8_t *bytes; /* the writer's, or part of the message that was read */
};

#define WIRE_RELAY_BYTES (WIRE_HEADER + 4 + 2) /* one that is acknowledged leaves room for these */

/* A part of what does not fit into one message; see net/parcel.c, whose receivers check the
 * bytes. */
struct wire_part {
    uint32_t number;
    uint16_t part, parts; /* it is this one, from 0, of so many */
    size_t len;
    const uint8_t *bytes; /* the writer's, or part of the message that was read */
};

#define WIRE_PART_BYTES (FTREE_MESSAGE_MAX - WIRE_RELAY_BYTES - WIRE_HEADER - 4 - 2 - 2 - 2)

/* What all nodes but the FLN and the acting root keep of a verdict, and receive. */
struct summary {
    uint8_t class_; /* enum ftree_class */
    uint8_t kind; /* enum ftree_kind */
    uint16_t confidence; /* 1/1000 */
    uint8_t rule; /* number of its name in the handle; not in a message */
    bool local_only;
    uint32_t id;
    int32_t node, rank, switch_, fln;
    ftree_time first_symptom, located, withdrawn;
    ftree_time holds_back; /* as a verdict's */
    const struct ftree_ranks *component; /* the ranks of the component where these are more than
                                          * one, else NULL; the owner is that of the summary */
};

/* Summaries, encoded: they are written and read one after the other.  `bytes` are the writer's, or
 * part of the message that was read. */
struct wire_summary_list {
    int32_t n;
    size_t len;
    const uint8_t *bytes;
    struct ftree_ranks component; /* of the summary that was read last */
};

#define WIRE_SUMMARIES_BYTES (FTREE_MESSAGE_MAX - WIRE_RELAY_BYTES - WIRE_HEADER - 2)

/* Many verdicts share a rule: a name that is that of the summary before is not written again. */
struct wire_summaries {
    int32_t n;
    size_t len;
    char rule[FTREE_NAME_MAX]; /* of the last one */
    uint8_t bytes[WIRE_SUMMARIES_BYTES];
};

/* The ranks that wait, at the node and below it, because of what the message with this number
 * announces. */
struct wire_victims {
    uint32_t message;
    struct ftree_ranks ranks;
};

struct wire_message {
    uint8_t type;
    uint8_t flags;
    uint32_t id;
    union {
        uint32_t ack; /* id of the message acknowledged, or refused (busy) */
        struct ftree_symptom symptom;
        struct wire_probe probe;
        struct wire_answer answer;
        struct wire_state state;
        struct wire_log log;
        struct wire_indirect_probe indirect_probe;
        struct wire_indirect_result indirect_result;
        struct wire_packet packet;
        struct wire_heard heard;
        struct wire_fabric fabric;
        uint32_t round;
        struct ftree_verdict verdict;
        struct wire_summary_list summaries;
        struct wire_victims victims;
        struct wire_relay relay;
        struct wire_part part;
        uint8_t nothing; /* there is no body */
    } u;
};

/* Writes m, as of time `now`, to buf of FTREE_MESSAGE_MAX bytes and returns its length. */
size_t ftree_wire_encode(const struct wire_message *m, ftree_time now, void *buf);

/* Reads a message; indices are checked against the job, ages become times before `now`.
 * Errors: FTREE_ERR_MALFORMED, FTREE_ERR_VERSION. */
int ftree_wire_decode(const struct ftree_job *job, ftree_time now, const void *buf, size_t len,
                      struct wire_message *m);

/* Writes the message of `len` bytes in `buf`, which was written at time `written`, anew to `out`,
 * as of `now` and as long as before.  Errors: as ftree_wire_decode(). */
int ftree_wire_renew(const struct ftree_job *job, ftree_time written, const void *buf, size_t len,
                     ftree_time now, void *out);

/* Appends a summary as of time `now`; false: there is no room for it.  w is zeroed before the
 * first. */
bool ftree_wire_put_summary(struct wire_summaries *w, ftree_time now, const struct summary *o,
                            const char *rule);

/* What was written, as part of a message; w must live as long as the message is used. */
struct wire_summary_list ftree_wire_summary_list(const struct wire_summaries *w);

/* Takes the next summary from t, which gets shorter, with the name of its rule; `rule` holds the
 * one before, "" at first.  False: there are no more, or it is malformed (t->n is then not 0). */
bool ftree_wire_get_summary(const struct ftree_job *job, ftree_time now,
                            struct wire_summary_list *t, struct summary *o, char rule[FTREE_NAME_MAX]);

const char *ftree_wire_type_name(int type);
bool ftree_wire_is_reliable(int type);

#pragma GCC visibility pop

#endif /* WIRE_H_INCLUDED */
