/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_PENDING_H_INCLUDED
#define FAULTLOC_PENDING_H_INCLUDED

#include <stdbool.h>

/*
 * Symptoms that lie at an agent's symptom socket and have no answer yet. The symptom socket answers
 * in the order in which it was sent to, and says no more than "ok" or what was wrong; so who was
 * asked for is kept in that order. It is one of mpiexec's errands (above 0), or the end of a
 * process of this proxy.
 */

#define HYD_FAULTLOC_PENDING 64 /* so many may have no answer; an agent that is well has answered */

/* A process by its local number, and back. */
#define HYD_FAULTLOC_PENDING_LOCAL(local) (-1 - (local))
#define HYD_FAULTLOC_PENDING_IS_LOCAL(who) ((who) < 0)

struct HYD_faultloc_pending {
    int who[HYD_FAULTLOC_PENDING];
    int first, count;
};

/* Purpose: true if there is no room for one more. */
bool HYD_faultloc_pending_is_full(const struct HYD_faultloc_pending *a);

/* Purpose: the symptom socket was sent a symptom for `who`.  There must be room. */
void HYD_faultloc_pending_add(struct HYD_faultloc_pending *a, int who);

/* Purpose: takes out who has waited longest; false: nobody waits. */
bool HYD_faultloc_pending_next(struct HYD_faultloc_pending *a, int *who);

#endif /* FAULTLOC_PENDING_H_INCLUDED */
