/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FTREE_WAITFOR_H_INCLUDED
#define FTREE_WAITFOR_H_INCLUDED

#include "ftree/hang/hang_answer.h"
#include "ftree/hang/lag.h"
#include "ftree/net/net.h"
#include "ftree/report/report.h"
#include "ftree/state/state.h"
#include "ftree/waits/classes.h"
#include "ftree/waits/waits.h"

#pragma GCC visibility push(hidden)

/*
 * Who waits for whom, in the tree (doc/waits.md).
 *
 *     waitfor_ask.c           the own ranks say what they do: who stalls, and who is asked about
 *     waitfor_answer.c        what one rank has said, in memory and in bytes
 *     waitfor_gather.c        items go up: of the own ranks, and of the nodes below
 *     waitfor_look.c          the second look: the ranks of a candidate are asked
 *     waitfor_judge.c         what the answers of both sides say of each request: a pure function
 *     waitfor_decide.c        candidates and verdicts
 *     waitfor_note.c          what nothing explains
 *     waitfor_hang.c          a rank outside MPI that never comes: hung or slow?
 *     waitfor_hang_late.c     while the rest of the job goes on
 *     waitfor_hang_hold.c     when the job may be ended because of it
 *     waitfor_hang_verdict.c  what is said of it
 *
 * While nobody stalls, here or below, nothing of it has memory but for the history of hangs.
 */

/* ---- one rank's answer ----------------------------------------------------------------------- */

enum waitfor_seen {
    WAITFOR_UNABLE, /* it did not answer, or its node did not: nothing is known */
    WAITFOR_READY, /* as the records say */
    WAITFOR_LEFT, /* it has called MPI_Finalize, and says no more */
    WAITFOR_LOST, /* stopped, or gone */
    WAITFOR_SEEN_COUNT
};

/* One block of memory. */
struct waitfor_answer {
    int32_t rank;
    uint8_t seen; /* enum waitfor_seen */
    bool posted_more;
    ftree_time since; /* when its wait began; 0: not known */
    ftree_time said; /* of `end_answers`: when it was first said */
    int32_t records, exchanges, posted, last;
    struct waits_record *record;
    struct waits_exchange *exchange;
    struct waits_flow *post;
    struct waits_flow *sent;
};

typedef struct waitfor_answer *waitfor_answer_of_rank;

typedef struct ftree_bytes waitfor_bytes;

/* ---- the parts of the work ------------------------------------------------------------------- */

/* A local rank that stalls. */
struct waitfor_own {
    int32_t i, rank;
    bool asks; /* it is to be asked at once */
    int32_t records;
    struct waits_record *record; /* [records] as it said last, */
    ftree_time said; /* then */
};

struct waitfor_looked {
    int32_t i, rank;
    bool done;
    int32_t with, withs; /* in `with` of the look */
};

/* A look at local ranks, for another node or the own one, or for a query. */
struct waitfor_look {
    int32_t from; /* who asks; FTREE_NONE: phase 1, of ranks that stall */
    uint32_t number;
    bool begun;
    uint32_t look;
    ftree_time until;
    FTREE_ARRAY(struct waitfor_looked) ranks;
    FTREE_ARRAY(int32_t) with;
    waitfor_bytes answers;
    struct ftree_rank_classes *classes; /* not NULL: what all own ranks do, for query `number` */
};

/* What a node below has reported last. */
struct waitfor_below {
    int32_t node;
    uint32_t round;
    ftree_time at;
    waitfor_bytes items;
};

enum waitfor_kind {
    WAITFOR_CORE,
    WAITFOR_MISMATCH,
    WAITFOR_ENDS /* of the root: whom all wait for; it never becomes a verdict */
};

enum waitfor_state {
    WAITFOR_DUE, /* it is to be looked at, at `next` */
    WAITFOR_ASKED, /* answers are awaited until `next` */
    WAITFOR_DROPPED, /* not before `next` it may be one again */
    WAITFOR_SAID /* it is a verdict, to be looked at again at `next` */
};

struct waitfor_asked {
    int32_t rank;
    uint64_t print; /* of its answer at the look before, 0: none; */
    uint64_t progress; /* and what it had ended then */
    int32_t with, withs; /* in `with` */
    struct waitfor_answer *answer; /* at this look; NULL: not yet */
};

