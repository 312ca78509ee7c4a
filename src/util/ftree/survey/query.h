/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FTREE_QUERY_H_INCLUDED
#define FTREE_QUERY_H_INCLUDED

#include "ftree/base/io.h"
#include "ftree/base/types.h"

#pragma GCC visibility push(hidden)

/*
 * What a person may ask of all nodes, of one node or of its own, or set at all nodes.
 */

struct ftree;

/* ---- what ranks do --------------------------------------------------------------------------- */

#define FTREE_DOINGS(X) \
    X(FTREE_DOES_COMPUTE, "outside MPI") \
    X(FTREE_DOES_CALL, "in MPI") \
    X(FTREE_DOES_WAIT, "waiting") \
    X(FTREE_DOES_STOP, "stopped") \
    X(FTREE_DOES_LEAVE, "has left") \
    X(FTREE_DOES_END, "gone") \
    X(FTREE_DOES_SLEEP, "asleep")

enum ftree_doing { FTREE_DOINGS(FTREE_ENUM) FTREE_DOING_COUNT };

/* Ranks in the same state, in the same MPI function, on a communicator of the same name. */
struct ftree_rank_class {
    uint8_t state; /* enum ftree_doing */
    uint32_t call; /* identifier of the MPI function, 0: none, or not known */
    char comm[FTREE_WAITING_NAME_MAX]; /* printable ASCII; "": none, or it has no name; of ranks
                                        * that sleep: in what, "a pipe (pipe_read)" */
    char on[FTREE_ON_MAX]; /* of the example that sleeps: the file or process that it waits for */
    int32_t count;
    int32_t example; /* the lowest rank */
    ftree_time shortest, longest; /* of their waits, or of the time in which those that sleep have
                                   * used no CPU, ns */
    int32_t any; /* so many of them wait for a message of any source */
    struct ftree_spans ranks;
    struct ftree_spans peers; /* for whom they wait, as far as it is known */
};

/* The largest first. */
struct ftree_rank_classes {
    struct ftree_rank_class *items;
    int32_t n, room;
    int32_t dropped, dropped_ranks; /* further classes, and ranks in them */
};

const char *ftree_doing_name(int doing);

/* ---- stacks ---------------------------------------------------------------------------------- */

#define FTREE_CALL_FUNCTION_MAX 96
#define FTREE_CALL_FILE_MAX 48
#define FTREE_DETAILS_MAX 20 /* who is blamed, and one of each class of those that wait */
#define FTREE_DETAIL_BYTES (24 * 1024)

/* A call of a stack; NULL and 0: not known. */
struct ftree_call {
    const char *function, *file, *module;
    int32_t line;
};

/* A call that stacks of several ranks have in common, with all calls around it.  Texts are
 * printable ASCII, "" where they are not known; the file is without its folders. */
struct ftree_stack {
    int32_t parent; /* the call around it, which is before it; FTREE_NONE: none is */
    int32_t line; /* 0: not known */
    char function[FTREE_CALL_FUNCTION_MAX], file[FTREE_CALL_FILE_MAX], module[FTREE_CALL_FILE_MAX];
    struct ftree_spans ranks;
};

/* The stacks of ranks, merged. */
struct ftree_stacks {
    struct ftree_stack *items;
    int32_t n, room;
    int32_t dropped; /* further calls, of few ranks */
    struct ftree_spans missing; /* ranks whose stacks could not be had */
    char why[96]; /* of one of these; "": there is none */
    int32_t details;
    struct ftree_detail {
        int32_t rank;
        int32_t len;
        char *text; /* JSON of the glue (agent/report/node_stacks.h), to be checked */
    } detail[FTREE_DETAILS_MAX];
};

/* ---- queries: all nodes answer one ----------------------------------------------------------- */

