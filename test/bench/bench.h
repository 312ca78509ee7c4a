/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef BENCH_H_INCLUDED
#define BENCH_H_INCLUDED

#include <stddef.h>

/* What the programs that are timed have in common. */

/* Purpose: the time that once() takes. All ranks call it; they call once() together, each time
 * behind prepare() (may be NULL), which is not timed, and a barrier: at least once, until the
 * seconds are over. A time is that of the slowest rank. Returns on rank 0 the least time, in
 * seconds, because all that disturbs a run makes it longer; elsewhere nothing of use. */
double bench_repeat(void (*prepare)(void), void (*once)(void), double seconds);

/* The row of a kernel's table of classes that the option --class names (default S); what is unknown
 * ends the job with exit code 1. `names` has a letter for each row. */
int bench_class(int argc, char **argv, const char *names);

/* Memory for n elements, 64-byte aligned, zero; ends the job where there is none. */
void *bench_memory(size_t n, size_t size);

/* The end of a kernel: on rank 0 two lines, "NAME class C, N ranks: verified, checksum TEXT" and
 * "seconds S"; where it is not verified the job ends with exit code 1. All ranks call it; rank 0's
 * arguments count. */
void bench_end(const char *name, char class_, int is_verified, const char *checksum,
               double seconds);

#endif /* BENCH_H_INCLUDED */
