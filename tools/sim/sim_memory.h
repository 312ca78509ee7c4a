/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef SIM_MEMORY_H_INCLUDED
#define SIM_MEMORY_H_INCLUDED

#include <stddef.h>
#include <stdint.h>

/*
 * Memory of the simulator itself.  A run that finds none can do nothing sensible: these say so and
 * end the program (exit code 2).  All are freed with free().
 */
void *sim_realloc(void *ptr, size_t n, size_t size);
void *sim_calloc(size_t n, size_t size);
void *sim_copy(const void *bytes, size_t len);

/* Purpose: room for one more in an array of n elements, which always has room for a power of two. */
void *sim_grow(void *ptr, int32_t n, size_t size);

#endif /* SIM_MEMORY_H_INCLUDED */
