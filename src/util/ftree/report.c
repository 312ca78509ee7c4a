/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <json.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PREFIX "[faultloc] "
#define INDENT "[faultloc]   "

/* ---- strings --------------------------------------------------------------------------------- */

/* Names come from other hosts: what is not plain text could command a terminal, or be no UTF-8. */
static void clean(char *s, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (s[i] < ' ' || s[i] > '~')
            s[i] = '?';
}

/* A growing string; once memory has run out it stays NULL. */
struct text {
    char *s;
    size_t len, room;
    bool failed;
};

static bool reserve(struct text *t, size_t more)
{
    char *s;

    if (t->len + more <= t->room)
        return true;
    s = t->failed ? NULL : realloc(t->s, 2 * t->room + more + 256);
    if (!s) {
        t->failed = true;
        return false;
    }
    t->s = s;
    t->room = 2 * t->room + more + 256;
    return true;
}

static void add(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The only control character of a piece is a newline at the end of its format. */
static void add(struct text *t, const char *format, ...)
{
    bool line = *format && format[strlen(format) - 1] == '\n';
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0 || !reserve(t, (size_t) n + 1))
        return;
    va_start(args, format);
    vsnprintf(t->s + t->len, (size_t) n + 1, format, args);
    va_end(args);
    clean(t->s + t->len, (size_t) n - line);
    t->len += (size_t) n;
}

static char *finish(struct text *t)
{
    if (t->failed) {
        free(t->s);
        return NULL;
    }
    return t->s;
}

const char *ftree_report_errno(int error, char *buf, size_t len)
{
    static const struct {
        int error;
        const char *name;
    } names[] = {
        {ECONNREFUSED, "ECONNREFUSED"},
        {ECONNRESET, "ECONNRESET"},
        {EHOSTUNREACH, "EHOSTUNREACH"},
        {EHOSTDOWN, "EHOSTDOWN"},
        {ENETUNREACH, "ENETUNREACH"},
        {ENETDOWN, "ENETDOWN"},
        {ETIMEDOUT, "ETIMEDOUT"},
        {EADDRNOTAVAIL, "EADDRNOTAVAIL"},
        {EPIPE, "EPIPE"},
        {ECONNABORTED, "ECONNABORTED"},
        {EACCES, "EACCES"},
        {EPERM, "EPERM"},
    };

    if (error == 0)
        return "";
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (names[i].error == error)
            return names[i].name;
    snprintf(buf, len, "errno %d", error);
    return buf;
}

void ftree_report_ranks(const struct ftree_ranks *set, char *buf, size_t len)
{
    static const char more[] = ", ...";
    int32_t listed = 0;
    size_t used = 0;

    buf[0] = '\0';
    for (int32_t i = 0; i < set->ranges; i++) {
        int32_t first = set->range[i].first, last = set->range[i].last;
        char piece[32];
        int n = first == last ? snprintf(piece, sizeof(piece), "%s%d", i ? ", " : "", (int) first)
                              : snprintf(piece, sizeof(piece), "%s%d-%d", i ? ", " : "",
                                         (int) first, (int) last);
        if (used + (size_t) n + sizeof(more) > len) {
            snprintf(buf + used, len - used, "%s", used ? more : "...");
            return;
        }
        memcpy(buf + used, piece, (size_t) n + 1);
        used += (size_t) n;
        listed += last - first + 1;
    }
    if (listed < set->count)
        snprintf(buf + used, len - used, "%s", used ? more : "...");
}

/* ---- what a verdict is about ----------------------------------------------------------------- */

static void node_ranks(const struct ftree_job *job, int32_t node, struct ftree_ranks *set)
{
    int32_t n = job->node_first ? job->node_first[node + 1] - job->node_first[node] : 1;

    memset(set, 0, sizeof(*set));
    set->count = n;
    for (int32_t i = 0; i < n; i++) {
        int32_t rank = job->node_first ? job->node_ranks[job->node_first[node] + i] : node;
        if (set->ranges > 0 && set->range[set->ranges - 1].last + 1 == rank)
            set->range[set->ranges - 1].last = rank;
        else if (set->ranges < FTREE_RANGES_MAX)
            set->range[set->ranges].first = set->range[set->ranges].last = rank, set->ranges++;
    }
}

