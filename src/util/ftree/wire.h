/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef WIRE_H_INCLUDED
#define WIRE_H_INCLUDED

#include "ftree.h"
#include "rules.h"

#pragma GCC visibility push(hidden)

/*
 * The wire format.  A message is a header of 8 bytes (magic, version, type, flags, id) and a body
 * that depends on the type; integers are little-endian.  Times are sent as ages in ns, so clocks
 * need not agree.  Decoding checks every length, number and index against the job before the
 * message is used, and a message with bytes left over is malformed.
 */

#define WIRE_MAGIC 0xf7
#define WIRE_VERSION 3
#define WIRE_HEADER 8

/* Reliable types are acknowledged by id and sent again; see outbox.c. */
#define WIRE_TYPES(X) \
    X(WIRE_ACK, "ack") \
    X(WIRE_BUSY, "busy") \
    X(WIRE_SYMPTOM, "symptom") \
    X(WIRE_PROBE, "probe") \
    X(WIRE_ANSWER, "answer") \
    X(WIRE_STATE, "state") \
    X(WIRE_LOG, "log") \
    X(WIRE_VISIT, "visit") \
    X(WIRE_SEEN, "seen") \
    X(WIRE_SWEEP, "sweep") \
    X(WIRE_VERDICT_UP, "verdict-up") \
    X(WIRE_VERDICT_DOWN, "verdict-down") \
    X(WIRE_VICTIMS, "victims") \
    X(WIRE_GOODBYE, "goodbye") \
    X(WIRE_RELEASE, "release")

enum wire_type {
#define WIRE_TYPE_ENUM(name, text) name,
    WIRE_TYPES(WIRE_TYPE_ENUM)
#undef WIRE_TYPE_ENUM
    WIRE_TYPE_COUNT
};

/* The sender could not reach who would be responsible: the receiver is to stand in. */
#define WIRE_FLAG_SUBSTITUTE 1

/* Ranks in trouble that fit into an answer; the rest shows at the next probe. */
#define WIRE_TROUBLES_MAX 16

struct wire_probe {
    uint32_t nonce; /* 0: it is asked as a witness */
    uint32_t round; /* of a sweep, 0: none */
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
    bool asked_told; /* its own agent has told that already */
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
struct wire_visit {
    uint32_t nonce;
    int32_t target;
};

/* What came of it over one path. */
struct wire_seen {
    uint32_t nonce;
    int32_t target;
    uint8_t path;
    uint8_t reach; /* enum ftree_reach */
};

/* fln and id: of the verdict. */
struct wire_victims {
    int32_t fln;
    uint32_t id;
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
        struct wire_visit visit;
        struct wire_seen seen;
        uint32_t round;
        struct ftree_verdict verdict;
        struct wire_victims victims;
    } u;
};

/* Writes m, as of time `now`, to buf of FTREE_MESSAGE_MAX bytes and returns its length. */
size_t ftree_wire_encode(const struct wire_message *m, ftree_time now, void *buf);

/* Reads a message; indices are checked against the job, ages become times before `now`.
 * Errors: FTREE_ERR_MALFORMED, FTREE_ERR_VERSION. */
int ftree_wire_decode(const struct ftree_job *job, ftree_time now, const void *buf, size_t len,
                      struct wire_message *m);

const char *ftree_wire_type_name(int type);

#pragma GCC visibility pop

#endif /* WIRE_H_INCLUDED */
