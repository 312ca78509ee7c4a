/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_SERVE_SET_H_INCLUDED
#define FAULTLOC_SERVE_SET_H_INCLUDED

#include "faultloc/agent/process/program.h"

/*
 * What `faultloc set` asks for.  The request is a datagram,
 *
 *     {"set": {"action": "abort", "stall_ms": 500, "rules": 35683}}
 *
 * of which at least one member must be there; the rule base, of so many bytes (0: the built-in
 * one), lies in the socket for the answer, as one packet.  It goes to the acting root, from there
 * to all nodes; each uses it, writes it on its board for its next agent, and has it in its reports.
 * Who asked gets one JSON object, schema faultloc-set/1 (faultloc(1)), or what is wrong as text.
 */

#define FAULTLOC_SETS_MAX 4 /* requests at the same time */

struct faultloc_reporter;
struct faultloc_stop_job;

struct faultloc_sets {
    struct faultloc_program *p;
    /* Has these rules used from now on (len 0: the built-in ones).  Returns an errno. */
    int (*use_rules)(void *ctx, ftree_time now, const char *text, size_t len);
    void *ctx;
    bool has_rules; /* it did */
    struct faultloc_reporter *reporter;
    struct faultloc_stop_job *stop;
    int32_t n;
    struct faultloc_set {
        int reply; /* a socket of who asked */
        uint32_t number; /* of the query */
    } set[FAULTLOC_SETS_MAX];
    uint64_t version; /* the newest that is known here */
    void *bytes; /* that came, to be used when the core has returned; NULL: none */
    size_t len;
    bool reports; /* this node does, as the acting root */
};

/* Purpose: takes a request of this user; *reply is then taken, and -1.  Returns what is to be
 * answered at once, "" if nothing is; `error` has FAULTLOC_SYMPTOM_ERROR bytes. */
const char *faultloc_sets_take(struct faultloc_sets *s, ftree_time now, const char *text,
                               size_t len, uid_t uid, int *reply, char *error);

/* Purpose: the core's callbacks: what came of a request of this node's; a setting has come, which
 * is used by the next faultloc_sets_turn(). */
void faultloc_sets_answered(struct faultloc_sets *s, const struct ftree_query_result *r);
void faultloc_sets_came(struct faultloc_sets *s, const void *bytes, size_t len, bool reports);

/* Purpose: uses what has come. */
void faultloc_sets_turn(struct faultloc_sets *s, ftree_time now);

/* Purpose: what was set before this agent: the rules, and for the core its version.  Errors: an
 * errno. */
int faultloc_sets_restore(struct faultloc_sets *s, ftree_time now);

#endif /* FAULTLOC_SERVE_SET_H_INCLUDED */
