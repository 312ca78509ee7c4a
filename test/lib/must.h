/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef MUST_H_INCLUDED
#define MUST_H_INCLUDED

#include <stdio.h>
#include <stdlib.h>

/* What a fuzzer's harness asserts, by the one thing that every fuzzer takes for a finding. */
#define MUST(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
            abort(); \
        } \
    } while (0)

#endif /* MUST_H_INCLUDED */
