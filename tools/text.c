/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "tool.h"

#include "ftree/base/base.h"
#include "ftree/base/text.h"
#include "ftree/report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * The report as it was on the job's stderr, line by line, from the JSON alone: a file may come from
 * another machine, and its classes and rules from a later version.  test/unit/t-faultloc-program.sh
 * compares the two for every rule there is.
 */

#define PREFIX "[faultloc] "
#define INDENT "[faultloc]   "

#define say(...) tool_say(stdout, __VA_ARGS__)

/* Of a member that may be missing: "". */
static int percent(struct json_object *object)
{
    return (int) (json_object_get_double(tool_member(object, "confidence")) * 100 + 0.5);
}

/* ---- ranks ----------------------------------------------------------------------------------- */

/* The first FTREE_RANGES_MAX ranges of ascending ranks; more would not fit into the line anyway. */
static void read_ranks(struct json_object *array, int64_t count, struct ftree_ranks *set)
{
    memset(set, 0, sizeof(*set));
    for (size_t i = 0; i < json_object_array_length(array); i++) {
        int32_t rank = json_object_get_int(json_object_array_get_idx(array, i));
        ftree_ranks_add(set, rank, rank);
    }
    set->count = (int32_t) count;
}

/* How many ranks a component is: what is not a set lists all of them. */
static int64_t count_of(struct json_object *component)
{
    struct json_object *count = tool_member(component, "count");

    return count ? json_object_get_int64(count)
                 : (int64_t) json_object_array_length(tool_member(component, "ranks"));
}

/* 0: not all of its ranks are listed */
static int nodes_of(struct json_object *component)
{
    struct json_object *nodes = tool_member(component, "nodes");

    if (count_of(component) > (int64_t) json_object_array_length(tool_member(component, "ranks")))
        return 0;
    return nodes ? json_object_get_int(nodes) : 1;
}

/* "rank 3" or "ranks 4-7" */
static void component_ranks(struct json_object *component, char *buf, size_t len)
{
    struct ftree_ranks set;
    char list[200];

    read_ranks(tool_member(component, "ranks"), count_of(component), &set);
    ftree_report_ranks(&set, list, sizeof(list));
    snprintf(buf, len, "%s %s", set.count == 1 ? "rank" : "ranks", list);
}

struct room {
    char ranks[256], ticket[48], cause[64];
};

static const char *list_tickets(struct json_object *list, char *buf, size_t len)
{
    buf[0] = '\0';
    for (size_t i = 0; list && i < json_object_array_length(list); i++)
        ftree_report_ticket_add(json_object_get_string(json_object_array_get_idx(list, i)), buf,
                                len);
    return buf;
}

static struct report_evidence evidence_of(struct json_object *e)
{
    return (struct report_evidence){
        .source = tool_string(e, "source"),
        .path = tool_string(e, "path"),
        .role = tool_string(e, "role"),
        .target = tool_string(e, "target"),
        .address = tool_string(e, "address"),
        .result = tool_string(e, "result"),
        .error = tool_string(e, "errno"),
        .state = tool_string(e, "process_state"),
        .by = tool_string(e, "by"),
        .detail = tool_string(e, "detail"),
        .place = tool_string(e, "place"),
        .before_s = json_object_get_double(tool_member(e, "before_s"))};
}

static const char *first_cause(struct json_object *list, char *buf, size_t len)
{
    struct report_evidence e;

    buf[0] = '\0';
    if (list && json_object_array_length(list) > 0) {
        e = evidence_of(json_object_array_get_idx(list, 0));
        ftree_report_cause(&e, buf, len);
    }
    return buf;
}

/* Times are all in one form, UTC with milliseconds. */
static double seconds(const char *time)
{
    struct tm tm = {0};
    const char *ms = strptime(time, "%Y-%m-%dT%H:%M:%S", &tm);

    return (double) timegm(&tm) + (ms ? strtod(ms, NULL) : 0);
}

static struct report_about about(struct json_object *v, struct room *room)
{
    struct json_object *component = tool_member(v, "component");
    struct json_object *list = tool_member(v, "candidates");
    struct report_about a;

