/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc_pending.h"

bool HYD_faultloc_pending_is_full(const struct HYD_faultloc_pending *a)
{
    return a->count == HYD_FAULTLOC_PENDING;
}

void HYD_faultloc_pending_add(struct HYD_faultloc_pending *a, int who)
{
    a->who[(a->first + a->count++) % HYD_FAULTLOC_PENDING] = who;
}

bool HYD_faultloc_pending_next(struct HYD_faultloc_pending *a, int *who)
{
    if (a->count == 0)
        return false;
    *who = a->who[a->first];
    a->first = (a->first + 1) % HYD_FAULTLOC_PENDING;
    a->count--;
    return true;
}
