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

static void check_victims(struct tool_findings *f, struct json_object *victims, int64_t size)
{
    struct json_object *ranks = tool_member(victims, "ranks");
    int64_t count = number(victims, "count");
    size_t where = tool_enter_key(f, "victims");

    /* fewer may be listed than counted: the list is bounded */
    if (count < (int64_t) json_object_array_length(ranks) || count > size)
        tool_found(f, "count is %lld, with %zu ranks listed, in a job of %lld", (long long) count,
                   json_object_array_length(ranks), (long long) size);
    tool_enter_key(f, "ranks");
    check_ranks(f, ranks, size);
    tool_leave(f, where);
}

static void check_verdict(struct tool_findings *f, struct json_object *verdict, int64_t size)
{
    size_t where;

    /* times are all in one form, so they compare as strings */
    if (strcmp(string(verdict, "first_symptom"), string(verdict, "located")) > 0)
        tool_found(f, "located before the first symptom");
    if (tool_member(verdict, "withdrawn") &&
        strcmp(string(verdict, "located"), string(verdict, "withdrawn")) > 0)
        tool_found(f, "withdrawn before it was located");
    where = tool_enter_key(f, "component");
    tool_enter_key(f, "ranks");
    check_ranks(f, tool_member(tool_member(verdict, "component"), "ranks"), size);
    tool_leave(f, where);
    check_victims(f, tool_member(verdict, "victims"), size);
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
    tool_enter_key(f, "verdicts");
    for (size_t i = 0; i < json_object_array_length(verdicts); i++) {
        size_t where = tool_enter_index(f, i);
        check_verdict(f, json_object_array_get_idx(verdicts, i), size);
        tool_leave(f, where);
    }
    tool_leave(f, 0);
}