/* What may become a verdict. */
struct waitfor_candidate {
    uint8_t kind, state;
    uint8_t round; /* looks that are over */
    bool is_core_missing; /* the core is one rank that has called MPI_Finalize */
    bool is_waiting_for_it; /* for a further look after the stall limit */
    bool was_there; /* the last reduction had it */
    bool some_go_on; /* of a mismatch: ranks that have left that collective did something between
                      * the last two looks */
    uint64_t key;
    uint32_t number; /* of the look */
    ftree_time next, pause, looked; /* looked: when the first look was over */
    ftree_time until; /* of one that is asked: who has not answered then is not waited for */
    FTREE_ARRAY(struct waitfor_asked) ranks; /* ascending */
    FTREE_ARRAY(int32_t) with;
    struct waits_mismatch *mismatch;
    uint32_t verdict; /* its number, 0: none was said, */
    int32_t fln; /* who said it first, */
    uint8_t class_; /* and what of whom */
    int32_t node, rank;
    FTREE_ARRAY(int32_t) component; /* likewise */
};

struct waitfor {
    FTREE_ARRAY(struct waitfor_own) own;
    FTREE_ARRAY(struct waitfor_look) looks;
    FTREE_ARRAY(struct waitfor_below) below;
    FTREE_ARRAY(struct waitfor_candidate) candidates;
    FTREE_ARRAY(waitfor_answer_of_rank) end_answers; /* of ranks that others wait for */
    ftree_time again; /* when the own ranks are asked anew */
    ftree_time poll; /* when they are next looked at for an answer */
    ftree_time due; /* when to reduce; FTREE_NEVER: nothing has changed */
    ftree_time reduced, pause; /* when that was last, and how long it then rests */
    uint64_t sent; /* print of what was sent upward */
    bool has_sent; /* that was something, */
    ftree_time tell_again, tell_pause; /* to be sent once more then, FTREE_NEVER: it is not */
    int32_t hop; /* to whom, FTREE_NONE: nobody */
    int32_t stale; /* who still believes what was sent to it before, FTREE_NONE: nobody */
    int32_t waiting; /* ranks that were known to wait, and not to go on, by the last reduction */
    ftree_time unexplained; /* since when, 0: nobody waits, or there is a verdict */
    int32_t awaited; /* the rank most waited for when that began, */
    ftree_time awaited_at; /* and when it last was waited for at all */
    ftree_time note_at;
    struct waitfor_hang *hang; /* NULL: nobody waits for a rank outside MPI */
    int32_t ends; /* by the last reduction, those most waited for first */
    struct waits_end end[FTREE_WAITING_ENDS_MAX];
};

/* What the last reduction says of a rank that others wait for; NULL: it is none. */
static inline const struct waits_end *waitfor_end_find(const struct waitfor *w, int32_t rank)
{
    for (int32_t i = 0; i < w->ends; i++)
        if (w->end[i].rank == rank)
            return &w->end[i];
    return NULL;
}

/* Of the handle. */
struct ftree_waitfor {
    struct waitfor *work; /* NULL: nobody waits, here or below */
    uint32_t look, round; /* numbers given last; they begin with the clock, so that they grow from
                           * one agent of a node to the next */
    struct hang_history *history; /* of S_out, kept from one stall to the next: only what is new is
                                   * asked for; NULL: nobody was asked */
    ftree_time of_all_next; /* all ranks in disk sleep are no reason to ask all nodes before */
    ftree_time noted, note_pause; /* when the last note was, 0: there was none; and how long
                                   * there is none after it */
};

/* ---- for ftree.c ----------------------------------------------------------------------------- */

void ftree_waitfor_stalled(struct ftree *ft, ftree_time now, int32_t rank);
void ftree_waitfor_resumed(struct ftree *ft, ftree_time now, int32_t rank);
/* A query wants to know what the own ranks do: the event RANKS_SAID answers. */
void ftree_waitfor_say(struct ftree *ft, ftree_time now, uint32_t number);
/* The same of what the agent sees by itself, at once; `out` is empty before. */
void ftree_waitfor_see(struct ftree *ft, ftree_time now, struct ftree_rank_classes *out);
/* All nodes have said who is outside MPI; NULL: not all have. */
void ftree_waitfor_said(struct ftree *ft, ftree_time now, struct hang_answer *a);
/* Messages: items from below, a look asked for by another node, its answers. */
void ftree_waitfor_part(struct ftree *ft, ftree_time now, int32_t from, enum wire_type type,
                        const struct wire_part *part);
