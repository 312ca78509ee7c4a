/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/report/report_int.h"

#include "ftree/base/base.h"

#include <json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE 2048

static char *finish(struct report_text *t)
{
    if (t->failed) {
        free(t->s);
        return NULL;
    }
    return t->s;
}

/* ---- the lines ------------------------------------------------------------------------------- */

/* The confidence is a rank (high, medium, low), not a probability. */
static void add_headline(struct report_text *t, const struct report_about *a)
{
    char headline[2 * REPORT_LABEL];

    ftree_report_headline(a, headline, sizeof(headline));
    report_add(t, REPORT_PREFIX "%s: %s", a->class_, headline);
    if (!report_is(a->class_, "unknown"))
        report_add(t, " -- %s, confidence %s",
                   report_is(a->origin, "unknown") ? "hardware or software" : a->origin,
                   a->percent >= 90   ? "high"
                   : a->percent >= 70 ? "medium"
                                      : "low");
    report_add(t, "\n");
}

static void add_rule(struct report_text *t, struct json_object *v)
{
    const char *raised_by = report_string(v, "raised_by"), *because = report_string(v, "because");

    report_add(t, REPORT_INDENT "located by %s, %.1f s after the first symptom; rule %s%s%s\n",
               report_string(v, "fln"),
               json_object_get_double(json_object_object_get(v, "latency_s")),
               report_string(v, "rule"), *raised_by ? ", raised by " : "", raised_by);
    if (*because)
        report_add(t, REPORT_INDENT "because %s\n", because);
}

/* "h3 eth0 10.0.0.3, port mlx5_0:1 LID 17 (rank 2)" */
static void add_link_end(struct report_text *t, struct json_object *end)
{
    struct json_object *list = json_object_object_get(end, "ranks");
    const char *interface = report_string(end, "interface"), *address = report_string(end, "address");
    const char *port = report_string(end, "port");
    struct ftree_ranks ranks = {0};
    char text[200];

    for (size_t i = 0; list && i < json_object_array_length(list); i++) {
        int32_t r = json_object_get_int(json_object_array_get_idx(list, i));
        ftree_ranks_add(&ranks, r, r);
    }
    ftree_report_ranks(&ranks, text, sizeof(text));
    report_add(t, "%s%s%s%s%s%s%s (%s %s)", report_string(end, "node"), *interface ? " " : "",
               interface, *address ? " " : "", address, *port ? ", port " : "", port,
               ranks.count == 1 ? "rank" : "ranks", text);
}

static void add_link(struct report_text *t, struct json_object *v)
{
    struct json_object *ends = json_object_object_get(v, "link");

    for (size_t i = 0; ends && i < json_object_array_length(ends); i++) {
        report_add(t, i ? ", seen from " : REPORT_INDENT "link: ");
        add_link_end(t, json_object_array_get_idx(ends, i));
    }
    if (ends)
        report_add(t, "\n");
}

static void add_evidence(struct report_text *t, struct json_object *v)
{
    struct json_object *list = json_object_object_get(v, "evidence");
    char line[2 * LINE];

    for (size_t i = 0; i < json_object_array_length(list); i++) {
        ftree_report_evidence(json_object_array_get_idx(list, i), line, sizeof(line));
        report_add(t, "%s%s\n", i ? REPORT_INDENT "          " : REPORT_INDENT "evidence: ", line);
    }
}

static void add_texts(struct report_text *t, const char *title, struct json_object *list)
{
    size_t n = list ? json_object_array_length(list) : 0;

    if (n > 0)
        report_add(t, REPORT_INDENT "%s:\n", title);
    for (size_t i = 0; i < n; i++)
        report_add(t, REPORT_INDENT "  %s\n",
                   json_object_get_string(json_object_array_get_idx(list, i)));
}

static void add_stacks(struct report_text *t, struct json_object *v)
{
    const char *why = report_string(v, "no_stacks");

    if (*why)
        report_add(t, REPORT_INDENT "no stacks: %s\n", why);
    add_texts(t, "stacks", json_object_object_get(json_object_object_get(v, "stacks"), "text"));
}

static void add_candidates(struct report_text *t, const struct report_about *a)
{
    for (int i = 0; i < a->open.n; i++)
        report_add(t, "%s%s", i ? ", " : REPORT_INDENT "not ruled out: ",
                   a->open.candidate[i].class_);
    if (a->open.n > 0)
        report_add(t, "\n");
}

static void add_victims(struct report_text *t, const struct report_about *a,
                        const struct ftree_ranks *victims)
{
    char list[400];

    ftree_report_ranks(victims, list, sizeof(list));
    report_add(t, REPORT_INDENT "victims: %d %s blocked on %s, directly or indirectly%s%s\n",
               (int) victims->count, victims->count == 1 ? "rank is" : "ranks are", a->ranks,
               victims->count ? ": " : "", list);
}

