/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/waitfor/waitfor_hang_int.h"

#include "ftree/base/event.h"

#include <string.h>

/*
 * A rank that never comes: hung or slow?  Where others wait for a rank outside MPI, or for one in
 * a call that makes no progress, which counts as outside from here on, the acting root asks all
 * nodes for their samples, puts the history of S_out together and tests it.  If a healthy job
 * hardly ever shows the like, or will have shown it by then, it looks at all ranks five times,
 * `sample` apart: if one of them has ended a call in between the job is only slow; else the ranks
 * that are outside MPI each time are what hangs.  It does the same where a healthy job hardly ever
 * shows so long a stay.
 *
 * Where all ranks of the job hang nobody waits in MPI, and nothing stalls.  A file system that does
 * not answer does that, so the acting root looks at its own ranks when a block of samples is over:
 * if all of them are in disk sleep it asks all nodes, and goes on while it is so of all ranks.
 *
 * The next question comes when sweeps can begin that end with enough, so a program that
 * keeps ranks waiting for long is asked ever more seldom.
 */

#define PATIENCE (10 * 1000 * FTREE_MS) /* with an answer that does not come */

/* ---- whether to ask -------------------------------------------------------------------------- */

/* A rank that others wait for, of which its agent says that it did not answer. */
static bool any_outside(const struct waitfor *w)
{
    FTREE_EACH(waitfor_answer_of_rank, a, w->end_answers)
        if ((*a)->seen == WAITFOR_UNABLE && (*a)->records == 0)
            return true;
    return false;
}

static bool is_wanted(const struct ftree *ft)
{
    const struct waitfor *w = ft->waitfor->work;

    return w->unexplained && ft->io->samples && ft->io->stay && any_outside(w);
}

/* NULL: out of memory. */
static struct waitfor_hang *begin(struct ftree *ft, ftree_time now)
{
    struct waitfor *w = ft->waitfor->work;

    if (w->hang)
        return w->hang;
    if (!ft->waitfor->history)
        ft->waitfor->history = ftree_alloc_zeroed(ft, sizeof(*ft->waitfor->history));
    if (ft->waitfor->history)
        w->hang = ftree_alloc_zeroed(ft, sizeof(*w->hang));
    if (!w->hang)
        return NULL;
    w->hang->next = now;
    w->hang->pause = WAITFOR_HANG_PAUSE_MIN;
    return w->hang;
}

void waitfor_hang_clear(struct ftree *ft)
{
    ftree_alloc(ft, ft->waitfor->work->hang, 0);
    ft->waitfor->work->hang = NULL;
}

/* A reduction has found who waits for whom. */
void waitfor_hang(struct ftree *ft, ftree_time now)
{
    struct waitfor_hang *h = ft->waitfor->work->hang;

    if (is_wanted(ft)) {
        h = begin(ft, now);
        if (h)
            h->of_all = false;
    } else if (h && !h->of_all) {
        waitfor_hang_clear(ft);
    }
}

static bool is_in_disk_sleep(const struct ftree *ft, int32_t i)
{
    struct ftree_block block[WAITFOR_OF_ALL_BLOCKS];
    struct ftree_stay stay;

    if (ft->io->blocks(ft->io_ctx, i, block, WAITFOR_OF_ALL_BLOCKS) < WAITFOR_OF_ALL_BLOCKS)
        return false;
    for (int k = 0; k < WAITFOR_OF_ALL_BLOCKS; k++)
        if (block[k].outside < FTREE_BLOCK_SAMPLES)
            return false;
    return ft->io->stay(ft->io_ctx, i, &stay) && stay.what == FTREE_OUTSIDE_DISK;
}

/* And nothing is known that may be the reason. */
bool waitfor_hang_is_of_all(const struct ftree *ft)
{
    int32_t n = ftree_ranks_of(ft->job, ft->self);

    if (!ft->io->samples || !ft->io->stay || !ft->io->blocks || ftree_is_leaving(ft) ||
        !ftree_route_is_root(ft) || ftree_verdict_any_fault(ft))
        return false;
    for (int32_t i = 0; i < n; i++)
        if (!is_in_disk_sleep(ft, i))
            return false;
    return n > 0;
}

void waitfor_hang_begin_of_all(struct ftree *ft, ftree_time now)
{
    struct waitfor_hang *h = ft->waitfor->work->hang ? NULL : begin(ft, now);

    if (!h)
        return;
    h->of_all = true;
    ftree_trace(ft, "own ranks are all in disk sleep");
}

static void stop_sweeping(struct waitfor_hang *h)
{
    h->sweeping = false;
    memset(&h->sweeps, 0, sizeof(h->sweeps));
}