void ftree_waitfor_undeliverable(struct ftree *ft, ftree_time now, enum wire_type type, int32_t to);
/* Takes those out of the victims of a verdict who wait because of another verdict on waits. */
void ftree_waitfor_victims(struct ftree *ft, const struct known *k, struct ftree_ranks *victims);
/* A block of samples is over. */
void ftree_waitfor_look(struct ftree *ft, ftree_time now);
/* A verdict is known, or over. */
void ftree_waitfor_learned(struct ftree *ft, ftree_time now);
void ftree_waitfor_tick(struct ftree *ft, ftree_time now);
ftree_time ftree_waitfor_deadline(const struct ftree *ft);
/* Also where the job ends here. */
void ftree_waitfor_clear(struct ftree *ft);

/* ---- within the room ------------------------------------------------------------------------- */

/* The other files do not call waitfor.c: what one of them has for a file above it, it returns. */

/* waitfor_answer.c */
/* What identifies a rank's wait: equal ones say that it did nothing in between; never 0. */
uint64_t waitfor_print(const struct waitfor_answer *a);
/* The calls, waits and requests that a rank with these records has ended: what else may differ
 * between two looks does not show that the rank goes on. */
uint64_t waitfor_progress(const struct waits_record *r, int32_t n);
/* Appends the answer of a rank to `out`; page NULL: it has none.  False: out of memory. */
bool waitfor_answer_put(struct ftree *ft, ftree_time now, waitfor_bytes *out, int32_t rank,
                        enum waitfor_seen seen, ftree_time since, const struct waits_page *page,
                        const int32_t *with, int32_t withs);
/* Reads the next answer, from *at on; NULL: there is none, it is malformed (*at is then 0), or out
 * of memory. */
struct waitfor_answer *waitfor_answer_get(struct ftree *ft, ftree_time now, const uint8_t *bytes,
                                          size_t len, size_t *at);
/* True: the page has records of that rank, and they can be used. */
bool waitfor_has_records(const struct ftree *ft, int32_t rank, const struct waits_page *page);
/* True: the page is what a rank wrote when it called MPI_Finalize; another is no answer of one that
 * has. */
bool waitfor_is_last_word(const struct ftree *ft, int32_t rank, const struct waits_page *page);

/* waitfor_ask.c */
/* A look at local ranks that node `from` asks for. */
void waitfor_ask(struct ftree *ft, ftree_time now, int32_t from, uint32_t number,
                 const uint8_t *bytes, size_t len);
/* A look at all local ranks for a query; false: out of memory. */
bool waitfor_ask_all(struct ftree *ft, ftree_time now, uint32_t number);
/* True: the look `number` of this node is over; its answers are the caller's, who calls again. */
bool waitfor_ask_tick(struct ftree *ft, ftree_time now, uint32_t *number, waitfor_bytes *answers);
ftree_time waitfor_ask_deadline(const struct ftree *ft);
void waitfor_ask_clear(struct ftree *ft);
struct waitfor_own *waitfor_own_find(const struct ftree *ft, int32_t rank);
/* An own rank has done something: what was said of its wait is over.  unless_it_waits: that may
 * have been before it was said, and if it waits now the next look at it tells. */
void waitfor_goes_on(struct ftree *ft, int32_t rank, bool unless_it_waits);

void waitfor_own_drop(struct ftree *ft, struct waitfor_own *own);

/* waitfor_gather.c */
/* Something has changed: it is reduced soon. */
void waitfor_changed(struct ftree *ft, ftree_time now);
void waitfor_up(struct ftree *ft, ftree_time now, int32_t from, uint32_t round,
                waitfor_bytes *items);
/* What is known now, the caller's; NULL: it was not reduced. */
struct waits *waitfor_gather_tick(struct ftree *ft, ftree_time now);
/* A rank that others wait for has said something else within the last stall limit: it goes on. */
bool waitfor_is_new(const struct ftree *ft, ftree_time now, const struct waitfor_answer *a);
/* What is known without such answers, the caller's; at FTREE_NEVER none counts as such.  NULL: not
 * now. */
