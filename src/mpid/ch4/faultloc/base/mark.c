/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/base/mark.h"

#include <string.h>

/* The rank is in it: what was in the same memory before is another's. */
static void make_mark(int32_t rank, unsigned char mark[FAULTLOC_MARK_STEP])
{
    static const char text[] = "FaultLoc on:";
    uint32_t number = (uint32_t) rank;

    memset(mark, 0, FAULTLOC_MARK_STEP);
    memcpy(mark, text, FAULTLOC_MARK_STEP - sizeof(number));
    memcpy(mark + FAULTLOC_MARK_STEP - sizeof(number), &number, sizeof(number));
}

size_t faultloc_mark_put(void *address, size_t len, int32_t rank)
{
    size_t at = (len + FAULTLOC_MARK_STEP - 1) / FAULTLOC_MARK_STEP * FAULTLOC_MARK_STEP;

    memset((char *) address + len, 0, at - len);
    make_mark(rank, (unsigned char *) address + at);
    return at + FAULTLOC_MARK_STEP;
}

bool faultloc_mark_find(const void *address, size_t room, int32_t rank)
{
    unsigned char mark[FAULTLOC_MARK_STEP];

    make_mark(rank, mark);
    for (size_t at = 0; at + sizeof(mark) <= room; at += FAULTLOC_MARK_STEP)
        if (!memcmp((const char *) address + at, mark, sizeof(mark)))
            return true;
    return false;
}
