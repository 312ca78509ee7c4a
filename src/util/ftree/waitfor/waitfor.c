/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/waitfor/waitfor.h"

#include "ftree/base/event.h"

/* What comes in from the other steps, and time. */

/* ---- the work -------------------------------------------------------------------------------- */

/* NULL: out of memory. */
static struct waitfor *begin_work(struct ftree *ft)
{
    struct waitfor *w = ft->waitfor->work;

    if (w)
        return w;
    w = ftree_alloc_zeroed(ft, sizeof(*w));
    if (!w)
        return NULL;
    w->again = w->due = w->note_at = w->poll = w->tell_again = FTREE_NEVER;
    w->hop = w->stale = FTREE_NONE;
    ft->waitfor->work = w;
    return w;
}

static void end_work(struct ftree *ft)
{
    if (!ft->waitfor->work)
        return;
    waitfor_ask_clear(ft);
    waitfor_gather_clear(ft);
    waitfor_decide_clear(ft);
    waitfor_hang_clear(ft);
    ftree_alloc(ft, ft->waitfor->work, 0);
    ft->waitfor->work = NULL;
}

static bool is_needed(const struct waitfor *w)
{
    return w->own.n > 0 || w->looks.n > 0 || w->below.n > 0 || w->candidates.n > 0 || w->has_sent ||
           w->due != FTREE_NEVER || w->hang;
}

/* ---- what other steps tell ------------------------------------------------------------------- */

void ftree_waitfor_stalled(struct ftree *ft, ftree_time now, int32_t rank)
{
    struct waitfor *w = ft->io->waits && !ftree_is_leaving(ft) ? begin_work(ft) : NULL;
    struct waitfor_own *own;

    if (!w || waitfor_own_find(ft, rank))
        return;
    own = FTREE_PUSH(ft, w->own);
    if (!own)
        return;
    own->i = ftree_place_of(ft->job, ft->self, rank);
    own->rank = rank;
    own->asks = true;
    if (w->own.n == 1)
        w->again = now + ft->cfg.stall;
    w->poll = now;
}

void ftree_waitfor_resumed(struct ftree *ft, ftree_time now, int32_t rank)
{
    struct waitfor_own *own = waitfor_own_find(ft, rank);

    if (!own)
        return;
    waitfor_own_drop(ft, own);
    waitfor_changed(ft, now);
    waitfor_goes_on(ft, rank, true);
}

void ftree_waitfor_say(struct ftree *ft, ftree_time now, uint32_t number)
{
    if (begin_work(ft))
        waitfor_ask_all(ft, now, number);
}

void ftree_waitfor_look(struct ftree *ft, ftree_time now)
{
    waitfor_note_sleep(ft, now);
    if (now < ft->waitfor->of_all_next || !waitfor_hang_is_of_all(ft) || !begin_work(ft))
        return;
    ft->waitfor->of_all_next = now + WAITFOR_OF_ALL_BLOCKS * FTREE_BLOCK_SAMPLES * ft->cfg.sample;
    waitfor_hang_begin_of_all(ft, now);
}

void ftree_waitfor_learned(struct ftree *ft, ftree_time now)
{
    if (ft->waitfor->work)
        waitfor_changed(ft, now);
}

void ftree_waitfor_part(struct ftree *ft, ftree_time now, int32_t from, enum wire_type type,
                        const struct wire_part *part)
{
    waitfor_bytes bytes = {0};

    if (ftree_parcel_take(ft, now, from, type, part, &bytes) && begin_work(ft)) {
        if (type == WIRE_WAITS_UP)
            waitfor_up(ft, now, from, part->number, &bytes);
        else if (type == WIRE_WAITS_LOOK)
            waitfor_ask(ft, now, from, part->number, bytes.items, (size_t) bytes.n);
        else
            waitfor_look_seen(ft, now, from, part->number, bytes.items, (size_t) bytes.n);
    }
    ftree_alloc(ft, bytes.items, 0);
}

/* Items take another way; who is asked does not answer. */
void ftree_waitfor_undeliverable(struct ftree *ft, ftree_time now, enum wire_type type, int32_t to)
{
    struct waitfor *w = ft->waitfor->work;

    if (!w)
        return;
    if (type == WIRE_WAITS_LOOK)
        waitfor_look_unanswered(ft, now, to);
    if (type != WIRE_WAITS_UP || to != w->hop)
        return;
    w->hop = FTREE_NONE;
    w->stale = to;
    waitfor_changed(ft, now);
}

/* ---- time ------------------------------------------------------------------------------------ */

ftree_time ftree_waitfor_deadline(const struct ftree *ft)
{
    const struct waitfor *w = ft->waitfor->work;
    ftree_time t;

    if (!w)
        return FTREE_NEVER;
    t = ftree_min(waitfor_ask_deadline(ft), waitfor_decide_deadline(ft));
    t = ftree_min(ftree_min(t, waitfor_gather_deadline(ft)), waitfor_note_deadline(ft));
    return ftree_min(t, waitfor_hang_deadline(ft));
}

/* Answers to this node's own looks take no message. */
static void ask_waiting(struct ftree *ft, ftree_time now)
{
    waitfor_bytes answers;
    uint32_t number;

    while (waitfor_ask_tick(ft, now, &number, &answers)) {
        waitfor_look_seen(ft, now, ft->self, number, answers.items, (size_t) answers.n);
        ftree_alloc(ft, answers.items, 0);
    }
}

static void gather(struct ftree *ft, ftree_time now)
{
    struct waits *w = waitfor_gather_tick(ft, now);

    if (!w)
        return;
    waitfor_decide(ft, now, w);
    waitfor_note(ft, now, w);
    waitfor_hang(ft, now);
    ftree_waits_destroy(w);
}

void ftree_waitfor_tick(struct ftree *ft, ftree_time now)
{
    while (!ftree_events_wait(ft) && ftree_waitfor_deadline(ft) <= now) {
        ask_waiting(ft, now);
        gather(ft, now);
        waitfor_decide_tick(ft, now);
        waitfor_note_tick(ft, now);
        waitfor_hang_tick(ft, now);
    }
    if (ft->waitfor->work && !is_needed(ft->waitfor->work))
        end_work(ft);
}

void ftree_waitfor_clear(struct ftree *ft)
{
    end_work(ft);
    ftree_alloc(ft, ft->waitfor->history, 0);
    ft->waitfor->history = NULL;
}
