/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/report/report_int.h"

#include <json.h>

/* The note on a stall that nothing explains, in words. */

static int64_t number(struct json_object *object, const char *key)
{
    return json_object_get_int64(json_object_object_get(object, key));
}

/* Who computes may need that long; where nobody does it may well be a deadlock. */
static void add_remark(struct report_text *t, struct json_object *end, bool all)
{
    int64_t still = number(end, "no_cpu_time_s");

    if (!end && all)
        report_add(t, "; that may be a deadlock, but none is proven");
    else if (still > 0)
        report_add(t, "; it has used no CPU time for %lld s", (long long) still);
    else
        report_add(t, "; nothing is known to be wrong");
}

static void add_end(struct report_text *t, struct json_object *end)
{
    report_add(t, "for rank %d (%s), which is %s", (int) number(end, "rank"),
               report_string(end, "node"), report_string(end, "state"));
}

/* "12 of 16 ranks have waited for 10 s for rank 3 (h1), which is outside MPI" */
static void add_who_waits(struct report_text *t, struct json_object *w, struct json_object *end,
                          int size)
{
    int count = (int) number(w, "count"), of_them = (int) number(end, "count");

    report_add(t, REPORT_PREFIX "waiting: %d of %d ranks %s waited for %lld s", count, size,
               count == 1 ? "has" : "have", (long long) number(w, "waited_s"));
    if (of_them > 0 && of_them < count)
        report_add(t, ", %d of them", of_them);
    if (end) {
        report_add(t, " ");
        add_end(t, end);
    }
    add_remark(t, end, count == size);
    report_add(t, "\n");
}

static void add_all_sleep(struct report_text *t, struct json_object *w, int size)
{
    report_add(t, REPORT_PREFIX "waiting: all %d ranks are asleep, none in a wait of MPI", size);
    report_add(t, ", and have ended no call for %lld s", (long long) number(w, "waited_s"));
    report_add(t, "; they may wait for each other, or for something outside the job\n");
}

static void add_further_end(struct report_text *t, struct json_object *end)
{
    if (number(end, "count") > 0)
        report_add(t, REPORT_INDENT "%d ", (int) number(end, "count"));
    else
        report_add(t, REPORT_INDENT "others ");
    add_end(t, end);
    report_add(t, "\n");
}

static void add_class(struct report_text *t, struct json_object *c, bool asleep)
{
    const char *comm = report_string(c, asleep ? "asleep_in" : "communicator");
    const char *call = report_string(c, "call"), *on = report_string(c, "example_waits_for");
    int count = (int) number(c, "count");

    report_add(t, REPORT_INDENT "%d %s%s%s%s, rank %d (%s) %s%s%s\n", count,
               *call ? "in " : "outside MPI", call,
               !*comm   ? ""
               : asleep ? " asleep in "
                        : " on ",
               comm, (int) number(c, "example"), report_string(c, "node"),
               count == 1 ? "alone" : "for example", *on ? ": " : "", on);
}

/* How to learn more. */
static void add_hints(struct report_text *t, struct json_object *end, bool asleep)
{
    int rank = (int) number(end, "rank");

    report_add(t, REPORT_INDENT "what all ranks do: faultloc status%s",
               asleep ? "; where they are: faultloc status --stacks" : "");
    if (end)
        report_add(t, "; where rank %d is: faultloc ask rank %d", rank, rank);
    report_add(t, "\n");
    if (end)
        report_add(t,
                   REPORT_INDENT "to have it examined: faultloc symptom --kind user-suspects "
                                 "--component \"rank %d\"\n",
                   rank);
}

void report_add_waiting(struct report_text *t, struct json_object *w, int size)
{
    struct json_object *ends = json_object_object_get(w, "ends");
    struct json_object *classes = json_object_object_get(w, "classes");
    struct json_object *first = json_object_array_get_idx(ends, 0);
    bool asleep = number(w, "count") == 0;

    if (asleep)
        add_all_sleep(t, w, size);
    else
        add_who_waits(t, w, first, size);
    for (size_t i = 1; i < json_object_array_length(ends); i++)
        add_further_end(t, json_object_array_get_idx(ends, i));
    for (size_t i = 0; i < json_object_array_length(classes); i++)
        add_class(t, json_object_array_get_idx(classes, i), asleep);
    add_hints(t, first, asleep);
}
