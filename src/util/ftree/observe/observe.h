/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FTREE_OBSERVE_H_INCLUDED
#define FTREE_OBSERVE_H_INCLUDED

#include "ftree/base/base.h"
#include "ftree/wire/wire.h"

#pragma GCC visibility push(hidden)

/*
 * The own ranks: stalls, and local findings that wait to settle (own_symptoms.c); being asked
 * (probe_answer.c); their connections (connections.c).
 */

/* A local rank that waits longer than the limit. */
struct stall {
    int32_t rank;
    int32_t peer; /* FTREE_NONE: not known */
    ftree_time since;
    ftree_time reported, again; /* when it was, and is to be (again) */
    ftree_time interval;
};

/* A local rank that was seen stopped, or held by a debugger. */
struct halt {
    int32_t rank;
    bool now; /* when the own ranks were last looked at */
    ftree_time last; /* when it was last seen so */
};

/* A local rank in trouble, to be looked at once more before it is a verdict. */
struct finding {
    int32_t rank;
    ftree_time first_symptom;
    ftree_time confirm;
};

/* A node to which own ranks have a connection that is stuck: whether its agent answers this one. */
struct checked {
    int32_t node;
    uint32_t nonce; /* of the last question to it, and to a witness that the network works */
    int32_t asks;
    ftree_time asked; /* when that was */
    bool witnessed; /* the witness has answered it */
    ftree_time answered; /* when the node answered over the same network first; 0: it has not */
};

struct ftree_observe {
    FTREE_ARRAY(struct stall) stalls;
    FTREE_ARRAY(struct finding) findings;
    FTREE_ARRAY(struct halt) halts;
    ftree_time looked_at; /* when the own ranks were last looked at */
    bool suspended; /* all own ranks were stopped when they were last looked at */
    bool is_slow; /* the path, when the own ranks' connections were last looked at, */
    uint32_t again_ms; /* and so much later they are to be again; 0: not by themselves */
    ftree_time aftermath; /* until then a stop, or a wait, may be a part of a suspension */
    ftree_time woke; /* when this agent last went on after it had not run for long */
    FTREE_ARRAY(struct checked) checked;
    ftree_time connections_seen; /* when the own ranks' connections were last looked at */
};

void ftree_observe_clear(struct ftree *ft);
/* The job ends here: nothing more is to be done. */
void ftree_observe_stop(struct ftree *ft);

/* own_symptoms.c */
int ftree_symptom_take(struct ftree *ft, ftree_time now, const struct ftree_symptom *seen);
int ftree_symptom_stall(struct ftree *ft, ftree_time now, int32_t rank, int32_t peer,
                        ftree_time waiting);
void ftree_symptom_over(struct ftree *ft, int32_t rank);
bool ftree_symptom_any_finding(const struct ftree *ft);
bool ftree_symptom_is_reported(const struct ftree *ft, int32_t rank);
bool ftree_symptom_waits_for(const struct ftree *ft, int32_t node, ftree_time since);
void ftree_symptom_look(struct ftree *ft, ftree_time now, ftree_time first_symptom);
void ftree_symptom_woke(struct ftree *ft, ftree_time now);
void ftree_symptom_tick(struct ftree *ft, ftree_time now);
ftree_time ftree_symptom_deadline(const struct ftree *ft);

/* connections.c: somebody has waited since `since` */
void ftree_connections_look(struct ftree *ft, ftree_time now, ftree_time since);
void ftree_connections_answer(struct ftree *ft, ftree_time now, int32_t from, enum ftree_path path,
                              const struct wire_answer *a);
void ftree_connections_tick(struct ftree *ft, ftree_time now);
ftree_time ftree_connections_deadline(const struct ftree *ft);

/* probe_answer.c */
void ftree_answer(struct ftree *ft, ftree_time now, int32_t from, enum ftree_path path,
                  uint64_t conn, const struct wire_probe *p);

#pragma GCC visibility pop

#endif /* FTREE_OBSERVE_H_INCLUDED */
