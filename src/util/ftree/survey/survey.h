/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FTREE_SURVEY_H_INCLUDED
#define FTREE_SURVEY_H_INCLUDED

#include "ftree/hang/hang_answer.h"
#include "ftree/hang/lag.h"
#include "ftree/net/net.h"
#include "ftree/stacks/stacks.h"
#include "ftree/state/state.h"
#include "ftree/survey/query.h"
#include "ftree/waits/classes.h"
#include "ftree/wire/codec.h"

#pragma GCC visibility push(hidden)

/*
 * A survey: a question goes from the acting root down the tree, and each node answers to the one
 * that asked it with what the nodes below it and its own ranks say, merged.  A person asks any agent,
 * which has the acting root ask; a value for all nodes takes the same way, and the answers
 * acknowledge it; and so do verdicts (announce/), whose answers are the ranks that wait.
 *
 *     survey.c          the way down and up, and who asks: the own agent, the acting root for it
 *     survey_kinds.c    the table: what the kinds do, and how long they may take
 *     survey_answer.c   what nodes answer: merged, bounded, in bytes
 *     survey_result.c   the acting root's result, and the asker's
 *     survey_status.c   what ranks do, and whom nodes suspect
 *     survey_set.c      a value for all nodes: what a person sets while the job runs
 *     survey_hang.c     samples, and ranks outside MPI, for the acting root itself
 *     survey_stacks.c   where ranks are in their code
 *     survey_lag.c      what slows ranks, for the acting root itself
 *     survey_victims.c  who waits because of a verdict
 *
 * Nobody is waited for longer than cfg.gather for each level below, and for stacks
 * FTREE_STACKS_TIME.  The acting root makes one round at a time for those who ask.  Nothing of it
 * has memory while nobody asks.
 */

#define SURVEY_CLASSES 32 /* of an answer that is to be short; so many runs in each of their sets, */
#define SURVEY_RUNS 16
#define SURVEY_SUSPICIONS 16 /* and so many suspicions in any */
#define SURVEY_WHY 320 /* of the text of a refusal */
#define SURVEY_FULL 1 /* flag of a request for the status: all classes, all ranks */

#define SURVEY_VICTIMS FTREE_QUERY_COUNT /* the kind that only verdicts are: nobody asks for it */
#define SURVEY_KINDS (SURVEY_VICTIMS + 1)

/* Beside who has answered each kind has a part of its own. */
struct survey_answer {
    struct ftree_spans answered, left; /* nodes */
    struct ftree_rank_classes classes; /* of a status, as the next three */
    int32_t suspicions, more_suspicions;
    struct ftree_suspicion suspicion[SURVEY_SUSPICIONS];
    bool is_full;
    struct hang_answer hang;
    struct lag_answer *lags; /* NULL: nothing */
    struct ftree_stacks stacks;
    struct ftree_ranks victims;
};

/* A node that has still to answer, and the number of what asked it. */
struct survey_due {
    int32_t node;
    uint32_t number;
};

struct survey_round;

/* The victims of what was announced together are in. */
typedef void survey_victims_in(struct ftree *ft, struct survey_round *r);

/* One that this node takes part in. */
struct survey_round {
    uint8_t kind; /* enum ftree_query_kind, or SURVEY_VICTIMS: of what was announced together */
    uint32_t number;
    struct ftree_route asker; /* node FTREE_NONE: this is the acting root; who else, and how it came */
    uint32_t asked; /* number of the message that asked, */
    ftree_time acknowledge; /* which is acknowledged then, if the answer has not done so;
                             * FTREE_NEVER: it is */
    ftree_time begun, until;
    bool own_done; /* the own ranks have said what they do */
    survey_victims_in *in; /* of SURVEY_VICTIMS */
    struct ftree_bytes request; /* its first byte is the kind, here and below */
    FTREE_ARRAY(struct survey_due) due;
    struct survey_answer answer;
};

/* What is asked, to be read behind the kind. */
static inline struct wire_codec survey_request(struct ftree *ft, const struct survey_round *r)
{
    return ftree_wire_reader(ft, 0, r->request.items + 1, (size_t) r->request.n - 1);
}

/* What the kinds differ in.  NULL: there is nothing to do. */
struct survey_kind {
    /* On the acting root, before it goes down: replaces the request, or returns why it does not
     * go. */
    const char *(*at_root)(struct ftree *ft, struct ftree_bytes *request, char why[SURVEY_WHY]);
    /* On every node: the own part, which takes time.  True: it is said later. */
    bool (*at_node)(struct ftree *ft, struct survey_round *r);
    /* Its part in bytes. */
    void (*wire)(struct wire_codec *c, struct survey_answer *a);
    /* On every node, of a round that is over: else the answer goes up in bytes. */
    void (*over)(struct ftree *ft, ftree_time now, struct survey_round *r);
    /* On the acting root, likewise. */
    void (*at_end)(struct ftree *ft, ftree_time now, const struct survey_answer *a, bool whole);
    bool has_causes; /* with it goes what is known of nodes: ftree_cause_wire() */
    bool is_shared; /* who asks the same meanwhile gets the same answer */
    ftree_time longer; /* that an own answer may take, beside a level's time */
};

