/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc_hydra.h"

#include <string.h>

static bool is_text(const char *text, size_t room)
{
    return memchr(text, '\0', room) != NULL;
}

static bool are_ranks(const struct faultloc_launcher_ranks *r, int32_t size)
{
    int32_t least = 0;

    if (r->count < 0 || r->count > size || r->ranges < 0 || r->ranges > FAULTLOC_LAUNCHER_RANGES)
        return false;
    for (int32_t i = 0; i < r->ranges; i++) {
        if (r->range[i].first < least || r->range[i].last < r->range[i].first ||
            r->range[i].last >= size)
            return false;
        least = r->range[i].last < INT32_MAX ? r->range[i].last + 1 : INT32_MAX;
    }
    return true;
}

bool faultloc_launcher_is_message(const void *bytes, size_t len, int32_t size)
{
    struct faultloc_launcher_message w;

    if (len != sizeof(w))
        return false;
    memcpy(&w, bytes, sizeof(w)); /* it may come from anywhere in a buffer */
    return w.magic == FAULTLOC_LAUNCHER_MAGIC && w.bytes == sizeof(w) &&
           w.kind < FAULTLOC_LAUNCHER_KINDS && w.ended_rank >= -1 && w.ended_rank < size &&
           is_text(w.symptom_socket, sizeof(w.symptom_socket)) &&
           is_text(w.class_, sizeof(w.class_)) && is_text(w.host, sizeof(w.host)) &&
           is_text(w.line, sizeof(w.line)) && are_ranks(&w.ranks, size) &&
           are_ranks(&w.victims, size);
}

bool HYD_faultloc_is_arrivals(const struct HYD_faultloc_arrivals *a, int32_t size)
{
    if (a->groups < 0 || a->groups > HYD_FAULTLOC_GROUPS || a->come < 0 || a->come > size)
        return false;
    for (int32_t i = 0; i < a->groups; i++)
        if (!is_text(a->group[i].state, sizeof(a->group[i].state)) ||
            !are_ranks(&a->group[i].ranks, size))
            return false;
    return true;
}