enum ftree_query_kind {
    FTREE_QUERY_STATUS, /* how nodes are and what ranks do; the request is empty, or a byte of
                         * flags, 1: all classes and all of their ranks */
    FTREE_QUERY_SET, /* a value for all nodes */
    FTREE_QUERY_HANG, /* samples and ranks outside MPI; the acting root asks for itself alone */
    FTREE_QUERY_STACKS, /* where ranks are in their code: ftree_query_stacks() */
    FTREE_QUERY_LAG, /* who waits more than before, what slows ranks; the core asks for itself */
    FTREE_QUERY_COUNT
};

/* A node or switch that is examined. */
struct ftree_suspicion {
    int32_t node;
    int32_t switch_; /* FTREE_NONE: the node */
    int32_t by; /* the node that examines it */
    uint8_t kind; /* enum ftree_symptom_kind, of the first symptom */
    ftree_time age; /* of the first symptom, ns */
};

/* What came of a query.  All of it is the core's, until the callback returns. */
struct ftree_query_result {
    uint8_t kind; /* enum ftree_query_kind */
    uint32_t number;
    int32_t root; /* the node that acts as root; FTREE_NONE: none has answered */
    int32_t nodes; /* that were asked: each is in one of the next four, where `refused` is "" */
    char refused[FTREE_DETAIL_MAX]; /* printable ASCII; not "": nothing was asked, and why */
    struct ftree_spans answered;
    struct ftree_spans left; /* they have no ranks any more, and their agents have ended */
    struct ftree_spans failed; /* as verdicts say */
    struct ftree_spans silent; /* it is not known why they have not answered in time */
    struct ftree_rank_classes classes; /* of a status, as the next three: of nodes that have
                                        * answered */
    int32_t suspicions, more_suspicions; /* and so many further ones */
    const struct ftree_suspicion *suspicion;
    const struct ftree_stacks *stacks; /* of a query for them: of nodes that have answered */
};

/* Purpose: asks all nodes of the job, by way of the acting root; the answer comes by the callback
 * `answered`, some milliseconds later where all are well, after some seconds in any case.  *number
 * tells it from others.  Who asks the acting root for the status while it finds that out gets the
 * same answer.
 * Errors: FTREE_ERR_INVALID (or this node leaves), FTREE_ERR_NOMEM (or too many queries of this
 * node are under way). */
int ftree_query(struct ftree *ft, ftree_time now, enum ftree_query_kind kind, const void *bytes,
                size_t len, uint32_t *number);

/* Purpose: what the own ranks do, as a status of this node alone: nobody is asked, and *r is complete
 * at once.  It is ended by ftree_query_own_free(), also if this returns false: out of memory. */
bool ftree_query_own(struct ftree *ft, ftree_time now, struct ftree_query_result *r);
void ftree_query_own_free(struct ftree *ft, struct ftree_query_result *r);

enum ftree_stacks_what {
    FTREE_STACKS_ALL, /* calls from the program's first to the innermost */
    FTREE_STACKS_DETAILS, /* the same, and a text about each of the first FTREE_DETAILS_MAX ranks */
    FTREE_STACKS_CALLERS, /* the program's call of MPI alone, which is to be had at once */
    FTREE_STACKS_WHATS
};

/* Purpose: asks for the stacks of these ranks (count 0: of all), likewise.  The answer takes as long as
 * the slowest node that has one of them, at most FTREE_STACKS_TIME longer than that to another query.
 * Errors: as ftree_query(). */
int ftree_query_stacks(struct ftree *ft, ftree_time now, const struct ftree_ranks *ranks, int what,
                       uint32_t *number);
#define FTREE_STACKS_TIME (6000 * FTREE_MS)

/* Purpose: the stacks that the callback `stacks` was to take; what they have is then the core's,
 * and *s is empty. */
void ftree_stacks_taken(struct ftree *ft, ftree_time now, uint32_t number, struct ftree_stacks *s);

/* ---- one node -------------------------------------------------------------------------------- */

