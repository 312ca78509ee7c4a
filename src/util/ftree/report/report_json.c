/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/report/report_int.h"

#include "ftree/base/base.h"
#include "ftree/base/text.h"
#include "ftree/topology/tree.h"

#include <inttypes.h>
#include <json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- text -------------------------------------------------------------------------------------- */

/* The code of a character of UTF-8, of `n` bytes, 0: it is none. */
static unsigned code_of(const unsigned char *s, size_t n)
{
    unsigned code = n > 1 ? s[0] & 0x7fu >> n : s[0];

    for (size_t i = 1; i < n; i++)
        code = code << 6 | (s[i] & 0x3fu);
    return n ? code : 0xfffd; /* of four all are printable */
}

/* Returns how long it becomes, without the zero at its end; out may be NULL.  What is below ' ' is
 * between values: in strings json-c has escaped it. */
static size_t escape(const char *json, size_t len, char *out)
{
    const unsigned char *s = (const unsigned char *) json, *end = s + len;
    size_t to = 0, n, kept;

    for (; s < end; s += n ? n : 1) {
        n = ftree_text_character(s, (size_t) (end - s));
        kept = *s < ' ' ? 1 : ftree_text_printable(s, (size_t) (end - s));
        if (out && kept)
            memcpy(out + to, s, kept);
        else if (out)
            snprintf(out + to, 7, "\\u%04x", code_of(s, n));
        to += kept ? kept : 6;
    }
    return to;
}

char *ftree_report_json_text(struct json_object *o, int flags)
{
    const char *json = o ? json_object_to_json_string_ext(o, flags) : NULL;
    size_t len = json ? strlen(json) : 0, room = json ? escape(json, len, NULL) : 0;
    char *text = json ? malloc(room + 7) : NULL;

    if (text) {
        escape(json, len, text);
        text[room] = '\0';
    }
    return text;
}

/* ---- values ---------------------------------------------------------------------------------- */

static char lacks_one; /* its address marks an object or array that memory was wanting for */

/* json-c takes memory for a member's place, too. */
static void lose(struct json_object *whole, struct json_object *value)
{
    if (whole)
        json_object_set_userdata(whole, &lacks_one, NULL);
    json_object_put(value);
}

void report_set(struct json_object *o, const char *key, struct json_object *value)
{
    if (!o || json_object_object_add(o, key, value))
        lose(o, value);
}

void report_append(struct json_object *list, struct json_object *value)
{
    if (!list || json_object_array_add(list, value))
        lose(list, value);
}

static struct json_object *json_text(const char *s)
{
    char *copy = strdup(s);
    struct json_object *o;

    if (!copy)
        return NULL;
    ftree_text_ascii(copy); /* the schema has printable ASCII only */
    o = json_object_new_string(copy);
    free(copy);
    return o;
}

static void set_string(struct json_object *o, const char *key, const char *s)
{
    report_set(o, key, json_text(s));
}

static void set_time(struct json_object *o, const char *key, int64_t unix_ms)
{
    time_t seconds = (time_t) (unix_ms / 1000);
    char date[32], buf[48];
    struct tm tm;

    gmtime_r(&seconds, &tm);
    strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(buf, sizeof(buf), "%s.%03dZ", date, (int) (unix_ms % 1000));
    set_string(o, key, buf);
}

static int64_t unix_ms(const struct report_job *rj, ftree_time at)
{
    return rj->now_ms - (int64_t) (rj->now - at) / (int64_t) FTREE_MS;
}

/* 1/1000 as a number with as many digits */
static void set_fraction(struct json_object *o, const char *key, uint64_t thousandths)
{
    char buf[32];

    snprintf(buf, sizeof(buf), "%" PRIu64 ".%03d", thousandths / 1000, (int) (thousandths % 1000));
    report_set(o, key, json_object_new_double_s((double) thousandths / 1000.0, buf));
}

