/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc_arrival.h"
#include "faultloc_incident.h"

/* A timer that is so much too late: mpiexec was stopped, as the whole job may be. */
#define STOPPED_MS 2000

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* From one note to the next. */
static int64_t interval(int notes)
{
    int64_t ms = HYD_FAULTLOC_QUIET_MS;

    while (notes-- > 0 && ms < HYD_FAULTLOC_QUIET_MOST_MS)
        ms *= 2;
    return ms < HYD_FAULTLOC_QUIET_MOST_MS ? ms : HYD_FAULTLOC_QUIET_MOST_MS;
}

/* Nobody came since then, as far as mpiexec can have seen it. */
static int64_t quiet_since(const struct HYD_faultloc_arrival *a)
{
    return later(a->last, a->awake);
}

void HYD_faultloc_arrival_come(struct HYD_faultloc_arrival *a, int64_t first, int64_t last)
{
    if (!a->open)
        *a = (struct HYD_faultloc_arrival){
            .barrier = later(a->barrier, 1), .open = true, .first = first, .last = last};
    a->first = first < a->first ? first : a->first;
    a->last = later(a->last, last);
}

bool HYD_faultloc_arrival_all(struct HYD_faultloc_arrival *a)
{
    a->open = false;
    a->barrier++;
    return a->notes > 0;
}

int64_t HYD_faultloc_arrival_due(const struct HYD_faultloc_arrival *a)
{
    int64_t due = quiet_since(a) + HYD_FAULTLOC_QUIET_MS;

    if (!a->open)
        return HYD_FAULTLOC_NEVER;
    if (a->asking)
        return a->asked + HYD_FAULTLOC_ANSWER_MS;
    return a->notes ? later(due, a->noted + interval(a->notes)) : due;
}

enum HYD_faultloc_arrival_step HYD_faultloc_arrival_step(struct HYD_faultloc_arrival *a,
                                                         int64_t now, bool answered)
{
    int64_t due = HYD_faultloc_arrival_due(a);

    if (!a->open || (now < due && !(a->asking && answered)))
        return HYD_FAULTLOC_ARRIVAL_WAIT;
    if (!a->asking && now >= due + STOPPED_MS) {
        a->awake = now;
        return HYD_FAULTLOC_ARRIVAL_WAIT;
    }
    if (!a->asking) {
        a->asking = true;
        a->asked = now;
        return HYD_FAULTLOC_ARRIVAL_ASK;
    }
    a->asking = false;
    if (a->asked < quiet_since(a) + HYD_FAULTLOC_QUIET_MS)
        return HYD_FAULTLOC_ARRIVAL_WAIT; /* some have come, as a proxy has answered */
    a->notes++;
    a->noted = now;
    return HYD_FAULTLOC_ARRIVAL_SAY;
}
