/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef UNITS_H_INCLUDED
#define UNITS_H_INCLUDED

#include "ftree/base/types.h"

/* Purpose: reads a time of `len` bytes: a number (with a point or not) and one of ns, us, ms, s, m,
 * h; false: it is none, or more than 10 years. */
bool sim_read_time(const char *text, size_t len, ftree_time *out);

/* Purpose: reads "5%" or "0.05" as 0.05; false: it is no share from 0 to 1. */
bool sim_read_share(const char *text, size_t len, double *out);

/* Purpose: reads a number from min to max; false: it is none. */
bool sim_read_number(const char *text, size_t len, int64_t min, int64_t max, int64_t *out);

/* Purpose: all of a file, with a zero behind it, to be freed; "-": of standard input.  NULL: it
 * cannot be read, or has more than 256 MiB; a line on standard error says so, and of which option it
 * is. */
char *sim_read_file(const char *option, const char *file, size_t *len);

/* Purpose: a line on standard error of what is wrong with what people wrote, safe for a terminal. */
void sim_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

static inline double sim_seconds(ftree_time t)
{
    return (double) t / 1e9;
}

#endif /* UNITS_H_INCLUDED */