static void set_tenths(struct json_object *o, const char *key, double value)
{
    char buf[32];

    snprintf(buf, sizeof(buf), "%.1f", value);
    report_set(o, key, json_object_new_double_s(value, buf));
}

static struct json_object *json_ranks(const struct ftree_ranks *ranks)
{
    struct json_object *a = json_object_new_array();

    for (int32_t i = 0; i < ranks->ranges; i++)
        for (int32_t r = ranks->range[i].first; r <= ranks->range[i].last; r++)
            report_append(a, json_object_new_int(r));
    return a;
}

/* All of them, however scattered they are. */
static struct json_object *json_component_ranks(const struct ftree_job *job,
                                                const struct ftree_verdict *v)
{
    struct json_object *a = json_object_new_array();

    for (int32_t r = report_next_rank(job, v, -1); r != FTREE_NONE; r = report_next_rank(job, v, r))
        report_append(a, json_object_new_int(r));
    return a;
}

static void set_unless_empty(struct json_object *o, const char *key, const char *s)
{
    if (*s)
        set_string(o, key, s);
}

/* ---- a verdict ------------------------------------------------------------------------------- */

static struct json_object *json_component(const struct ftree_job *job,
                                          const struct ftree_verdict *v,
                                          const struct report_about *a)
{
    struct json_object *o = json_object_new_object();

    set_string(o, "kind", a->kind);
    set_string(o, "name", a->name);
    set_string(o, "node", a->node);
    set_unless_empty(o, "switch", a->leaf);
    report_set(o, "ranks", json_component_ranks(job, v));
    if (v->component.count > 0)
        report_set(o, "count", json_object_new_int(v->component.count));
    if (a->nodes > 1)
        report_set(o, "nodes", json_object_new_int(a->nodes));
    if (a->pid > 0)
        report_set(o, "pid", json_object_new_int(a->pid));
    return o;
}

/* NULL: it is not known. */
static const char *address_of(const struct report_job *rj, int32_t node, int path, char *buf,
                              size_t len)
{
    if (!rj->address || path >= FTREE_PATHS)
        return NULL;
    return rj->address(rj->address_ctx, node, (enum ftree_path) path, buf, len);
}

/* One end of what the ranks' data pass. */
static struct json_object *json_link_end(const struct report_job *rj, int32_t node)
{
    struct json_object *o = json_object_new_object(), *ranks = json_object_new_array();
    const char *text;
    char buf[80];

    set_string(o, "node", ftree_node_name(rj->job, node, buf, sizeof(buf)));
    text = rj->interface ? rj->interface(rj->address_ctx, node, buf, sizeof(buf)) : NULL;
    if (text)
        set_string(o, "interface", text);
    text = address_of(rj, node, FTREE_PATH_DATA, buf, sizeof(buf));
    if (text)
        set_string(o, "address", text);
    text = rj->port ? rj->port(rj->address_ctx, node, buf, sizeof(buf)) : NULL;
    if (text)
        set_string(o, "port", text);
    for (int32_t i = 0; i < ftree_ranks_of(rj->job, node); i++)
        report_append(ranks, json_object_new_int(ftree_rank_at(rj->job, node, i)));
    report_set(o, "ranks", ranks);
    return o;
}

/* The fault may be in a node's link: true of what is known, and of what is left open. */
static bool is_about_link(const struct ftree_verdict *v)
{
    if (v->class_ == FTREE_CLASS_UNKNOWN)
        return report_tickets(v) >> FTREE_TICKET_NETWORK & 1;
    return v->kind != FTREE_KIND_SWITCH && ftree_class_says(v->class_, FTREE_IS_PATH);
}

/* The node's, and that of who found it. */
static void set_link(struct json_object *o, const struct report_job *rj, const struct ftree_verdict *v)
{
    struct json_object *ends;

    if (!is_about_link(v))
        return;
    ends = json_object_new_array();
    report_append(ends, json_link_end(rj, v->node));
    if (v->fln != v->node)
        report_append(ends, json_link_end(rj, v->fln));
    report_set(o, "link", ends);
}

