/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/waitfor/waitfor_hang_int.h"

#include <stdio.h>

/*
 * When the action "abort" may end the job because of ranks that seem to hang outside MPI.  Nobody
 * knows how long a healthy phase takes that has never been seen, but the longest so far gives the
 * scale, and of one that nothing can wake there is less doubt than of one that works.  With L the
 * longest stay outside MPI of any rank before, from the time on at which each rank of the component
 * has been outside for
 *
 *     max(10 L, 1 minute)     if only their own threads can wake them, and all others wait
 *     max(10 L, 10 minutes)   if they do something, or what may wake them is not known
 *
 * and never if one of them wakes by itself, or may be woken by a person or a signal: that may take
 * any time.  As ranks may wait for each other in a way that is not MPI's, the one of all ranks
 * outside MPI that is to be waited for longest decides.
 */

#define END_FACTOR 10

enum hold { BLOCKED, ACTIVE, FOR_EVER };

static const ftree_time least[] = {[BLOCKED] = WAITFOR_HANG_END_BLOCKED,
                                   [ACTIVE] = WAITFOR_HANG_END_ACTIVE,
                                   [FOR_EVER] = FTREE_HOLDS_FOR_EVER};

static enum hold hold(const struct ftree_stay *s)
{
    if (ftree_hang_ends_by_itself(s))
        return FOR_EVER;
    return s->what == FTREE_OUTSIDE_SLEEPS && s->ending == FTREE_ENDING_THREAD ? BLOCKED : ACTIVE;
}

static const struct ftree_stay *longest_hold(const struct hang_sweep *s)
{
    const struct ftree_stay *found = &s->stay[0];

    for (int32_t i = 1; i < s->count; i++)
        if (hold(&s->stay[i]) > hold(found))
            found = &s->stay[i];
    return found;
}

static void say_why(const struct ftree_stay *s, char *buf, size_t len)
{
    static const char *const outside[] = {FTREE_OUTSIDES(FTREE_SECOND)};
    static const char *const ending[] = {FTREE_ENDINGS(FTREE_SECOND)};

    if (s->what == FTREE_OUTSIDE_SLEEPS || hold(s) == FOR_EVER)
        snprintf(buf, len, "rank %d %s", (int) s->rank, ending[s->ending]);
    else
        snprintf(buf, len, "rank %d is %s", (int) s->rank, outside[s->what]);
}

ftree_time waitfor_hang_hold(const struct hang_sweep *s, char *line, size_t len)
{
    const struct ftree_stay *by = longest_hold(s);
    char why[80] = "other ranks continue";
    ftree_time end;

    if (hold(by) > BLOCKED || !s->others_go_on)
        say_why(by, why, sizeof(why));
    if (hold(by) == FOR_EVER) {
        snprintf(line, len, "the job is never ended because of it: %s", why);
        return FTREE_HOLDS_FOR_EVER;
    }
    end = ftree_max(END_FACTOR * s->longest, least[s->others_go_on ? ACTIVE : hold(by)]);
    snprintf(line, len,
             "any rank outside MPI for at most %.*f s before; "
             "the job may be ended after %.0f s: %s",
             s->longest < 1000 * FTREE_MS ? 2 : 1, (double) s->longest / 1e9, (double) end / 1e9,
             why);
    return end;
}
