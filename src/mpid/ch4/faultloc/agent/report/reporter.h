/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_REPORTER_H_INCLUDED
#define FAULTLOC_REPORTER_H_INCLUDED

#include "faultloc/agent/process/program.h"
#include "faultloc/io/writer.h"
#include "ftree/report/report.h"

/* What the agent reports: verdicts, to people and its launcher, and its decisions, in the trace. */

#define FAULTLOC_REPORTER_LINES 64 /* of the trace that a report can have */
#define FAULTLOC_REPORTER_CHANGES 16 /* likewise of settings */
#define FAULTLOC_REPORTER_STACKS 12 /* and verdicts of which it has stacks */

struct faultloc_reporter {
    const struct faultloc_program *p;
    struct faultloc_writer *writer;
    char line[FAULTLOC_REPORTER_LINES][256]; /* the last decisions, a ring */
    uint32_t lines; /* so far */
    bool reported; /* a verdict, to people */
    struct ftree_waiting waiting; /* the last note, which later reports have, too */
    ftree_time waiting_at; /* 0: there was none */
    struct report_stacks stacks[FAULTLOC_REPORTER_STACKS]; /* of verdicts, a ring */
    uint32_t stacked; /* so far */
    /* what was set while the job runs, a ring */
    struct report_change change[FAULTLOC_REPORTER_CHANGES];
    uint32_t changes; /* so far */
    struct {
        struct ftree_verdict *v; /* [n], alike; people have yet to hear of them */
        int32_t n;
        ftree_time since, last; /* when the first and the last came */
        int32_t reported; /* so many like them have been reported; */
        struct ftree_verdict last_told; /* the last verdict of those or others; fln FTREE_NONE: none */
    } gathered;
};

/* For so long they wait for others like them: while more are examined or announced here, the first ones;
 * those that follow until no more have come for a while. */
#define FAULTLOC_GATHER_FIRST (500 * FTREE_MS)
#define FAULTLOC_GATHER_QUIET (500 * FTREE_MS)
#define FAULTLOC_GATHER_MOST (5000 * FTREE_MS)

/* Purpose: begins; the writer wakes the program's loop.  Errors: an errno. */
int faultloc_reporter_open(struct faultloc_reporter *t, const struct faultloc_program *p);

/* Purpose: a decision, for the trace. */
void faultloc_reporter_trace(struct faultloc_reporter *t, const char *line);

/* Purpose: that the agent listens, for the trace; first: it is the node's first one. */
void faultloc_reporter_listening(struct faultloc_reporter *t, bool first);

/* Purpose: a verdict, to the launcher at once, and with what else is known on standard error and in the
 * report; it is written on the board for the next agent then.  Many nodes that are lost alike are
 * reported as one: a later faultloc_reporter_turn() does that, of one alone the next. */
void faultloc_reporter_verdict(struct faultloc_reporter *t, const struct ftree_verdict *v);

/* Purpose: tells what need not wait any longer, and when to call it again; at_once: all. */
void faultloc_reporter_turn(struct faultloc_reporter *t, ftree_time now, bool at_once);
ftree_time faultloc_reporter_deadline(const struct faultloc_reporter *t);

/* Purpose: what the site's program gets of a verdict: the report as JSON, and the main facts as an
 * environment (ftree_report_facts()); both are to be freed.  NULL: out of memory. */
void faultloc_reporter_facts(struct faultloc_reporter *t, const struct ftree_verdict *v, char **json,
                             char ***facts);

/* Purpose: where ranks were in their code, for all reports of this verdict from now on; NULL: there
 * are none, because of `why`. */
void faultloc_reporter_stacks(struct faultloc_reporter *t, const struct ftree_verdict *v,
                              const struct ftree_stacks *s, const char *why);

/* Purpose: where ranks call MPI in the program's code, likewise. */
void faultloc_reporter_places(struct faultloc_reporter *t, const struct ftree_verdict *v,
                              const struct ftree_stacks *s);

/* Purpose: the same of a verdict that was reported before, on standard error and in the report. */
void faultloc_reporter_late_places(struct faultloc_reporter *t, const struct ftree_verdict *v,
                                   const struct ftree_stacks *s);

/* Purpose: a note on a stall that nothing explains, on standard error and in the report. */
void faultloc_reporter_waiting(struct faultloc_reporter *t, const struct ftree_waiting *w);

/* Purpose: the status of the job, lines, on standard error. */
void faultloc_reporter_status(struct faultloc_reporter *t, const char *text);

/* Purpose: what a person has set, for reports from now on; one that was written is written anew,
 * where `reports` says that this node does. */
void faultloc_reporter_change(struct faultloc_reporter *t, ftree_time now,
                              const struct ftree_setting *s, bool reports);

#endif /* FAULTLOC_REPORTER_H_INCLUDED */
