/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_NOTE_H_INCLUDED
#define FAULTLOC_NOTE_H_INCLUDED

#include "faultloc/agent/report/reporter.h"

/* What is asked before people hear: of a stall that nothing explains what all ranks do; of a
 * verdict on ranks that hang outside MPI where these are in their code, and one of each class of
 * those that wait; of one on ranks that wait for each other where in the code they call MPI. */

#define FAULTLOC_FINDING_PATIENCE FTREE_STACKS_TIME /* then the verdict is reported without */
#define FAULTLOC_FINDING_RANKS 16 /* of the component whose stacks are wanted */

enum faultloc_finding_step {
    FAULTLOC_FINDING_NONE,
    FAULTLOC_FINDING_BEGUN, /* the classes are to be asked for, */
    FAULTLOC_FINDING_CLASSES, /* and are; */
    FAULTLOC_FINDING_RANKS_KNOWN, /* the stacks are to be asked for, */
    FAULTLOC_FINDING_STACKS, /* and are */
    FAULTLOC_FINDING_READY /* to be reported */
};

/* One at a time; another one meanwhile is reported at once. */
struct faultloc_finding {
    uint8_t step; /* enum faultloc_finding_step */
    uint32_t number; /* of the query */
    ftree_time until;
    struct ftree_ranks ranks; /* whose stacks are wanted */
    struct ftree_verdict v;
};

#define FAULTLOC_PLACES_PATIENCE (250 * FTREE_MS) /* reported then, places later */
#define FAULTLOC_PLACES_MAX 8 /* verdicts; a further one is reported without */

/* Verdicts on ranks that wait for each other.  Often there are several at once. */
struct faultloc_places {
    int32_t n;
    struct faultloc_awaited {
        uint32_t number; /* of the query; 0: it is not asked yet */
        bool ready; /* to be reported */
        bool reported; /* without its places, which are still awaited */
        ftree_time until;
        struct ftree_verdict v;
    } item[FAULTLOC_PLACES_MAX];
};

struct faultloc_note {
    struct faultloc_reporter *reporter;
    void (*tell)(void *ctx, const struct ftree_verdict *v);
    void *ctx;
    struct faultloc_finding finding;
    struct faultloc_places places;
    struct ftree_waiting waiting; /* what is to be printed; count 0, and not asleep: nothing is */
    bool asked;
    uint32_t number; /* of the query */
};

/* Purpose: the core's note is to be printed, soon. */
void faultloc_note_begin(struct faultloc_note *n, const struct ftree_waiting *w);

/* Purpose: a verdict is to be reported.  False: at once, by the caller; else `tell` is called with
 * it, later, unless it is withdrawn before: then neither is reported. */
bool faultloc_note_verdict(struct faultloc_note *n, ftree_time now, const struct ftree_verdict *v);

/* Purpose: to be called in each turn, not from within the core: asks; tells the note without an
 * answer where that is not possible.  And when to call it again, at the latest. */
void faultloc_note_turn(struct faultloc_note *n, ftree_time now);
ftree_time faultloc_note_deadline(const struct faultloc_note *n);

/* Purpose: the job is being ended, or this node's ranks have crashed: a verdict that still waits
 * for its stacks or places is reported without. */
void faultloc_note_end(struct faultloc_note *n);

/* Purpose: tells the note, if that was its query; keeps what is said for a verdict. */
void faultloc_note_answered(struct faultloc_note *n, const struct ftree_query_result *r);

/* Purpose: those that wait, or sleep, in so many classes as find room, the largest first; and what
 * the kernel says of those that others wait for. */
void faultloc_note_classes(struct ftree_waiting *w, const struct ftree_rank_classes *c);

#endif /* FAULTLOC_NOTE_H_INCLUDED */
