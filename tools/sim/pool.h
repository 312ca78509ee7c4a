/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef POOL_H_INCLUDED
#define POOL_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>

/*
 * Memory of the handles and of the messages, of which a run of a million nodes has tens of millions
 * of pieces, and of large arrays: blocks by size from large chunks, for which the kernel is asked
 * for huge pages; with small ones the processor would look for pages most of the time.  For one
 * thread.
 *
 * With AddressSanitizer it is the C library's memory, so that wrong use is found.
 */

/* Purpose: as realloc(3), and as free(3) where size is 0; NULL: out of memory. */
void *sim_pool_alloc(void *ptr, size_t size);

/* Purpose: how many bytes of a block may be used; NULL: 0. */
size_t sim_pool_size(const void *ptr);

/* Purpose: how many bytes a block of that size takes, with the 8 before it. */
size_t sim_pool_whole(size_t size);

/* Purpose: gives all blocks back at once, as at the end of a run; it begins anew at the first chunk.
 * False: each has to be given back. */
bool sim_pool_drop(void);

/* Purpose: a copy of a message; it is the one before, where that is the same: a node sends what it
 * announces to many.  Each is given back by sim_pool_unshare(); NULL: nothing is.
 * An array, as reallocarray(3), or zeroed, as calloc(3).
 * These cannot fail: the program ends with 2 instead. */
void *sim_pool_share(const void *bytes, size_t len);
void sim_pool_unshare(void *message);
void *sim_pool_array(void *ptr, size_t n, size_t size);
void *sim_pool_zeroed(size_t n, size_t size);

static inline void sim_pool_free(void *ptr)
{
    sim_pool_alloc(ptr, 0);
}

#endif /* POOL_H_INCLUDED */
