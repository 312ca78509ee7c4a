/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef SIM_MEMORY_H_INCLUDED
#define SIM_MEMORY_H_INCLUDED

#include <stddef.h>

/*
 * Memory of the simulator itself.  A run that finds none can do nothing sensible: these say so and
 * end the program (exit code 2).  All are freed with free().
 */
void *sim_realloc(void *ptr, size_t n, size_t size);
void *sim_calloc(size_t n, size_t size);
void *sim_copy(const void *bytes, size_t len);

#endif /* SIM_MEMORY_H_INCLUDED */
