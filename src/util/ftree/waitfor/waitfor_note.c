/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/waitfor/waitfor.h"

#include "ftree/base/text.h"

#include <stdio.h>
#include <string.h>

/* A stall that nothing explains: the acting root says whom all wait for, after ten stall limits and
 * then at doubling intervals, also where it was over for a moment, or seemed to be on a busy
 * machine.  That is no verdict: nothing need be wrong with a rank that computes. */

#define NOTE_AFTER 10 /* stall limits */
#define AWAY 2 /* stall limits: nobody is seen to wait for a rank for so long, so it has come */
#define ASLEEP_MIN (10 * 1000 * FTREE_MS) /* where nobody waits nobody misses a rank sooner */
#define NOTE_PAUSE_MAX (600 * 1000 * FTREE_MS)

/* Ranks that compute in turns keep the others waiting for ever, but none of them does for long.
 * One that calls one-sided operations again and again seems to wait itself at some looks. */
static bool others_are_awaited(struct waitfor *work, ftree_time now, ftree_time stall)
{
    const struct waits_end *end = waitfor_end_find(work, work->awaited);
    bool same = end && end->count > 0;
    /* Not all who wait have said so. */
    bool is_new = !work->unexplained || now - work->unexplained <= (1 + AWAY) * stall;

    if (work->ends == 0 || (!same && !is_new && now - work->awaited_at <= AWAY * stall))
        return false;
    if (!same)
        work->awaited = work->end[0].rank;
    work->awaited_at = now;
    return !same && !is_new;
}

void waitfor_note(struct ftree *ft, ftree_time now, const struct waits *w)
{
    struct waitfor *work = ft->waitfor->work;

    work->waiting = ftree_waits_count(w);
    work->ends = ftree_waits_silent(w, work->end, FTREE_WAITING_ENDS_MAX);
    if (others_are_awaited(work, now, ft->cfg.stall))
        work->unexplained = 0;
    if (work->waiting == 0 || ftree_verdict_any_fault(ft) || !ftree_route_is_root(ft)) {
        work->unexplained = 0;
        work->note_at = FTREE_NEVER;
        return;
    }
    if (work->unexplained)
        return;
    work->unexplained = now > ft->cfg.stall ? now - ft->cfg.stall : 1;
    work->note_at = work->unexplained + NOTE_AFTER * ft->cfg.stall;
    if (ft->waitfor->noted)
        work->note_at = ftree_max(work->note_at, ft->waitfor->noted + ft->waitfor->note_pause);
}

/* How long there is no other note.  It doubles, unless there was none for long enough. */
static ftree_time pause_after(struct ftree_waitfor *f, ftree_time now, ftree_time stall)
{
    bool is_next = f->noted && now < f->noted + 2 * f->note_pause;

    f->note_pause =
        is_next ? ftree_min(2 * f->note_pause, NOTE_PAUSE_MAX) : 2 * NOTE_AFTER * stall;
    f->noted = now;
    return f->note_pause;
}

/* "outside MPI (at most 0.6 s before)" */
static void away(const struct ftree *ft, int32_t rank, char *buf, size_t len)
{
    double longest = (double) waitfor_hang_longest(ft, rank) / 1e9;

    if (longest > 0)
        snprintf(buf, len, "outside MPI (at most %.*f s before)", longest < 1 ? 2 : 1, longest);
    else
        snprintf(buf, len, "outside MPI");
}

/* Of a rank that did not answer its agent knows since when it waits in MPI, if it does. */
static void state_of(const struct ftree *ft, const struct waitfor_answer *a, char *buf, size_t len)
{
    uint32_t call = a->records > 0 ? a->record[0].call : 0;

    if (a->seen == WAITFOR_LEFT)
        snprintf(buf, len, "in MPI_Finalize, or has left");
    else if (a->seen == WAITFOR_LOST)
        snprintf(buf, len, "stopped or gone");
    else if (call && ft->io->call_name)
        snprintf(buf, len, "in %s%s", ft->io->call_name(call),
                 a->record[0].threads <= a->records ? ""
                 : a->record[0].polls               ? " now and then"
                                                    : " but for a thread");
    else if (call || a->since)
        snprintf(buf, len, "in MPI");
    else
        away(ft, a->rank, buf, len);
    ftree_text_ascii(buf);
}

/* A rank that others wait for may wait for them, too, at each look in another call: it has not
 * waited for long, and is one of the ends.  False: out of memory. */
