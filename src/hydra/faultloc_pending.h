/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_PENDING_H_INCLUDED
#define FAULTLOC_PENDING_H_INCLUDED

#include <stdbool.h>

/*
 * Symptoms that were sent to an agent's symptom socket and have no reply yet.  The agent replies in
 * the order in which it received them, with no more than "ok" or the error; so what each was for is
 * kept in that order: one of mpiexec's retries (above 0), or the end of a process of this proxy.
 */

#define HYD_FAULTLOC_PENDING 64 /* at most so many without a reply; an agent that is well replies */

/* A process by its local number, and back. */
#define HYD_FAULTLOC_PENDING_LOCAL(local) (-1 - (local))
#define HYD_FAULTLOC_PENDING_IS_LOCAL(who) ((who) < 0)

struct HYD_faultloc_pending {
    int who[HYD_FAULTLOC_PENDING];
    int first, count;
};

/* Purpose: true if there is no room for one more. */
bool HYD_faultloc_pending_is_full(const struct HYD_faultloc_pending *a);

/* Purpose: a symptom for `who` was sent.  There must be room. */
void HYD_faultloc_pending_add(struct HYD_faultloc_pending *a, int who);

/* Purpose: takes out who has waited longest; false: nobody waits. */
bool HYD_faultloc_pending_next(struct HYD_faultloc_pending *a, int *who);

#endif /* FAULTLOC_PENDING_H_INCLUDED */