static void component_ranks(const struct ftree_job *job, const struct ftree_verdict *v,
                            struct ftree_ranks *set)
{
    if (v->rank == FTREE_NONE) {
        node_ranks(job, v->node, set);
        return;
    }
    memset(set, 0, sizeof(*set));
    set->count = set->ranges = 1;
    set->range[0].first = set->range[0].last = v->rank;
}

/* "rank 3" or "ranks 4-7" */
static const char *ranks_text(const struct ftree_ranks *set, char *buf, size_t len)
{
    char list[200];

    ftree_report_ranks(set, list, sizeof(list));
    snprintf(buf, len, "%s %s", set->count == 1 ? "rank" : "ranks", list);
    return buf;
}

static void add_headline(struct text *t, const struct report_job *rj, const struct ftree_verdict *v)
{
    char name[16], ranks[256], pid[32] = "";
    const char *node = ftree_node_name(rj->job, v->node, name, sizeof(name));
    struct ftree_ranks set;

    component_ranks(rj->job, v, &set);
    ranks_text(&set, ranks, sizeof(ranks));
    if (v->pid > 0)
        snprintf(pid, sizeof(pid), "pid %d on ", (int) v->pid);
    add(t, PREFIX "%s: ", ftree_class_name(v->class_));
    switch (v->class_) {
        case FTREE_CLASS_NODE_OUTAGE:
            add(t, "node %s (%s) is down", node, ranks);
            break;
        case FTREE_CLASS_NODE_FROZEN:
            add(t, "node %s (%s) is frozen", node, ranks);
            break;
        case FTREE_CLASS_PROCESS_CRASH:
            add(t, "%s (%snode %s) ended without MPI_Finalize", ranks, pid, node);
            break;
        case FTREE_CLASS_PROCESS_STOPPED:
            add(t, "%s (%snode %s) is stopped", ranks, pid, node);
            break;
        default:
            add(t, "node %s (%s): cause not found", node, ranks);
            break;
    }
    add(t, " -- %s, confidence %d%%\n", ftree_origin_name(ftree_class_origin(v->class_)),
        (v->confidence + 5) / 10);
}

/* ---- text ------------------------------------------------------------------------------------ */

static void add_place(struct text *t, const struct report_job *rj, const struct ftree_evidence *e)
{
    char address[64];
    const char *a = rj->address
                        ? rj->address(rj->address_ctx, e->target, e->path, address, sizeof(address))
                        : NULL;

    add(t, "%s%s%s", ftree_path_name(e->path), a ? " " : "", a ? a : "");
}

static void add_evidence(struct text *t, const struct report_job *rj,
                         const struct ftree_evidence *e)
{
    char name[16], error[24];
    const char *target = ftree_node_name(rj->job, e->target, name, sizeof(name));
    const char *errname = ftree_report_errno(e->error, error, sizeof(error));

    if (e->path == FTREE_PATHS) {
        add(t, "the kernel of %s says the process is %s", target,
            e->proc_state == 'X'   ? "gone"
            : e->proc_state == 't' ? "held by a debugger (state t)"
                                   : "stopped (state T)");
        return;
    }
    add(t, "%s%s on ", target, e->role == FTREE_ROLE_DEPUTY ? "'s deputy" : "");
    add_place(t, rj, e);
    add(t, ": %s", ftree_reach_name(e->reach));
    if (*errname)
        add(t, " (%s)", errname);
    if (e->proc_state)
        add(t, ", says state %c", e->proc_state);
}

static void add_candidates(struct text *t, const struct ftree_verdict *v)
{
    bool first = true;

    for (int32_t i = 0; i < v->candidates; i++) {
        if (v->candidate[i].ruled_out)
            continue;
        add(t, "%s%s (%d%%)", first ? INDENT "not ruled out: " : ", ",
            ftree_class_name(v->candidate[i].class_), (v->candidate[i].confidence + 5) / 10);
        first = false;
    }
    if (!first)
        add(t, "\n");
}

