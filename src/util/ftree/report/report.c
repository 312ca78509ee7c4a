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
    size_t len;
    bool failed;
};

static void add(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The only control character of a piece is a newline at the end of its format, which is never
 * empty. */
static void add(struct text *t, const char *format, ...)
{
    bool line = format[strlen(format) - 1] == '\n';
    char *piece = NULL, *s = NULL;
    va_list args;
    int n;

    va_start(args, format);
    n = vasprintf(&piece, format, args);
    va_end(args);
    if (n >= 0)
        s = realloc(t->s, t->len + (size_t) n + 1);
    if (s) {
        ftree_text_clean(piece, (size_t) n - line, '?');
        memcpy(s + t->len, piece, (size_t) n + 1);
        t->len += (size_t) n;
        t->s = s;
    }
    t->failed |= !s;
    if (n >= 0)
        free(piece);
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

/* Of a member that may be missing: "". */
static const char *string(struct json_object *object, const char *key)
{
    struct json_object *value = json_object_object_get(object, key);

    return value ? json_object_get_string(value) : "";
}

static void add_headline(struct text *t, const struct report_about *a)
{
    char line[LINE];

    ftree_report_first_line(a, line, sizeof(line));
    add(t, PREFIX "%s\n", line);
}

static void add_rule(struct text *t, struct json_object *v)
{
    const char *raised_by = string(v, "raised_by"), *because = string(v, "because");

    add(t, INDENT "located by %s, %.1f s after the first symptom; rule %s%s%s\n", string(v, "fln"),
        json_object_get_double(json_object_object_get(v, "latency_s")), string(v, "rule"),
        *raised_by ? ", raised by " : "", raised_by);
    if (*because)
        add(t, INDENT "because %s\n", because);
}

struct report_evidence ftree_report_evidence_of(struct json_object *e)
{
    return (struct report_evidence){
        .source = string(e, "source"),
        .path = string(e, "path"),
        .role = string(e, "role"),
        .target = string(e, "target"),
        .address = string(e, "address"),
        .result = string(e, "result"),
        .error = string(e, "errno"),
        .state = string(e, "process_state"),
        .by = string(e, "by"),
        .detail = string(e, "detail"),
        .place = string(e, "place"),
        .before_s = json_object_get_double(json_object_object_get(e, "before_s"))};
}

static void add_evidence(struct text *t, struct json_object *v)
{
    struct json_object *list = json_object_object_get(v, "evidence");
    char line[2 * LINE];

    for (size_t i = 0; i < json_object_array_length(list); i++) {
        struct report_evidence words =
            ftree_report_evidence_of(json_object_array_get_idx(list, i));
        ftree_report_evidence(&words, line, sizeof(line));
        add(t, "%s%s\n", i ? INDENT "          " : INDENT "evidence: ", line);
    }
}

static void add_texts(struct text *t, const char *title, struct json_object *list)
{
    size_t n = list ? json_object_array_length(list) : 0;

    if (n > 0)
        add(t, INDENT "%s:\n", title);
    for (size_t i = 0; i < n; i++)
        add(t, INDENT "  %s\n", json_object_get_string(json_object_array_get_idx(list, i)));
}

static void add_stacks(struct text *t, struct json_object *v)
{
    const char *why = string(v, "no_stacks");

    if (*why)
        add(t, INDENT "no stacks: %s\n", why);
    add_texts(t, "stacks", json_object_object_get(json_object_object_get(v, "stacks"), "text"));
}

static void add_candidates(struct text *t, const struct report_about *a)
{
    char line[LINE];

    ftree_report_open(a, line, sizeof(line));
    if (a->open.n > 0)
        add(t, INDENT "not ruled out: %s\n", line);
}

static void add_victims(struct text *t, const struct report_about *a,
                        const struct ftree_ranks *victims)
{
    char line[LINE];

    ftree_report_victims(a, victims, line, sizeof(line));
    add(t, INDENT "victims: %s\n", line);
}

static void add_walltime(struct text *t, struct json_object *v)
{
    struct json_object *w = json_object_object_get(v, "walltime");
    char line[LINE];

    if (!w)
        return;
    ftree_report_walltime(json_object_get_int64(json_object_object_get(w, "left_s")),
                          json_object_get_int64(json_object_object_get(w, "limit_s")),
                          json_object_object_get(w, "at_most") != NULL, line, sizeof(line));
    add(t, INDENT "%s\n", line);
}

static void add_nodes(struct text *t, struct json_object *table)
{
    char line[LINE];

    add(t, INDENT "nodes:%s\n",
        table ? "" : " none in this file; MPIR_CVAR_FAULTLOC_VERBOSE=1 puts them there");
    for (size_t i = 0; table && i < json_object_array_length(table); i++) {
        struct json_object *n = json_object_array_get_idx(table, i);
        struct json_object *address = json_object_object_get(n, "address");
        ftree_report_node(string(n, "name"), string(address, "data"), string(address, "mgmt"),
                          string(n, "state"), line, sizeof(line));
        add(t, INDENT "  %s\n", line);
    }
}

static void add_file(struct text *t, const char *json_file)
{
    if (json_file && *json_file)
        add(t, INDENT "full report: %s\n", json_file);
}

static char *end(struct text *t, const struct report_about *a, bool withdrawn,
                 struct json_object *report, const char *json_file)
{
    char line[LINE];

    add_file(t, json_file);
    if (report) {
        add_nodes(t, json_object_object_get(report, "node_table"));
        add_texts(t, "trace", json_object_object_get(report, "trace"));
    }
    ftree_report_conclusion(a, withdrawn, line, sizeof(line));
    add(t, INDENT "%s\n", line);
    return finish(t);
}

char *ftree_report_over_lines(const struct report_told *v, struct json_object *report,
                              const char *json_file)
{
    struct text t = {0};
    char component[LINE];

    ftree_report_component(&v->about, component, sizeof(component));
    add(&t, PREFIX "withdrawn: %s of %s: ", v->about.class_, component);
    add(&t, "%s, %.1f s after the verdict\n",
        ftree_class_over(ftree_class_by_name(v->about.class_)), v->over_s);
    return end(&t, &v->about, true, report, json_file);
}

/* The first one's evidence is an example. */
static char *alike_lines(const struct report_told *v, struct json_object *report,
                         const char *json_file)
{
    struct report_together *all = report_join(v);
    struct text t = {0};
    char *text;

    if (!all)
        return NULL;
    add_headline(&t, &all->about);
    if (!*all->about.name)
        add(&t, INDENT "%s\n", all->names);
    add(&t, INDENT "%s\n", all->line);
    add_rule(&t, v->json);
    add_evidence(&t, v->json);
    add_candidates(&t, &all->about);
    add_victims(&t, &all->about, &all->victims);
    add_walltime(&t, v->json);
    text = end(&t, &all->about, false, report, json_file);
    free(all);
    return text;
}

char *ftree_report_lines(const struct report_told *v, struct json_object *report,
                         const char *json_file)
{
    struct text t = {0};

    if (v->next)
        return alike_lines(v, report, json_file);
    add_headline(&t, &v->about);
    add_rule(&t, v->json);
    add_evidence(&t, v->json);
    if (v->no_places)
        add(&t, INDENT "where in the code they are is not known%s%s\n",
            *v->no_places ? ": " : "", v->no_places);
    add_stacks(&t, v->json);
    add_candidates(&t, &v->about);
    if (v->victims.count > 0 || strcmp(v->about.class_, ftree_class_name(FTREE_CLASS_STRAGGLER)))
        add_victims(&t, &v->about, &v->victims); /* for a slow one others wait now and then */
    add_walltime(&t, v->json);
    return end(&t, &v->about, false, report, json_file);
}

/* ---- a note ---------------------------------------------------------------------------------- */

static int integer(struct json_object *object, const char *key)
{
    return json_object_get_int(json_object_object_get(object, key));
}

static void read_ends(struct json_object *list, struct report_waiting *w)
{
    w->ends = (int) json_object_array_length(list);
    for (int i = 0; i < w->ends; i++) {
        struct json_object *e = json_object_array_get_idx(list, (size_t) i);
        w->end[i].rank = integer(e, "rank");
        w->end[i].count = integer(e, "count");
        w->end[i].node = string(e, "node");
        w->end[i].state = string(e, "state");
        w->end[i].still = integer(e, "no_cpu_time_s");
    }
}

static void read_classes(struct json_object *list, struct report_waiting *w)
{
    w->classes = (int) json_object_array_length(list);
    for (int i = 0; i < w->classes; i++) {
        struct json_object *c = json_object_array_get_idx(list, (size_t) i);
        w->class_[i].example = integer(c, "example");
        w->class_[i].count = integer(c, "count");
        w->class_[i].node = string(c, "node");
        w->class_[i].call = string(c, "call");
        w->class_[i].comm = string(c, w->count > 0 ? "communicator" : "asleep_in");
        w->class_[i].on = string(c, "example_waits_for");
    }
}

/* The schema says that no list is longer than there is room. */
char *ftree_report_waiting_lines(struct json_object *waiting, int size, const char *json_file)
{
    struct report_waiting w = {
        .seconds = json_object_get_int64(json_object_object_get(waiting, "waited_s")),
        .count = integer(waiting, "count"),
        .size = size};
    struct text t = {0};
    char line[LINE];

    read_ends(json_object_object_get(waiting, "ends"), &w);
    read_classes(json_object_object_get(waiting, "classes"), &w);
    for (int i = 0; ftree_report_waiting(&w, i, line, sizeof(line)); i++)
        add(&t, "%s%s\n", i ? INDENT : PREFIX, line);
    add_file(&t, json_file);
    return finish(&t);
}

char *ftree_report_waiting_text(const struct report_job *rj, const char *json_file)
{
    struct json_object *waiting = report_json_waiting(rj);
    char *text = NULL;

    if (report_is_whole(waiting))
        text = ftree_report_waiting_lines(waiting, rj->job->size, json_file);
    json_object_put(waiting);
    return text;
}

/* ---- of the agent ---------------------------------------------------------------------------- */

static void tell(const struct report_job *rj, const struct ftree_verdict *v, struct report_told *t)
{
    const struct report_stacks *s = report_stacks(rj, v);

    report_about(rj->job, v, &t->room, &t->about);
    ftree_report_component_ranks(rj->job, v, &t->ranks);
    t->victims = v->victims;
    if (s && s->places.n == 0 && s->places.missing.count > 0)
        t->no_places = s->places.why;
    if (v->withdrawn > v->located)
        t->over_s = (double) (v->withdrawn - v->located) / 1e9;
}

char *ftree_report_text(const struct report_job *rj, const struct ftree_verdict *v, int32_t n,
                        const char *json_file)
{
    struct report_told *told = calloc((size_t) n, sizeof(*told));
    struct json_object *report = rj->verbose ? json_object_new_object() : NULL;
    char *text = NULL;

    for (int32_t i = 0; told && i < n; i++) {
        tell(rj, &v[i], &told[i]);
        told[i].next = i + 1 < n ? &told[i + 1] : NULL;
    }
    if (report)
        report_set_surroundings(report, rj);
    if (told)
        told->json = report_json_verdict(rj, v);
    if (told && report_is_whole(told->json) && (!rj->verbose || report_is_whole(report)))
        text = v->withdrawn ? ftree_report_over_lines(told, report, json_file)
                            : ftree_report_lines(told, report, json_file);
    if (told)
        json_object_put(told->json);
    json_object_put(report);
    free(told);
    return text;
}

char *ftree_report_places_text(const struct report_job *rj, const struct ftree_verdict *v)
{
    struct text t = {0};
    char line[LINE];

    for (int32_t i = 0; i < v->evidences; i++) {
        struct json_object *e = report_json_evidence(rj, v, i);
        struct report_evidence words = ftree_report_evidence_of(e);
        ftree_report_evidence(&words, line, sizeof(line));
        if (*words.place && t.len == 0)
            add(&t, PREFIX "%s, where its ranks are in the code:\n", ftree_class_name(v->class_));
        if (*words.place)
            add(&t, INDENT "%s\n", line);
        json_object_put(e);
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
