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

static const char *list_tickets(struct json_object *list, char *buf, size_t len)
{
    buf[0] = '\0';
    for (size_t i = 0; list && i < json_object_array_length(list); i++)
        ftree_report_ticket_add(json_object_get_string(json_object_array_get_idx(list, i)), buf,
                                len);
    return buf;
}

static const char *first_cause(struct json_object *list, char *buf, size_t len)
{
    struct json_object *e = list ? json_object_array_get_idx(list, 0) : NULL;

    buf[0] = '\0';
    if (e && strcmp(tool_string(e, "source"), "cause") == 0)
        ftree_report_cause(tool_string(e, "detail"),
                           json_object_get_double(tool_member(e, "before_s")), buf, len);
    return buf;
}

/* Times are all in one form, UTC with milliseconds. */
static double seconds(const char *time)
{
    struct tm tm = {0};
    const char *ms = strptime(time, "%Y-%m-%dT%H:%M:%S", &tm);

    return (double) timegm(&tm) + (ms ? strtod(ms, NULL) : 0);
}

/* What a verdict says of its component and victims. */
static void read_sets(struct json_object *v, struct report_entry *t)
{
    struct json_object *component = tool_member(v, "component"), *victims = tool_member(v, "victims");
    char list[200];

    read_ranks(tool_member(component, "ranks"), count_of(component), &t->ranks);
    read_ranks(tool_member(victims, "ranks"), json_object_get_int64(tool_member(victims, "count")),
               &t->victims);
    ftree_report_ranks(&t->ranks, list, sizeof(list));
    snprintf(t->room.ranks, sizeof(t->room.ranks), "%s %s", t->ranks.count == 1 ? "rank" : "ranks",
             list);
}

static void read_verdict(struct json_object *v, struct report_entry *t)
{
    struct json_object *component = tool_member(v, "component");
    struct json_object *list = tool_member(v, "candidates");
    struct report_room *room = &t->room;

    t->json = v;
    t->over_s = seconds(tool_string(v, "withdrawn")) - seconds(tool_string(v, "located"));
    read_sets(v, t);
    t->about =
        (struct report_about){.class_ = tool_string(v, "class"),
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
            ftree_report_open_add(&t->about.open, tool_string(c, "class"), percent(c));
    }
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void say_lines(char *text)
{
    char *rest = text, *line;

    while (rest && (line = strsep(&rest, "\n")))
        if (*line)
            say("%s", line);
    if (!text)
        tool_say(stderr, "faultloc: out of memory");
    free(text);
}

struct entry {
    struct report_entry t;
    bool said;
};

static bool is_alike(const struct entry *entry, const struct entry *other)
{
    return !other->said && !tool_member(other->t.json, "withdrawn") &&
           ftree_report_is_alike(&entry->t.about, &other->t.about);
}

/* Those that are reported with the first are said then; fewer are reported each by itself. */
static void find_alike(struct entry *entry, size_t n)
{
    struct report_entry *last = &entry[0].t;
    int found = 0;

    for (size_t i = 0; i < n && is_alike(entry, entry); i++)
        found += is_alike(entry, &entry[i]);
    for (size_t i = 1; i < n && found >= REPORT_ALIKE_MIN; i++)
        if (is_alike(entry, &entry[i])) {
            last->next = &entry[i].t;
            last = &entry[i].t;
            entry[i].said = true;
        }
    entry[0].said = true;
}

static bool is_last(const struct entry *entry, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (!entry[i].said)
            return false;
    return true;
}

/* What is about the whole job is said once, with the last verdict. */
static void say_verdicts(struct json_object *report, struct entry *entry, size_t n, const char *file,
                         bool verbose)
{
    for (size_t i = 0; i < n; i++) {
        bool withdrawn = tool_member(entry[i].t.json, "withdrawn") != NULL;
        struct json_object *around;
        if (entry[i].said)
            continue;
        find_alike(&entry[i], n - i);
        around = verbose && is_last(&entry[i], n - i) ? report : NULL;
        say_lines(ftree_report_lines(&entry[i].t, withdrawn ? NULL : around, file));
        if (withdrawn)
            say_lines(ftree_report_over_lines(&entry[i].t, around, file));
    }
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
    struct entry *entry;

    say(PREFIX "job %s: %d %s on %d %s, started %s; %zu %s", tool_string(job, "id"), size,
        size == 1 ? "rank" : "ranks", nodes, nodes == 1 ? "node" : "nodes",
        tool_string(job, "started"), n, n == 1 ? "verdict" : "verdicts");
    if (tool_member(report, "waiting"))
        say_lines(ftree_report_waiting_lines(tool_member(report, "waiting"), size, file));
    if (tool_member(report, "settings"))
        say_changes(tool_member(report, "settings"));
    entry = calloc(n + 1, sizeof(*entry));
    for (size_t i = 0; entry && i < n; i++)
        read_verdict(json_object_array_get_idx(verdicts, i), &entry[i].t);
    if (entry)
        say_verdicts(report, entry, n, file, verbose);
    free(entry);
}
