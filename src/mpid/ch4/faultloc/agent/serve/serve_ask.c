/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/agent/serve/serve_ask.h"

#include "faultloc/agent/report/json.h"
#include "faultloc/agent/report/node_stacks.h"
#include "faultloc/io/loop.h"
#include "faultloc/io/symptom_socket.h"
#include "ftree/base/base.h"
#include "ftree/report/report.h"
#include "ftree/topology/tree.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- what concerns the component ------------------------------------------------------------- */

static bool has_rank(const struct ftree_verdict *v, int32_t rank)
{
    return rank == FTREE_NONE || v->rank == FTREE_NONE || v->rank == rank ||
           ftree_ranks_has(&v->component, rank);
}

static bool concerns(const struct ftree_job *job, const struct ftree_verdict *v,
                     const struct ftree_inquiry *q)
{
    if (v->withdrawn)
        return false;
    if (v->kind == FTREE_KIND_SWITCH && job->tree)
        return ftree_tree_is_behind(job->tree, v->switch_, q->node);
    return (v->node == q->node || v->component.count > 0) && has_rank(v, q->rank);
}

static bool has_verdict(const struct faultloc_asks *a, const struct ftree_inquiry *q)
{
    struct ftree_verdict v;

    for (int32_t i = 0; ftree_verdict_at(a->p->ft, i, &v); i++)
        if (concerns(&a->p->job.job, &v, q))
            return true;
    return false;
}

static bool is_trouble(const struct ftree_inquiry *q, int32_t i)
{
    return q->rank == FTREE_NONE || q->trouble[i].rank == q->rank;
}

/* Nothing that it has said needs a verdict. */
static bool is_well(const struct ftree_job *job, const struct ftree_inquiry *q)
{
    bool well = q->answered;

    for (int path = 0; path < FTREE_PATHS; path++)
        well = well && (!job->has_path[path] || q->is_own ||
                        q->reach[path][FTREE_ROLE_AGENT] == FTREE_REACH_ANSWERED);
    for (int32_t i = 0; i < q->troubles; i++)
        well = well && !is_trouble(q, i);
    return well;
}

/* ---- the answer ------------------------------------------------------------------------------ */

static struct json_object *json_path(const struct ftree_inquiry *q, int path)
{
    struct json_object *o = json_object_new_object();

    faultloc_json_string(o, "path", ftree_path_name(path));
    faultloc_json_string(o, "agent", ftree_reach_name(q->reach[path][FTREE_ROLE_AGENT]));
    if (q->reach[path][FTREE_ROLE_DEPUTY] != FTREE_REACH_NOT_ASKED)
        faultloc_json_string(o, "deputy", ftree_reach_name(q->reach[path][FTREE_ROLE_DEPUTY]));
    return o;
}

static const char *state_of(uint8_t phase, char proc_state)
{
    const struct ftree_rank_state s = {.phase = phase, .proc_state = proc_state};

    return faultloc_json_state_of(&s);
}

static struct json_object *json_rank(int32_t rank, int32_t pid, uint8_t phase, char proc_state)
{
    struct json_object *o = json_object_new_object();
    char letter[2] = {proc_state, '\0'};

    faultloc_json_number(o, "rank", rank);
    if (pid > 0)
        faultloc_json_number(o, "pid", pid);
    faultloc_json_string(o, "state", state_of(phase, proc_state));
    if (proc_state)
        faultloc_json_string(o, "process", letter);
    return o;
}

/* The state probe names the first ranks of a node, the answer those that are in trouble. */
static struct json_object *json_ranks(const struct ftree_inquiry *q)
{
    struct json_object *list = json_object_new_array();
    bool named = false;

    for (int32_t i = 0; q->has_state && i < q->state.ranks; i++) {
        if (q->rank != FTREE_NONE && q->state.rank[i].rank != q->rank)
            continue;
        named = true;
        faultloc_json_append(list, json_rank(q->state.rank[i].rank, q->state.rank[i].pid,
                                             q->state.rank[i].phase, q->state.rank[i].proc_state));
    }
    for (int32_t i = 0; !named && i < q->troubles; i++) {
        if (!is_trouble(q, i))
            continue;
        named = named || q->rank != FTREE_NONE;
        faultloc_json_append(list, json_rank(q->trouble[i].rank, q->trouble[i].pid,
                                             q->trouble[i].phase, q->trouble[i].proc_state));
    }
    if (!named && q->rank != FTREE_NONE && q->answered)
        faultloc_json_append(list, json_rank(q->rank, 0, q->phase, 0));
    return list;
}

static void put_centi(struct json_object *o, const char *key, uint32_t centi)
{
    if (centi != UINT32_MAX)
        faultloc_json_decimal(o, key, centi / 100.0, 2);
}

static void put_bytes(struct json_object *o, const char *key, uint64_t bytes)
{
    if (bytes != UINT64_MAX)
        faultloc_json_number(o, key, (int64_t) bytes);
}

