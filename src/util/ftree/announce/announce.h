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
 * Verdicts on their way up and down (announce.c); who waits because of them comes back as a survey
 * (victims.c).
 */

enum up_state {
    UP_NOTHING, /* it came down: nothing is to be sent */
    UP_HELD, /* to be sent with the verdicts on nodes below, which are still examined */
    UP_PENDING, /* to be sent at `up_again`, or once the root is decided about */
    UP_SENT /* on its way; sent again at `up_again` if it does not come down */
};

/* How far a verdict has got; one that is over has no announcement. */
struct announcing {
    uint8_t up; /* enum up_state */
    uint8_t up_tries;
    bool queued; /* this is the acting root, and will announce it with others */
    bool announced, reported;
    bool over_announced; /* and that it is over */
    uint32_t announcement; /* number of the one that gathers its victims, 0: none */
    ftree_time up_again;
};

struct ftree_announce {
    FTREE_ARRAY(struct announcing) of; /* each of state->known, at its place there */
    FTREE_ARRAY(int32_t) batch; /* these places: verdicts that are just being announced */
    int32_t unsent; /* how many have `up` */
    int32_t queued; /* verdicts that the acting root will announce at `next_at` */
    ftree_time next_at, pause;
};

/* Valid until one more is known, or one is forgotten. */
static inline struct announcing *ftree_announcing(const struct ftree *ft, const struct known *k)
{
    return &ft->announce->of.items[k - ft->state->known.items];
}

void ftree_announce_raise(struct ftree *ft, ftree_time now, const struct ftree_verdict *v);
/* more: another one goes with it. */
void ftree_announce_up(struct ftree *ft, ftree_time now, int32_t from,
                       const struct ftree_verdict *v, bool more);
/* Fewer are suspected: what was held for them is sent at once. */
void ftree_announce_release(struct ftree *ft, ftree_time now);
/* back: the way to the sender */
enum announced ftree_announce_down(struct ftree *ft, ftree_time now,
                                   const struct ftree_route *back, const struct wire_message *m);
void ftree_announce_withdraw(struct ftree *ft, ftree_time now, struct known *k, const char *why);
bool ftree_announce_has_pending(const struct ftree *ft);
void ftree_announce_again(struct ftree *ft, ftree_time now, int32_t node);
/* A verdict that the agent before this one knew; NULL: out of memory. */
struct known *ftree_announce_restore(struct ftree *ft, ftree_time now, const struct ftree_verdict *v);
/* Keeps what is over within its bound.  The array moves. */
void ftree_announce_forget(struct ftree *ft, ftree_time now);
/* The same of one alone, its place in the array. */
void ftree_announce_forget_one(struct ftree *ft, int32_t i);
void ftree_announce_clear(struct ftree *ft);
void ftree_announce_undeliverable(struct ftree *ft, ftree_time now, const struct message *l);
void ftree_announce_tick(struct ftree *ft, ftree_time now);
ftree_time ftree_announce_deadline(const struct ftree *ft);

/* ---- within the room ------------------------------------------------------------------------- */

/* announce.c.  One more is known; NULL: out of memory. */
struct known *ftree_announce_add(struct ftree *ft, const struct summary *o);
void ftree_announce_set_up(struct ftree *ft, struct known *k, enum up_state up);

/* victims.c.  Those of the own ranks because of what is in the batch, which has this number. */
void ftree_victims_own(struct ftree *ft, ftree_time now, uint32_t announcement,
                       struct ftree_ranks *victims);
void ftree_victims_report(struct ftree *ft, struct known *k, const struct ftree_ranks *victims);
survey_victims_in ftree_victims_in;

#pragma GCC visibility pop

#endif /* FTREE_ANNOUNCE_H_INCLUDED */
