/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/report/report_int.h"

#include "ftree/base/text.h"

#include <json.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "[faultloc] "
#define INDENT "[faultloc]   "
#define LINE 2048

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

/* The only control character of a piece is a newline at the end of its format, which is never
 * empty. */
static void add(struct text *t, const char *format, ...)
{
    bool line = format[strlen(format) - 1] == '\n';
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
    ftree_text_clean(t->s + t->len, (size_t) n - line, '?');
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

/* ---- the lines ------------------------------------------------------------------------------- */

static void add_headline(struct text *t, const struct report_about *a)
{
    char line[LINE];

    ftree_report_first_line(a, line, sizeof(line));
    add(t, PREFIX "%s\n", line);
}

static void add_rule(struct text *t, const struct report_job *rj, const struct ftree_verdict *v)
{
    char name[16];

    add(t, INDENT "located by %s, %.1f s after the first symptom; rule %s%s%s\n",
        ftree_node_name(rj->job, v->fln, name, sizeof(name)),
        (double) (v->located - v->first_symptom) / 1e9, v->rule,
        v->raised_by[0] ? ", raised by " : "", v->raised_by);
    add(t, INDENT "because %s\n", v->because);
}

static void add_evidence(struct text *t, const struct report_job *rj, const struct ftree_verdict *v)
{
    struct report_evidence_room room;
    struct report_evidence words;
    char line[LINE];

    for (int32_t i = 0; i < v->evidences; i++) {
        report_evidence(rj, v, i, &room, &words);
        ftree_report_evidence(&words, line, sizeof(line));
        add(t, "%s%s\n", i ? INDENT "          " : INDENT "evidence: ", line);
    }
}

/* Where not one rank's place is known: why. */
static void add_no_places(struct text *t, const struct report_job *rj, const struct ftree_verdict *v)
{
    const struct report_stacks *s = report_stacks(rj, v);

    if (s && s->places.n == 0 && s->places.missing.count > 0)
        add(t, INDENT "where in the code they are is not known%s%s\n", *s->places.why ? ": " : "",
            s->places.why);
}

static void add_candidates(struct text *t, const struct report_about *a)
{
    char line[LINE];

    ftree_report_open(a, line, sizeof(line));
    if (a->open.n > 0)
        add(t, INDENT "not ruled out: %s\n", line);
}

static void add_victims(struct text *t, const struct ftree_verdict *v, const struct report_about *a)
{
    char line[LINE];

    if (v->class_ == FTREE_CLASS_STRAGGLER && v->victims.count == 0)
        return; /* others wait for it now and then */
    ftree_report_victims(a, &v->victims, line, sizeof(line));
    add(t, INDENT "victims: %s\n", line);
}

static void add_stacks(struct text *t, const struct report_job *rj, const struct ftree_verdict *v)
{
    const struct report_stacks *s = report_stacks(rj, v);
    struct json_object *lines = NULL;

    if (s && *s->why)
        add(t, INDENT "no stacks: %s\n", s->why);
    if (!s || !s->json || !json_object_object_get_ex(s->json, "text", &lines))
        return;
    add(t, INDENT "stacks:\n");
    for (size_t i = 0; i < json_object_array_length(lines); i++)
        add(t, INDENT "  %s\n", json_object_get_string(json_object_array_get_idx(lines, i)));
}

static void add_withdrawn(struct text *t, const struct ftree_verdict *v,
                          const struct report_about *a)
{
    char component[LINE];

    ftree_report_component(a, component, sizeof(component));
    add(t, PREFIX "withdrawn: %s of %s: ", a->class_, component);
    add(t, "%s, %.1f s after the verdict\n", ftree_class_over(ftree_class_by_name(a->class_)),
        v->withdrawn > v->located ? (double) (v->withdrawn - v->located) / 1e9 : 0.0);
}

static void add_nodes(struct text *t, const struct report_job *rj)
{
    char name[16], data[64], mgmt[64], line[LINE];

    add(t, INDENT "nodes:\n");
    for (int32_t n = 0; n < rj->job->nodes; n++) {
        const char *d = report_address(rj, n, FTREE_PATH_DATA, data, sizeof(data));
        const char *m = report_address(rj, n, FTREE_PATH_MGMT, mgmt, sizeof(mgmt));
        ftree_report_node(ftree_node_name(rj->job, n, name, sizeof(name)), d ? d : "", m ? m : "",
                          report_node_state(rj, n), line, sizeof(line));
        add(t, INDENT "  %s\n", line);
    }
}

static void add_trace(struct text *t, const struct report_job *rj)
{
    if (rj->traces > 0)
        add(t, INDENT "trace:\n");
    for (int32_t i = 0; i < rj->traces; i++)
        add(t, INDENT "  %s\n", rj->trace[i]);
}

static void add_walltime(struct text *t, const struct report_job *rj, const struct ftree_verdict *v)
{
    int64_t left = report_walltime_left(rj, v);
    char line[LINE];

    ftree_report_walltime(left, rj->walltime.limit_s, rj->walltime.at_most, line, sizeof(line));
    if (left >= 0)
        add(t, INDENT "%s\n", line);
}

static void add_conclusion(struct text *t, const struct ftree_verdict *v,
                           const struct report_about *a)
{
    char line[LINE];

    ftree_report_conclusion(a, v->withdrawn != 0, line, sizeof(line));
    add(t, INDENT "%s\n", line);
}

char *ftree_report_waiting_text(const struct report_job *rj, const char *json_file)
{
    struct report_waiting_room room;
    struct report_waiting words;
    struct text t = {0};
    char line[LINE];

    report_waiting(rj, rj->waiting, &room, &words);
    for (int i = 0; ftree_report_waiting(&words, i, line, sizeof(line)); i++)
        add(&t, "%s%s\n", i ? INDENT : PREFIX, line);
    if (json_file && *json_file)
        add(&t, INDENT "full report: %s\n", json_file);
    return finish(&t);
}

static void add_end(struct text *t, const struct report_job *rj, const struct ftree_verdict *v,
                    const struct report_about *about, const char *json_file)
{
    if (json_file && *json_file)
        add(t, INDENT "full report: %s\n", json_file);
    if (rj->verbose) {
        add_nodes(t, rj);
        add_trace(t, rj);
    }
    add_conclusion(t, v, about);
}

char *ftree_report_text(const struct report_job *rj, const struct ftree_verdict *v,
                        const char *json_file)
{
    struct report_about about;
    struct report_room room;
    struct text t = {0};

    report_about(rj->job, v, &room, &about);
    if (v->withdrawn) {
        add_withdrawn(&t, v, &about);
    } else {
        add_headline(&t, &about);
        add_rule(&t, rj, v);
        add_evidence(&t, rj, v);
        add_no_places(&t, rj, v);
        add_stacks(&t, rj, v);
        add_candidates(&t, &about);
        add_victims(&t, v, &about);
        add_walltime(&t, rj, v);
    }
    add_end(&t, rj, v, &about, json_file);
    return finish(&t);
}

/* The first one's evidence is an example. */
char *ftree_report_alike_text(const struct report_job *rj, const struct ftree_verdict *v, int32_t n,
                              const char *json_file)
{
    struct report_about all;
    struct report_room room;
    struct report_together *together = report_join(rj->job, v, n, &room, &all);
    struct ftree_ranks victims = v[0].victims;
    struct text t = {.failed = !together};
    char line[LINE];

    if (!together)
        return NULL;
    for (int32_t i = 1; i < n; i++)
        ftree_report_add_victims(&victims, &v[i].victims);
    add_headline(&t, &all);
    if (!*all.name)
        add(&t, INDENT "%s\n", together->names);
    add(&t, INDENT "%s\n", together->line);
    add_rule(&t, rj, v);
    add_evidence(&t, rj, v);
    add_candidates(&t, &all);
    ftree_report_victims(&all, &victims, line, sizeof(line));
    add(&t, INDENT "victims: %s\n", line);
    add_walltime(&t, rj, v);
    add_end(&t, rj, v, &all, json_file);
    free(together);
    return finish(&t);
}

char *ftree_report_places_text(const struct report_job *rj, const struct ftree_verdict *v)
{
    struct report_evidence_room room;
    struct report_evidence words;
    struct text t = {0};
    char line[LINE];

    for (int32_t i = 0; i < v->evidences; i++) {
        report_evidence(rj, v, i, &room, &words);
        ftree_report_evidence(&words, line, sizeof(line));
        if (*words.place && t.len == 0)
            add(&t, PREFIX "%s, where its ranks are in the code:\n", ftree_class_name(v->class_));
        if (*words.place)
            add(&t, INDENT "%s\n", line);
    }
    return finish(&t);
}

/* ---- facts ----------------------------------------------------------------------------------- */

static void add_facts(struct text *t, const struct report_job *rj, const struct ftree_verdict *v,
                      const char *json_file)
{
    struct report_about about;
    struct report_room room;
    struct ftree_ranks ranks = {0};
    char line[LINE], name[16];

    report_about(rj->job, v, &room, &about);
    ftree_report_component_ranks(rj->job, v, &ranks);
    ftree_report_ranks(&ranks, line, sizeof(line));
    add(t, "FAULTLOC_RANKS=%s\n", line);
    ftree_report_headline(&about, line, sizeof(line));
    add(t, "FAULTLOC_TEXT=%s\n", line);
    add(t, "FAULTLOC_JOB=%s\n", rj->id);
    add(t, "FAULTLOC_ACTION=%s\n", report_ends_job(rj, v) ? "abort" : "report");
    add(t, "FAULTLOC_ID=%lld\n", (long long) v->id);
    add(t, "FAULTLOC_FLN=%s\n", ftree_node_name(rj->job, v->fln, name, sizeof(name)));
    add(t, "FAULTLOC_CLASS=%s\n", about.class_);
    add(t, "FAULTLOC_ORIGIN=%s\n", about.origin);
    add(t, "FAULTLOC_TICKET=%s\n", about.ticket);
    add(t, "FAULTLOC_CONFIDENCE=%d.%03d\n", v->confidence / 1000, v->confidence % 1000);
    add(t, "FAULTLOC_KIND=%s\n", about.kind);
    add(t, "FAULTLOC_COMPONENT=%s\n", about.name);
    add(t, "FAULTLOC_HOST=%s\n", about.node);
    add(t, "FAULTLOC_RULE=%s\n", v->rule);
    add(t, "FAULTLOC_REPORT=%s\n", json_file ? json_file : "");
}

/* Lines become strings behind the pointers to them. */
static char **split(const char *lines, size_t len)
{
    size_t n = 0;
    char **list, *at;

    for (size_t i = 0; i < len; i++)
        n += lines[i] == '\n';
    list = calloc(1, (n + 1) * sizeof(*list) + len + 1);
    if (!list)
        return NULL;
    at = memcpy(list + n + 1, lines, len);
    for (size_t i = 0; i < n; i++, at++) {
        list[i] = at;
        at = strchr(at, '\n');
        *at = '\0';
    }
    return list;
}

char **ftree_report_facts(const struct report_job *rj, const struct ftree_verdict *v,
                          const char *json_file)
{
    struct text t = {0};
    char *lines, **list;

    add_facts(&t, rj, v, json_file);
    lines = finish(&t);
    list = lines ? split(lines, t.len) : NULL;
    free(lines);
    return list;
}