/* What asking came to; of what says something by itself, "answered". */
static enum ftree_reach result_of(const struct ftree_evidence *e)
{
    if (e->source == FTREE_EVIDENCE_PROBE || e->source == FTREE_EVIDENCE_INDIRECT)
        return (enum ftree_reach) e->reach;
    return e->source == FTREE_EVIDENCE_SYMPTOM || e->source >= FTREE_EVIDENCE_HANDLER
               ? FTREE_REACH_NOT_ASKED
               : FTREE_REACH_ANSWERED;
}

struct json_object *report_json_evidence(const struct report_job *rj, const struct ftree_verdict *v,
                                         int32_t i)
{
    static const char *const sources[] = {
        [FTREE_EVIDENCE_PROBE] = "probe",     [FTREE_EVIDENCE_PROC] = "proc",
        [FTREE_EVIDENCE_STATE] = "state",     [FTREE_EVIDENCE_LOG] = "log",
        [FTREE_EVIDENCE_SYMPTOM] = "symptom", [FTREE_EVIDENCE_INDIRECT] = "visit",
        [FTREE_EVIDENCE_WAIT] = "wait",       [FTREE_EVIDENCE_SAMPLE] = "sample",
        [FTREE_EVIDENCE_CONNECTION] = "connection", [FTREE_EVIDENCE_BURST] = "burst",
        [FTREE_EVIDENCE_FABRIC] = "fabric",
        [FTREE_EVIDENCE_HANDLER] = "handler",       [FTREE_EVIDENCE_CAUSE] = "cause",
        [FTREE_EVIDENCE_UNKNOWN] = "unknown"};
    const struct ftree_evidence *e = &v->evidence[i];
    struct json_object *o = json_object_new_object();
    char buf[64], place[256];
    const char *address;

    set_string(o, "source", sources[e->source]);
    set_string(o, "path", ftree_path_name(e->path));
    if (e->path < FTREE_PATHS)
        set_string(o, "role", e->role == FTREE_ROLE_DEPUTY ? "deputy" : "agent");
    set_string(o, "target", ftree_node_name(rj->job, e->target, buf, sizeof(buf)));
    address = address_of(rj, e->target, e->path, buf, sizeof(buf));
    if (address)
        set_string(o, "address", address);
    set_string(o, "result", ftree_reach_name(result_of(e)));
    set_unless_empty(o, "errno", ftree_report_errno(e->error, buf, sizeof(buf)));
    set_unless_empty(o, "process_state", (char[2]){e->proc_state});
    set_unless_empty(o, "detail", e->detail);
    report_place(rj, v, i, place, sizeof(place));
    set_unless_empty(o, "place", place);
    if (e->source == FTREE_EVIDENCE_CAUSE)
        set_tenths(o, "before_s", ((double) v->first_symptom - (double) e->at) / 1e9);
    set_string(o, "by", ftree_node_name(rj->job, e->by, buf, sizeof(buf)));
    set_time(o, "at", unix_ms(rj, e->at));
    return o;
}

/* The kind and the name of the component that a candidate would be about. */
static const char *candidate_of(const struct ftree_job *job, const struct ftree_verdict *v,
                                int class_, char *buf, size_t len, const char **kind)
{
    int32_t leaf = job->tree ? job->tree->node_switch[v->node] : FTREE_NONE;

    *kind = ftree_kind_name(ftree_class_kind(class_));
    if (ftree_class_kind(class_) == FTREE_KIND_SWITCH && leaf != FTREE_NONE)
        return job->tree->switch_name[leaf];
    if (ftree_class_kind(class_) == FTREE_KIND_RANK && v->rank != FTREE_NONE) {
        snprintf(buf, len, "%d", (int) v->rank);
        return buf;
    }
    /* the nearest that has a name */
    if (ftree_class_kind(class_) == FTREE_KIND_SWITCH ||
        ftree_class_kind(class_) == FTREE_KIND_RANK)
        *kind = ftree_kind_name(FTREE_KIND_NODE);
    return ftree_node_name(job, v->node, buf, len);
}

