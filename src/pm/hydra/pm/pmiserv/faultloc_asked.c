/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc_asked.h"

bool HYD_faultloc_asked_is_full(const struct HYD_faultloc_asked *a)
{
    return a->count == HYD_FAULTLOC_ASKED;
}

void HYD_faultloc_asked_add(struct HYD_faultloc_asked *a, int who)
{
    a->who[(a->first + a->count++) % HYD_FAULTLOC_ASKED] = who;
}

bool HYD_faultloc_asked_next(struct HYD_faultloc_asked *a, int *who)
{
    if (a->count == 0)
        return false;
    *who = a->who[a->first];
    a->first = (a->first + 1) % HYD_FAULTLOC_ASKED;
    a->count--;
    return true;
}
