/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_JSON_H_INCLUDED
#define FAULTLOC_JSON_H_INCLUDED

#include "faultloc/base/json_text.h"
#include "ftree/report/report.h"

#include <stdio.h>
#include <string.h>

/* Composing what the agent answers.  Where memory is out a member is missing, and nothing is
 * lost. */

/* To a tenth, downwards. */
static inline void faultloc_json_seconds(struct json_object *o, const char *key, ftree_time ns)
{
    char buf[32];

    snprintf(buf, sizeof(buf), "%llu.%d", (unsigned long long) (ns / (1000 * FTREE_MS)),
             (int) (ns / (100 * FTREE_MS) % 10));
    faultloc_json_set(o, key, json_object_new_double_s((double) ns / 1e9, buf));
}

/* What a rank does, for people. */
static inline const char *faultloc_json_state_of(const struct ftree_rank_state *s)
{
    static const char *const names[FTREE_PHASE_COUNT] = {
        [FTREE_PHASE_OUTSIDE] = "outside MPI", [FTREE_PHASE_INSIDE] = "in MPI",
        [FTREE_PHASE_WAITING] = "waiting",     [FTREE_PHASE_LEFT] = "has left",
        [FTREE_PHASE_GONE] = "gone"};

    return ftree_is_stopped(s->proc_state) ? "stopped" : names[s->phase];
}

static inline struct json_object *faultloc_json_verdict(const struct ftree_job *job,
                                                        const struct ftree_verdict *v)
{
    struct json_object *o = json_object_new_object();
    char line[512];

    ftree_report_line(job, v, line, sizeof(line));
    faultloc_json_string(o, "class", ftree_class_name(v->class_));
    faultloc_json_string(o, "line", line);
    faultloc_json_set(o, "withdrawn", json_object_new_boolean(v->withdrawn != 0));
    return o;
}

/* All verdicts that the core knows, in the order in which it learned of them. */
static inline struct json_object *faultloc_json_verdicts(const struct ftree_job *job,
                                                         const struct ftree *ft)
{
    struct json_object *list = json_object_new_array();
    struct ftree_verdict v;

    for (int32_t i = 0; ftree_verdict_at(ft, i, &v); i++)
        faultloc_json_append(list, faultloc_json_verdict(job, &v));
    return list;
}

/* The text of an object, which is freed; to be freed by free(3).  NULL: out of memory. */
static inline char *faultloc_json_text(struct json_object *o)
{
    char *text =
        ftree_report_json_text(o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);

    json_object_put(o);
    return text;
}

#endif /* FAULTLOC_JSON_H_INCLUDED */
