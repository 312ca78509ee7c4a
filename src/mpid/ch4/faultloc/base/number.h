/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_NUMBER_H_INCLUDED
#define FAULTLOC_NUMBER_H_INCLUDED

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Numbers that people set.  A header alone: the process manager includes it, too. */

static inline bool faultloc_number_of_word(const char *word, size_t len, int *value)
{
    static const char *const words[] = {"on", "yes", "true", "enable", "enabled", "y",
                                        "off", "no", "false", "disable", "disabled", "n", "none"};
    const size_t first_off = 6;

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (!strncasecmp(words[i], word, len) && !words[i][len]) {
            *value = i < first_off;
            return true;
        }
    return false;
}

/* Purpose: the whole number in decimal digits that `text` is, or of a switch a word for on or off;
 * blanks around it do not count.  False, and *value as it was: it is neither, or does not fit. */
static inline bool faultloc_number_read(const char *text, bool is_switch, int *value)
{
    static const char blanks[] = " \t\n\r\f\v";
    const char *begin = text + strspn(text, blanks);
    size_t len = strcspn(begin, blanks);
    char *end;
    long n;

    if (!len || begin[len + strspn(begin + len, blanks)])
        return false;
    errno = 0;
    n = strtol(begin, &end, 10);
    if (end != begin + len)
        return is_switch && faultloc_number_of_word(begin, len, value);
    if (errno || n < INT_MIN || n > INT_MAX)
        return false;
    *value = (int) n;
    return true;
}

#endif /* FAULTLOC_NUMBER_H_INCLUDED */