static void rest(struct waitfor_hang *h, ftree_time now)
{
    stop_sweeping(h);
    h->next = now + h->pause;
    h->pause = ftree_min(2 * h->pause, WAITFOR_HANG_PAUSE_MAX);
}

void waitfor_hang_tick(struct ftree *ft, ftree_time now)
{
    struct waitfor_hang *h = ft->waitfor->work->hang;

    if (!h || h->next > now)
        return;
    if (h->asked) { /* no answer */
        h->asked = false;
        rest(h, now);
        return;
    }
    if (h->of_all && !waitfor_hang_is_of_all(ft)) {
        waitfor_hang_clear(ft);
        return;
    }
    h->asked = FTREE_EMIT(ft, ASK_ALL, .u.first = ft->waitfor->history->last + 1);
    h->next = now + (h->asked ? PATIENCE : h->pause);
}

ftree_time waitfor_hang_deadline(const struct ftree *ft)
{
    const struct waitfor_hang *h = ft->waitfor->work->hang;

    return h ? h->next : FTREE_NEVER;
}

static void conclude(struct ftree *ft, ftree_time now, struct waitfor_hang *h)
{
    ftree_time later;

    if (waitfor_hang_any_stopped(&h->sweeps.last) || !waitfor_hang_say(ft, now, h, &h->sweeps.last))
        ftree_trace(
            ft,
            "  nobody is accused: a rank is stopped, or has not been outside MPI for long enough");
    later = waitfor_hang_time_to_sign(ft, &h->sweeps.last);
    stop_sweeping(h);
    h->next = now + ftree_max(later, WAITFOR_HANG_PAUSE_MIN);
}

/* ---- answers --------------------------------------------------------------------------------- */

static bool is_too_early(struct ftree *ft, struct waitfor_hang *h, const struct hang_sweep *s,
                         ftree_time now)
{
    ftree_time later;

    if (h->sweeping || s->count == 0 || s->count > HANG_RANKS_MAX || waitfor_hang_any_stopped(s))
        return false;
    later = waitfor_hang_time_to_sign(ft, s);
    if (later == 0)
        return false;
    ftree_trace(ft, "  nobody has been outside MPI for long enough");
    h->next = now + later;
    return true;
}

/* How long it takes until enough samples can be there; FTREE_NEVER: that is not known. */
static ftree_time time_by_samples(const struct ftree *ft, const struct hang_result *r)
{
    int32_t more = r->needed > r->run ? r->needed - r->run : 1;

    if (r->state != HANG_HEALTHY || r->run == 0 || r->needed == INT32_MAX)
        return FTREE_NEVER;
    return (ft->cfg.sample << r->doublings) * (ftree_time) more;
}

/* The same for the stay to be too long. */
static ftree_time time_by_stay(const struct ftree *ft, const struct waitfor_tail *t)
{
    ftree_time too_long = waitfor_hang_too_long(ft, &t->stays);

    if (t->stay == 0 || too_long == FTREE_NEVER)
        return FTREE_NEVER;
    return too_long > t->stay ? too_long - t->stay : 1;
}

static ftree_time time_to_improbable(const struct ftree *ft, const struct waitfor_hang *h)
{
    if (h->is_improbable)
        return 0;
    return ftree_min(time_by_samples(ft, &h->result), time_by_stay(ft, &h->all));
}

/* Until the last sweep can find it improbable; where the first ones have found that ranks go on,
 * until the next first one can. */
static void wait_for_more(struct ftree *ft, ftree_time now, struct waitfor_hang *h)
{
    ftree_time time = time_to_improbable(ft, h), sweeps = waitfor_hang_time_of_sweeps(ft);

    if (h->is_improbable || time_by_samples(ft, &h->result) > WAITFOR_HANG_PAUSE_MAX)
        rest(h, now);
    else
        h->next = FTREE_NEVER;
    stop_sweeping(h);
    if (!h->is_improbable && time != FTREE_NEVER)
        h->next = ftree_min(h->next, now + (time > sweeps ? time - sweeps : time));
}

static void sweep(struct ftree *ft, ftree_time now, struct waitfor_hang *h,
                  const struct hang_sweep *s)
{
    if (is_too_early(ft, h, s, now))
        return;
    h->sweeping = true;
    switch (ftree_hang_swept(&h->sweeps, s)) {
        case HANG_SWEEP_ON:
            h->next = now + ft->cfg.sample;
            break;
        case HANG_NAMED:
            h->next = now + ft->cfg.sample;
            if (h->is_improbable)
                conclude(ft, now, h);
            break;
        case HANG_SLOW:
            ftree_trace(ft, "  a rank has ended a call: the job is slow");
            wait_for_more(ft, now, h);
            break;
        default:
            ftree_trace(ft, "  nobody is outside MPI each time, or too many are");
            wait_for_more(ft, now, h);
            break;
    }
}

