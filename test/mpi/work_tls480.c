/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* As work.c, with 480 KB of static thread-local storage: each thread's stack has to hold it. */

#define THREAD_LOCAL_BYTES (480 << 10)

#include "work.c"