static struct json_object *json_candidate(const struct report_job *rj,
                                          const struct ftree_verdict *v, int32_t i)
{
    const struct ftree_candidate *c = &v->candidate[i];
    struct json_object *o = json_object_new_object(), *component = json_object_new_object();
    const char *kind, *name;
    char buf[16];

    name = candidate_of(rj->job, v, c->class_, buf, sizeof(buf), &kind);
    set_string(component, "kind", kind);
    set_string(component, "name", name);
    set_string(o, "class", ftree_class_name(c->class_));
    report_set(o, "component", component);
    set_fraction(o, "confidence", c->confidence);
    if (c->ruled_out)
        set_string(o, "ruled_out_by", v->rule);
    return o;
}

static void set_times(struct json_object *o, const struct report_job *rj,
                      const struct ftree_verdict *v)
{
    set_time(o, "first_symptom", unix_ms(rj, v->first_symptom));
    set_time(o, "located", unix_ms(rj, v->located));
    set_fraction(o, "latency_s", (v->located - v->first_symptom) / FTREE_MS);
    if (v->withdrawn)
        set_time(o, "withdrawn",
                 unix_ms(rj, v->withdrawn > v->located ? v->withdrawn : v->located));
}

/* How much of the walltime was left when it was located, seconds; -1: not known, or it is none. */
static int64_t walltime_left(const struct report_job *rj, const struct ftree_verdict *v)
{
    int64_t located_ms = rj->now_ms - (int64_t) (rj->now - v->located) / (int64_t) FTREE_MS;
    int64_t ends_ms = located_ms + (int64_t) (v->holds_back / FTREE_MS);

    if (rj->walltime.end_ms == 0 || !report_ends_job(rj, v))
        return -1;
    return ends_ms < rj->walltime.end_ms ? (rj->walltime.end_ms - ends_ms) / 1000 : 0;
}

static void set_walltime(struct json_object *o, const struct report_job *rj,
                         const struct ftree_verdict *v)
{
    int64_t left = walltime_left(rj, v);
    struct json_object *w;

    if (left < 0)
        return;
    w = json_object_new_object();
    report_set(w, "left_s", json_object_new_int64(left));
    if (rj->walltime.limit_s > 0)
        report_set(w, "limit_s", json_object_new_int64(rj->walltime.limit_s));
    if (rj->walltime.at_most)
        report_set(w, "at_most", json_object_new_boolean(true));
    report_set(o, "walltime", w);
}

/* In three digits, however small it is. */
static void set_number(struct json_object *o, const char *key, double value)
{
    double known = value >= 0 && value <= 1e9 ? value : 0; /* JSON has no infinity */
    char buf[32];

    snprintf(buf, sizeof(buf), "%.3g", known);
    report_set(o, key, json_object_new_double_s(known, buf));
}

static struct json_object *json_s_out(const struct ftree_statistics *s)
{
    struct json_object *o = json_object_new_object();

    report_set(o, "samples", json_object_new_int(s->s_out.n));
    report_set(o, "threshold", json_object_new_int(s->s_out.t));
    report_set(o, "run", json_object_new_int(s->s_out.run));
    report_set(o, "needed", json_object_new_int(s->s_out.needed));
    set_number(o, "q", s->s_out.q);
    set_fraction(o, "interval_s", s->s_out.interval / FTREE_MS);
    set_number(o, "significance", s->s_out.significance);
    return o;
}

static struct json_object *json_stay(const struct ftree_statistics *s)
{
    struct json_object *o = json_object_new_object();

