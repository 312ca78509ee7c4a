/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_TEXT_FILE_H_INCLUDED
#define FAULTLOC_TEXT_FILE_H_INCLUDED

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/* Purpose: reads a file below the folder `root` (NULL: /proc) into text, at most room - 1 bytes and a
 * zero behind them.  "" where it cannot be opened or its path is longer than 511 bytes; errno then
 * says why, and is 0 where there is nothing in it.  Does not wait, if it is a FIFO for example.
 * Returns the number of bytes.  The second one has the words as vsnprintf(3). */
size_t faultloc_text_read(const char *root, char *text, size_t room, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
size_t faultloc_text_vread(const char *root, char *text, size_t room, const char *format,
                           va_list args) __attribute__((format(printf, 4, 0)));

/* Purpose: what stands behind `key` at the beginning of a line; NULL: there is no such line. */
const char *faultloc_text_line(const char *text, const char *key);

/* Purpose: such a file that is one number; UINT64_MAX: it is not there, or is none. */
uint64_t faultloc_text_number(const char *root, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif /* FAULTLOC_TEXT_FILE_H_INCLUDED */
