/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_NOTE_H_INCLUDED
#define FAULTLOC_NOTE_H_INCLUDED

#include "faultloc/agent/reporter.h"

/* The note on a stall that nothing explains: before it is told, all nodes are asked what their
 * ranks do. */

struct faultloc_note {
    struct faultloc_reporter *reporter;
    struct ftree_waiting waiting; /* what is to be told; count 0: nothing is */
    bool asked;
    uint32_t number; /* of the query */
};

/* Purpose: the core's note is to be told, soon. */
void faultloc_note_begin(struct faultloc_note *n, const struct ftree_waiting *w);

/* Purpose: to be called in each turn, not from within the core: asks; tells the note without an
 * answer where that is not possible. */
void faultloc_note_turn(struct faultloc_note *n, ftree_time now);

/* Purpose: tells the note, if that was its query. */
void faultloc_note_answered(struct faultloc_note *n, const struct ftree_query_result *r);

/* Purpose: those that wait, in so many classes as find room, the largest first. */
void faultloc_note_classes(struct ftree_waiting *w, const struct ftree_rank_classes *c);

#endif /* FAULTLOC_NOTE_H_INCLUDED */