/* Time before an instant that some node does not know counts for nobody. */
static ftree_time time_known(const struct ftree *ft, const int32_t *sample, int32_t n)
{
    int32_t since = n;

    while (since > 0 && sample[since - 1] != HANG_UNKNOWN)
        since--;
    return (ftree_time) (n - since) * ft->cfg.sample;
}

static ftree_time stay_of(const struct hang_answer *a, ftree_time known)
{
    ftree_time stay = a->stays.n > 0 ? known : 0;

    FTREE_EACH(const struct ftree_stay, s, a->stays)
        stay = ftree_min(stay, s->stay);
    return stay;
}

/* ---- the judgement --------------------------------------------------------------------------- */

/* By either of two tests a healthy job hardly ever shows the like. */
static void test(struct ftree *ft, struct waitfor_hang *h, const struct hang_answer *a,
                 const int32_t *sample, int32_t n)
{
    ftree_hang_test(sample, n, ft->waitfor->history->last + 1 - (uint64_t) n, ft->cfg.alpha,
                    &h->result);
    h->all.stays = waitfor_hang_of_any(ft, h->all.stay, a->longest,
                                       waitfor_hang_exponent(a->stays.items, a->stays.n));
    h->progress = a->progress;
    h->is_improbable = h->result.state == HANG_LIKELY ||
                       h->all.stay > waitfor_hang_too_long(ft, &h->all.stays);
    ftree_trace(ft,
                "  S_out of %d samples: %s, %d of %d suspicious ones, interval doubled %d times", n,
                ftree_hang_state_name(h->result.state), h->result.run, h->result.needed,
                h->result.doublings);
}

static void note_away(const struct waitfor *w, struct waitfor_hang *h, const struct hang_answer *a)
{
    h->aways = 0;
    FTREE_EACH(const struct ftree_stay, s, a->stays)
        for (int32_t i = 0; i < w->ends && h->aways < FTREE_WAITING_ENDS_MAX; i++)
            if (w->end[i].rank == s->rank) {
                h->away[h->aways].rank = s->rank;
                h->away[h->aways++].longest = s->longest;
            }
}

/* What was improbable once is so while no rank ends a call; later the samples of the stay itself
 * would take the place of those before it. */
static void judge(struct ftree *ft, ftree_time now, struct waitfor_hang *h,
                  const struct hang_answer *a)
{
    int32_t sample[HANG_HISTORY_MAX], n;
    struct hang_sweep all;
    ftree_time known;

    ftree_hang_history_add(ft->waitfor->history, a);
    n = ftree_hang_history_of(ft->waitfor->history, sample);
    known = time_known(ft, sample, n);
    h->all.stay = stay_of(a, known);
    note_away(ft->waitfor->work, h, a);
    if (!h->is_improbable || h->progress != a->progress)
        test(ft, h, a, sample, n);
    ftree_hang_sweep_of(a, &all);
    if (time_to_improbable(ft, h) <= waitfor_hang_time_of_sweeps(ft))
        sweep(ft, now, h, &all);
    else
        wait_for_more(ft, now, h);
    if (!h->of_all && !ftree_verdict_any_fault(ft))
        waitfor_hang_look_at_late(ft, now, h, a, &all);
}

ftree_time waitfor_hang_longest(const struct ftree *ft, int32_t rank)
{
    const struct waitfor_hang *h = ft->waitfor->work->hang;

    for (int32_t i = 0; h && i < h->aways; i++)
        if (h->away[i].rank == rank)
            return h->away[i].longest;
    return 0;
}

/* The answer is this function's. */
void ftree_waitfor_said(struct ftree *ft, ftree_time now, struct hang_answer *a)
{
    struct waitfor_hang *h = ft->waitfor->work ? ft->waitfor->work->hang : NULL;
    uint64_t own = h && h->asked && a ? ft->io->samples(ft->io_ctx, NULL, 0) : 0;

    if (h && h->asked) {
        h->asked = false;
        if (a && a->last > own && a->last - own > HANG_APART) /* it is not of now */
            rest(h, now);
        else if (a && (h->of_all ? ftree_hang_is_disk_sleep_of_all(a) : is_wanted(ft)))
            judge(ft, now, h, a);
        else if (a && h->of_all)
            waitfor_hang_clear(ft);
        else
            rest(h, now);
    }
    if (a)
        ftree_hang_answer_clear(ft, a);
    ftree_alloc(ft, a, 0);
}
