/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* As work.c, with 500 KB of static thread-local storage: each thread's stack has to hold it. */

#define THREAD_LOCAL_BYTES (500 << 10)

#include "work.c"