    set_fraction(o, "stay_s", s->stay.stay / FTREE_MS);
    set_fraction(o, "longest_before_s", s->stay.longest / FTREE_MS);
    set_fraction(o, "history_s", s->stay.before / FTREE_MS);
    report_set(o, "tail_exponent", json_object_new_int(s->stay.exponent));
    report_set(o, "ranks_tested", json_object_new_int(s->stay.ranks));
    set_number(o, "significance", s->stay.significance);
    return o;
}

static void set_statistics(struct json_object *o, const struct ftree_statistics *s)
{
    struct json_object *statistics, *history;

    if (!(s->alpha > 0))
        return;
    statistics = json_object_new_object();
    history = json_object_new_array();
    set_number(statistics, "alpha", s->alpha);
    if (s->s_out.known)
        report_set(statistics, "s_out", json_s_out(s));
    report_set(statistics, "stay", json_stay(s));
    for (int32_t i = 0; i < s->samples; i++)
        report_append(history, json_object_new_int(s->sample[i]));
    report_set(statistics, "s_out_history", history);
    report_set(o, "statistics", statistics);
}

static void set_lost_time(struct json_object *o, const struct ftree_statistics *s)
{
    struct json_object *lost;

    if (s->lost.percent <= 0)
        return;
    lost = json_object_new_object();
    report_set(lost, "percent", json_object_new_int(s->lost.percent));
    set_fraction(lost, "outside_mpi_before", (uint64_t) s->lost.before);
    set_fraction(lost, "outside_mpi_now", (uint64_t) s->lost.now);
    report_set(o, "lost_time", lost);
}

static void set_stacks(struct json_object *o, const struct report_job *rj,
                       const struct ftree_verdict *v)
{
    const struct report_stacks *s = report_stacks(rj, v);

    if (s && s->json)
        report_set(o, "stacks", json_object_get(s->json));
    if (s)
        set_unless_empty(o, "no_stacks", s->why);
}

static struct json_object *json_tickets(unsigned all)
{
    struct json_object *list = json_object_new_array();

    for (int t = 0; t < FTREE_TICKET_COUNT; t++)
        if (all >> t & 1)
            report_append(list, json_text(ftree_ticket_name(t)));
    return list;
}

static struct json_object *json_symptom_kinds(uint64_t kinds)
{
    struct json_object *list = json_object_new_array();

    for (int k = 0; k < FTREE_SYMPTOM_COUNT; k++)
        if (kinds >> k & 1)
            report_append(list, json_text(ftree_symptom_info(k)->name));
    return list;
}

struct json_object *report_json_verdict(const struct report_job *rj, const struct ftree_verdict *v)
{
    struct json_object *o = json_object_new_object(), *victims = json_object_new_object();
    struct json_object *evidence = json_object_new_array(), *candidates = json_object_new_array();
    struct report_about about;
    struct report_room room;
    char name[16];

    report_about(rj->job, v, &room, &about);
    report_set(o, "id", json_object_new_int64(v->id));
    set_string(o, "class", about.class_);
    set_string(o, "origin", about.origin);
    report_set(o, "ticket", json_tickets(report_tickets(v)));
    set_fraction(o, "confidence", v->confidence);
    report_set(o, "component", json_component(rj->job, v, &about));
    set_times(o, rj, v);
    set_string(o, "rule", v->rule);
    set_unless_empty(o, "raised_by", v->raised_by);
    set_string(o, "because", v->because);
    set_string(o, "fln", ftree_node_name(rj->job, v->fln, name, sizeof(name)));
    report_set(o, "symptoms", json_object_new_int64(v->symptoms));
    if (v->symptom_kinds)
        report_set(o, "symptom_kinds", json_symptom_kinds(v->symptom_kinds));
    set_link(o, rj, v);
    for (int32_t i = 0; i < v->evidences; i++)
        report_append(evidence, report_json_evidence(rj, v, i));
    report_set(o, "evidence", evidence);
    set_statistics(o, &v->statistics);
    set_lost_time(o, &v->statistics);
    set_stacks(o, rj, v);
    report_set(victims, "count", json_object_new_int(v->victims.count));
    report_set(victims, "ranks", json_ranks(&v->victims));
    report_set(o, "victims", victims);
    set_walltime(o, rj, v);
    for (int32_t i = 0; i < v->candidates; i++)
        report_append(candidates, json_candidate(rj, v, i));
    report_set(o, "candidates", candidates);
    return o;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static struct json_object *json_job(const struct report_job *rj)
{
    struct json_object *o = json_object_new_object();

    set_string(o, "id", rj->id);
    report_set(o, "size", json_object_new_int(rj->job->size));
    report_set(o, "nodes", json_object_new_int(rj->job->nodes));
    set_time(o, "started", rj->started_ms);
    return o;
}

static void set_node_of_rank(struct json_object *o, const struct ftree_job *job, int32_t rank)
{
    char buf[16];

    set_string(o, "node",
               ftree_node_name(job, job->rank_node ? job->rank_node[rank] : rank, buf, sizeof(buf)));
}

static struct json_object *json_end(const struct ftree_job *job, const struct ftree_waiting *w, int i)
{
    struct json_object *o = json_object_new_object();
    int64_t still = (int64_t) (w->end[i].still / (1000 * FTREE_MS));

