/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef REPORT_H_INCLUDED
#define REPORT_H_INCLUDED

#include "ftree.h"

#pragma GCC visibility push(hidden)

/*
 * Verdicts for a person (a few lines of text) and for a program (JSON, schema faultloc-report/1).
 * Nothing is written here: the caller gets strings.
 */

struct report_job {
    const struct ftree_job *job;
    const char *id;
    int64_t started_ms; /* Unix time */
    ftree_time now; /* the clock of the verdicts' times ... */
    int64_t now_ms; /* ... and the Unix time at that moment */
    /* The address of a node on a path, written to buf; NULL, or a function that returns NULL,
     * leaves addresses out. */
    const char *(*address)(void *ctx, int32_t node, enum ftree_path path, char *buf, size_t len);
    void *address_ctx;
};

/* Purpose: the verdict as a person reads it, several lines, each beginning "[faultloc] ".
 * json_file: named in the last line; NULL or "": no such line.  Returns a string to be freed by
 * free(3); NULL: out of memory. */
char *ftree_report_text(const struct report_job *rj, const struct ftree_verdict *v,
                        const char *json_file);

/* Purpose: the whole report of a job, `n` verdicts given by pointers.  Returns a string to be
 * freed by free(3); NULL: out of memory. */
char *ftree_report_json(const struct report_job *rj, const struct ftree_verdict *const *verdicts,
                        int32_t n);

/* Purpose: ranks as a person writes them, "0-1, 3"; buf is always terminated, and what does not
 * fit ends in "...". */
void ftree_report_ranks(const struct ftree_ranks *set, char *buf, size_t len);

/* Purpose: the symbolic name of an errno that networks cause; "" for 0, "errno N" for others. */
const char *ftree_report_errno(int error, char *buf, size_t len);

#pragma GCC visibility pop

#endif /* REPORT_H_INCLUDED */
