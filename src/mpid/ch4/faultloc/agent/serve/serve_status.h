/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_SERVE_STATUS_H_INCLUDED
#define FAULTLOC_SERVE_STATUS_H_INCLUDED

#include "faultloc/agent/process/program.h"

#include <json.h>

/*
 * What `faultloc status` shows: of the whole job (ftree_query()), or of the own node alone
 * (ftree_query_own()).
 *
 *     serve_status.c       who asks, and how the answer gets there
 *     serve_status_json.c  an answer as JSON, schema faultloc-status/2 (doc/faultloc-status.schema.json)
 *     serve_status_text.c  and as lines for people
 */

struct faultloc_reporter;

#define FAULTLOC_STATUSES_MAX 256 /* who waits at the same time; further ones are refused */

struct faultloc_statuses {
    struct faultloc_program *p;
    struct faultloc_reporter *reporter;
    int32_t n;
    struct faultloc_status_asker {
        int reply; /* a socket of who asked; -1: people did, by the launcher */
        bool full, json, stacks;
        uint32_t number; /* of the query; 0: it is just being asked */
    } asker[FAULTLOC_STATUSES_MAX];
};

/* Purpose: takes the datagram {"status": "text"}, or "json", or these two with "-ranks", "-stacks" or
 * "-here" (the own node alone, answered at once) behind the word; *reply is then taken, and -1.  Where it is "print" the answer goes to
 * standard error, and "ok" is what is to be answered: so mpiexec has it printed.  One query is
 * under way for all who ask the same.  Returns what is to be answered at once, "" if nothing is. */
const char *faultloc_statuses_take(struct faultloc_statuses *s, ftree_time now, const char *text,
                                   size_t len, int *reply);

/* Purpose: the core's callback: answers all who wait for that query, and closes their sockets. */
void faultloc_statuses_answered(struct faultloc_statuses *s, const struct ftree_query_result *r);

/* Purpose: an answer as JSON and as lines.  Returns a string to be freed by free(3); NULL: out of
 * memory.  `now_ms`: Unix time. */
char *faultloc_status_job_json(const struct faultloc_program *p,
                               const struct ftree_query_result *r, int64_t now_ms);
char *faultloc_status_job_text(const struct faultloc_program *p,
                               const struct ftree_query_result *r, bool full);

/* Purpose: where all ranks are in their code: likewise, the JSON of schema faultloc-stacks/1. */
char *faultloc_status_stacks_json(const struct faultloc_program *p,
                                  const struct ftree_query_result *r, int64_t now_ms);
char *faultloc_status_stacks_text(const struct faultloc_program *p,
                                  const struct ftree_query_result *r);

#endif /* FAULTLOC_SERVE_STATUS_H_INCLUDED */
