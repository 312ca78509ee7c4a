/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "tool.h"

#include <string.h>

/*
 * What a schema cannot say.  The document fits the schema by now, so every member that the schema
 * requires is there and of its type.
 */

static int64_t number(struct json_object *object, const char *key)
{
    return json_object_get_int64(tool_member(object, key));
}

static const char *string(struct json_object *object, const char *key)
{
    return json_object_get_string(tool_member(object, key));
}

/* Ranks are given once each, in ascending order, and exist. */
static void check_ranks(struct tool_findings *f, struct json_object *ranks, int64_t size)
{
    int64_t before = -1;

    for (size_t i = 0; i < json_object_array_length(ranks); i++) {
        int64_t rank = json_object_get_int64(json_object_array_get_idx(ranks, i));
        size_t where = tool_enter_index(f, i);
        if (rank >= size)
            tool_found(f, "rank %lld of a job of %lld ranks", (long long) rank, (long long) size);
        else if (rank <= before)
            tool_found(f, "rank %lld after rank %lld: ranks must ascend", (long long) rank,
                       (long long) before);
        tool_leave(f, where);
        if (f->count > TOOL_FINDINGS_MAX)
            return;
        before = rank;
    }
}

/* Fewer may be listed than counted: the list is bounded. */
static void check_counted(struct tool_findings *f, struct json_object *verdict, const char *key,
                          int64_t size)
{
    struct json_object *set = tool_member(verdict, key), *ranks = tool_member(set, "ranks");
    int64_t count = number(set, "count");
    size_t where = tool_enter_key(f, key);

    if (tool_member(set, "count") &&
        (count < (int64_t) json_object_array_length(ranks) || count > size))
        tool_found(f, "count is %lld, with %zu ranks listed, in a job of %lld", (long long) count,
                   json_object_array_length(ranks), (long long) size);
    tool_enter_key(f, "ranks");
    check_ranks(f, ranks, size);
    tool_leave(f, where);
}

static void check_verdict(struct tool_findings *f, struct json_object *verdict, int64_t size)
{
    /* times are all in one form, so they compare as strings */
    if (strcmp(string(verdict, "first_symptom"), string(verdict, "located")) > 0)
        tool_found(f, "located before the first symptom");
    if (tool_member(verdict, "withdrawn") &&
        strcmp(string(verdict, "located"), string(verdict, "withdrawn")) > 0)
        tool_found(f, "withdrawn before it was located");
    check_counted(f, verdict, "component", size);
    check_counted(f, verdict, "victims", size);
}

/* Ranks and counts of a note are within the job. */
static void check_number(struct tool_findings *f, struct json_object *object, const char *key,
                         int64_t most, int64_t size)
{
    size_t where = tool_enter_key(f, key);

    if (number(object, key) > most)
        tool_found(f, "is %lld, in a job of %lld ranks", (long long) number(object, key),
                   (long long) size);
    tool_leave(f, where);
}

static void check_list(struct tool_findings *f, struct json_object *waiting, const char *key,
                       const char *rank, int64_t size)
{
    struct json_object *list = tool_member(waiting, key);
    size_t where = tool_enter_key(f, key);

    for (size_t i = 0; i < json_object_array_length(list); i++) {
        size_t at = tool_enter_index(f, i);
        check_number(f, json_object_array_get_idx(list, i), rank, size - 1, size);
        check_number(f, json_object_array_get_idx(list, i), "count", size, size);
        tool_leave(f, at);
    }
    tool_leave(f, where);
}

static void check_waiting(struct tool_findings *f, struct json_object *waiting, int64_t size)
{
    size_t where = tool_enter_key(f, "waiting");

    check_number(f, waiting, "count", size, size);
    check_list(f, waiting, "ends", "rank", size);
    check_list(f, waiting, "classes", "example", size);
    tool_leave(f, where);
}

void tool_check_meaning(struct tool_findings *f, struct json_object *report)
{
    struct json_object *job = tool_member(report, "job");
    struct json_object *verdicts = tool_member(report, "verdicts");
    int64_t size = number(job, "size");

    if (number(job, "nodes") > size) {
        size_t where = tool_enter_key(f, "job");
        tool_found(f, "more nodes than ranks");
        tool_leave(f, where);
    }
    if (tool_member(report, "node_table") &&
        json_object_array_length(tool_member(report, "node_table")) !=
            (size_t) number(job, "nodes")) {
        size_t where = tool_enter_key(f, "node_table");
        tool_found(f, "has %zu nodes, the job has %lld",
                   json_object_array_length(tool_member(report, "node_table")),
                   (long long) number(job, "nodes"));
        tool_leave(f, where);
    }
    if (tool_member(report, "waiting"))
        check_waiting(f, tool_member(report, "waiting"), size);
    tool_enter_key(f, "verdicts");
    for (size_t i = 0; i < json_object_array_length(verdicts); i++) {
        size_t where = tool_enter_index(f, i);
        check_verdict(f, json_object_array_get_idx(verdicts, i), size);
        tool_leave(f, where);
    }
    tool_leave(f, 0);
}