    component_ranks(component, room->ranks, sizeof(room->ranks));
    a = (struct report_about){.class_ = tool_string(v, "class"),
                              .origin = tool_string(v, "origin"),
                              .kind = tool_string(component, "kind"),
                              .name = tool_string(component, "name"),
                              .node = tool_string(component, "node"),
                              .rule = tool_string(v, "rule"),
                              .because = tool_string(v, "because"),
                              .fln = tool_string(v, "fln"),
                              .ranks = room->ranks,
                              .leaf = tool_string(component, "switch"),
                              .at = seconds(tool_string(v, "located")),
                              .nodes = nodes_of(component),
                              .pid = json_object_get_int(tool_member(component, "pid")),
                              .percent = percent(v),
                              .ticket = list_tickets(tool_member(v, "ticket"), room->ticket,
                                                     sizeof(room->ticket)),
                              .cause = first_cause(tool_member(v, "evidence"), room->cause,
                                                   sizeof(room->cause))};
    for (size_t i = 0; i < json_object_array_length(list); i++) {
        struct json_object *c = json_object_array_get_idx(list, i);
        if (!tool_member(c, "ruled_out_by"))
            ftree_report_open_add(&a.open, tool_string(c, "class"), percent(c));
    }
    return a;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void say_headline(const struct report_about *a)
{
    char line[2048];

    ftree_report_first_line(a, line, sizeof(line));
    say(PREFIX "%s", line);
}

static void say_rule(struct json_object *v)
{
    const char *raised_by = tool_string(v, "raised_by");

    say(INDENT "located by %s, %.1f s after the first symptom; rule %s%s%s", tool_string(v, "fln"),
        json_object_get_double(tool_member(v, "latency_s")), tool_string(v, "rule"),
        *raised_by ? ", raised by " : "", raised_by);
    if (tool_member(v, "because"))
        say(INDENT "because %s", tool_string(v, "because"));
}

static void say_evidence(struct json_object *list)
{
    for (size_t i = 0; i < json_object_array_length(list); i++) {
        struct report_evidence words = evidence_of(json_object_array_get_idx(list, i));
        char line[4096];
        ftree_report_evidence(&words, line, sizeof(line));
        say(INDENT "%s%s", i ? "          " : "evidence: ", line);
    }
}

static void say_stacks(struct json_object *v)
{
    struct json_object *lines = tool_member(tool_member(v, "stacks"), "text");

    if (*tool_string(v, "no_stacks"))
        say(INDENT "no stacks: %s", tool_string(v, "no_stacks"));
    if (lines)
        say(INDENT "stacks:");
    for (size_t i = 0; lines && i < json_object_array_length(lines); i++)
        say(INDENT "  %s", json_object_get_string(json_object_array_get_idx(lines, i)));
}

static void say_candidates(const struct report_about *a)
{
    char line[1024];

    ftree_report_open(a, line, sizeof(line));
    if (a->open.n > 0)
        say(INDENT "not ruled out: %s", line);
}

static void say_victims(struct json_object *v, const struct report_about *a)
{
    struct json_object *victims = tool_member(v, "victims");
    struct ftree_ranks set;
    char line[1024];

    read_ranks(tool_member(victims, "ranks"),
               json_object_get_int64(tool_member(victims, "count")), &set);
    ftree_report_victims(a, &set, line, sizeof(line));
    say(INDENT "victims: %s", line);
}

static void say_withdrawn(struct json_object *v, const struct report_about *a)
{
    char component[2048];

    ftree_report_component(a, component, sizeof(component));
    say(PREFIX "withdrawn: %s of %s: %s, %.1f s after the verdict", a->class_, component,
        ftree_class_over(ftree_class_by_name(a->class_)),
        seconds(tool_string(v, "withdrawn")) - seconds(tool_string(v, "located")));
}

static void say_conclusion(const struct report_about *a, bool withdrawn)
{
    char line[2048];

    ftree_report_conclusion(a, withdrawn, line, sizeof(line));
    say(INDENT "%s", line);
}

static void say_nodes(struct json_object *table)
{
    char line[1024];

    if (!table) {
        say(INDENT "nodes: none in this file; MPIR_CVAR_FAULTLOC_VERBOSE=1 puts them there");
        return;
    }
    say(INDENT "nodes:");
    for (size_t i = 0; i < json_object_array_length(table); i++) {
        struct json_object *n = json_object_array_get_idx(table, i);
        struct json_object *address = tool_member(n, "address");
        ftree_report_node(tool_string(n, "name"), tool_string(address, "data"),
                          tool_string(address, "mgmt"), tool_string(n, "state"), line,
                          sizeof(line));
        say(INDENT "  %s", line);
    }
}

static void say_trace(struct json_object *trace)
{
    size_t n = trace ? json_object_array_length(trace) : 0;

    if (n > 0)
        say(INDENT "trace:");
    for (size_t i = 0; i < n; i++)
        say(INDENT "  %s", json_object_get_string(json_object_array_get_idx(trace, i)));
}

static int integer(struct json_object *object, const char *key)
{
    return json_object_get_int(tool_member(object, key));
}

static void read_ends(struct json_object *list, struct report_waiting *w)
{
    w->ends = (int) json_object_array_length(list);
    for (int i = 0; i < w->ends; i++) {
        struct json_object *e = json_object_array_get_idx(list, (size_t) i);
        w->end[i].rank = integer(e, "rank");
        w->end[i].count = integer(e, "count");
        w->end[i].node = tool_string(e, "node");
        w->end[i].state = tool_string(e, "state");
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
        w->class_[i].node = tool_string(c, "node");
        w->class_[i].call = tool_string(c, "call");
        w->class_[i].comm = tool_string(c, w->count > 0 ? "communicator" : "asleep_in");
        w->class_[i].on = tool_string(c, "example_waits_for");
    }
}

/* A note; the schema says that no list is longer than there is room. */
static void say_waiting(struct json_object *report, struct json_object *waiting, const char *file)
{
    struct report_waiting w = {.seconds = json_object_get_int64(tool_member(waiting, "waited_s")),
                               .count = integer(waiting, "count"),
                               .size = integer(tool_member(report, "job"), "size")};
    char line[2048];

    read_ends(tool_member(waiting, "ends"), &w);
    read_classes(tool_member(waiting, "classes"), &w);
    for (int i = 0; ftree_report_waiting(&w, i, line, sizeof(line)); i++)
        say("%s%s", i ? INDENT : PREFIX, line);
    say(INDENT "full report: %s", file);
}

static void say_walltime(struct json_object *walltime)
{
    char line[256];

    if (!walltime)
        return;
    ftree_report_walltime(json_object_get_int64(tool_member(walltime, "left_s")),
                          json_object_get_int64(tool_member(walltime, "limit_s")),
                          tool_member(walltime, "at_most") != NULL, line, sizeof(line));
    say(INDENT "%s", line);
}

/* What is about the whole job is said once, with the last verdict. */
static void say_end(struct json_object *report, const struct report_about *a, const char *file,
                    bool withdrawn, bool verbose)
{
    say(INDENT "full report: %s", file);
    if (verbose) {
        say_nodes(tool_member(report, "node_table"));
        say_trace(tool_member(report, "trace"));
    }
    say_conclusion(a, withdrawn);
}

static void say_verdict(struct json_object *report, struct json_object *v, const char *file,
                        bool verbose)
{
    bool withdrawn = tool_member(v, "withdrawn") != NULL;
    struct room room;
    struct report_about a = about(v, &room);

    say_headline(&a);
    say_rule(v);
    say_evidence(tool_member(v, "evidence"));
    say_stacks(v);
    say_candidates(&a);
    say_victims(v, &a);
    say_walltime(tool_member(v, "walltime"));
    say_end(report, &a, file, false, verbose && !withdrawn);
    if (!withdrawn)
        return;
    say_withdrawn(v, &a);
    say_end(report, &a, file, true, verbose);
}

struct told {
    struct json_object *v;
    struct room room;
    struct report_about a;
    bool said;
};

/* Those that are told with the first; returns how many. */
static int32_t find_alike(struct told *told, size_t n, struct told **alike)
{
    int32_t found = 0;

    for (size_t i = 0; i < n; i++)
        if (!told[i].said && !tool_member(told[i].v, "withdrawn") &&
            ftree_report_is_alike(&told[0].a, &told[i].a))
            alike[found++] = &told[i];
    return found;
}

static void read_sets(struct told *const *alike, int32_t n, struct ftree_ranks *ranks,
                      struct ftree_ranks *victims)
{
    struct ftree_ranks of;

