/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FTREE_QUERY_H_INCLUDED
#define FTREE_QUERY_H_INCLUDED

#include "ftree/hang/answer.h"
#include "ftree/hang/lag.h"
#include "ftree/net/net.h"
#include "ftree/stacks/stacks.h"
#include "ftree/state/state.h"
#include "ftree/waits/classes.h"

#pragma GCC visibility push(hidden)

/*
 * A query: a person asks one agent, and all nodes of the job answer.  It goes to the acting root,
 * from there down the tree, and each node answers to the one that asked it with what the nodes
 * below it and its own ranks say, merged.  A value for all nodes takes the same way, and the
 * answers acknowledge it.
 *
 *     query.c    the way down
 *     answer.c   what nodes answer: merged, bounded, in bytes
 *     result.c   the acting root's result, and the asker's
 *     set.c      a value for all nodes: what a person sets while the job runs
 *     hang.c     samples, and ranks outside MPI, for the acting root itself
 *     stacks.c   where ranks are in their code
 *     lag.c      what slows ranks, for the acting root itself
 *
 * Nobody is waited for longer than cfg.gather for each level below, and for stacks
 * FTREE_STACKS_TIME.  The acting root makes one round at a time.  Nothing of it has memory while
 * nobody asks.
 */

#define QUERY_CLASSES 32 /* of an answer that is to be short; so many runs in each of their sets, */
#define QUERY_RUNS 16
#define QUERY_SUSPICIONS 16 /* and so many suspicions in any */
#define QUERY_WHY 320 /* of the text of a refusal */
#define QUERY_FULL 1 /* flag of a request for the status: all classes, all ranks */

struct query_answer {
    struct ftree_spans answered, left; /* nodes */
    struct ftree_rank_classes classes; /* of a status, as the next two */
    int32_t suspicions, more_suspicions;
    struct ftree_suspicion suspicion[QUERY_SUSPICIONS];
    struct hang_answer hang; /* of that kind alone, as the next two */
    struct lag_answer *lags; /* NULL: nothing */
    struct ftree_stacks stacks;
};

/* One that this node takes part in. */
struct query_round {
    uint8_t kind; /* enum ftree_query_kind */
    uint32_t number;
    int32_t asker; /* FTREE_NONE: this is the acting root */
    ftree_time until;
    bool own_done; /* the own ranks have said what they do */
    struct ftree_bytes request;
    FTREE_ARRAY(int32_t) due; /* nodes that have not answered */
    struct query_answer answer;
};

/* Somebody who waits for a result of the acting root. */
struct query_asker {
    int32_t node; /* may be this one */
    uint8_t kind;
    uint32_t number; /* the asker's */
    bool served; /* by the round that runs */
    struct ftree_bytes request;
};

/* What this node's own agent asks. */
struct query_own {
    uint8_t kind;
    uint32_t number;
    ftree_time until, again; /* again: when the acting root is asked once more */
    struct ftree_bytes request;
};

struct query_work {
    FTREE_ARRAY(struct query_round) rounds;
    FTREE_ARRAY(struct query_asker) askers;
    FTREE_ARRAY(struct query_own) own;
};

/* What was set so far. */
struct query_set {
    uint64_t version; /* 0: nothing */
    struct ftree_bytes bytes; /* struct ftree_setting, as it travels */
    bool is_told; /* this node has, as the acting root: */
    struct ftree_spans have; /* nodes that have answered that they have it */
    ftree_time again, pause; /* when the others are told again; FTREE_NEVER: there are none */
};

/* Of the handle. */
struct ftree_queries {
    struct query_set set;
    struct query_work *work; /* NULL: nobody asks */
    uint32_t round, own; /* numbers given last */
    ftree_time next; /* the acting root's next round for the status, not before then */
};

/* ---- for ftree.c ----------------------------------------------------------------------------- */

int ftree_query_ask(struct ftree *ft, ftree_time now, enum ftree_query_kind kind,
                    const void *bytes, size_t len, uint32_t *number);
/* The acting root asks all nodes for their samples from instant `first` on; the event ALL_SAID
 * answers. */
void ftree_query_hang(struct ftree *ft, ftree_time now, uint64_t first);
/* All nodes are asked what slows their ranks: the event LAGS_SAID of the acting root answers. */
void ftree_query_lags(struct ftree *ft, ftree_time now);
void ftree_query_part(struct ftree *ft, ftree_time now, int32_t from, enum wire_type type,
                      const struct wire_part *part);
