/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FTREE_LEAVE_H_INCLUDED
#define FTREE_LEAVE_H_INCLUDED

#include "ftree/net/net.h"
#include "ftree/state/state.h"

#pragma GCC visibility push(hidden)

/* The end of a job. */

struct ftree_leaving {
    bool goodbye_sent, may_go, released;
    bool cut_short; /* this node does not leave with the others */
    bool remains;   /* it has left before them, and answers for its ranks */
    ftree_time leave_until;
};

/* False: it is leaving already. */
bool ftree_leave_begin(struct ftree *ft, ftree_time now, bool cut_short);
void ftree_leave_hurry(struct ftree *ft, ftree_time now);
void ftree_leave_say_so(struct ftree *ft, ftree_time now, int32_t to);
void ftree_leave_undeliverable(struct ftree *ft, ftree_time now, int32_t to);
void ftree_leave_goodbye(struct ftree *ft, ftree_time now, int32_t from, bool more);
/* `from` still waits, and counts on this node, which leaves: another one must do that. */
void ftree_leave_is_needed(struct ftree *ft, ftree_time now, int32_t from);
/* It is gone; those below it may not be. */
void ftree_leave_unreleased(struct ftree *ft, ftree_time now, int32_t node);
void ftree_leave_release(struct ftree *ft, ftree_time now);
void ftree_leave_try(struct ftree *ft, ftree_time now);
void ftree_leave_tick(struct ftree *ft, ftree_time now);
bool ftree_leave_is_over(const struct ftree *ft);
ftree_time ftree_leave_deadline(const struct ftree *ft);

#pragma GCC visibility pop

#endif /* FTREE_LEAVE_H_INCLUDED */
