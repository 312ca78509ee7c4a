/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef REPORT_INT_H_INCLUDED
#define REPORT_INT_H_INCLUDED

#include "ftree/report/report.h"

#pragma GCC visibility push(hidden)

/* What the two forms of a report share. */

#define REPORT_LABEL 512

/* Purpose: the next rank after `before` (begin with -1) that the component of a verdict is, or that
 * is on it or behind it; FTREE_NONE: there are no more. */
int32_t report_next_rank(const struct ftree_job *job, const struct ftree_verdict *v,
                         int32_t before);

/* Purpose: the words for a verdict; the strings are in `room`, or constant. */
struct report_room {
    char node[16], fln[16], name[REPORT_LABEL], ranks[REPORT_LABEL], ticket[48], cause[64];
};
void report_about(const struct ftree_job *job, const struct ftree_verdict *v,
                  struct report_room *room, struct report_about *about);

/* Purpose: ftree_report_join() of verdicts; `room` is for what is of the first. */
struct report_together *report_join(const struct ftree_job *job, const struct ftree_verdict *v,
                                    int32_t n, struct report_room *room, struct report_about *all);

/* Purpose: whom to call because of a verdict, bit t: enum ftree_ticket t. */
unsigned report_tickets(const struct ftree_verdict *v);

/* Purpose: the same for a piece of evidence. */
struct report_evidence_room {
    char target[16], by[16], address[64], error[24], state[2], place[256];
};
void report_evidence(const struct report_job *rj, const struct ftree_verdict *v, int32_t i,
                     struct report_evidence_room *room, struct report_evidence *words);

/* Purpose: the same for a note. */
struct report_waiting_room {
    char end[FTREE_WAITING_ENDS_MAX][16], class_[FTREE_WAITING_CLASSES_MAX][16];
};
void report_waiting(const struct report_job *rj, const struct ftree_waiting *w,
                    struct report_waiting_room *room, struct report_waiting *words);

/* Purpose: the stacks of a verdict; NULL: none were asked for. */
const struct report_stacks *report_stacks(const struct report_job *rj, const struct ftree_verdict *v);

/* Purpose: the kind and the name of the component that a candidate would be about. */
const char *report_candidate(const struct ftree_job *job, const struct ftree_verdict *v, int class_,
                             char *buf, size_t len, const char **kind);

/* Purpose: "alive", "dead" or "unreachable", as the verdicts known say. */
const char *report_node_state(const struct report_job *rj, int32_t node);

/* Purpose: true if the job is ended because of the verdict, or was to be, before it was
 * withdrawn. */
bool report_ends_job(const struct report_job *rj, const struct ftree_verdict *v);

/* Purpose: how much of the walltime was left when such a verdict was located, seconds; -1: not
 * known, or it is none. */
int64_t report_walltime_left(const struct report_job *rj, const struct ftree_verdict *v);

/* Purpose: the address of a node, NULL: it is not known. */
const char *report_address(const struct report_job *rj, int32_t node, int path, char *buf,
                           size_t len);

struct json_object;
/* Purpose: adds a value, which the object or list then owns.  What there is no memory for is NULL,
 * and shows in the end: whatever is not whole is not used. */
void report_set(struct json_object *o, const char *key, struct json_object *value);
void report_append(struct json_object *list, struct json_object *value);

#pragma GCC visibility pop

#endif /* REPORT_INT_H_INCLUDED */
