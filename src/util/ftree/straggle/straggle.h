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

/* What two questions in a row have found; ranks that are new need more than those found before. */
struct straggle_work {
    struct lag_finding found, again, last; /* by the first; by both; `again`, by the second */
    int32_t at; /* of `found`, when both are known: the next to be said */
};

/* Of the handle. */
struct ftree_straggle {
    ftree_time told, pause; /* when this node asked last because its ranks wait, 0: never; and how
                             * long it then does not */
    /* of the acting root */
    bool asked; /* all nodes are, by it */
    uint8_t answers; /* in this episode */
    ftree_time began, next; /* next: FTREE_NEVER: nothing is to be done */
    ftree_time rest; /* until verdicts that stand are looked at again */
    struct straggle_work *work; /* NULL: nothing is found yet */
};

/* A block of samples is over. */
void ftree_straggle_look(struct ftree *ft, ftree_time now);
/* What all nodes have answered, also where another node asked; the answer is the room's. */
void ftree_straggle_said(struct ftree *ft, ftree_time now, struct lag_answer *a);
/* A verdict is known. */
void ftree_straggle_learned(struct ftree *ft, ftree_time now);
void ftree_straggle_tick(struct ftree *ft, ftree_time now);
ftree_time ftree_straggle_deadline(const struct ftree *ft);
void ftree_straggle_clear(struct ftree *ft);

#pragma GCC visibility pop

#endif /* FTREE_STRAGGLE_H_INCLUDED */
