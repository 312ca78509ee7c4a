/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc_incident.h"

#include "mpid/ch4/faultloc/base/grow.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define MORE_MS 250 /* after the last verdict: an end 50 ms later is to be reported, too */
#define SILENT_MS 300 /* there is no agent: for so long further ends are collected */
/* Two ends on two hosts are known to be in an order: a proxy that waits for a processor sees an end
 * late. */
#define APART_MS 25
#define ABORT_MS 50 /* an abort because of another rank may be reported before that rank's end */

bool HYD_faultloc_incident_grace(struct HYD_faultloc_incident *s, const char *text)
{
    int ms = -1;

    s->grace_ms = HYD_FAULTLOC_GRACE_MS;
    if (!text || !*text)
        return true;
    if (!faultloc_number_read(text, false, &ms) || ms < 0 || ms > 60000)
        return false;
    s->grace_ms = ms;
    return true;
}

static bool is_of(const struct HYD_faultloc_event *f, int pgid, int rank)
{
    return f->pgid == pgid && f->end.rank == rank;
}

/* It is that of the next end which becomes known, of an abort and of what follows. */
static void take_reason(const struct HYD_faultloc_incident *s, struct HYD_faultloc_event *f)
{
    for (int i = 0; i < s->reasons; i++)
        if (s->reason[i].pgid == f->pgid && s->reason[i].rank == f->end.rank)
            f->reason = s->reason[i];
}

static bool is_readable(const struct faultloc_launcher_message *message)
{
    return message->reason > FAULTLOC_REASON_NONE && message->reason < FAULTLOC_REASONS;
}

bool HYD_faultloc_incident_reason(struct HYD_faultloc_incident *s, int pgid,
                                  const struct faultloc_launcher_message *message)
{
    struct HYD_faultloc_reason r = {
        .pgid = pgid, .rank = message->ended_rank, .kind = message->reason}, *more;

    if (!is_readable(message))
        return true;
    snprintf(r.text, sizeof(r.text), "%.*s", (int) sizeof(r.text) - 1, message->line);
    for (int i = 0; i < s->events; i++)
        if (is_of(&s->event[i], pgid, r.rank) && s->event[i].reason.kind == FAULTLOC_REASON_NONE)
            s->event[i].reason = r;
    more = faultloc_one_more(s->reason, s->reasons, sizeof(*more));
    if (!more)
        return false;
    s->reason = more;
    s->reason[s->reasons++] = r;
    return true;
}

bool HYD_faultloc_incident_add(struct HYD_faultloc_incident *s,
                               const struct HYD_faultloc_event *event)
{
    struct HYD_faultloc_event *more;

    for (int i = 0; i < s->events; i++)
        if (s->event[i].end.unsure && is_of(&s->event[i], event->pgid, event->end.rank)) {
            s->event[i] = *event;
            take_reason(s, &s->event[i]);
            return true;
        }
    more = faultloc_one_more(s->event, s->events, sizeof(*more));
    if (!more)
        return false;
    s->event = more;
    s->event[s->events] = *event;
    take_reason(s, &s->event[s->events++]);
    return true;
}

void HYD_faultloc_incident_confirm_lost(struct HYD_faultloc_incident *s, int pgid, int64_t ms)
{
    for (int i = 0; i < s->events; i++)
        if (s->event[i].kind == HYD_FAULTLOC_EVENT_LOST && s->event[i].end.unsure &&
            s->event[i].pgid == pgid) {
            s->event[i].end.unsure = 0;
            s->event[i].ms = ms;
        }
}

bool HYD_faultloc_incident_has_end(const struct HYD_faultloc_incident *s, int pgid, int rank)
{
    for (int i = 0; i < s->events; i++)
        if (is_of(&s->event[i], pgid, rank) && !s->event[i].end.unsure &&
            (s->event[i].kind == HYD_FAULTLOC_EVENT_END ||
             s->event[i].kind == HYD_FAULTLOC_EVENT_LOST))
            return true;
    return false;
}

static bool is_abort(const struct HYD_faultloc_event *f)
{
    return f->kind == HYD_FAULTLOC_EVENT_ABORT || f->kind == HYD_FAULTLOC_EVENT_ENDING;
}

bool HYD_faultloc_incident_has_abort(const struct HYD_faultloc_incident *s)
{
    for (int i = 0; i < s->events; i++)
        if (is_abort(&s->event[i]))
            return true;
    return false;
}

static struct HYD_faultloc_verdict *find_verdict(const struct HYD_faultloc_incident *s, int pgid,
                                                 const struct faultloc_launcher_message *message)
{
    for (int i = 0; i < s->verdicts; i++)
        if (s->verdict[i].pgid == pgid && s->verdict[i].message.fln == message->fln &&
            s->verdict[i].message.id == message->id)
            return &s->verdict[i];
    return NULL;
}

