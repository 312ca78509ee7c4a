/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FTREE_RECHECK_H_INCLUDED
#define FTREE_RECHECK_H_INCLUDED

#include "ftree/net/net.h"
#include "ftree/state/state.h"

#pragma GCC visibility push(hidden)

/* Verdicts that are over. */

/* What asking about a verdict came to so far. */
struct recheck {
    uint8_t confirm_asks; /* how often it will still be asked about once more */
    bool confirm_excused; /* because the own tick was late */
    bool suspended; /* the job may be, then: no rank that runs has been seen yet */
    bool resumes; /* it was, for longer than a question takes: its ranks go on one after the
                   * other */
    uint8_t doublings; /* of the pause until it is asked about again */
    uint32_t check; /* nonce of the question whether it is over, 0: not asked */
    int32_t turn; /* others asked so far whether a verdict about this node is over */
    ftree_time watched; /* since then what its ranks do is known here; 0: since it was located */
    ftree_time again; /* when it is asked about; FTREE_NEVER: nobody asks from here */
    ftree_time confirm; /* asked about once more until then; FTREE_NEVER: it is not */
};

int ftree_recheck_confirm(struct ftree *ft, ftree_time now, int32_t fln, uint32_t id);
void ftree_recheck_watch(struct ftree *ft, ftree_time now, struct known *k);
/* The same of one that an agent before this one knew. */
void ftree_recheck_restored(struct ftree *ft, ftree_time now, struct known *k);
/* It is asked what the own ranks do: a verdict on one of them that is over ends before the answer,
 * lest something is done because of it. */
void ftree_recheck_own(struct ftree *ft, ftree_time now);
void ftree_recheck_heard(struct ftree *ft, ftree_time now, int32_t from, enum ftree_path path);
void ftree_recheck_answer(struct ftree *ft, int32_t from, enum ftree_path path,
                          const struct wire_answer *a);
void ftree_recheck_tick(struct ftree *ft, ftree_time now);
ftree_time ftree_recheck_deadline(const struct ftree *ft);

#pragma GCC visibility pop

#endif /* FTREE_RECHECK_H_INCLUDED */
