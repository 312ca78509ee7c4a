/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef RESULT_H_INCLUDED
#define RESULT_H_INCLUDED

#include "sim/run.h"

#include <json.h>

/*
 * What a run came to: numbers, a row of a table, an object of JSON.
 */
struct sim_result {
    bool ok;
    double wall_s;
    double latency_min, latency_max; /* from the fault to the report, of those that are right */
    int32_t right; /* reports that are */
    int32_t late; /* of those, reports that took longer than the bound */
    uint64_t busiest_messages;
    int32_t busiest; /* node */
    uint64_t busiest_beside_suspects; /* messages of a node that are neither questions about
                                       * suspects, nor what these bring, nor of waits, at most */
    double located_max; /* from the first symptom to the verdict, of those that are right */
    double idle_per_handle, peak_per_handle; /* bytes */
};

/* Purpose: the numbers of a run that has ended. */
void sim_result_take(const struct sim_run *r, double wall_s, struct sim_result *out);

/* Purpose: the table on `f`: its head, and what one run was, with a line for each problem. */
void sim_result_head(FILE *f);
void sim_result_row(FILE *f, int run, const struct sim_run *r, const struct sim_result *s);

/* Purpose: the run as an object of JSON, to be freed with json_object_put(). */
struct json_object *sim_result_json(const struct sim_run *r, const struct sim_result *s);

#endif /* RESULT_H_INCLUDED */
