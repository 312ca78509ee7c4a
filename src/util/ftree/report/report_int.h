/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef REPORT_INT_H_INCLUDED
#define REPORT_INT_H_INCLUDED

#include "ftree/report/report.h"

#include <string.h>

#pragma GCC visibility push(hidden)

/* What the two forms of a report share. */

static inline bool report_is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

/* Purpose: the next rank after `before` (begin with -1) that the component of a verdict is, or that
 * is on it or behind it; FTREE_NONE: there are no more. */
int32_t report_next_rank(const struct ftree_job *job, const struct ftree_verdict *v,
                         int32_t before);

/* Purpose: the words for a verdict; the strings are in `room`, or constant. */
void report_about(const struct ftree_job *job, const struct ftree_verdict *v,
                  struct report_room *room, struct report_about *about);

/* Verdicts that are alike, as one. */
struct report_together {
    struct report_about about;
    struct ftree_ranks victims;
    char ranks[256];
    char line[512]; /* what they have in common, and who the first is */
    char names[]; /* all of them, as a hostlist; longer than a line, perhaps */
};

/* Purpose: makes one of v and those behind it; to be freed by free(3), and before them.  NULL: out of
 * memory. */
struct report_together *report_join(const struct report_entry *v);

/* Purpose: whom to call because of a verdict, bit t: enum ftree_ticket t. */
unsigned report_tickets(const struct ftree_verdict *v);

/* Purpose: where the ranks that line i of the evidence is about are in the code, by rj->stacks, ""
 * where that is not known: "exchange(), halo.c:112", or several with their ranks. */
void report_place(const struct report_job *rj, const struct ftree_verdict *v, int32_t i, char *buf,
                  size_t len);

/* Purpose: the stacks of a verdict; NULL: none were asked for. */
const struct report_stacks *report_stacks(const struct report_job *rj, const struct ftree_verdict *v);

/* Purpose: true if the job is ended because of the verdict, or was to be, before it was
 * withdrawn. */
bool report_ends_job(const struct report_job *rj, const struct ftree_verdict *v);

struct json_object;

#define REPORT_PREFIX "[faultloc] "
#define REPORT_INDENT "[faultloc]   "

/* A growing string; without memory for all of it it is none in the end. */
struct report_text {
    char *s;
    size_t len;
    bool failed;
};

/* Purpose: adds a piece, whose only control character is a newline at the end of its format, which
 * is never empty. */
void report_add(struct report_text *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Purpose: the lines of a note, as the JSON has it. */
void report_add_waiting(struct report_text *t, struct json_object *w, int size);

/* Purpose: who or what has the fault: "node h2", "what rank 3 (node h1) waits for". */
void report_guilty(const struct report_about *a, char *buf, size_t len);

/* Purpose: the member that is a string; "" where there is none. */
const char *report_string(struct json_object *object, const char *key);

/* Purpose: adds a value, which the object or list then owns.  What there is no memory for is NULL,
 * and shows in the end: whatever is not whole is not used. */
void report_set(struct json_object *o, const char *key, struct json_object *value);
void report_append(struct json_object *list, struct json_object *value);

/* Purpose: parts of the JSON: a verdict, a piece of its evidence, the note rj->waiting; they are the
 * caller's.  And adds the table of nodes and the trace.  Without memory for all of it they are not
 * whole. */
struct json_object *report_json_verdict(const struct report_job *rj, const struct ftree_verdict *v);
struct json_object *report_json_evidence(const struct report_job *rj, const struct ftree_verdict *v,
                                         int32_t i);
struct json_object *report_json_waiting(const struct report_job *rj);
void report_set_surroundings(struct json_object *o, const struct report_job *rj);
bool report_is_whole(struct json_object *v);

#pragma GCC visibility pop

#endif /* REPORT_INT_H_INCLUDED */