    *ranks = *victims = (struct ftree_ranks){0};
    for (int32_t i = 0; i < n; i++) {
        struct json_object *component = tool_member(alike[i]->v, "component");
        struct json_object *set = tool_member(alike[i]->v, "victims");
        read_ranks(tool_member(component, "ranks"), count_of(component), &of);
        ftree_ranks_merge(ranks, &of);
        read_ranks(tool_member(set, "ranks"), json_object_get_int64(tool_member(set, "count")), &of);
        ftree_report_add_victims(victims, &of);
    }
}

static struct report_together *join(struct told *const *alike, int32_t n, struct report_about *all,
                                    struct ftree_ranks *victims)
{
    struct report_about *about = malloc((size_t) n * sizeof(*about));
    struct report_together *together = NULL;
    struct ftree_ranks ranks;

    read_sets(alike, n, &ranks, victims);
    for (int32_t i = 0; about && i < n; i++)
        about[i] = alike[i]->a;
    if (about)
        together = ftree_report_join(about, n, &ranks, all);
    free(about);
    return together;
}

static bool is_last(const struct told *told, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (!told[i].said)
            return false;
    return true;
}

/* False: out of memory. */
static bool say_alike(struct json_object *report, struct told *told, size_t tolds,
                      struct told *const *alike, int32_t n, const char *file, bool verbose)
{
    struct ftree_ranks victims;
    struct report_about all;
    struct report_together *together = join(alike, n, &all, &victims);
    char line[1024];

