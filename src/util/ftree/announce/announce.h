/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FTREE_ANNOUNCE_H_INCLUDED
#define FTREE_ANNOUNCE_H_INCLUDED

#include "ftree/net/net.h"
#include "ftree/state/state.h"
#include "ftree/survey/survey.h"

#pragma GCC visibility push(hidden)

/*
 * Verdicts on their way up and down; who waits because of them comes back as a survey (survey/).
 */

struct ftree_announce {
    int32_t queued; /* verdicts that the acting root will announce at `next_at` */
    ftree_time next_at, pause;
};

void ftree_announce_raise(struct ftree *ft, ftree_time now, const struct ftree_verdict *v);
/* more: another one goes with it. */
void ftree_announce_up(struct ftree *ft, ftree_time now, int32_t from,
                       const struct ftree_verdict *v, bool more);
/* Fewer are suspected: what was held for them is told at once. */
void ftree_announce_release(struct ftree *ft, ftree_time now);
/* back: the way to who told it */
enum announced ftree_announce_down(struct ftree *ft, ftree_time now,
                                   const struct ftree_route *back, const struct wire_message *m);
void ftree_announce_withdraw(struct ftree *ft, ftree_time now, struct known *k, const char *why);
bool ftree_announce_has_pending(const struct ftree *ft);
/* Victims are awaited here, or the acting root has something to tell soon. */
bool ftree_announce_is_under_way(const struct ftree *ft);
void ftree_announce_again(struct ftree *ft, ftree_time now, int32_t node);
/* A verdict that the agent before this one knew; NULL: out of memory. */
struct known *ftree_announce_restore(struct ftree *ft, ftree_time now, const struct ftree_verdict *v);
/* Keeps what is over within its bound.  The array moves. */
void ftree_announce_forget(struct ftree *ft, ftree_time now);
void ftree_announce_undeliverable(struct ftree *ft, ftree_time now, const struct message *l);
void ftree_announce_tick(struct ftree *ft, ftree_time now);
ftree_time ftree_announce_deadline(const struct ftree *ft);

#pragma GCC visibility pop

#endif /* FTREE_ANNOUNCE_H_INCLUDED */