static struct json_object *json_state(const struct ftree_node_state *s)
{
    struct json_object *o = json_object_new_object();

    if (s->cpus != UINT32_MAX)
        faultloc_json_number(o, "cpus", s->cpus);
    put_centi(o, "load", s->load_centi);
    put_centi(o, "cpu_pressure_percent", s->cpu_pressure_centi);
    put_centi(o, "memory_pressure_percent", s->memory_pressure_centi);
    put_centi(o, "io_pressure_percent", s->io_pressure_centi);
    put_bytes(o, "memory_bytes", s->memory_total);
    put_bytes(o, "memory_available_bytes", s->memory_available);
    faultloc_json_string(o, "data_interface", ftree_link_name(s->link));
    if (s->losses[0])
        faultloc_json_string(o, "losses", s->losses);
    return o;
}

static struct json_object *json_message(ftree_time now, const struct ftree_log_entry *e)
{
    struct json_object *o = json_object_new_object();

    faultloc_json_string(o, "type", e->type == FTREE_LOG_SEND ? "send" : "receive");
    faultloc_json_seconds(o, "age_s", now > e->at ? now - e->at : 0);
    if (e->peer >= 0)
        faultloc_json_number(o, "peer", e->peer);
    faultloc_json_number(o, "tag", e->tag);
    faultloc_json_number(o, "bytes", (int64_t) e->bytes);
    return o;
}

static struct json_object *json_log(ftree_time now, const struct ftree_log *l)
{
    struct json_object *o = json_object_new_object(), *list = json_object_new_array();

    faultloc_json_number(o, "rank", l->rank);
    for (int32_t i = 0; i < l->entries; i++)
        faultloc_json_append(list, json_message(now, &l->entry[i]));
    faultloc_json_set(o, "messages", list);
    return o;
}

static struct json_object *json_verdicts(const struct faultloc_program *p,
                                         const struct ftree_inquiry *q)
{
    struct json_object *list = json_object_new_array();
    struct ftree_verdict v;

    for (int32_t i = 0; ftree_verdict_at(p->ft, i, &v); i++)
        if (concerns(&p->job.job, &v, q))
            faultloc_json_append(list, faultloc_json_verdict(&p->job.job, &v));
    return list;
}

static void put_component(const struct faultloc_program *p, const struct ftree_inquiry *q,
                          struct json_object *o)
{
    char name[16];

    faultloc_json_string(o, "schema", "faultloc-ask/1");
    faultloc_json_string(o, "job", p->board->job_id);
    faultloc_json_string(o, "by", ftree_node_name(&p->job.job, p->self, name, sizeof(name)));
    faultloc_json_string(o, "node", ftree_node_name(&p->job.job, q->node, name, sizeof(name)));
    if (q->rank != FTREE_NONE)
        faultloc_json_number(o, "rank", q->rank);
}

char *faultloc_ask_json(const struct faultloc_program *p, ftree_time now,
                        const struct ftree_inquiry *q, struct json_object *process, const char *why)
{
    struct json_object *o = json_object_new_object(), *list = json_object_new_array();

    put_component(p, q, o);
    faultloc_json_set(o, "well", json_object_new_boolean(is_well(&p->job.job, q)));
    faultloc_json_set(o, "answered", json_object_new_boolean(q->answered));
    if (q->answered)
        faultloc_json_decimal(o, "took_ms", (double) q->took / 1e6, 2);
    if (q->leaving)
        faultloc_json_set(o, "leaving", json_object_new_boolean(true));
    for (int path = 0; path < FTREE_PATHS && q->node != p->self; path++)
        if (p->job.job.has_path[path])
            faultloc_json_append(list, json_path(q, path));
    faultloc_json_set(o, "paths", list);
    if (q->rank != FTREE_NONE && q->peer >= 0)
        faultloc_json_number(o, "peer", q->peer);
    faultloc_json_set(o, "ranks", json_ranks(q));
    if (q->has_state)
        faultloc_json_set(o, "state", json_state(&q->state));
    list = json_object_new_array();
    for (int32_t i = 0; i < q->logs; i++)
        faultloc_json_append(list, json_log(now, &q->log[i]));
    faultloc_json_set(o, "messages", list);
    if (process)
        faultloc_json_set(o, "process", json_object_get(process));
    if (*why)
        faultloc_json_string(o, "no_stack", why);
    faultloc_json_set(o, "verdicts", json_verdicts(p, q));
    return faultloc_json_text(o);
}

/* ---- who has asked --------------------------------------------------------------------------- */

/* The component of {"ask": "COMPONENT"}. */
static bool read_question(const struct faultloc_asks *a, const char *text, size_t len,
                          struct ftree_component *about, char *error)
{
    char name[FAULTLOC_SYMPTOM_BYTES + 1];
    size_t head = strlen(FAULTLOC_ASK_QUESTION);

