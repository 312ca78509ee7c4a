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

/* Of the handle. */
struct ftree_straggle {
    ftree_time asked_at, pause; /* when this node was asked last, 0: never; and for how long then it
                                 * does not ask */
    struct straggle_work *work; /* of the acting root: what all have answered; NULL: nobody has */
};

/* A block of samples is over. */
void ftree_straggle_look(struct ftree *ft, ftree_time now);
/* This node is asked what slows its ranks. */
void ftree_straggle_asked(struct ftree *ft, ftree_time now);
/* What all nodes have answered, also where another node asked; the answer is the room's. */
void ftree_straggle_said(struct ftree *ft, ftree_time now, struct lag_answer *a);
void ftree_straggle_tick(struct ftree *ft, ftree_time now);
ftree_time ftree_straggle_deadline(const struct ftree *ft);
void ftree_straggle_clear(struct ftree *ft);

#pragma GCC visibility pop

#endif /* FTREE_STRAGGLE_H_INCLUDED */