extern const struct survey_kind survey_kinds[SURVEY_KINDS];

/* Somebody who waits for a result of the acting root. */
struct survey_asker {
    int32_t node; /* may be this one */
    uint8_t kind;
    uint32_t number; /* the asker's */
    bool served; /* by the round that runs */
    struct ftree_bytes request;
};

/* What this node's own agent asks. */
struct survey_own {
    uint8_t kind;
    uint32_t number;
    ftree_time until, again; /* again: when the acting root is asked once more */
    struct ftree_bytes request;
};

struct survey_work {
    FTREE_ARRAY(struct survey_round) rounds;
    FTREE_ARRAY(struct survey_asker) askers;
    FTREE_ARRAY(struct survey_own) own;
};

/* What was set so far. */
struct survey_set {
    uint64_t version; /* 0: nothing */
    struct ftree_bytes bytes; /* struct ftree_setting, as it travels */
    bool is_sent; /* this node has, as the acting root: */
    struct ftree_spans have; /* nodes that have answered that they have it */
    ftree_time again, pause; /* when the others are asked again; FTREE_NEVER: there are none */
};

/* Of the handle. */
struct ftree_survey {
    struct survey_set set;
    struct survey_work *work; /* NULL: nobody asks */
    uint32_t round, own; /* numbers given last */
    ftree_time next; /* the acting root's next round for the status, not before then */
};

/* Goes through the rounds of one kind. */
#define SURVEY_EACH(r, ft, kind_) \
    FTREE_EACH_IF((ft)->survey->work, struct survey_round, r, (ft)->survey->work->rounds) \
        if (r->kind == (kind_))

/* What asks several nodes. */
struct survey_post {
    ftree_time now;
    int32_t from; /* who is not asked, FTREE_NONE: nobody */
    struct survey_round *r; /* that waits for the answers, NULL: none does */
    uint32_t number; /* of what asks, */
    struct payload *payload; /* which is this message; NULL: the round's request, in parts */
};

/* ---- for ftree.c ----------------------------------------------------------------------------- */

/* The acting root asks all nodes for their samples from instant `first` on; the event ALL_SAID
 * answers. */
void ftree_survey_hang(struct ftree *ft, ftree_time now, uint64_t first);
/* All nodes are asked what slows their ranks: the event LAGS_SAID of the acting root answers. */
void ftree_survey_lags(struct ftree *ft, ftree_time now);
void ftree_survey_part(struct ftree *ft, ftree_time now, int32_t from, enum wire_type type,
                      const struct wire_part *part);
void ftree_survey_undeliverable(struct ftree *ft, ftree_time now, enum wire_type type, int32_t to);
/* What node `from` answers to this message, with which verdicts went there: who waits; NULL: nobody
 * does. */
void ftree_survey_victims(struct ftree *ft, ftree_time now, int32_t from, uint32_t message,
                          const struct ftree_ranks *ranks);
/* The own ranks have said what they do; the classes are then the room's. */
void ftree_survey_said(struct ftree *ft, ftree_time now, uint32_t number,
                      struct ftree_rank_classes *classes);
/* The stacks of own ranks were taken; they are then the room's. */
void ftree_survey_stacks_taken(struct ftree *ft, ftree_time now, uint32_t number,
                              struct ftree_stacks *s);
/* A verdict is known: a node may be lost that is waited for. */
void ftree_survey_learned(struct ftree *ft, ftree_time now);
void ftree_survey_tick(struct ftree *ft, ftree_time now);
ftree_time ftree_survey_deadline(const struct ftree *ft);
void ftree_survey_clear(struct ftree *ft);

/* ---- for announce/ --------------------------------------------------------------------------- */

/* A round for the victims of verdicts that are announced together, by this number; here these are
 * `own`. NULL: nobody is below, or out of memory, and what is known here was all. */
struct survey_round *ftree_survey_tell(struct ftree *ft, ftree_time now, uint32_t number,
                                       const struct ftree_route *asker, uint32_t asked,
                                       const struct ftree_ranks *own, survey_victims_in *in);
/* Asks a node, and where it does not answer at the moment those below it; arg: struct survey_post. */
void ftree_survey_post(struct ftree *ft, int32_t child, void *arg);
/* The round that waits for the node's answer to that message, which does so no more and has time for
 * those below it instead; NULL: none. */