/* What the job's end leaves unused: "action abort: 47 min of 60 min walltime were left". */
static void add_walltime(struct report_text *t, struct json_object *v)
{
    struct json_object *w = json_object_object_get(v, "walltime");
    int64_t limit_s = json_object_get_int64(json_object_object_get(w, "limit_s"));

    if (!w)
        return;
    report_add(t, REPORT_INDENT "action abort: %s%lld min ",
               json_object_object_get(w, "at_most") ? "at most " : "",
               (long long) json_object_get_int64(json_object_object_get(w, "left_s")) / 60);
    if (limit_s > 0)
        report_add(t, "of %lld min ", (long long) limit_s / 60);
    report_add(t, "walltime were left\n");
}

static void add_nodes(struct report_text *t, struct json_object *table)
{
    char line[LINE];

    report_add(t, REPORT_INDENT "nodes:%s\n",
        table ? "" : " none in this file; MPIR_CVAR_FAULTLOC_VERBOSE=1 puts them there");
    for (size_t i = 0; table && i < json_object_array_length(table); i++) {
        struct json_object *n = json_object_array_get_idx(table, i);
        struct json_object *address = json_object_object_get(n, "address");
        ftree_report_node(report_string(n, "name"), report_string(address, "data"),
                          report_string(address, "mgmt"), report_string(n, "state"), line,
                          sizeof(line));
        report_add(t, REPORT_INDENT "  %s\n", line);
    }
}

static void add_file(struct report_text *t, const char *json_file)
{
    if (json_file && *json_file)
        report_add(t, REPORT_INDENT "full report: %s\n", json_file);
}

static void conclude_nothing(struct report_text *t, const struct report_open *open)
{
    report_add(t, "cause not identified%s", open->n == 0 ? ", hardware or software" : "");
    for (int i = 0; i < open->n; i++) {
        int class_ = ftree_class_by_name(open->candidate[i].class_);
        report_add(t, "%s%d. %s (%s)", i ? ", " : "; most likely: ", i + 1,
                   open->candidate[i].class_, ftree_origin_name(ftree_class_origin(class_)));
    }
}

/* Hardware or software, which component, and whom to call; where none is known to be at fault, the
 * explanations in order. */
static void add_conclusion(struct report_text *t, const struct report_about *a, bool withdrawn)
{
    bool known = report_is(a->origin, "hardware") || report_is(a->origin, "software");
    char who[REPORT_LABEL + 32];

    report_guilty(a, who, sizeof(who));
    report_add(t, REPORT_INDENT "conclusion: ");
    if (withdrawn && known)
        report_add(t, "the %s fault in %s is over", a->origin, who);
    else if (withdrawn)
        report_add(t, "the fault is over");
    else if (known)
        report_add(t, "%s fault in %s", a->origin, who);
    else if (report_is(a->class_, "unknown"))
        conclude_nothing(t, &a->open);
    else
        report_add(t, "fault in %s; hardware or software is not known", who);
    if (!withdrawn && a->cause && *a->cause)
        report_add(t, ", first cause: %s", a->cause);
    if (!withdrawn && a->ticket && *a->ticket)
        report_add(t, "; ticket: %s", a->ticket);
    report_add(t, "\n");
}

static char *end(struct report_text *t, const struct report_about *a, bool withdrawn,
                 struct json_object *report, const char *json_file)
{
    add_file(t, json_file);
    if (report) {
        add_nodes(t, json_object_object_get(report, "node_table"));
        add_texts(t, "trace", json_object_object_get(report, "trace"));
    }
    add_conclusion(t, a, withdrawn);
    return finish(t);
}

char *ftree_report_over_lines(const struct report_entry *v, struct json_object *report,
                              const char *json_file)
{
    struct report_text t = {0};
    char component[LINE];

    ftree_report_component(&v->about, component, sizeof(component));
    report_add(&t, REPORT_PREFIX "withdrawn: %s of %s: ", v->about.class_, component);
    report_add(&t, "%s, %.1f s after the verdict\n",
        ftree_class_over(ftree_class_by_name(v->about.class_)), v->over_s);
    return end(&t, &v->about, true, report, json_file);
}

/* The first one's evidence is an example. */
static char *alike_lines(const struct report_entry *v, struct json_object *report,
                         const char *json_file)
{
    struct report_together *all = report_join(v);
    struct report_text t = {0};
    char *text;

    if (!all)
        return NULL;
    add_headline(&t, &all->about);
    if (!*all->about.name)
        report_add(&t, REPORT_INDENT "%s\n", all->names);
    report_add(&t, REPORT_INDENT "%s\n", all->line);
    add_rule(&t, v->json);
    add_evidence(&t, v->json);
    add_candidates(&t, &all->about);
    add_victims(&t, &all->about, &all->victims);
    add_walltime(&t, v->json);
    text = end(&t, &all->about, false, report, json_file);
    free(all);
    return text;
}