    if (len < head + 2 || memcmp(text + len - 2, "\"}", 2) || memchr(text, '\\', len)) {
        snprintf(error, FAULTLOC_SYMPTOM_ERROR, "not a question: {\"ask\": \"COMPONENT\"}");
        return false;
    }
    snprintf(name, sizeof(name), "%.*s", (int) (len - head - 2), text + head);
    if (!faultloc_component_parse(&a->p->job.job, a->p->self, name, about, error))
        return false;
    if (about->kind == FTREE_KIND_NODE || about->kind == FTREE_KIND_RANK)
        return true;
    snprintf(error, FAULTLOC_SYMPTOM_ERROR, "only a node or a rank can be asked");
    return false;
}

/* The node that is responsible for the component examines it. */
static void examine(const struct faultloc_asks *a, ftree_time now,
                    const struct ftree_component *about)
{
    struct ftree_symptom s;

    ftree_symptom_init(&s, FTREE_SYMPTOM_USER_SUSPECTS, about->node, about->rank, a->p->self, now,
                       now);
    s.about = *about;
    ftree_symptom(a->p->ft, now, &s);
}

/* Where it cannot be asked for, the answer does without. */
static void ask_for_stack(struct faultloc_asks *a, ftree_time now, int32_t rank,
                          struct faultloc_asked *ask)
{
    const struct ftree_ranks one = {.count = 1, .ranges = 1, .range = {{rank, rank}}};

    if (rank != FTREE_NONE && ftree_query_stacks(a->p->ft, now, &one, FTREE_STACKS_DETAILS,
                                                 &ask->stacks)) {
        ask->stacks = 0;
        snprintf(ask->why, sizeof(ask->why), "it could not be asked for");
    }
}

const char *faultloc_asks_take(struct faultloc_asks *a, ftree_time now, const char *text,
                               size_t len, int *reply, char *error)
{
    struct faultloc_asked *ask = &a->ask[a->n];
    struct ftree_component about;
    uint32_t number;

    if (*reply < 0)
        return "a question needs a socket for its answer";
    if (!read_question(a, text, len, &about, error))
        return error;
    if (a->n == FAULTLOC_ASKS_MAX || ftree_inquire(a->p->ft, now, about.node, about.rank, &number))
        return "too many questions at once";
    examine(a, now, &about);
    *ask = (struct faultloc_asked){
        .reply = *reply, .number = number, .until = now + FAULTLOC_ASK_PATIENCE};
    ask_for_stack(a, now, about.kind == FTREE_KIND_RANK ? about.rank : FTREE_NONE, ask);
    *reply = -1;
    a->n++;
    return "";
}

void faultloc_asks_answered(struct faultloc_asks *a, const struct ftree_query_result *r)
{
    for (int32_t i = 0; i < a->n; i++) {
        struct faultloc_asked *ask = &a->ask[i];
        if (!ask->stacks || ask->stacks != r->number)
            continue;
        ask->stacks = 0;
        if (r->stacks && r->stacks->details > 0)
            ask->process = faultloc_stack_check(r->stacks->detail[0].text,
                                                (size_t) r->stacks->detail[0].len);
        if (ask->process)
            faultloc_stack_add_lines(ask->process);
        snprintf(ask->why, sizeof(ask->why), "%s",
                 *r->refused                            ? r->refused
                 : r->stacks && *r->stacks->why ? r->stacks->why
                 : ask->process                         ? ""
                                                        : "its node has not answered in time");
    }
}

static bool is_ready(const struct faultloc_asks *a, ftree_time now,
                     const struct faultloc_asked *ask, const struct ftree_inquiry *q)
{
    return !q || now >= ask->until ||
           (q->over && !ask->stacks && (is_well(&a->p->job.job, q) || has_verdict(a, q)));
}

static void reply(struct faultloc_asks *a, ftree_time now, const struct faultloc_asked *ask,
                  const struct ftree_inquiry *q)
{
    const char *why = ask->stacks ? "its node has not answered in time" : ask->why;
    char *text = q ? faultloc_ask_json(a->p, now, q, ask->process, why) : NULL;

    faultloc_symptom_socket_reply(ask->reply, text ? text : "out of memory");
    free(text);
    close(ask->reply);
    json_object_put(ask->process);
    ftree_inquire_no_more(a->p->ft, ask->number);
}

void faultloc_asks_turn(struct faultloc_asks *a, ftree_time now)
{
    for (int32_t i = a->n - 1; i >= 0; i--) {
        const struct ftree_inquiry *q = ftree_inquired(a->p->ft, a->ask[i].number);
        if (!is_ready(a, now, &a->ask[i], q))
            continue;
        reply(a, now, &a->ask[i], q);
        a->ask[i] = a->ask[--a->n];
    }
}

ftree_time faultloc_asks_deadline(const struct faultloc_asks *a)
{
    ftree_time t = FTREE_NEVER;

    for (int32_t i = 0; i < a->n; i++)
        t = faultloc_loop_earlier(t, a->ask[i].until);
    return t;
}