    if (!together)
        return false;
    for (int32_t i = 0; i < n; i++)
        alike[i]->said = true;
    say_headline(&all);
    if (!*all.name)
        say(INDENT "%s", together->names);
    say(INDENT "%s", together->line);
    say_rule(alike[0]->v);
    say_evidence(tool_member(alike[0]->v, "evidence"));
    say_candidates(&all);
    ftree_report_victims(&all, &victims, line, sizeof(line));
    say(INDENT "victims: %s", line);
    say_walltime(tool_member(alike[0]->v, "walltime"));
    say_end(report, &all, file, false, verbose && is_last(told, tolds));
    free(together);
    return true;
}

/* The trace is said with the last. */
static void say_verdicts(struct json_object *report, struct told *told, size_t n, const char *file,
                         bool verbose)
{
    struct told **alike = malloc((n + 1) * sizeof(struct told *));

    for (size_t i = 0; i < n; i++) {
        int32_t found = told[i].said || !alike ? 0 : find_alike(&told[i], n - i, alike);
        if (told[i].said || (found >= REPORT_ALIKE_MIN &&
                             say_alike(report, &told[i], n - i, alike, found, file, verbose)))
            continue;
        say_verdict(report, told[i].v, file, verbose && is_last(&told[i], n - i));
    }
    free(alike);
}

static void say_changes(struct json_object *list)
{
    for (size_t i = 0; i < json_object_array_length(list); i++) {
        struct json_object *c = json_object_array_get_idx(list, i);
        say(PREFIX "user %lld has set %s, %s",
            (long long) json_object_get_int64(tool_member(c, "uid")), tool_string(c, "what"),
            tool_string(c, "at"));
    }
}

void tool_print(struct json_object *report, const char *file, bool verbose)
{
    struct json_object *job = tool_member(report, "job");
    struct json_object *verdicts = tool_member(report, "verdicts");
    size_t n = json_object_array_length(verdicts);
    int size = json_object_get_int(tool_member(job, "size"));
    int nodes = json_object_get_int(tool_member(job, "nodes"));
    struct told *told;

    say(PREFIX "job %s: %d %s on %d %s, started %s; %zu %s", tool_string(job, "id"), size,
        size == 1 ? "rank" : "ranks", nodes, nodes == 1 ? "node" : "nodes",
        tool_string(job, "started"), n, n == 1 ? "verdict" : "verdicts");
    if (tool_member(report, "waiting"))
        say_waiting(report, tool_member(report, "waiting"), file);
    if (tool_member(report, "settings"))
        say_changes(tool_member(report, "settings"));
    told = calloc(n + 1, sizeof(*told));
    for (size_t i = 0; told && i < n; i++) {
        told[i].v = json_object_array_get_idx(verdicts, i);
        told[i].a = about(told[i].v, &told[i].room);
    }
    if (told)
        say_verdicts(report, told, n, file, verbose);
    free(told);
}
