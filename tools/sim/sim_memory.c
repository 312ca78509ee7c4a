/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "sim/sim_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

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

void *sim_grow(void *ptr, int32_t n, size_t size)
{
    return n & (n - 1) ? ptr : sim_realloc(ptr, n ? 2 * (size_t) n : 1, size);
}

#define HUGE_PAGE ((size_t) 2 << 20)

/* Of a large array, of which a part may never be written, what is only read is one huge page. */
void *sim_calloc(size_t n, size_t size)
{
    void *ptr = checked(calloc(n ? n : 1, size), n, size);
    uintptr_t begin = ((uintptr_t) ptr + HUGE_PAGE - 1) & ~(uintptr_t) (HUGE_PAGE - 1);
    uintptr_t end = ((uintptr_t) ptr + n * size) & ~(uintptr_t) (HUGE_PAGE - 1);

    if (begin < end)
        madvise((void *) begin, end - begin, MADV_HUGEPAGE);
    return ptr;
}

void *sim_copy(const void *bytes, size_t len)
{
    void *copy = checked(malloc(len ? len : 1), 1, len);

    return len ? memcpy(copy, bytes, len) : copy; /* bytes may be NULL then */
}
