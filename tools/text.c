/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "tool.h"

#include "report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/*
 * The report as it was on the job's stderr, line by line, from the JSON alone: a file may come from
 * another machine, and its classes and rules from a later version.  test/unit/t-faultloc-program.sh
 * compares the two for every rule there is.
 */

#define PREFIX "[faultloc] "
#define INDENT "[faultloc]   "

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* One line, safe for a terminal; one that is too long is cut. */
static void say(const char *format, ...)
{
    char line[8192];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    puts(tool_clean(line));
}

/* Of a member that may be missing: "". */
static const char *string(struct json_object *object, const char *key)
{
    const char *s = json_object_get_string(tool_member(object, key));

    return s ? s : "";
}

static int percent(struct json_object *object)
{
    return (int) (json_object_get_double(tool_member(object, "confidence")) * 100 + 0.5);
}

/* ---- ranks ----------------------------------------------------------------------------------- */

/* The first FTREE_RANGES_MAX ranges of ascending ranks; more would not fit into the line anyway. */
static void read_ranks(struct json_object *array, int64_t count, struct ftree_ranks *set)
{
    memset(set, 0, sizeof(*set));
    set->count = (int32_t) count;
    for (size_t i = 0; i < json_object_array_length(array); i++) {
        int32_t rank = json_object_get_int(json_object_array_get_idx(array, i));
        if (set->ranges > 0 && set->range[set->ranges - 1].last + 1 == rank) {
            set->range[set->ranges - 1].last = rank;
        } else if (set->ranges < FTREE_RANGES_MAX) {
            set->range[set->ranges].first = set->range[set->ranges].last = rank;
            set->ranges++;
        } else {
            return;
        }
    }
}

/* "rank 3" or "ranks 4-7" */
static void component_ranks(struct json_object *component, char *buf, size_t len)
{
    struct json_object *ranks = tool_member(component, "ranks");
    struct ftree_ranks set;
    char list[200];

    read_ranks(ranks, (int64_t) json_object_array_length(ranks), &set);
    ftree_report_ranks(&set, list, sizeof(list));
    snprintf(buf, len, "%s %s", set.count == 1 ? "rank" : "ranks", list);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void say_headline(struct json_object *v)
{
    struct json_object *component = tool_member(v, "component");
    const char *class = string(v, "class"), *node = string(component, "node");
    char ranks[256], pid[32] = "", what[512];

    component_ranks(component, ranks, sizeof(ranks));
    if (tool_member(component, "pid"))
        snprintf(pid, sizeof(pid), "pid %d on ",
                 json_object_get_int(tool_member(component, "pid")));
    if (!strcmp(class, "node-outage"))
        snprintf(what, sizeof(what), "node %s (%s) is down", node, ranks);
    else if (!strcmp(class, "node-frozen"))
        snprintf(what, sizeof(what), "node %s (%s) is frozen", node, ranks);
    else if (!strcmp(class, "process-crash"))
        snprintf(what, sizeof(what), "%s (%snode %s) ended without MPI_Finalize", ranks, pid, node);
    else if (!strcmp(class, "process-stopped"))
        snprintf(what, sizeof(what), "%s (%snode %s) is stopped", ranks, pid, node);
    else
        snprintf(what, sizeof(what), "node %s (%s): cause not found", node, ranks);
    say(PREFIX "%s: %s -- %s, confidence %d%%", class, what, string(v, "origin"), percent(v));
}

/* What the kernel of the node said of the process, without anybody being asked. */
static void proc_evidence(struct json_object *e, char *buf, size_t len)
{
    const char *state = string(e, "process_state");

    snprintf(buf, len, "the kernel of %s says the process is %s", string(e, "target"),
             !strcmp(state, "X")   ? "gone"
             : !strcmp(state, "t") ? "held by a debugger (state t)"
                                   : "stopped (state T)");
}

static void probe_evidence(struct json_object *e, char *buf, size_t len)
{
    const char *address = string(e, "address"), *error = string(e, "errno");
    const char *state = string(e, "process_state");

    snprintf(buf, len, "%s%s on %s%s%s: %s%s%s%s%s%s", string(e, "target"),
             !strcmp(string(e, "role"), "deputy") ? "'s deputy" : "", string(e, "path"),
             *address ? " " : "", address, string(e, "result"), *error ? " (" : "", error,
             *error ? ")" : "", *state ? ", says state " : "", state);
}

static void say_evidence(struct json_object *list)
{
    for (size_t i = 0; i < json_object_array_length(list); i++) {
        struct json_object *e = json_object_array_get_idx(list, i);
        char line[4096];
        if (!strcmp(string(e, "source"), "proc"))
            proc_evidence(e, line, sizeof(line));
        else
            probe_evidence(e, line, sizeof(line));
        say(INDENT "%s%s", i ? "          " : "evidence: ", line);
    }
}

static void say_candidates(struct json_object *list)
{
    char line[1024];
    size_t len = 0;

    for (size_t i = 0; i < json_object_array_length(list) && len < sizeof(line); i++) {
        struct json_object *c = json_object_array_get_idx(list, i);
        if (!tool_member(c, "ruled_out_by"))
            len += (size_t) snprintf(line + len, sizeof(line) - len, "%s%s (%d%%)",
                                     len ? ", " : "", string(c, "class"), percent(c));
    }
    if (len)
        say(INDENT "not ruled out: %s", line);
}

static void say_victims(struct json_object *v)
{
    struct json_object *victims = tool_member(v, "victims");
    int64_t count = json_object_get_int64(tool_member(victims, "count"));
    struct ftree_ranks set;
    char list[400], component[256];

    read_ranks(tool_member(victims, "ranks"), count, &set);
    ftree_report_ranks(&set, list, sizeof(list));
    component_ranks(tool_member(v, "component"), component, sizeof(component));
    say(INDENT "victims: %d %s, directly or in a chain, for %s%s%s", (int) count,
        count == 1 ? "rank waits" : "ranks wait", component, count ? ": " : "", list);
}

static void say_verdict(struct json_object *v)
{
    say_headline(v);
    say(INDENT "located %.1f s after the first symptom by node %s; rule %s",
        json_object_get_double(tool_member(v, "latency_s")), string(v, "fln"), string(v, "rule"));
    if (tool_member(v, "because"))
        say(INDENT "because %s", string(v, "because"));
    say_evidence(tool_member(v, "evidence"));
    say_candidates(tool_member(v, "candidates"));
    say_victims(v);
}

void tool_print(struct json_object *report, const char *file)
{
    struct json_object *job = tool_member(report, "job");
    struct json_object *verdicts = tool_member(report, "verdicts");
    size_t n = json_object_array_length(verdicts);
    int size = json_object_get_int(tool_member(job, "size"));
    int nodes = json_object_get_int(tool_member(job, "nodes"));

    say(PREFIX "job %s: %d %s on %d %s, started %s; %zu %s", string(job, "id"), size,
        size == 1 ? "rank" : "ranks", nodes, nodes == 1 ? "node" : "nodes", string(job, "started"),
        n, n == 1 ? "verdict" : "verdicts");
    for (size_t i = 0; i < n; i++) {
        say_verdict(json_object_array_get_idx(verdicts, i));
        say(INDENT "full report: %s", file);
    }
}
