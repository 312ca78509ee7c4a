/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/agent/status.h"

#include "ftree/report/report.h"

#include <json.h>
#include <stdio.h>
#include <string.h>

static void set(struct json_object *o, const char *key, struct json_object *value)
{
    if (!o || json_object_object_add(o, key, value))
        json_object_put(value);
}

static void append(struct json_object *list, struct json_object *value)
{
    if (!list || json_object_array_add(list, value))
        json_object_put(value);
}

static void set_string(struct json_object *o, const char *key, const char *s)
{
    set(o, key, json_object_new_string(s));
}

/* In seconds, to a tenth. */
static void set_seconds(struct json_object *o, const char *key, ftree_time ns)
{
    char buf[32];

    snprintf(buf, sizeof(buf), "%llu.%d", (unsigned long long) (ns / (1000 * FTREE_MS)),
             (int) (ns / (100 * FTREE_MS) % 10));
    set(o, key, json_object_new_double_s((double) ns / 1e9, buf));
}

static const char *state_of(const struct ftree_rank_state *s)
{
    static const char *const names[FTREE_PHASE_COUNT] = {
        [FTREE_PHASE_OUTSIDE] = "outside MPI", [FTREE_PHASE_INSIDE] = "in MPI",
        [FTREE_PHASE_WAITING] = "waiting",     [FTREE_PHASE_LEFT] = "has left",
        [FTREE_PHASE_GONE] = "gone"};

    return s->proc_state == 'T' || s->proc_state == 't' ? "stopped" : names[s->phase];
}

static struct json_object *json_rank(struct faultloc_program *p, ftree_time now, int32_t i)
{
    const struct faultloc_slot *slot = faultloc_board_slot(p->board, i);
    struct json_object *o = json_object_new_object();
    struct ftree_rank_state s;

    faultloc_watch_look(&p->watch, now, i, true, &s);
    set(o, "rank", json_object_new_int(p->job.job.node_ranks[p->job.job.node_first[p->self] + i]));
    set(o, "pid", json_object_new_int(s.pid));
    set_string(o, "state", state_of(&s));
    if (s.phase == FTREE_PHASE_INSIDE || s.phase == FTREE_PHASE_WAITING)
        set_string(o, "call", faultloc_call_name((uint32_t) slot->call));
    if (s.phase == FTREE_PHASE_WAITING && s.peer >= 0)
        set(o, "peer", json_object_new_int(s.peer));
    if (s.waiting > 0)
        set_seconds(o, "waited_s", s.waiting);
    return o;
}

static struct json_object *json_verdict(const struct ftree_job *job, const struct ftree_verdict *v)
{
    struct json_object *o = json_object_new_object();
    char line[512];

    ftree_report_line(job, v, line, sizeof(line));
    set_string(o, "class", ftree_class_name(v->class_));
    set_string(o, "line", line);
    set(o, "withdrawn", json_object_new_boolean(v->withdrawn != 0));
    return o;
}

char *faultloc_status_json(struct faultloc_program *p, struct ftree *ft, ftree_time now,
                           int64_t now_ms)
{
    struct json_object *o = json_object_new_object();
    struct json_object *ranks = json_object_new_array(), *verdicts = json_object_new_array();
    struct ftree_verdict v;
    const char *text;
    char *copy;
    char name[16];

    set_string(o, "schema", "faultloc-status/1");
    set_string(o, "job", p->board->job_id);
    set(o, "size", json_object_new_int(p->board->size));
    set(o, "nodes", json_object_new_int(p->board->nodes));
    set_string(o, "node", ftree_node_name(&p->job.job, p->self, name, sizeof(name)));
    set(o, "unix_ms", json_object_new_int64(now_ms));
    for (int32_t i = 0; i < p->board->slots; i++)
        append(ranks, json_rank(p, now, i));
    set(o, "ranks", ranks);
    for (int32_t i = 0; ftree_verdict_at(ft, i, &v); i++)
        append(verdicts, json_verdict(&p->job.job, &v));
    set(o, "verdicts", verdicts);
    text = o ? json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN |
                                                     JSON_C_TO_STRING_NOSLASHESCAPE)
             : NULL;
    copy = text ? strdup(text) : NULL;
    json_object_put(o);
    return copy;
}
