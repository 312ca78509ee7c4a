/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FTREE_STRAGGLE_H_INCLUDED
#define FTREE_STRAGGLE_H_INCLUDED

#include "ftree/hang/lag.h"
#include "ftree/state/state.h"

#pragma GCC visibility push(hidden)

/*
 * Ranks wait again and again for the same few, longer than before, and nobody hangs: who is slow,
 * and what slows them (doc/hangs.md).
 */

/* What questions in a row have found. */
struct straggle_work {
    struct lag_finding found; /* each time so far, and not said yet */
    struct lag_finding first, last; /* the first and the last time, by less: of those that stand */
    bool all_answer; /* each time; else nothing is withdrawn */
    bool is_done; /* and what is found is to be said */
};

/* Of the handle. */
struct ftree_straggle {
    ftree_time asked_at, pause; /* when this node was asked last, 0: never; and for how long then it
                                 * does not ask */
    /* of the acting root */
    bool asked; /* all nodes are, by it */
    uint8_t answers; /* in this episode */
    ftree_time began, next; /* next: FTREE_NEVER: nothing is to be done */
    ftree_time rest; /* until verdicts that stand are looked at again */
    struct straggle_work *work; /* NULL: nobody has answered yet */
};

/* A block of samples is over. */
void ftree_straggle_look(struct ftree *ft, ftree_time now);
/* This node is asked what slows its ranks. */
void ftree_straggle_asked(struct ftree *ft, ftree_time now);
/* What all nodes have answered, also where another node asked; the answer is the room's. */
void ftree_straggle_said(struct ftree *ft, ftree_time now, struct lag_answer *a);
/* A verdict is known. */
void ftree_straggle_learned(struct ftree *ft, ftree_time now);
void ftree_straggle_tick(struct ftree *ft, ftree_time now);
ftree_time ftree_straggle_deadline(const struct ftree *ft);
void ftree_straggle_clear(struct ftree *ft);

/* ---- within the room ------------------------------------------------------------------------- */

/* slow.c */
/* The first verdict that stands, on a node (FTREE_NONE: on any); NULL: there is none. */
const struct known *straggle_standing(const struct ftree *ft, int32_t node);
/* Where the first rank of a node is, from place i on, that this (-1: anything) slows; FTREE_NONE: there
 * is none. */
int32_t straggle_of_node(const struct ftree *ft, const struct lag_finding *f, int32_t i,
                         int32_t node, int cause);
/* Those of whose ranks none is slow any more are over. */
void straggle_withdraw(struct ftree *ft);
/* Says what is found on the next node, where that is news; false: there is nothing more. */
bool straggle_say(struct ftree *ft, ftree_time now);

#pragma GCC visibility pop

#endif /* FTREE_STRAGGLE_H_INCLUDED */