void ftree_query_undeliverable(struct ftree *ft, ftree_time now, enum wire_type type, int32_t to);
/* The own ranks have said what they do; the classes are then the room's. */
void ftree_query_said(struct ftree *ft, ftree_time now, uint32_t number,
                      struct ftree_rank_classes *classes);
/* The stacks of own ranks were taken; they are then the room's. */
void ftree_query_stacks_taken(struct ftree *ft, ftree_time now, uint32_t number,
                              struct ftree_stacks *s);
/* A verdict is known: a node may be lost that is waited for. */
void ftree_query_learned(struct ftree *ft, ftree_time now);
void ftree_query_tick(struct ftree *ft, ftree_time now);
ftree_time ftree_query_deadline(const struct ftree *ft);
void ftree_query_clear(struct ftree *ft);

/* ---- within the room ------------------------------------------------------------------------- */

/* answer.c */
void query_answer_own(struct ftree *ft, ftree_time now, struct query_answer *a);
bool query_answer_merge(struct ftree *ft, struct query_answer *a, const struct query_answer *more);
/* The whole branch below a node has left. */
bool query_answer_left(struct ftree *ft, struct query_answer *a, int32_t node);
bool query_answer_put(struct ftree *ft, struct query_answer *a, uint8_t kind, bool full,
                      struct ftree_bytes *out);
/* FTREE_ERR_MALFORMED, FTREE_ERR_NOMEM; to be cleared all the same. */
int query_answer_get(struct ftree *ft, ftree_time now, uint8_t kind, const uint8_t *bytes,
                     size_t len, struct query_answer *out);
void query_answer_clear(struct ftree *ft, struct query_answer *a);

/* set.c */
const char *query_set_at_root(struct ftree *ft, struct ftree_bytes *request, char why[QUERY_WHY]);
bool query_set_at_node(struct ftree *ft, struct query_round *r);
void query_set_at_end(struct ftree *ft, ftree_time now, const struct query_answer *a, bool whole);
void query_set_learned(struct ftree *ft, ftree_time now);
/* True: some nodes may be told again now, those that miss it. */
bool query_set_is_due(struct ftree *ft, ftree_time now);
bool query_set_misses(const struct ftree *ft, int32_t node);
ftree_time query_set_deadline(const struct ftree *ft);
void query_set_clear(struct ftree *ft);

/* hang.c */
struct wire_codec;
bool query_hang_at_node(struct ftree *ft, struct query_round *r);
bool query_hang_put(struct ftree *ft, const struct hang_answer *a, struct ftree_bytes *out);
bool query_hang_get(struct ftree *ft, struct wire_codec *c, struct hang_answer *a);
/* Takes *a (NULL: there is none). */
void query_hang_said(struct ftree *ft, const struct ftree_query_result *r, struct hang_answer *a);
/* lag.c */
bool query_lags_at_node(struct ftree *ft, struct query_round *r);
void query_lags_at_end(struct ftree *ft, ftree_time now, const struct query_answer *a, bool whole);
bool query_lags_merge(struct ftree *ft, struct query_answer *a, const struct lag_answer *more);
bool query_lags_put(struct ftree *ft, const struct lag_answer *a, struct ftree_bytes *out);
/* False: out of memory. */
bool query_lags_get(struct ftree *ft, struct wire_codec *c, struct query_answer *a);
/* stacks.c; what: enum ftree_stacks_what */
bool query_stacks_request(struct ftree *ft, const struct ftree_ranks *ranks, int what,
                          struct ftree_bytes *out);
bool query_stacks_at_node(struct ftree *ft, struct query_round *r);

/* result.c */
/* No node is missing in it, but for those that are lost, as a verdict says. */
bool query_answer_is_whole(struct ftree *ft, const struct query_answer *a);
/* Of a result the first byte. */
enum query_outcome {
    QUERY_DONE, /* the answer of all nodes follows */
    QUERY_REFUSED, /* why, as text, */
    QUERY_ELSEWHERE, /* who was asked does not act as root */
    QUERY_OUTCOMES
};

/* Hands over to the own agent what came of its query; what is malformed is no answer. */
void query_result(struct ftree *ft, ftree_time now, int32_t root, uint32_t number,
                  const uint8_t *bytes, size_t len);
/* The acting root does not answer in time. */
void query_result_none(struct ftree *ft, uint32_t number);

#pragma GCC visibility pop

#endif /* FTREE_QUERY_H_INCLUDED */
