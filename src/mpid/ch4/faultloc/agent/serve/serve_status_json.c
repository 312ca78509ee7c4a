/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/agent/serve/serve_status.h"

#include "faultloc/agent/report/json.h"
#include "ftree/base/base.h"

/* Numbers as runs: [first, count, step]. */
static struct json_object *json_runs(const struct ftree_spans *s)
{
    struct json_object *list = json_object_new_array(), *run;
    int32_t first, step, count;

    for (int32_t i = 0; i < s->n;) {
        first = ftree_spans_run(s, &i, &step, &count);
        run = json_object_new_array();
        faultloc_json_append(run, json_object_new_int(first));
        faultloc_json_append(run, json_object_new_int(count));
        if (step > 1)
            faultloc_json_append(run, json_object_new_int(step));
        faultloc_json_append(list, run);
    }
    return list;
}

static struct json_object *json_set(const struct ftree_spans *s)
{
    struct json_object *o = json_object_new_object();

    faultloc_json_number(o, "count", s->count);
    faultloc_json_set(o, "runs", json_runs(s));
    return o;
}

#define NAMES_MAX 64

/* Nodes by number, and the first of them by name. */
static struct json_object *json_nodes(const struct ftree_job *job, const struct ftree_spans *s)
{
    struct json_object *o = json_set(s), *names = json_object_new_array();
    char buf[16];
    int32_t n = 0;

    for (int32_t i = 0; i < s->n; i++)
        for (int32_t node = s->items[i].first; node <= s->items[i].last && n < NAMES_MAX; node++) {
            faultloc_json_append(
                names, json_object_new_string(ftree_node_name(job, node, buf, sizeof(buf))));
            n++;
        }
    faultloc_json_set(o, "names", names);
    return o;
}

static struct json_object *json_class(const struct ftree_rank_class *k)
{
    struct json_object *o = json_object_new_object();

    faultloc_json_number(o, "count", k->count);
    faultloc_json_string(o, "state", ftree_doing_name(k->state));
    if (k->call)
        faultloc_json_string(o, "call", faultloc_call_name(k->call));
    if (*k->comm)
        faultloc_json_string(o, k->state == FTREE_DOES_SLEEP ? "asleep_in" : "communicator",
                             k->comm);
    if (*k->on)
        faultloc_json_string(o, "example_waits_for", k->on);
    if (k->longest > 0) {
        faultloc_json_seconds(o, "shortest_s", k->shortest);
        faultloc_json_seconds(o, "longest_s", k->longest);
    }
    faultloc_json_number(o, "example", k->example);
    faultloc_json_set(o, "ranks", json_set(&k->ranks));
    if (k->peers.count > 0)
        faultloc_json_set(o, "wait_for", json_set(&k->peers));
    if (k->any > 0)
        faultloc_json_number(o, "wait_for_any_source", k->any);
    return o;
}

static struct json_object *json_classes(const struct ftree_rank_classes *c)
{
    struct json_object *list = json_object_new_array();

    for (int32_t i = 0; i < c->n; i++)
        faultloc_json_append(list, json_class(&c->items[i]));
    return list;
}

static struct json_object *json_suspicion(const struct ftree_job *job,
                                          const struct ftree_suspicion *s)
{
    struct json_object *o = json_object_new_object();
    char buf[16];

    faultloc_json_string(o, "node", ftree_node_name(job, s->node, buf, sizeof(buf)));
    if (s->switch_ != FTREE_NONE)
        faultloc_json_number(o, "switch", s->switch_);
    faultloc_json_string(o, "examined_by", ftree_node_name(job, s->by, buf, sizeof(buf)));
    faultloc_json_string(o, "symptom", ftree_symptom_info(s->kind)->name);
    faultloc_json_seconds(o, "since_s", s->age);
    return o;
}

static void put_nodes(struct json_object *o, const struct ftree_job *job,
                      const struct ftree_query_result *r)
{
    struct json_object *nodes = json_object_new_object();

    faultloc_json_set(nodes, "answered", json_set(&r->answered));
    faultloc_json_set(nodes, "left", json_nodes(job, &r->left));
    faultloc_json_set(nodes, "lost", json_nodes(job, &r->failed));
    faultloc_json_set(nodes, "silent", json_nodes(job, &r->silent));
    faultloc_json_set(o, "node_states", nodes);
}

static struct json_object *json_head(const struct faultloc_program *p, const char *schema,
                                     const struct ftree_query_result *r, int64_t now_ms)
{
    struct json_object *o = json_object_new_object();
    const struct ftree_job *job = &p->job.job;
    char buf[16];

    faultloc_json_string(o, "schema", schema);
    faultloc_json_string(o, "job", p->board->job_id);
    faultloc_json_number(o, "unix_ms", now_ms);
    faultloc_json_number(o, "size", job->size);
    faultloc_json_number(o, "nodes", job->nodes);
    faultloc_json_string(o, "asked", ftree_node_name(job, p->self, buf, sizeof(buf)));
    if (r->root != FTREE_NONE)
        faultloc_json_string(o, "root", ftree_node_name(job, r->root, buf, sizeof(buf)));
    put_nodes(o, job, r);
    return o;
}

char *faultloc_status_job_json(const struct faultloc_program *p,
                               const struct ftree_query_result *r, int64_t now_ms)
{
    struct json_object *o = json_head(p, "faultloc-status/2", r, now_ms);
    struct json_object *list = json_object_new_array();
    const struct ftree_job *job = &p->job.job;

    faultloc_json_set(o, "classes", json_classes(&r->classes));
    faultloc_json_number(o, "further_classes", r->classes.dropped);
    faultloc_json_number(o, "ranks_in_further_classes", r->classes.dropped_ranks);
    for (int32_t i = 0; i < r->suspicions; i++)
        faultloc_json_append(list, json_suspicion(job, &r->suspicion[i]));
    faultloc_json_set(o, "suspicions", list);
    faultloc_json_number(o, "further_suspicions", r->more_suspicions);
    faultloc_json_set(o, "verdicts", faultloc_json_verdicts(job, p->ft));
    return faultloc_json_text(o);
}

char *faultloc_status_stacks_json(const struct faultloc_program *p,
                                  const struct ftree_query_result *r, int64_t now_ms)
{
    struct json_object *o = json_head(p, "faultloc-stacks/1", r, now_ms);

    if (r->stacks)
        faultloc_json_set(o, "stacks", ftree_report_stacks_json(r->stacks, false));
    return faultloc_json_text(o);
}
