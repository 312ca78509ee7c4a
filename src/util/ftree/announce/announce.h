/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FTREE_ANNOUNCE_H_INCLUDED
#define FTREE_ANNOUNCE_H_INCLUDED

#include "ftree/net/net.h"
#include "ftree/state/state.h"

#pragma GCC visibility push(hidden)

/*
 * Verdicts on their way up and down (announce.c), and the victims on their way back (gather.c).
 */

/* A node that has still to name its victims, and the message that told it. */
struct due {
    int32_t node;
    uint32_t told;
};

/* Verdicts that were told together, until the victims are in. */
struct announcement {
    uint32_t number;
    int32_t asker; /* who wants the victims, FTREE_NONE: this is the acting root */
    uint32_t asked; /* number of the message that told, */
    uint8_t path; /* and how it came */
    ftree_time until;
    ftree_time acknowledge; /* that message, if the victims are not in by then; FTREE_NEVER: it
                             * is */
    struct ftree_ranks victims;
    FTREE_ARRAY(struct due) due;
};

struct ftree_announce {
    FTREE_ARRAY(struct announcement) announcements;
    uint32_t last_announcement;
    int32_t queued; /* verdicts that the acting root will announce at `next_at` */
    ftree_time next_at, pause;
};

void ftree_announce_clear(struct ftree *ft);

/* announce.c */
void ftree_announce_raise(struct ftree *ft, ftree_time now, const struct ftree_verdict *v);
/* more: another one goes with it. */
void ftree_announce_up(struct ftree *ft, ftree_time now, int32_t from,
                       const struct ftree_verdict *v, bool more);
/* Fewer are suspected: what was held for them is told at once. */
void ftree_announce_release(struct ftree *ft, ftree_time now);
enum announced ftree_announce_down(struct ftree *ft, ftree_time now, int32_t from,
                                   enum ftree_path path, const struct wire_message *m);
void ftree_announce_withdraw(struct ftree *ft, ftree_time now, struct known *k, const char *why);
bool ftree_announce_has_pending(const struct ftree *ft);
void ftree_announce_again(struct ftree *ft, ftree_time now, int32_t node);
/* A verdict that the agent before this one knew; NULL: out of memory. */
struct known *ftree_announce_restore(struct ftree *ft, ftree_time now, const struct ftree_verdict *v);
/* Keeps what is over within its bound.  The array moves. */
void ftree_announce_forget(struct ftree *ft, ftree_time now);
void ftree_announce_undeliverable(struct ftree *ft, ftree_time now, const struct message *l);
void ftree_announce_tick(struct ftree *ft, ftree_time now);
ftree_time ftree_announce_deadline(const struct ftree *ft);

/* gather.c */
/* Node `node` owes the victims to the announcement at that place (-1: to none) for message
 * `told`. */
void ftree_gather_wait_for(struct ftree *ft, int32_t announcement, int32_t node, uint32_t told);
void ftree_gather_nobody_waits(struct ftree *ft, ftree_time now, int32_t from, uint32_t told);
void ftree_gather_victims(struct ftree *ft, ftree_time now, int32_t from,
                          const struct wire_victims *w);
bool ftree_gather_is_under_way(const struct ftree *ft);
uint32_t ftree_gather_next(struct ftree *ft);
/* The place of a new announcement of what is in the batch, with the number that was given last; -1:
 * out of memory, nobody waits for replies, and what is known here is all. */
int32_t ftree_gather_begin(struct ftree *ft, ftree_time now, int32_t from, enum ftree_path path,
                           uint32_t asked);
void ftree_gather_own(struct ftree *ft, ftree_time now, uint32_t announcement,
                      struct ftree_ranks *victims);
void ftree_gather_send(struct ftree *ft, ftree_time now, const struct announcement *t,
                       const struct ftree_ranks *ranks);
void ftree_gather_report(struct ftree *ft, struct known *k, const struct ftree_ranks *victims);
/* Others answer in the place of who did not acknowledge a message: the place of its
 * announcement. */
int32_t ftree_gather_settle_late(struct ftree *ft, ftree_time now, const struct message *l);
void ftree_gather_finish_if_in(struct ftree *ft, ftree_time now, int32_t i);
enum announced ftree_gather_answered(struct ftree *ft, int32_t from, enum ftree_path path,
                                     uint32_t id);
void ftree_gather_tick(struct ftree *ft, ftree_time now);
ftree_time ftree_gather_deadline(const struct ftree *ft);

#pragma GCC visibility pop

#endif /* FTREE_ANNOUNCE_H_INCLUDED */
