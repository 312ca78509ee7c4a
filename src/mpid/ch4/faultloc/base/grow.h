/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_GROW_H_INCLUDED
#define FAULTLOC_GROW_H_INCLUDED

#include <stdlib.h>

/* Purpose: room for one more in an array that has `used` and doubles when that is a power of two; NULL:
 * out of memory, and the array is as it was.  A header alone: the process manager includes it, too. */
static inline void *faultloc_one_more(void *array, int used, size_t size)
{
    if (used & (used - 1))
        return array;
    return realloc(array, (used ? 2 * (size_t) used : 1) * size);
}

#endif /* FAULTLOC_GROW_H_INCLUDED */