bool HYD_faultloc_incident_verdict(struct HYD_faultloc_incident *s, int pgid, int64_t ms,
                                   const struct faultloc_launcher_message *message)
{
    struct HYD_faultloc_verdict *r = find_verdict(s, pgid, message), *more;

    if (message->kind == FAULTLOC_LAUNCHER_WITHDRAWN) {
        if (r)
            r->withdrawn = true;
        return true;
    }
    if (r && message->victims.count < r->message.victims.count)
        return true; /* repeated by another agent, which knows no more about it */
    if (!r) {
        more = faultloc_one_more(s->verdict, s->verdicts, sizeof(*more));
        if (!more)
            return false;
        s->verdict = more;
        r = &s->verdict[s->verdicts++];
    }
    *r = (struct HYD_faultloc_verdict){.pgid = pgid, .ms = ms, .message = *message};
    return true;
}

/* ---- who because of whom --------------------------------------------------------------------- */

static bool has_rank(const struct faultloc_launcher_ranks *ranks, int32_t rank)
{
    for (int32_t i = 0; i < ranks->ranges; i++)
        if (ranks->range[i].first <= rank && rank <= ranks->range[i].last)
            return true;
    return false;
}

static bool is_about(const struct HYD_faultloc_verdict *r, const struct HYD_faultloc_event *f)
{
    return !r->withdrawn && r->pgid == f->pgid;
}

static const struct HYD_faultloc_verdict *as_component(const struct HYD_faultloc_incident *s,
                                                       const struct HYD_faultloc_event *f)
{
    for (int i = 0; i < s->verdicts; i++)
        if (is_about(&s->verdict[i], f) && has_rank(&s->verdict[i].message.ranks, f->end.rank))
            return &s->verdict[i];
    return NULL;
}

const struct faultloc_launcher_message *
HYD_faultloc_incident_standing(const struct HYD_faultloc_incident *s, int pgid)
{
    for (int i = 0; i < s->verdicts; i++)
        if (!s->verdict[i].withdrawn && s->verdict[i].pgid == pgid)
            return &s->verdict[i].message;
    return NULL;
}

bool HYD_faultloc_incident_is_located(const struct HYD_faultloc_incident *s, int pgid, int rank)
{
    const struct HYD_faultloc_event f = {.pgid = pgid, .end = {.rank = rank}};

    return as_component(s, &f) != NULL;
}

bool HYD_faultloc_incident_ends(const struct HYD_faultloc_incident *s, int pgid, int rank)
{
    const struct HYD_faultloc_event f = {.pgid = pgid, .end = {.rank = rank}};

    for (int i = 0; i < s->verdicts; i++)
        if (is_about(&s->verdict[i], &f) && s->verdict[i].message.ends_ranks &&
            has_rank(&s->verdict[i].message.ranks, rank))
            return true;
    return false;
}

/* Nobody dies by a signal because another is stopped, slow or cut off. */
static bool can_follow(const struct HYD_faultloc_event *f, const struct HYD_faultloc_verdict *r)
{
    return r->message.ends_ranks || f->kind != HYD_FAULTLOC_EVENT_END ||
           !WIFSIGNALED(f->end.status);
}

/* Who was a victim long before it ended did not end because of that. */
static const struct HYD_faultloc_verdict *as_victim(const struct HYD_faultloc_incident *s,
                                                    const struct HYD_faultloc_event *f)
{
    for (int i = 0; i < s->verdicts; i++)
        if (is_about(&s->verdict[i], f) && can_follow(f, &s->verdict[i]) &&
            has_rank(&s->verdict[i].message.victims, f->end.rank) &&
            (is_abort(f) || s->verdict[i].ms + s->grace_ms >= f->ms))
            return &s->verdict[i];
    return NULL;
}

/* A process that was ended because somebody asked mpiexec to. */
static bool was_requested(const struct HYD_faultloc_event *f)
{
    return f->kind == HYD_FAULTLOC_EVENT_END && f->end.killed && WIFSIGNALED(f->end.status) &&
           WTERMSIG(f->end.status) != SIGKILL;
}

/* The others cannot continue without it: it ended too early. */
static bool counts(const struct HYD_faultloc_incident *s, const struct HYD_faultloc_event *f)
{
    if (f->end.unsure && !HYD_faultloc_incident_ends(s, f->pgid, f->end.rank))
        return false;
    return f->kind != HYD_FAULTLOC_EVENT_END || HYD_faultloc_is_crash(&f->end) || was_requested(f);
}

