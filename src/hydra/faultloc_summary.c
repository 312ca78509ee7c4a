/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc_incident.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

static bool is_signal(const struct HYD_faultloc_event *f)
{
    return f->kind == HYD_FAULTLOC_EVENT_END && WIFSIGNALED(f->end.status);
}

int HYD_faultloc_incident_exit_code(const struct HYD_faultloc_incident *s)
{
    int first = HYD_faultloc_incident_first(s), code;

    if (first < 0)
        return -1;
    if (s->event[first].kind == HYD_FAULTLOC_EVENT_LOST)
        return 128 + SIGKILL;
    if (is_signal(&s->event[first]))
        return 128 + WTERMSIG(s->event[first].end.status);
    code = s->event[first].kind == HYD_FAULTLOC_EVENT_END ? WEXITSTATUS(s->event[first].end.status)
                                                          : s->event[first].end.status & 0xff;
    return code ? code : 1;
}

static void print_who(const struct HYD_faultloc_event *f, FILE *out)
{
    HYD_faultloc_say(out, "rank %d", (int) f->end.rank);
    if (f->pgid)
        HYD_faultloc_say(out, " of spawned group %d", f->pgid);
    HYD_faultloc_say(out, " on %s", f->host);
    if (f->end.pid > 0)
        HYD_faultloc_say(out, " (pid %d)", (int) f->end.pid);
}

/* What it says itself of its end, as of a sentence that begins with its name. */
static bool has_words(const struct HYD_faultloc_event *f)
{
    return f->reason.text[0] && !f->class_[0];
}

static const char *how(const struct HYD_faultloc_event *f, char *buf, size_t room)
{
    switch (f->kind) {
        case HYD_FAULTLOC_EVENT_ABORT:
            if (f->class_[0])
                return "by FaultLoc (action abort)";
            snprintf(buf, room, "MPI_Abort with code %d", (int) f->end.status);
            return buf;
        case HYD_FAULTLOC_EVENT_ENDING:
            return "by FaultLoc (action abort)";
        case HYD_FAULTLOC_EVENT_LOST:
            return "lost with hydra's proxy on its host";
        default:
            return HYD_faultloc_how(&f->end, buf, room);
    }
}

/* not_alone: others may have been. */
static void print_first(const struct HYD_faultloc_event *f, bool not_alone, FILE *out)
{
    char buf[128];

    HYD_faultloc_say(out, "[faultloc] ");
    if (f->class_[0]) {
        HYD_faultloc_say(out,
                         "FaultLoc ended the job because of its verdict %s (action abort), by %s ",
                         f->class_,
                         f->kind == HYD_FAULTLOC_EVENT_ABORT ? "MPI_Abort of" : "a signal to");
        print_who(f, out);
        HYD_faultloc_say(out, "\n");
        return;
    }
    if (f->kind == HYD_FAULTLOC_EVENT_ABORT && f->reason.kind == FAULTLOC_REASON_MPI)
        HYD_faultloc_say(out, "MPI ended the job: ");
    print_who(f, out);
    if (has_words(f))
        HYD_faultloc_say(out, " %s\n", f->reason.text);
    else if (f->kind == HYD_FAULTLOC_EVENT_ABORT)
        HYD_faultloc_say(out, " called MPI_Abort with code %d\n", (int) f->end.status);
    else if (f->kind == HYD_FAULTLOC_EVENT_LOST)
        HYD_faultloc_say(out, " was lost with hydra's proxy there\n");
    else if (f->end.killed)
        HYD_faultloc_say(out, " ended by the signal that mpiexec was sent: %s\n",
                         how(f, buf, sizeof(buf)));
    else
        HYD_faultloc_say(out, " was %s first to end: %s\n", not_alone ? "among the" : "the",
                         how(f, buf, sizeof(buf)));
}

/* Who called MPI_Abort, and then ended by itself, has one line. */
static bool has_ended(const struct HYD_faultloc_incident *s, const struct HYD_faultloc_event *abort)
{
    for (int i = 0; i < s->events; i++)
        if (s->event[i].kind == HYD_FAULTLOC_EVENT_END && s->event[i].pgid == abort->pgid &&
            s->event[i].end.rank == abort->end.rank && HYD_faultloc_is_crash(&s->event[i].end))
            return true;
    return false;
}

static bool is_worth_a_line(const struct HYD_faultloc_incident *s,
                            const struct HYD_faultloc_event *f)
{
    if (f->end.unsure && !HYD_faultloc_incident_ends(s, f->pgid, f->end.rank))
        return false;
    if (f->kind == HYD_FAULTLOC_EVENT_ABORT)
        return !has_ended(s, f);
    return f->kind != HYD_FAULTLOC_EVENT_END || HYD_faultloc_is_crash(&f->end);
}

static const char *others_word(const struct HYD_faultloc_incident *s, int event)
{
    if (HYD_faultloc_incident_may_be_first(s, event))
        return "ended at the same time";
    return HYD_faultloc_incident_is_consequence(s, event) ? "ended as a consequence" : "ended, too";
}

static void print_others(const struct HYD_faultloc_incident *s, int first, FILE *out)
{
    char buf[128];

    for (int i = 0; i < s->events; i++) {
        const struct HYD_faultloc_event *f = &s->event[i];
        bool together =
            f->kind == HYD_FAULTLOC_EVENT_LOST && s->event[first].kind == HYD_FAULTLOC_EVENT_LOST;
        if (i == first || !is_worth_a_line(s, f))
            continue;
        HYD_faultloc_say(out, "[faultloc]   ");
        print_who(f, out);
        if (together)
            HYD_faultloc_say(out, " was lost, too\n");
        else if (has_words(f))
            HYD_faultloc_say(out, " %s\n", f->reason.text);
        else
            HYD_faultloc_say(out, " %s: %s\n", others_word(s, i), how(f, buf, sizeof(buf)));
    }
}

/* A line comes from another process: it is one line. */
static void print_verdicts(const struct HYD_faultloc_incident *s, FILE *out)
{
    for (int i = 0; i < s->verdicts; i++) {
        char line[FAULTLOC_LAUNCHER_LINE];
        if (s->verdict[i].withdrawn)
            continue;
        snprintf(line, sizeof(line), "%s", s->verdict[i].message.line);
        line[strcspn(line, "\n")] = '\0';
        HYD_faultloc_say(out, "[faultloc]   %s\n", line);
    }
}

void HYD_faultloc_incident_print(const struct HYD_faultloc_incident *s, FILE *out)
{
    int first = HYD_faultloc_incident_first(s);
    bool not_alone = false;

    if (first < 0)
        return;
    for (int i = 0; i < s->events; i++)
        not_alone |= HYD_faultloc_incident_may_be_first(s, i);
    print_first(&s->event[first], not_alone, out);
    print_others(s, first, out);
    print_verdicts(s, out);
    fflush(out);
}
