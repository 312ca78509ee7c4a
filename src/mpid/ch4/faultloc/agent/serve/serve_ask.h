/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_SERVE_ASK_H_INCLUDED
#define FAULTLOC_SERVE_ASK_H_INCLUDED

#include "faultloc/agent/process/program.h"

#include <json.h>

/*
 * What `faultloc ask` asks for: the agent asks the component at once (ftree_inquire()), and has it
 * examined by the node that is responsible for it (the symptom user-suspects).  Of a rank it has
 * the stack taken on its node (ftree_query_stacks()).  Who asked gets one JSON object, schema
 * faultloc-ask/1 (faultloc(1)): at once where the component is well, else when there is a verdict
 * about it, or after FAULTLOC_ASK_PATIENCE.
 */

#define FAULTLOC_ASKS_MAX 8 /* at the same time */
#define FAULTLOC_ASK_PATIENCE (15000 * FTREE_MS)

struct faultloc_asks {
    struct faultloc_program *p;
    int32_t n;
    struct faultloc_asked {
        int reply; /* a socket of who asked */
        uint32_t number; /* of the inquiry */
        ftree_time until;
        uint32_t stacks; /* number of the query for its stack; 0: none is under way */
        struct json_object *process; /* what it said, checked; NULL: nothing */
        char why[FTREE_DETAIL_MAX]; /* "": nothing is missing */
    } ask[FAULTLOC_ASKS_MAX];
};

/* Purpose: takes the datagram {"ask": "COMPONENT"}; *reply is then taken, and -1.  Returns what is
 * to be answered at once, "" if nothing is; `error` has FAULTLOC_SYMPTOM_ERROR bytes. */
const char *faultloc_asks_take(struct faultloc_asks *a, ftree_time now, const char *text,
                               size_t len, int *reply, char *error);

/* Purpose: the core's callback, for a query for stacks. */
void faultloc_asks_answered(struct faultloc_asks *a, const struct ftree_query_result *r);

/* Purpose: answers what can be answered. */
void faultloc_asks_turn(struct faultloc_asks *a, ftree_time now);

/* Purpose: when to look again, on the clock of `now`; FTREE_NEVER: nobody waits. */
ftree_time faultloc_asks_deadline(const struct faultloc_asks *a);

/* Purpose: the answer about an inquiry; `process`: what a rank's threads do, checked
 * (agent/report/node_stacks.h), NULL: it is not known, because `why`.  Returns a string to be freed
 * by free(3); NULL: out of memory. */
char *faultloc_ask_json(const struct faultloc_program *p, ftree_time now,
                        const struct ftree_inquiry *q, struct json_object *process, const char *why);

#endif /* FAULTLOC_SERVE_ASK_H_INCLUDED */