/* After MPI_Finalize the others do not need it; but it counts for mpiexec's exit code. */
static bool is_late(const struct HYD_faultloc_event *f)
{
    return f->kind == HYD_FAULTLOC_EVENT_END && !f->end.killed && !f->end.unsure &&
           f->end.finalized && WIFEXITED(f->end.status) && WEXITSTATUS(f->end.status);
}

static bool says_that_it_follows(const struct HYD_faultloc_event *f)
{
    return f->reason.kind == FAULTLOC_REASON_OTHER || f->reason.kind == FAULTLOC_REASON_LOSS;
}

/* Not the component of a verdict of its own, which one has that others know to be gone. */
static bool is_cause(const struct HYD_faultloc_incident *s, const struct HYD_faultloc_event *f)
{
    return as_component(s, f) && !says_that_it_follows(f);
}

bool HYD_faultloc_incident_is_consequence(const struct HYD_faultloc_incident *s, int event)
{
    const struct HYD_faultloc_event *f = &s->event[event];

    return !is_cause(s, f) && (says_that_it_follows(f) || as_victim(s, f));
}

/* The better, the sooner: a located fault, then who is nobody's victim, then who is. */
static int grade(const struct HYD_faultloc_incident *s, const struct HYD_faultloc_event *f)
{
    if (is_late(f))
        return 4;
    if (!counts(s, f))
        return 0;
    if (was_requested(f))
        return 5;
    if (is_cause(s, f))
        return 1;
    /* an end beside an MPI_Abort is the reason for it, whichever was reported first */
    return is_abort(f) || says_that_it_follows(f) || as_victim(s, f) ? 3 : 2;
}

/* Reports of two hosts may overtake each other. */
static bool was_before(const struct HYD_faultloc_event *a, const struct HYD_faultloc_event *b)
{
    return a->ended && b->ended && a->ended < b->ended;
}

int HYD_faultloc_incident_first(const struct HYD_faultloc_incident *s)
{
    int first = -1, best = INT32_MAX;

    for (int i = 0; i < s->events; i++) {
        int g = grade(s, &s->event[i]);
        if (g && (g < best || (g == best && was_before(&s->event[i], &s->event[first])))) {
            best = g;
            first = i;
        }
    }
    return first;
}

bool HYD_faultloc_incident_may_be_first(const struct HYD_faultloc_incident *s, int event)
{
    int i = HYD_faultloc_incident_first(s);
    const struct HYD_faultloc_event *first = &s->event[i], *f = &s->event[event];

    return i >= 0 && i != event && f->kind == HYD_FAULTLOC_EVENT_END && first->kind == f->kind &&
           grade(s, f) == grade(s, first) && first->ended && f->ended &&
           f->ended < first->ended + APART_MS && strcmp(f->host, first->host) != 0;
}

/* ---- how long to wait ------------------------------------------------------------------------ */

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* A verdict about it can come: it had an agent, and others did not think it had finished. */
static bool can_be_located(const struct HYD_faultloc_event *f)
{
    return !is_abort(f) && f->end.agent && !f->end.finalized &&
           !f->end.killed;
}

/* Since when it is explained; HYD_FAULTLOC_NEVER: it is not. */
static int64_t explained(const struct HYD_faultloc_incident *s, const struct HYD_faultloc_event *f)
{
    const struct HYD_faultloc_verdict *r = as_component(s, f);

    if (!r)
        r = as_victim(s, f);
    if (!r)
        return says_that_it_follows(f) ? f->ms : HYD_FAULTLOC_NEVER;
    return r->ms > f->ms ? r->ms : f->ms;
}

int64_t HYD_faultloc_incident_deadline(const struct HYD_faultloc_incident *s, bool listening)
{
    int64_t limit = HYD_FAULTLOC_NEVER, plain = HYD_FAULTLOC_NEVER, last = 0;
    bool locating = false;

    for (int i = 0; i < s->events; i++) {
        const struct HYD_faultloc_event *f = &s->event[i];
        int64_t since;
        if (!counts(s, f))
            continue;
        since = explained(s, f);
        limit = earlier(limit, (f->end.unsure ? since : f->ms) + s->grace_ms);
        if (can_be_located(f) && listening) {
            locating = true;
            last = since > last ? since : last;
        } else {
            plain = earlier(plain, f->ms + (is_abort(f) ? ABORT_MS : SILENT_MS));
        }
    }
    if (!locating)
        return earlier(limit, plain);
    return last == HYD_FAULTLOC_NEVER ? limit : earlier(limit, last + MORE_MS);
}