/* How a node is, as it said, and its ranks, or the one that was asked about. */
struct ftree_inquiry {
    uint32_t number;
    int32_t node, rank; /* FTREE_NONE: all its ranks */
    bool over; /* all is here, or there was no more */
    bool answered; /* its agent did, and says what follows; else the deputy, if anybody */
    bool is_own; /* it is the node that was asked to ask: no path is needed */
    bool leaving; /* its ranks have called MPI_Finalize */
    ftree_time asked, took; /* when, and how long the answer took, ns */
    uint8_t reach[FTREE_PATHS][FTREE_ROLES]; /* enum ftree_reach */
    uint8_t phase; /* enum ftree_phase of `rank` */
    int32_t peer; /* that `rank` waits for, FTREE_NONE */
    int32_t troubles; /* ranks that are stopped or gone */
    struct ftree_rank_state trouble[FTREE_STATE_RANKS_MAX];
    bool has_state;
    struct ftree_node_state state;
    int32_t logs; /* the last messages of `rank`, or of the first ranks of the node */
    struct ftree_log log[FTREE_STATE_RANKS_MAX];
};

/* Purpose: asks a node now how it and its ranks are (rank FTREE_NONE: all of them); nothing becomes
 * a verdict by that alone.  *number: by which the answer is known.
 * Errors: FTREE_ERR_INVALID (no such node, or the rank is not there), FTREE_ERR_NOMEM (or too many
 * at once). */
int ftree_inquire(struct ftree *ft, ftree_time now, int32_t node, int32_t rank, uint32_t *number);

/* Purpose: what has come of it so far; it is the handle's, until the next call of that.  NULL: no
 * such number. */
const struct ftree_inquiry *ftree_inquired(const struct ftree *ft, uint32_t number);

/* Purpose: forgets it; any number is allowed. */
void ftree_inquire_no_more(struct ftree *ft, uint32_t number);

/* ---- what is set while the job runs ---------------------------------------------------------- */

#define FTREE_SET_ACTION 1
#define FTREE_SET_STALL 2
#define FTREE_SET_RULES 4
#define FTREE_SET_ALL 7

#define FTREE_STALL_MS_MIN 100
#define FTREE_STALL_MS_MAX 3600000
#define FTREE_SET_RULES_MAX (128 * 1024) /* bytes of a rule base that is sent to all nodes */
#define FTREE_SETTING_BYTES 32 /* of one as it travels, with its rules so many more; at most */

/* All that was set so far: the newest one is all that a node needs to know. */
struct ftree_setting {
    uint64_t version; /* they grow; the newest counts: a number, and the acting root that gave
                       * it; of a request, the newest that is known there */
    uint32_t uid; /* of the user who asked for the last change, */
    uint8_t changed; /* FTREE_SET_ACTION and so on, and what that was */
    uint8_t has; /* what was ever set: */
    bool abort; /* the action */
    uint32_t stall_ms;
    const char *rules; /* the rule base, rules_len bytes; 0: the built-in one */
    size_t rules_len;
};

/* Purpose: writes it to buf, which has room for FTREE_SETTING_BYTES and its rules.  Returns how
 * many bytes that are. */
size_t ftree_setting_encode(const struct ftree_setting *s, void *buf);

/* Purpose: reads it; s->rules is part of `bytes`.  Errors: FTREE_ERR_MALFORMED. */
int ftree_setting_decode(const void *bytes, size_t len, struct ftree_setting *s);

/* Purpose: reads its rules to see whether they can be used; where they cannot, `why` says where and
 * why.
 * Errors: FTREE_ERR_INVALID, FTREE_ERR_NOMEM. */
int ftree_setting_check(const struct ftree_setting *s, char *why, size_t room);

/* Purpose: what s does not change is as it was before. */
void ftree_setting_merge(struct ftree_setting *s, const struct ftree_setting *before);

#pragma GCC visibility pop

#endif /* FTREE_QUERY_H_INCLUDED */