char *ftree_report_lines(const struct report_entry *v, struct json_object *report,
                         const char *json_file)
{
    struct report_text t = {0};

    if (v->next)
        return alike_lines(v, report, json_file);
    add_headline(&t, &v->about);
    add_rule(&t, v->json);
    add_link(&t, v->json);
    add_evidence(&t, v->json);
    if (v->no_places)
        report_add(&t, REPORT_INDENT "where in the code they are is not known%s%s\n",
            *v->no_places ? ": " : "", v->no_places);
    add_stacks(&t, v->json);
    add_candidates(&t, &v->about);
    if (v->victims.count > 0 || !report_is(v->about.class_, "straggler"))
        add_victims(&t, &v->about, &v->victims); /* for a slow one others wait now and then */
    add_walltime(&t, v->json);
    return end(&t, &v->about, false, report, json_file);
}

/* ---- a note ---------------------------------------------------------------------------------- */

char *ftree_report_waiting_lines(struct json_object *waiting, int size, const char *json_file)
{
    struct report_text t = {0};

    report_add_waiting(&t, waiting, size);
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

static void tell(const struct report_job *rj, const struct ftree_verdict *v, struct report_entry *t)
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
    struct report_entry *entry = calloc((size_t) n, sizeof(*entry));
    struct json_object *report = rj->verbose ? json_object_new_object() : NULL;
    char *text = NULL;

    for (int32_t i = 0; entry && i < n; i++) {
        tell(rj, &v[i], &entry[i]);
        entry[i].next = i + 1 < n ? &entry[i + 1] : NULL;
    }
    if (report)
        report_set_surroundings(report, rj);
    if (entry)
        entry->json = report_json_verdict(rj, v);
    if (entry && report_is_whole(entry->json) && (!rj->verbose || report_is_whole(report)))
        text = v->withdrawn ? ftree_report_over_lines(entry, report, json_file)
                            : ftree_report_lines(entry, report, json_file);
    if (entry)
        json_object_put(entry->json);
    json_object_put(report);
    free(entry);
    return text;
}

char *ftree_report_places_text(const struct report_job *rj, const struct ftree_verdict *v)
{
    struct report_text t = {0};
    char line[LINE];

    for (int32_t i = 0; i < v->evidences; i++) {
        struct json_object *e = report_json_evidence(rj, v, i);
        bool has_place = *report_string(e, "place");
        ftree_report_evidence(e, line, sizeof(line));
        if (has_place && t.len == 0)
            report_add(&t, REPORT_PREFIX "%s, where its ranks are in the code:\n",
                       ftree_class_name(v->class_));
        if (has_place)
            report_add(&t, REPORT_INDENT "%s\n", line);
        json_object_put(e);
    }
    return finish(&t);
}

/* ---- facts ----------------------------------------------------------------------------------- */

static void add_facts(struct report_text *t, const struct report_job *rj,
                      const struct ftree_verdict *v, const char *json_file)
{
    struct report_about about;
    struct report_room room;
    struct ftree_ranks ranks = {0};
    char line[LINE], name[16];

    report_about(rj->job, v, &room, &about);
    ftree_report_component_ranks(rj->job, v, &ranks);
    ftree_report_ranks(&ranks, line, sizeof(line));
    report_add(t, "FAULTLOC_RANKS=%s\n", line);
    ftree_report_headline(&about, line, sizeof(line));
    report_add(t, "FAULTLOC_TEXT=%s\n", line);
    report_add(t, "FAULTLOC_JOB=%s\n", rj->id);
    report_add(t, "FAULTLOC_ACTION=%s\n", report_ends_job(rj, v) ? "abort" : "report");
    report_add(t, "FAULTLOC_ID=%lld\n", (long long) v->id);
    report_add(t, "FAULTLOC_FLN=%s\n", ftree_node_name(rj->job, v->fln, name, sizeof(name)));
    report_add(t, "FAULTLOC_CLASS=%s\n", about.class_);
    report_add(t, "FAULTLOC_ORIGIN=%s\n", about.origin);
    report_add(t, "FAULTLOC_TICKET=%s\n", about.ticket);
    report_add(t, "FAULTLOC_CONFIDENCE=%d.%03d\n", v->confidence / 1000, v->confidence % 1000);
    report_add(t, "FAULTLOC_KIND=%s\n", about.kind);
    report_add(t, "FAULTLOC_COMPONENT=%s\n", about.name);
    report_add(t, "FAULTLOC_HOST=%s\n", about.node);
    report_add(t, "FAULTLOC_RULE=%s\n", v->rule);
    report_add(t, "FAULTLOC_REPORT=%s\n", json_file ? json_file : "");
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
    struct report_text t = {0};
    char *lines, **list;

    add_facts(&t, rj, v, json_file);
    lines = finish(&t);
    list = lines ? split(lines, t.len) : NULL;
    free(lines);
    return list;
}