static bool count_anew(struct ftree *ft, ftree_time now)
{
    struct waitfor *work = ft->waitfor->work;
    bool any_new = false;
    struct waits *w;

    FTREE_EACH(const waitfor_answer_of_rank, a, work->end_answers)
        any_new = any_new || waitfor_is_new(ft, now, *a);
    if (!any_new)
        return true;
    w = waitfor_gather_reduce(ft, now);
    if (!w)
        return false;
    work->waiting = ftree_waits_count(w);
    work->ends = ftree_waits_silent(w, work->end, FTREE_WAITING_ENDS_MAX);
    ftree_waits_destroy(w);
    return true;
}

/* Those most waited for stay, in that order. */
static void add_end(const struct ftree *ft, const struct waitfor_answer *a, struct ftree_waiting *n)
{
    const struct waits_end *end = waitfor_end_find(ft->waitfor->work, a->rank);
    int32_t i;

    if (!end || end->count == 0) /* it waits itself by now */
        return;
    i = n->ends < FTREE_WAITING_ENDS_MAX ? n->ends++ : FTREE_WAITING_ENDS_MAX;

    for (; i > 0 && n->end[i - 1].count < end->count; i--)
        if (i < FTREE_WAITING_ENDS_MAX)
            n->end[i] = n->end[i - 1];
    if (i == FTREE_WAITING_ENDS_MAX)
        return;
    n->end[i].rank = a->rank;
    n->end[i].count = end->count;
    state_of(ft, a, n->end[i].state, sizeof(n->end[i].state));
}

/* ---- nobody waits ---------------------------------------------------------------------------- */

/* Of one in a call without progress too, as in a callback of MPI_Finalize. */
static bool was_outside(const struct ftree *ft, int32_t i)
{
    struct ftree_rank_state s;
    struct ftree_block block;

    if (ft->io->blocks(ft->io_ctx, i, &block, 1) < 1)
        return false;
    if (block.outside == FTREE_BLOCK_SAMPLES)
        return true;
    ft->io->look(ft->io_ctx, i, &s);
    return s.phase == FTREE_PHASE_INSIDE && s.waiting > FTREE_BLOCK_SAMPLES * ft->cfg.sample;
}

/* Since the block before.  *least: for so long each has ended no call.  All that sleep are asked
 * about, also where one has moved: the kernel says what was done since it was asked last. */
static bool own_ranks_sleep(const struct ftree *ft, ftree_time *least)
{
    int32_t n = ftree_ranks_of(ft->job, ft->self);
    bool all = n > 0;
    struct ftree_stay stay;

    *least = FTREE_NEVER;
    for (int32_t i = 0; i < n; i++)
        if (!was_outside(ft, i))
            return false;
    for (int32_t i = 0; i < n; i++) {
        if (!ft->io->stay(ft->io_ctx, i, &stay) || !ftree_hang_sleeps(&stay))
            return false;
        all = all && stay.still > 0;
        *least = ftree_min(*least, stay.stay);
    }
    return all;
}

/* All of the job may hang in a lock, a pipe or a file system.  The agent of the acting root asks
 * whether the ranks of all nodes sleep. */
void waitfor_note_sleep(struct ftree *ft, ftree_time now)
{
    struct ftree_waiting note = {.asleep = true};
    bool sleeps = ft->io->samples && ft->io->stay && ft->io->blocks && !ftree_is_leaving(ft) &&
                  own_ranks_sleep(ft, &note.waiting);

    if (!sleeps || note.waiting < ftree_max(NOTE_AFTER * ft->cfg.stall, ASLEEP_MIN) ||
        !ftree_route_is_root(ft) ||
        ftree_verdict_any_fault(ft) || !ft->io->waiting ||
        (ft->waitfor->noted && now < ft->waitfor->noted + ft->waitfor->note_pause))
        return;
    pause_after(ft->waitfor, now, ft->cfg.stall);
    ftree_trace(ft, "nobody waits in MPI: the own ranks sleep outside it");
    ft->io->waiting(ft->io_ctx, &note);
}

/* ---- time ------------------------------------------------------------------------------------ */

void waitfor_note_tick(struct ftree *ft, ftree_time now)
{
    struct waitfor *w = ft->waitfor->work;
    struct ftree_waiting note = {0};

    if (w->note_at > now)
        return;
    w->note_at = now + pause_after(ft->waitfor, now, ft->cfg.stall);
    if (!count_anew(ft, now) || w->waiting == 0)
        return;
    note.count = w->waiting;
    note.waiting = now - w->unexplained;
    FTREE_EACH(waitfor_answer_of_rank, a, w->end_answers)
        add_end(ft, *a, &note);
    ftree_trace(ft, "%d ranks wait, and nothing explains it", note.count);
    if (ft->io->waiting)
        ft->io->waiting(ft->io_ctx, &note);
}

ftree_time waitfor_note_deadline(const struct ftree *ft)
{
    return ft->waitfor->work->note_at;
}
