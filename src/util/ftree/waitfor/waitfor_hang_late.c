/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/waitfor/waitfor_hang_int.h"

#include <string.h>

/*
 * Where the rest of the job goes on, for few wait for the rank yet, S_out says nothing of it.  So
 * the ranks that are late are looked at five times, too: no other rank will do for one of those
 * that wait for it, and a healthy job hardly ever shows a stay as long as this one.  The rule base
 * wants more time of these.
 */

/* Outside MPI for no longer than before: to these the phase is as known as to those that are in a
 * familiar call. */
static int32_t as_before(const struct ftree *ft, const struct hang_answer *a)
{
    int32_t n = 0;

    FTREE_EACH(const struct ftree_stay, s, a->stays)
        n += s->stay <= waitfor_hang_scale(ft, s->longest, HANG_TAIL_COMPUTES);
    return n;
}

/* Those for which no other rank will do, and whose stay is improbable by the last sweep.  Their own
 * agent has seen it last: what other nodes know of that time does not matter.  *later: in how much
 * time there may be one more. */
static void find_improbable(const struct ftree *ft, const struct hang_answer *a, bool disk_only,
                            struct hang_sweep *out, ftree_time *later)
{
    FTREE_EACH(const struct ftree_stay, s, a->stays) {
        ftree_time too_long, stay = s->stay + waitfor_hang_time_of_sweeps(ft);
        const struct waits_end *end = waitfor_end_find(ft->waitfor->work, s->rank);
        if (!end || !end->needed || (disk_only && s->what != FTREE_OUTSIDE_DISK))
            continue;
        too_long = waitfor_hang_too_long_for(ft, s, a->longest, waitfor_hang_exponent(s, 1));
        if (stay > too_long)
            out->stay[out->count++] = *s;
        else if (too_long != FTREE_NEVER)
            *later = ftree_min(*later, ftree_max(too_long - stay, ft->cfg.sample));
    }
}

/* It may wait for an active one in a way that is not MPI's, which then has been there as long. */
static bool any_active_beside(const struct hang_answer *a, const struct ftree_stay *stay)
{
    FTREE_EACH(const struct ftree_stay, s, a->stays)
        if (s->what != FTREE_OUTSIDE_SLEEPS && 2 * s->stay >= stay->stay)
            return true;
    return false;
}

/* Each is judged alone. */
static void keep_those_with_a_sign(const struct ftree *ft, const struct hang_answer *a,
                                   struct hang_sweep *s, ftree_time *later)
{
    int32_t n = s->count;
    struct hang_sweep one = *s;
    ftree_time time;

    one.count = 1;
    s->count = 0;
    for (int32_t i = 0; i < n; i++) {
        one.stay[0] = s->stay[i];
        if (one.stay[0].what == FTREE_OUTSIDE_SLEEPS && any_active_beside(a, &s->stay[i]))
            one.stay[0].what = FTREE_OUTSIDE_UNKNOWN;
        time = waitfor_hang_time_to_sign(ft, &one);
        if (time == 0)
            s->stay[s->count++] = s->stay[i];
        else
            *later = ftree_min(*later, ftree_max(time, ft->cfg.sample));
    }
}

/* While one is stopped nobody is late, and while one waits for a disk only such ones are.  `all` is
 * the sweep of that answer. */
static void find_late(const struct ftree *ft, const struct hang_answer *a,
                      const struct hang_sweep *all, struct hang_sweep *out, ftree_time *later)
{
    bool stopped, disk_only;

    *out = *all;
    out->count = a->stays.n; /* that of `all` says where there are more */
    stopped = waitfor_hang_any_stopped(out);
    disk_only = waitfor_hang_is_of_disk(out);
    out->others_go_on = true;
    out->progress = out->more = out->count = 0; /* what others do says nothing of it */
    out->inside += as_before(ft, a);
    out->familiar += as_before(ft, a);
    if (stopped)
        return;
    find_improbable(ft, a, disk_only, out, later);
    keep_those_with_a_sign(ft, a, out, later);
}

void waitfor_hang_look_at_late(struct ftree *ft, ftree_time now, struct waitfor_hang *h,
                               const struct hang_answer *a, const struct hang_sweep *all)
{
    ftree_time later = FTREE_NEVER;
    struct hang_sweep late;

    find_late(ft, a, all, &late, &later);
    if (later != FTREE_NEVER)
        h->next = ftree_min(h->next, now + later);
    if (late.count == 0) {
        memset(&h->late_sweeps, 0, sizeof(h->late_sweeps));
        return;
    }
    if (ftree_hang_swept(&h->late_sweeps, &late) == HANG_SWEEP_ON) {
        h->next = now + ft->cfg.sample; /* closer ones see less of what a rank does */
        return;
    }
    if (h->late_sweeps.last.count > 0)
        waitfor_hang_say(ft, now, h, &h->late_sweeps.last);
    memset(&h->late_sweeps, 0, sizeof(h->late_sweeps));
    h->next = ftree_min(h->next, now + WAITFOR_HANG_PAUSE_MIN);
}
