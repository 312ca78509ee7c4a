/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef NOMEM_H_INCLUDED
#define NOMEM_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>

/*
 * The n-th allocation fails, for n = 0, 1, 2, ... until what is tested runs through without:
 *
 *     for (long n = 0;; n++) {
 *         nomem_begin(n);
 *         ... what must survive it ...
 *         if (nomem_end())
 *             break;
 *     }
 *
 * The linker makes calls from FaultLoc's own code come here (nomem_flags in Makefile.am), and only
 * these: a library in which allocations fail is another's to test.  So it goes together with the
 * sanitizers, too.  Check is linked in and counts as own code: nothing is asserted in between.  To
 * be included by one file of a program.
 */

static long nomem_taken; /* and not given back */
static long nomem_countdown = -1; /* -1: none fails */

static inline void nomem_begin(long n)
{
    nomem_countdown = n;
}

/* Returns true if none failed. */
static inline bool nomem_end(void)
{
    bool none = nomem_countdown >= 0;

    nomem_countdown = -1;
    return none;
}

static inline bool nomem_fails(void)
{
    return nomem_countdown >= 0 && nomem_countdown-- == 0;
}

/* A function that makes something, and NULL instead when its turn has come. */
#define NOMEM_WRAP(type, name, parameters, arguments) \
    type __real_##name parameters; \
    type __wrap_##name parameters; \
    type __wrap_##name parameters \
    { \
        return nomem_fails() ? NULL : __real_##name arguments; \
    }

/* The same, of memory that free() takes. */
#define NOMEM_WRAP_TAKEN(type, name, parameters, arguments) \
    type __real_##name parameters; \
    type __wrap_##name parameters; \
    type __wrap_##name parameters \
    { \
        type p = nomem_fails() ? NULL : __real_##name arguments; \
        nomem_taken += p != NULL; \
        return p; \
    }

NOMEM_WRAP_TAKEN(void *, malloc, (size_t size), (size))
NOMEM_WRAP_TAKEN(void *, calloc, (size_t n, size_t size), (n, size))
NOMEM_WRAP_TAKEN(char *, strdup, (const char *s), (s))

void *__real_realloc(void *ptr, size_t size);
void *__wrap_realloc(void *ptr, size_t size);
void *__wrap_realloc(void *ptr, size_t size)
{
    bool is_new = ptr == NULL;
    void *p = nomem_fails() ? NULL : __real_realloc(ptr, size);

    nomem_taken += is_new && p != NULL;
    return p;
}

void __real_free(void *ptr);
void __wrap_free(void *ptr);
void __wrap_free(void *ptr)
{
    nomem_taken -= ptr != NULL;
    __real_free(ptr);
}

#endif /* NOMEM_H_INCLUDED */