struct survey_round *ftree_survey_settle_late(struct ftree *ft, ftree_time now, int32_t node,
                                              uint32_t number);
void ftree_survey_finish_if_in(struct ftree *ft, ftree_time now, struct survey_round *r);
/* How this very message was or will be answered by the victims; ANNOUNCED_NOBODY_WAITS: it is
 * not. */
enum announced ftree_survey_answered(struct ftree *ft, int32_t from, enum ftree_path path,
                                     uint32_t id);

/* survey_victims.c */
void ftree_survey_bound_victims(const struct ftree *ft, struct ftree_ranks *victims);

/* ---- within the room ------------------------------------------------------------------------- */

/* survey_answer.c */
/* False: out of memory, a part may be in. */
bool survey_answer_merge(struct ftree *ft, struct survey_answer *a,
                         const struct survey_answer *more);
/* The whole branch below a node has left. */
void survey_answer_left(struct ftree *ft, struct survey_answer *a, int32_t node);
bool survey_answer_put(struct ftree *ft, ftree_time now, struct survey_answer *a, uint8_t kind,
                       struct ftree_bytes *out);
/* FTREE_ERR_MALFORMED, FTREE_ERR_NOMEM; to be cleared all the same. */
int survey_answer_get(struct ftree *ft, ftree_time now, uint8_t kind, const uint8_t *bytes,
                      size_t len, struct survey_answer *out);
void survey_answer_clear(struct ftree *ft, struct survey_answer *a);

/* survey_status.c */
bool survey_status_at_node(struct ftree *ft, struct survey_round *r);
bool survey_status_merge(struct ftree *ft, struct survey_answer *a,
                         const struct survey_answer *more);
void survey_status_wire(struct wire_codec *c, struct survey_answer *a);

/* survey_set.c */
const char *survey_set_at_root(struct ftree *ft, struct ftree_bytes *request, char why[SURVEY_WHY]);
bool survey_set_at_node(struct ftree *ft, struct survey_round *r);
void survey_set_at_end(struct ftree *ft, ftree_time now, const struct survey_answer *a, bool whole);
void survey_set_learned(struct ftree *ft, ftree_time now);
/* True: some nodes may be asked again now, those that miss it. */
bool survey_set_is_due(struct ftree *ft, ftree_time now);
bool survey_set_misses(const struct ftree *ft, int32_t node);
ftree_time survey_set_deadline(const struct ftree *ft);
void survey_set_clear(struct ftree *ft);

/* survey_hang.c */
bool survey_hang_at_node(struct ftree *ft, struct survey_round *r);
void survey_hang_wire(struct wire_codec *c, struct survey_answer *a);
/* Takes *a (NULL: there is none). */
void survey_hang_said(struct ftree *ft, const struct ftree_query_result *r, struct hang_answer *a);
/* survey_lag.c */
bool survey_lags_at_node(struct ftree *ft, struct survey_round *r);
bool survey_lags_merge(struct ftree *ft, struct survey_answer *a, const struct survey_answer *more);
void survey_lags_wire(struct wire_codec *c, struct survey_answer *a);
void survey_lags_at_end(struct ftree *ft, ftree_time now, const struct survey_answer *a, bool whole);
/* survey_stacks.c; what: enum ftree_stacks_what */
bool survey_stacks_request(struct ftree *ft, const struct ftree_ranks *ranks, int what,
                           struct ftree_bytes *out);
bool survey_stacks_at_node(struct ftree *ft, struct survey_round *r);
void survey_stacks_wire(struct wire_codec *c, struct survey_answer *a);
/* survey_victims.c */
void survey_victims_merge(const struct ftree *ft, struct survey_answer *a,
                          const struct survey_answer *more);
void survey_victims_acknowledge(struct ftree *ft, ftree_time now, struct survey_round *r,
                                uint8_t flags);
void survey_victims_over(struct ftree *ft, ftree_time now, struct survey_round *r);

/* survey_result.c */
/* No node is missing in it, but for those that are lost, as a verdict says. */
bool survey_answer_is_whole(struct ftree *ft, const struct survey_answer *a);
/* Of a result the first byte. */
enum survey_outcome {
    SURVEY_DONE, /* the answer of all nodes follows */
    SURVEY_REFUSED, /* why, as text, */
    SURVEY_ELSEWHERE, /* who was asked does not act as root */
    SURVEY_OUTCOMES
};

/* Hands over to the own agent what came of its query; what is malformed is no answer. */
void survey_result(struct ftree *ft, ftree_time now, int32_t root, uint32_t number,
                  const uint8_t *bytes, size_t len);
/* The acting root does not answer in time. */
void survey_result_none(struct ftree *ft, uint32_t number);

#pragma GCC visibility pop

#endif /* FTREE_SURVEY_H_INCLUDED */
