/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "sim/result.h"

#include "faultloc/base/json_text.h"
#include "sim/units.h"

#include <inttypes.h>

/* ---- numbers --------------------------------------------------------------------------------- */

static double latency_of(const struct sim_run *r, const struct sim_report *p)
{
    return sim_seconds(p->at - r->truth.expectation[p->expectation].since);
}

/* Located within two examinations after the first wait reached the stall limit, and a message's way
 * down and up the tree; the report comes when the victims are in. */
static bool is_within_bound(const struct sim_run *r, const struct sim_report *p)
{
    const struct sim_expectation *e = &r->truth.expectation[p->expectation];
    ftree_time stall = e->first_stall ? e->first_stall : e->since + r->cfg.stall;
    ftree_time hop = 2 * (r->options->link.base + 4 * r->options->link.spread + r->options->cost);
    ftree_time depth = (ftree_time) ftree_topo_height(&r->topo, 0) + 1;

    if (e->ranks > 0)
        return p->at <= e->since + e->bound;
    return p->at <= stall + 2 * r->cfg.silence + r->cfg.gather + 2 * depth * hop;
}

static void take_latency(double l, struct sim_result *out)
{
    if (out->right == 0 || l < out->latency_min)
        out->latency_min = l;
    if (out->right == 0 || l > out->latency_max)
        out->latency_max = l;
    out->right++;
}

/* A note comes late by intent; what counts is when the root could have given it. */
static void take_notes(const struct sim_run *r, struct sim_result *out)
{
    for (int32_t i = 0; i < r->truth.expectations; i++) {
        const struct sim_expectation *e = &r->truth.expectation[i];
        if (e->waiters == 0 || !e->noted || !e->known)
            continue;
        out->late += e->known > e->since + e->bound;
        take_latency(e->known > e->since ? sim_seconds(e->known - e->since) : 0, out);
    }
}

static void take_latencies(const struct sim_run *r, struct sim_result *out)
{
    for (int32_t i = 0; i < r->truth.reports; i++) {
        const struct sim_report *p = &r->truth.report[i];
        double located = sim_seconds(p->v.located - p->v.first_symptom);
        if (p->expectation == FTREE_NONE)
            continue;
        take_latency(latency_of(r, p), out);
        if (located > out->located_max)
            out->located_max = located;
        if (!is_within_bound(r, p))
            out->late++;
    }
}

void sim_result_take(const struct sim_run *r, double wall_s, struct sim_result *out)
{
    struct sim_problem p;
    uint64_t beside;

    *out = (struct sim_result){.wall_s = wall_s,
                               .ok = !r->broken && !sim_truth_problem(&r->truth, 0, &p)};
    take_latencies(r, out);
    take_notes(r, out);
    for (int32_t i = 0; i < r->job.nodes; i++) {
        const struct sim_node *n = &r->node[i];
        if (n->messages > out->busiest_messages) {
            out->busiest_messages = n->messages;
            out->busiest = i;
        }
        beside = n->beside < n->messages ? n->messages - n->beside : 0; /* one may have been lost */
        if (beside > out->busiest_beside_suspects)
            out->busiest_beside_suspects = beside;
    }
    out->idle_per_handle = (double) r->idle;
    out->peak_per_handle = (double) r->memory_most / r->job.nodes;
}

/* ---- names ----------------------------------------------------------------------------------- */

static void name_component(const struct sim_run *r, int kind, int32_t node, int32_t rank,
                           int32_t switch_, char *buf, size_t len)
{
    char name[16];

    if (switch_ != FTREE_NONE && r->job.tree)
        snprintf(buf, len, "switch %s", r->job.tree->switch_name[switch_]);
    else if (kind == FTREE_KIND_RANK && rank != FTREE_NONE)
        snprintf(buf, len, "rank %d", (int) rank);
    else if (node != FTREE_NONE)
        snprintf(buf, len, "%s %s",
                 ftree_kind_name(kind == FTREE_KIND_RANK ? FTREE_KIND_NODE : kind),
                 ftree_node_name(&r->job, node, name, sizeof(name)));
    else
        snprintf(buf, len, "what is between");
}

