/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "sim/sim_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *checked(void *ptr, size_t n, size_t size)
{
    if (ptr)
        return ptr;
    fprintf(stderr, "faultloc simulate: out of memory (%zu x %zu bytes); give fewer --nodes\n", n,
            size);
    exit(2);
}

void *sim_realloc(void *ptr, size_t n, size_t size)
{
    return checked(reallocarray(ptr, n ? n : 1, size), n, size);
}

void *sim_calloc(size_t n, size_t size)
{
    return checked(calloc(n ? n : 1, size), n, size);
}

void *sim_copy(const void *bytes, size_t len)
{
    void *copy = checked(malloc(len ? len : 1), 1, len);

    return len ? memcpy(copy, bytes, len) : copy; /* bytes may be NULL then */
}
