/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_TELL_H_INCLUDED
#define FAULTLOC_TELL_H_INCLUDED

#include "faultloc/agent/program.h"
#include "faultloc/io/writer.h"

/* What the agent tells: verdicts, to people and its launcher, and its decisions, in the trace. */

#define FAULTLOC_TELL_LINES 64 /* of the trace that a report can have */

struct faultloc_tell {
    const struct faultloc_program *p;
    struct faultloc_writer *writer;
    char line[FAULTLOC_TELL_LINES][256]; /* the last decisions, a ring */
    uint32_t lines; /* so far */
    bool told; /* people, of a verdict */
};

/* Purpose: begins; the writer wakes the program's loop.  Errors: an errno. */
int faultloc_tell_open(struct faultloc_tell *t, const struct faultloc_program *p);

/* Purpose: a decision, for the trace. */
void faultloc_tell_decision(struct faultloc_tell *t, const char *line);

/* Purpose: that the agent listens, for the trace; first: it is the node's first one. */
void faultloc_tell_listening(struct faultloc_tell *t, bool first);

/* Purpose: a verdict, with what else is known, on standard error, in the report and to the
 * launcher; it is written on the board for the next agent. */
void faultloc_tell_verdict(struct faultloc_tell *t, struct ftree *ft,
                           const struct ftree_verdict *v);

#endif /* FAULTLOC_TELL_H_INCLUDED */