/* Ranks that wait for each other, or for one. */
static void name_ranks(const struct sim_expectation *e, char *buf, size_t len)
{
    int n = snprintf(buf, len, "rank %d", (int) e->rank[0]);

    if (e->ranks > 1)
        snprintf(buf + n, len - (size_t) n, " and %d more", (int) e->ranks - 1);
    else if (e->waiters > 0)
        snprintf(buf + n, len - (size_t) n, ", for whom %d wait", (int) e->waiters);
}

static void name_classes(uint32_t classes, char *buf, size_t len)
{
    size_t n = 0;

    buf[0] = 0;
    for (int c = 0; c < FTREE_CLASS_COUNT && n < len; c++)
        if (classes & SIM_CLASS(c))
            n += (size_t) snprintf(buf + n, len - n, "%s%s", n ? " or " : "", ftree_class_name(c));
}

static void describe(const struct sim_run *r, const struct sim_problem *p, char *buf, size_t len)
{
    char what[96], component[80];

    if (p->expectation != FTREE_NONE) {
        const struct sim_expectation *e = &r->truth.expectation[p->expectation];
        name_classes(e->classes, what, sizeof(what));
        if (e->waiters > 0)
            snprintf(what, sizeof(what), "note");
        if (e->ranks > 0)
            name_ranks(e, component, sizeof(component));
        else
            name_component(r, FTREE_KIND_NODE, e->node, FTREE_NONE, e->switch_, component,
                           sizeof(component));
        snprintf(buf, len, "%s: %s of %s", sim_problem_name(p->kind), what, component);
    } else {
        const struct sim_report *q = &r->truth.report[p->report];
        name_component(r, q->v.kind, q->v.node, q->v.rank, q->v.switch_, component, sizeof(component));
        snprintf(buf, len, "%s: %s of %s by n%d, %s%s", sim_problem_name(p->kind),
                 ftree_class_name(q->v.class_), component, (int) q->v.fln, q->v.rule,
                 q->withdrawn ? ", withdrawn" : "");
        if (p->kind == SIM_NOT_KNOWN)
            snprintf(buf, len, "%s: %s of %s, %d nodes", sim_problem_name(p->kind),
                     ftree_class_name(q->v.class_), component, (int) q->unaware);
    }
}

/* ---- the table ------------------------------------------------------------------------------- */

#define PROBLEMS_SHOWN 10
#define MISTAKES_SHOWN 100

void sim_result_head(FILE *f)
{
    fprintf(f, "%5s %20s %-3s %8s %11s %7s %7s %10s %8s %8s %9s %9s %8s  %s\n", "run", "seed", "ok",
            "nodes", "found", "first s", "last s", "messages", "busiest", "mean", "idle B",
            "peak B", "wall s", "hash");
}

static void problems(FILE *f, const struct sim_run *r)
{
    struct sim_problem p;
    char text[256];
    int32_t i;

    if (r->broken)
        fprintf(f, "      invariant of node %d: %s\n", (int) r->broken_node, r->broken);
    for (i = 0; sim_truth_problem(&r->truth, i, &p); i++)
        if (i < PROBLEMS_SHOWN) {
            describe(r, &p, text, sizeof(text));
            fprintf(f, "      %s\n", text);
        }
    if (i > PROBLEMS_SHOWN)
        fprintf(f, "      and %d more\n", (int) (i - PROBLEMS_SHOWN));
}

static void tests(FILE *f, const struct sim_run *r)
{
    const struct sim_program_tests *t = &r->tests;

    if (t->tests > 0)
        fprintf(f,
                "      samples of %s: %" PRIu64 " tests, %" PRIu64 " likely, of these %" PRIu64
                " too early, %" PRIu64 " slow\n",
                r->options->program->name, t->tests, t->likely, t->early, t->slow);
}