struct waits *waitfor_gather_reduce(struct ftree *ft, ftree_time now);
ftree_time waitfor_gather_deadline(const struct ftree *ft);
void waitfor_gather_clear(struct ftree *ft);

/* waitfor_look.c */
void waitfor_look_send(struct ftree *ft, ftree_time now, struct waitfor_candidate *c);
/* Those that have not answered are asked again; false: it is too late for that, or all have. */
bool waitfor_look_again(struct ftree *ft, ftree_time now, struct waitfor_candidate *c);
void waitfor_look_seen(struct ftree *ft, ftree_time now, int32_t from, uint32_t number,
                       const uint8_t *bytes, size_t len);
void waitfor_look_unanswered(struct ftree *ft, ftree_time now, int32_t node);
bool waitfor_look_is_over(const struct waitfor_candidate *c);
void waitfor_look_forget(struct ftree *ft, struct waitfor_candidate *c);
/* Adds a rank to be asked, ascending; NULL: out of memory. */
struct waitfor_asked *waitfor_look_add(struct ftree *ft, struct waitfor_candidate *c, int32_t rank);

/* waitfor_judge.c */
/* A rank of a candidate; NULL: it is not there. */
struct waitfor_asked *waitfor_asked_find(const struct waitfor_candidate *c, int32_t rank);
/* What a rank says of its messages with a peer; NULL: nothing. */
const struct waits_exchange *waitfor_exchange_with(const struct waitfor_answer *a, int32_t peer);
/* What both sides say of a request of a rank; answers of others are those of the candidate.
 * *unsure is set where that is no proof: a rank that has called MPI_Finalize does not say what it
 * has sent, and of one-sided communication nobody does. */
enum waits_fate waitfor_fate(const struct waitfor_candidate *c, const struct waitfor_answer *own,
                             const struct waits_record *r, const struct waits_request *q,
                             bool *unsure);
/* True: it waits in the collective in which ranks of that communicator differ. */
bool waitfor_is_held(const struct waitfor_candidate *c, const struct waitfor_answer *a);
/* Sets the fates of all requests and reduces them; the reduction is the caller's.  NULL: out of
 * memory. */
struct waits *waitfor_judge(struct ftree *ft, const struct waitfor_candidate *c, bool *unsure);
/* What would have matched request q of that answer's rank. */
void waitfor_hints(const struct waitfor_candidate *c, const struct waitfor_answer *own,
                   const struct waits_record *r, const struct waits_request *q,
                   struct waits_hints *hints);

/* waitfor_decide.c */
/* What a reduction has found here. */
void waitfor_decide(struct ftree *ft, ftree_time now, const struct waits *w);
void waitfor_decide_tick(struct ftree *ft, ftree_time now);
ftree_time waitfor_decide_deadline(const struct ftree *ft);
void waitfor_decide_clear(struct ftree *ft);

/* waitfor_verdict.c */
/* What was confirmed becomes a verdict; false: it does not. */
bool waitfor_verdict(struct ftree *ft, ftree_time now, struct waitfor_candidate *c,
                     const struct waits *w, bool unsure);

/* waitfor_note.c */
void waitfor_note(struct ftree *ft, ftree_time now, const struct waits *w);
void waitfor_note_tick(struct ftree *ft, ftree_time now);
ftree_time waitfor_note_deadline(const struct ftree *ft);
/* A block of samples is over: nobody need wait in MPI for all ranks to hang. */
void waitfor_note_sleep(struct ftree *ft, ftree_time now);

/* waitfor_hang.c */
void waitfor_hang(struct ftree *ft, ftree_time now);
#define WAITFOR_OF_ALL_BLOCKS 4
/* True: the own ranks are those of the acting root, were outside MPI at all samples of the last
 * so many blocks, and all are in disk sleep. */
bool waitfor_hang_is_of_all(const struct ftree *ft);
void waitfor_hang_begin_of_all(struct ftree *ft, ftree_time now);
void waitfor_hang_tick(struct ftree *ft, ftree_time now);
ftree_time waitfor_hang_deadline(const struct ftree *ft);
/* For how long a rank that others wait for was outside MPI at most before; 0: that is not known. */
ftree_time waitfor_hang_longest(const struct ftree *ft, int32_t rank);
void waitfor_hang_clear(struct ftree *ft);

#pragma GCC visibility pop

#endif /* FTREE_WAITFOR_H_INCLUDED */
