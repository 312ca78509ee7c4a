/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/base/base.h"
#include "ftree/report/report_int.h"

#include <stdio.h>
#include <string.h>

/* The note on a stall that nothing explains, in words. */

/* Who computes may need that long; where nobody does it may well be a deadlock. */
static void remark(const struct report_waiting *w, char *buf, size_t len)
{
    if (w->ends == 0 && w->count == w->size)
        snprintf(buf, len, "; that may be a deadlock, but none is proven");
    else if (w->ends > 0 && w->end[0].still > 0)
        snprintf(buf, len, "; it has used no CPU time for %lld s", (long long) w->end[0].still);
    else
        snprintf(buf, len, "; nothing is known to be wrong");
}

/* "12 of 16 ranks have waited for 10 s for rank 3 (h1), which is outside MPI" */
static void who_waits(const struct report_waiting *w, char *buf, size_t len)
{
    char end[64];

    remark(w, end, sizeof(end));
    snprintf(buf, len, "waiting: %d of %d ranks %s waited for %lld s", w->count, w->size,
             w->count == 1 ? "has" : "have", (long long) w->seconds);
    if (w->ends > 0 && w->end[0].count > 0 && w->end[0].count < w->count)
        ftree_text_add(buf, len, ", %d of them", w->end[0].count);
    if (w->ends > 0)
        ftree_text_add(buf, len, " for rank %d (%s), which is %s", w->end[0].rank, w->end[0].node,
                       w->end[0].state);
    ftree_text_add(buf, len, "%s", end);
}

static void all_sleep(const struct report_waiting *w, char *buf, size_t len)
{
    snprintf(buf, len,
             "waiting: all %d ranks are asleep, none in a wait of MPI, and have ended no call for "
             "%lld s; they may wait for each other, or for something outside the job",
             w->size, (long long) w->seconds);
}

static void further_end(const struct report_waiting *w, int i, char *buf, size_t len)
{
    char count[16] = "others ";

    if (w->end[i].count > 0)
        snprintf(count, sizeof(count), "%d ", w->end[i].count);
    snprintf(buf, len, "%sfor rank %d (%s), which is %s", count, w->end[i].rank, w->end[i].node,
             w->end[i].state);
}

/* How to learn more. */
static void hint(const struct report_waiting *w, char *buf, size_t len)
{
    snprintf(buf, len, "what all ranks do: faultloc status%s",
             w->count == 0 ? "; where they are: faultloc status --stacks" : "");
    if (w->ends > 0)
        ftree_text_add(buf, len, "; where rank %d is: faultloc ask rank %d", w->end[0].rank,
                       w->end[0].rank);
}

static void one_class(const struct report_waiting *w, int i, char *buf, size_t len)
{
    const char *comm = w->class_[i].comm, *call = w->class_[i].call, *on = w->class_[i].on;
    const char *before = w->count > 0 ? " on " : " asleep in ";

    snprintf(buf, len, "%d %s%s%s%s, rank %d (%s) %s%s%s", w->class_[i].count,
             *call ? "in " : "outside MPI", call, *comm ? before : "", comm, w->class_[i].example,
             w->class_[i].node, w->class_[i].count == 1 ? "alone" : "for example", *on ? ": " : "",
             on);
}

bool ftree_report_waiting(const struct report_waiting *w, int i, char *buf, size_t len)
{
    int ends = w->ends > 1 ? w->ends - 1 : 0;

    if (i == 0 && w->count == 0)
        all_sleep(w, buf, len);
    else if (i == 0)
        who_waits(w, buf, len);
    else if (i <= ends)
        further_end(w, i, buf, len);
    else if (i <= ends + w->classes)
        one_class(w, i - ends - 1, buf, len);
    else if (i == ends + w->classes + 1)
        hint(w, buf, len);
    else if (i == ends + w->classes + 2 && w->ends > 0)
        snprintf(buf, len,
                 "to have it examined: faultloc symptom --kind user-suspects --component \"rank "
                 "%d\"",
                 w->end[0].rank);
    else
        return false;
    return true;
}