void sim_result_row(FILE *f, int run, const struct sim_run *r, const struct sim_result *s)
{
    char found[24];

    snprintf(found, sizeof(found), "%d of %d", (int) s->right, (int) r->truth.expectations);
    fprintf(f,
            "%5d %20" PRIu64 " %-3s %8d %11s %7.3f %7.3f %10" PRIu64 " %8" PRIu64
            " %8.2f %9.0f %9.0f %8.2f  %016" PRIx64 "\n",
            run, r->seed, s->ok ? "yes" : "NO", (int) r->job.nodes, found, s->latency_min,
            s->latency_max, r->messages, s->busiest_messages, (double) r->messages / r->job.nodes,
            s->idle_per_handle, s->peak_per_handle, s->wall_s, r->hash);
    tests(f, r);
    problems(f, r);
    fflush(f);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void add_number(struct json_object *o, const char *key, double value)
{
    json_object_object_add(o, key, json_object_new_double(value));
}

static void add_bool(struct json_object *o, const char *key, bool value)
{
    json_object_object_add(o, key, json_object_new_boolean(value));
}

static struct json_object *verdict_json(const struct sim_run *r, const struct sim_report *p)
{
    struct json_object *o = json_object_new_object();
    char text[80];

    name_component(r, p->v.kind, p->v.node, p->v.rank, p->v.switch_, text, sizeof(text));
    faultloc_json_string(o, "class", ftree_class_name(p->v.class_));
    faultloc_json_string(o, "component", text);
    faultloc_json_number(o, "node", p->v.node);
    faultloc_json_string(o, "rule", p->v.rule);
    add_bool(o, "right", p->expectation != FTREE_NONE);
    add_bool(o, "own_only", p->v.local_only);
    if (p->expectation != FTREE_NONE)
        add_number(o, "latency_s", latency_of(r, p));
    add_number(o, "told_s", sim_seconds(p->at - SIM_BEGINS));
    add_number(o, "since_first_symptom_s", sim_seconds(p->at - p->v.first_symptom));
    add_number(o, "located_s", sim_seconds(p->v.located - p->v.first_symptom));
    faultloc_json_number(o, "reporter", p->reporter);
    faultloc_json_number(o, "fln", p->v.fln);
    faultloc_json_number(o, "victims", p->v.victims.count);
    faultloc_json_number(o, "ranks", p->v.component.count);
    if (p->withdrawn)
        add_number(o, "withdrawn_after_s", sim_seconds(p->withdrawn - p->at));
    return o;
}

static struct json_object *note_json(const struct sim_expectation *e)
{
    struct json_object *o = json_object_new_object();

    faultloc_json_number(o, "rank", e->rank[0]);
    faultloc_json_number(o, "waiting", e->waiters);
    add_bool(o, "right", e->noted > 0);
    if (e->known)
        add_number(o, "latency_s", e->known > e->since ? sim_seconds(e->known - e->since) : 0);
    if (e->noted)
        add_number(o, "noted_s", sim_seconds(e->noted - e->since));
    return o;
}

static struct json_object *notes_json(const struct sim_run *r)
{
    struct json_object *list = json_object_new_array();

    for (int32_t i = 0; i < r->truth.expectations; i++)
        if (r->truth.expectation[i].waiters > 0)
            json_object_array_add(list, note_json(&r->truth.expectation[i]));
    return list;
}

static struct json_object *mistake_json(const struct sim_run *r, const struct sim_report *m)
{
    struct json_object *o = json_object_new_object();
    char text[80];

    name_component(r, FTREE_KIND_NODE, m->v.node, FTREE_NONE, FTREE_NONE, text, sizeof(text));
    faultloc_json_string(o, "component", text);
    faultloc_json_string(o, "rule", m->v.rule);
    faultloc_json_number(o, "fln", m->v.fln);
    add_number(o, "at_s", sim_seconds(m->at - SIM_BEGINS));
    return o;
}

/* Wrong verdicts that some node came to, also those that were over before they were reported. */
static void add_mistakes(const struct sim_run *r, struct json_object *o)
{
    struct json_object *list = json_object_new_array();

    for (int32_t i = 0; i < r->truth.mistakes && i < MISTAKES_SHOWN; i++)
        json_object_array_add(list, mistake_json(r, &r->truth.mistake[i]));
    faultloc_json_number(o, "mistakes_total", r->truth.mistakes);
    json_object_object_add(o, "mistakes", list);
}

static void add_tests(const struct sim_run *r, struct json_object *o)
{
    struct json_object *t;

    if (!r->options->program)
        return;
    t = json_object_new_object();
    faultloc_json_string(t, "program", r->options->program->name);
    add_number(t, "alpha", r->cfg.alpha);
    faultloc_json_number(t, "phases", r->phases);
    faultloc_json_number(t, "tests", (int64_t) r->tests.tests);
    faultloc_json_number(t, "likely", (int64_t) r->tests.likely);
    faultloc_json_number(t, "early", (int64_t) r->tests.early);
    faultloc_json_number(t, "slow", (int64_t) r->tests.slow);
    json_object_object_add(o, "samples", t);
}

static void add_lists(const struct sim_run *r, struct json_object *o)
{
    struct json_object *verdicts = json_object_new_array(), *problems = json_object_new_array();
    struct sim_problem p;
    char text[256];

    for (int32_t i = 0; i < r->truth.reports; i++)
        json_object_array_add(verdicts, verdict_json(r, &r->truth.report[i]));
    for (int32_t i = 0; sim_truth_problem(&r->truth, i, &p); i++) {
        describe(r, &p, text, sizeof(text));
        json_object_array_add(problems, json_object_new_string(text));
    }
    if (r->broken)
        json_object_array_add(problems, json_object_new_string(r->broken));
    json_object_object_add(o, "verdicts", verdicts);
    json_object_object_add(o, "notes", notes_json(r));
    json_object_object_add(o, "problems", problems);
}

struct json_object *sim_result_json(const struct sim_run *r, const struct sim_result *s)
{
    struct json_object *o = json_object_new_object();
    char text[24];

    add_bool(o, "ok", s->ok);
    add_bool(o, "located_within_bound", s->late == 0);
    faultloc_json_number(o, "nodes", r->job.nodes);
    faultloc_json_number(o, "fanout", r->job.fanout);
    snprintf(text, sizeof(text), "%" PRIu64, r->seed);
    faultloc_json_string(o, "seed", text);
    snprintf(text, sizeof(text), "%016" PRIx64, r->hash);
    faultloc_json_string(o, "hash", text);
    faultloc_json_number(o, "expected", r->truth.expectations);
    add_lists(r, o);
    add_number(o, "located_most_s", s->located_max);
    add_mistakes(r, o);
    add_tests(r, o);
    faultloc_json_number(o, "messages_total", (int64_t) r->messages);
    faultloc_json_number(o, "messages_busiest_node", (int64_t) s->busiest_messages);
    faultloc_json_number(o, "messages_busiest_node_beside_suspects",
                         (int64_t) s->busiest_beside_suspects);
    faultloc_json_number(o, "busiest_node", s->busiest);
    add_number(o, "messages_mean", (double) r->messages / r->job.nodes);
    faultloc_json_number(o, "bytes_total", (int64_t) r->bytes);
    faultloc_json_number(o, "messages_of_waits", (int64_t) r->waits_messages);
    faultloc_json_number(o, "bytes_of_waits", (int64_t) r->waits_bytes);
    add_number(o, "bytes_per_handle", s->idle_per_handle);
    add_number(o, "bytes_per_handle_peak", s->peak_per_handle);
    faultloc_json_number(o, "events", (int64_t) r->events);
    faultloc_json_number(o, "ticks", (int64_t) r->ticks);
    add_number(o, "wall_s", s->wall_s);
    return o;
}