char *ftree_report_text(const struct report_job *rj, const struct ftree_verdict *v,
                        const char *json_file)
{
    struct ftree_ranks component;
    char list[400], name[16];
    struct text t = {0};

    add_headline(&t, rj, v);
    add(&t, INDENT "located %.1f s after the first symptom by node %s; rule %s\n",
        (double) (v->located - v->first_symptom) / 1e9,
        ftree_node_name(rj->job, v->fln, name, sizeof(name)), ftree_rule_name(v->rule));
    add(&t, INDENT "because %s\n", ftree_rule_text(v->rule));
    for (int32_t i = 0; i < v->evidences; i++) {
        add(&t, "%s", i ? INDENT "          " : INDENT "evidence: ");
        add_evidence(&t, rj, &v->evidence[i]);
        add(&t, "\n");
    }
    add_candidates(&t, v);
    component_ranks(rj->job, v, &component);
    ftree_report_ranks(&v->victims, list, sizeof(list));
    add(&t, INDENT "victims: %d %s, directly or in a chain, for ", (int) v->victims.count,
        v->victims.count == 1 ? "rank waits" : "ranks wait");
    add(&t, "%s%s%s\n", ranks_text(&component, (char[256]){0}, 256), v->victims.count ? ": " : "",
        list);
    if (json_file && *json_file)
        add(&t, INDENT "full report: %s\n", json_file);
    return finish(&t);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void set(struct json_object *o, const char *key, struct json_object *value)
{
    json_object_object_add(o, key, value);
}

static void set_string(struct json_object *o, const char *key, const char *s)
{
    char *copy = strdup(s);

    if (copy)
        clean(copy, strlen(copy));
    set(o, key, copy ? json_object_new_string(copy) : NULL);
    free(copy);
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
    set(o, key, json_object_new_double_s((double) thousandths / 1000.0, buf));
}

static struct json_object *json_ranks(const struct ftree_ranks *ranks)
{
    struct json_object *a = json_object_new_array();

    for (int32_t i = 0; i < ranks->ranges; i++)
        for (int32_t r = ranks->range[i].first; r <= ranks->range[i].last; r++)
            json_object_array_add(a, json_object_new_int(r));
    return a;
}

/* All of them, however scattered over the nodes ranks are. */
static struct json_object *json_node_ranks(const struct ftree_job *job, int32_t node)
{
    struct json_object *a = json_object_new_array();
    int32_t n = job->node_first ? job->node_first[node + 1] - job->node_first[node] : 1;

    for (int32_t i = 0; i < n; i++)
        json_object_array_add(
            a, json_object_new_int(job->node_first ? job->node_ranks[job->node_first[node] + i]
                                                   : node));
    return a;
}

static struct json_object *json_component(const struct ftree_job *job,
                                          const struct ftree_verdict *v)
{
    struct json_object *o = json_object_new_object();
    struct ftree_ranks ranks;
    char name[16], label[256];
    const char *node = ftree_node_name(job, v->node, name, sizeof(name));

    component_ranks(job, v, &ranks);
    set_string(o, "kind", v->kind == FTREE_KIND_RANK ? "rank" : "node");
    if (v->kind == FTREE_KIND_RANK)
        ftree_report_ranks(&ranks, label, sizeof(label));
    set_string(o, "name", v->kind == FTREE_KIND_RANK ? label : node);
    set_string(o, "node", node);
    set(o, "ranks", v->rank == FTREE_NONE ? json_node_ranks(job, v->node) : json_ranks(&ranks));
    if (v->pid > 0)
        set(o, "pid", json_object_new_int(v->pid));
    return o;
}

static struct json_object *json_evidence(const struct report_job *rj,
                                         const struct ftree_evidence *e)
{
    struct json_object *o = json_object_new_object();
    char name[16], error[24], address[64], state[2] = {e->proc_state, '\0'};
    const char *a = NULL;

    set_string(o, "source", e->path == FTREE_PATHS ? "proc" : "probe");
    set_string(o, "path", ftree_path_name(e->path));
    if (e->path < FTREE_PATHS)
        set_string(o, "role", e->role == FTREE_ROLE_DEPUTY ? "deputy" : "agent");
    set_string(o, "target", ftree_node_name(rj->job, e->target, name, sizeof(name)));
    if (e->path < FTREE_PATHS && rj->address)
        a = rj->address(rj->address_ctx, e->target, e->path, address, sizeof(address));
    if (a)
        set_string(o, "address", a);
    set_string(o, "result", e->path == FTREE_PATHS ? "answered" : ftree_reach_name(e->reach));
    if (e->error)
        set_string(o, "errno", ftree_report_errno(e->error, error, sizeof(error)));
    if (e->proc_state)
        set_string(o, "process_state", state);
    set_string(o, "by", ftree_node_name(rj->job, e->by, name, sizeof(name)));
    set_time(o, "at", unix_ms(rj, e->at));
    return o;
}

static struct json_object *json_candidate(const struct report_job *rj,
                                          const struct ftree_verdict *v, int32_t i)
{
    const struct ftree_candidate *c = &v->candidate[i];
    struct json_object *o = json_object_new_object(), *component = json_object_new_object();
    char name[16];

    set_string(component, "kind", "node");
    set_string(component, "name", ftree_node_name(rj->job, v->node, name, sizeof(name)));
    set_string(o, "class", ftree_class_name(c->class_));
    set(o, "component", component);
    set_fraction(o, "confidence", c->confidence);
    if (c->ruled_out)
        set_string(o, "ruled_out_by", ftree_rule_name(v->rule));
    return o;
}

static struct json_object *json_verdict(const struct report_job *rj, const struct ftree_verdict *v)
{
    struct json_object *o = json_object_new_object(), *victims = json_object_new_object();
    struct json_object *evidence = json_object_new_array(), *candidates = json_object_new_array();
    char name[16];

    set_string(o, "class", ftree_class_name(v->class_));
    set_string(o, "origin", ftree_origin_name(ftree_class_origin(v->class_)));
    set_fraction(o, "confidence", v->confidence);
    set(o, "component", json_component(rj->job, v));
    set_time(o, "first_symptom", unix_ms(rj, v->first_symptom));
    set_time(o, "located", unix_ms(rj, v->located));
    set_fraction(o, "latency_s", (v->located - v->first_symptom) / FTREE_MS);
    set_string(o, "rule", ftree_rule_name(v->rule));
    set_string(o, "because", ftree_rule_text(v->rule));
    set_string(o, "fln", ftree_node_name(rj->job, v->fln, name, sizeof(name)));
    set(o, "symptoms", json_object_new_int64(v->symptoms));
    for (int32_t i = 0; i < v->evidences; i++)
        json_object_array_add(evidence, json_evidence(rj, &v->evidence[i]));
    set(o, "evidence", evidence);
    set(victims, "count", json_object_new_int(v->victims.count));
    set(victims, "ranks", json_ranks(&v->victims));
    set(o, "victims", victims);
    for (int32_t i = 0; i < v->candidates; i++)
        json_object_array_add(candidates, json_candidate(rj, v, i));
    set(o, "candidates", candidates);
    return o;
}

char *ftree_report_json(const struct report_job *rj, const struct ftree_verdict *const *verdicts,
                        int32_t n)
{
    struct json_object *o = json_object_new_object(), *job = json_object_new_object();
    struct json_object *list = json_object_new_array();
    const char *s;
    char *copy;

    set_string(o, "schema", "faultloc-report/1");
    set_string(job, "id", rj->id);
    set(job, "size", json_object_new_int(rj->job->size));
    set(job, "nodes", json_object_new_int(rj->job->nodes));
    set_time(job, "started", rj->started_ms);
    set(o, "job", job);
    for (int32_t i = 0; i < n; i++)
        json_object_array_add(list, json_verdict(rj, verdicts[i]));
    set(o, "verdicts", list);
    s = json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
                                              JSON_C_TO_STRING_NOSLASHESCAPE);
    copy = s ? strdup(s) : NULL;
    json_object_put(o);
    return copy;
}
