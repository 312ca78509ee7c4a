/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/hang/hang.h"

#include <stdlib.h>

/* Samples say that something is wrong; only looking at all ranks, again and again, says with
 * whom. */

static int by_rank(const void *a, const void *b)
{
    const struct ftree_stay *x = a, *y = b;

    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* A rank that runs at a look may have done so only then. */
static bool works(const struct ftree_stay *s)
{
    return s->what == FTREE_OUTSIDE_RUNS && s->cpu >= FTREE_CPU_WORKS;
}

/* What the same stay is by two looks.  Who was once seen to do something does something, and who
 * may be answered may be. */
static uint8_t what_of(const struct ftree_stay *before, const struct ftree_stay *now)
{
    bool runs = before->what == FTREE_OUTSIDE_RUNS || now->what == FTREE_OUTSIDE_RUNS;
    bool pauses = before->what == FTREE_OUTSIDE_PAUSES || now->what == FTREE_OUTSIDE_PAUSES;

    if (now->what == FTREE_OUTSIDE_STOPPED)
        return now->what;
    if (pauses && !works(before) && !works(now))
        return FTREE_OUTSIDE_PAUSES;
    if (before->what == FTREE_OUTSIDE_RUNS || (runs && pauses))
        return FTREE_OUTSIDE_RUNS;
    if (before->what == FTREE_OUTSIDE_AWAITS && now->what == FTREE_OUTSIDE_SLEEPS)
        return before->what;
    return now->what;
}

/* Of those outside now the ones that were outside before; how they are is what is known last, but
 * what once could wake one may do so again. */
static void keep_both(const struct hang_sweep *before, struct hang_sweep *now)
{
    int32_t kept = 0;

    for (int32_t i = 0; i < now->count; i++) {
        const struct ftree_stay *old = bsearch(&now->stay[i], before->stay, (size_t) before->count,
                                               sizeof(before->stay[0]), by_rank);
        if (!old || old->calls != now->stay[i].calls)
            continue;
        now->stay[kept] = now->stay[i];
        now->stay[kept].what = what_of(old, &now->stay[i]);
        now->stay[kept].transfers |= old->transfers;
        if (old->cpu > now->stay[kept].cpu)
            now->stay[kept].cpu = old->cpu;
        if (old->ending > now->stay[kept].ending) /* the enumeration is in that order */
            now->stay[kept].ending = old->ending;
        kept++;
    }
    now->count = kept;
}

enum hang_swept ftree_hang_swept(struct hang_sweeps *s, const struct hang_sweep *now)
{
    struct hang_sweep before = s->last;

    if (now->count > HANG_RANKS_MAX)
        return HANG_NOBODY;
    s->last = *now;
    if (s->done++ == 0)
        return now->count > 0 ? HANG_SWEEP_ON : HANG_NOBODY;
    if (now->progress != before.progress)
        return HANG_SLOW;
    keep_both(&before, &s->last);
    if (s->last.count == 0)
        return HANG_NOBODY;
    return s->done < HANG_SWEEPS ? HANG_SWEEP_ON : HANG_NAMED;
}