    report_set(o, "rank", json_object_new_int(w->end[i].rank));
    set_node_of_rank(o, job, w->end[i].rank);
    set_string(o, "state", w->end[i].state);
    if (still > 0)
        report_set(o, "no_cpu_time_s", json_object_new_int64(still));
    if (w->end[i].count > 0)
        report_set(o, "count", json_object_new_int(w->end[i].count));
    return o;
}

static struct json_object *json_class(const struct ftree_job *job, const struct ftree_waiting *w,
                                      int i)
{
    struct json_object *o = json_object_new_object();

    set_unless_empty(o, "call", w->class_[i].call);
    set_unless_empty(o, w->count == 0 ? "asleep_in" : "communicator", w->class_[i].comm);
    set_unless_empty(o, "example_waits_for", w->class_[i].on);
    report_set(o, "count", json_object_new_int(w->class_[i].count));
    report_set(o, "example", json_object_new_int(w->class_[i].example));
    set_node_of_rank(o, job, w->class_[i].example);
    return o;
}

struct json_object *report_json_waiting(const struct report_job *rj)
{
    const struct ftree_waiting *w = rj->waiting;
    struct json_object *o = json_object_new_object();
    struct json_object *ends = json_object_new_array(), *classes = json_object_new_array();

    set_time(o, "at", unix_ms(rj, rj->waiting_at));
    report_set(o, "waited_s", json_object_new_int64((int64_t) (w->waiting / (1000 * FTREE_MS))));
    report_set(o, "count", json_object_new_int(w->count));
    for (int i = 0; i < w->ends; i++)
        report_append(ends, json_end(rj->job, w, i));
    report_set(o, "ends", ends);
    for (int i = 0; i < w->classes; i++)
        report_append(classes, json_class(rj->job, w, i));
    report_set(o, "classes", classes);
    return o;
}

/* Whether a question to this node went unanswered. */
static bool was_silent(const struct ftree_verdict *v, int32_t node)
{
    for (int32_t i = 0; i < v->evidences; i++) {
        const struct ftree_evidence *e = &v->evidence[i];
        if (e->source == FTREE_EVIDENCE_PROBE && e->target == node &&
            (e->reach == FTREE_REACH_SILENT || e->reach == FTREE_REACH_UNREACHABLE ||
             e->reach == FTREE_REACH_LOCAL_DOWN))
            return true;
    }
    return false;
}

static const char *state_by(const struct report_job *rj, const struct ftree_verdict *v,
                            int32_t node)
{
    bool behind = v->class_ == FTREE_CLASS_SWITCH_FAULT && rj->job->tree && v->switch_ != FTREE_NONE
                      ? ftree_tree_is_behind(rj->job->tree, v->switch_, node)
                      : v->node == node;

    if (!behind)
        return "alive";
    if (ftree_class_says(v->class_, FTREE_NODE_DEAD))
        return "dead";
    return ftree_class_says(v->class_, FTREE_NODE_UNREACHABLE) ||
                   (v->class_ == FTREE_CLASS_UNKNOWN && was_silent(v, node))
               ? "unreachable"
               : "alive";
}

/* "alive", "dead" or "unreachable", as the verdicts known say. */
static const char *state_of_node(const struct report_job *rj, int32_t node)
{
    const char *state = "alive";

    for (int32_t i = 0; i < rj->knowns; i++) {
        const char *s = rj->known[i]->withdrawn ? "alive" : state_by(rj, rj->known[i], node);
        if (report_is(s, "dead") || report_is(state, "alive"))
            state = s;
    }
    return state;
}

static struct json_object *json_nodes(const struct report_job *rj)
{
    struct json_object *list = json_object_new_array();
    char buf[64];

    for (int32_t n = 0; n < rj->job->nodes; n++) {
        struct json_object *o = json_object_new_object(), *address = json_object_new_object();
        set_string(o, "name", ftree_node_name(rj->job, n, buf, sizeof(buf)));
        for (int path = 0; path < FTREE_PATHS; path++) {
            const char *a = address_of(rj, n, path, buf, sizeof(buf));
            if (a)
                set_string(address, ftree_path_name(path), a);
        }
        report_set(o, "address", address);
        set_string(o, "state", state_of_node(rj, n));
        report_append(list, o);
    }
    return list;
}

/* Nothing in a report is null, but what memory was wanting for. */
bool report_is_whole(struct json_object *v)
{
    if (json_object_is_type(v, json_type_array)) {
        for (size_t i = 0; i < json_object_array_length(v); i++)
            if (!report_is_whole(json_object_array_get_idx(v, i)))
                return false;
    } else if (json_object_is_type(v, json_type_object)) {
        json_object_object_foreach (v, key, member) {
            (void) key;
            if (!report_is_whole(member))
                return false;
        }
    }
    return v && json_object_get_userdata(v) != &lacks_one;
}

static struct json_object *json_change(const struct report_job *rj, const struct report_change *c)
{
    struct json_object *o = json_object_new_object();

    set_time(o, "at", unix_ms(rj, c->at));
    report_set(o, "uid", json_object_new_int64(c->uid));
    set_string(o, "what", c->what);
    return o;
}

static struct json_object *json_changes(const struct report_job *rj)
{
    struct json_object *list = json_object_new_array();

    for (int32_t i = 0; i < rj->changes; i++)
        report_append(list, json_change(rj, rj->change[i]));
    return list;
}

void report_set_surroundings(struct json_object *o, const struct report_job *rj)
{
    struct json_object *trace = json_object_new_array();

    if (rj->verbose || (rj->job->node_name && rj->job->nodes <= REPORT_NODES_MAX))
        report_set(o, "node_table", json_nodes(rj));
    for (int32_t i = 0; i < rj->traces; i++)
        report_append(trace, json_text(rj->trace[i]));
    report_set(o, "trace", trace);
}

char *ftree_report_json(const struct report_job *rj)
{
    struct json_object *o = json_object_new_object(), *list = json_object_new_array();
    char *text = NULL;

    set_string(o, "schema", "faultloc-report/1");
    report_set(o, "job", json_job(rj));
    for (int32_t i = 0; i < rj->knowns; i++)
        report_append(list, report_json_verdict(rj, rj->known[i]));
    report_set(o, "verdicts", list);
    if (rj->waiting)
        report_set(o, "waiting", report_json_waiting(rj));
    if (rj->changes > 0)
        report_set(o, "settings", json_changes(rj));
    report_set_surroundings(o, rj);
    if (report_is_whole(o))
        text = ftree_report_json_text(o, FTREE_REPORT_JSON_FLAGS);
    json_object_put(o);
    return text;
}
