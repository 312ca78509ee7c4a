/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FTREE_TEXT_H_INCLUDED
#define FTREE_TEXT_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/*
 * Text that leaves a program, made safe for a terminal: all that is printed goes through these, and
 * JSON through ftree_report_json_text().  A header alone: the process manager includes it, too.
 */

/* They break or turn around a line: U+2028 to U+202E, U+2066 to U+2069. */
static inline bool ftree_text_is_layout(const unsigned char *s)
{
    return s[0] == 0xe2 && ((s[1] == 0x80 && s[2] >= 0xa8 && s[2] <= 0xae) ||
                            (s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9));
}

/* Purpose: how many bytes at `s`, of `len`, make a character of UTF-8; 0: none do. */
static inline size_t ftree_text_character(const unsigned char *s, size_t len)
{
    /* the first byte, how many follow, and which the first of these may be */
    static const struct {
        unsigned char first, last, more, least, most;
    } rows[] = {
        {0x00, 0x7f, 0, 0, 0},       {0xc2, 0xdf, 1, 0x80, 0xbf}, {0xe0, 0xe0, 2, 0xa0, 0xbf},
        {0xe1, 0xec, 2, 0x80, 0xbf}, {0xed, 0xed, 2, 0x80, 0x9f}, {0xee, 0xef, 2, 0x80, 0xbf},
        {0xf0, 0xf0, 3, 0x90, 0xbf}, {0xf1, 0xf3, 3, 0x80, 0xbf}, {0xf4, 0xf4, 3, 0x80, 0x8f},
    };
    size_t r = 0;

    while (r < sizeof(rows) / sizeof(rows[0]) && (*s < rows[r].first || *s > rows[r].last))
        r++;
    if (r == sizeof(rows) / sizeof(rows[0]) || len <= rows[r].more)
        return 0;
    for (size_t i = 1; i <= rows[r].more; i++)
        if ((s[i] & 0xc0) != 0x80 || (i == 1 && (s[i] < rows[r].least || s[i] > rows[r].most)))
            return 0;
    return rows[r].more + 1u;
}

/* Purpose: the same of a character that only shows itself: no control character (the C1 controls,
 * U+0080 to U+009F, are among them), none that breaks or turns around a line. */
static inline size_t ftree_text_printable(const unsigned char *s, size_t len)
{
    size_t n = ftree_text_character(s, len);
    bool control = (n == 1 && (s[0] < ' ' || s[0] > '~')) || (n == 2 && s[0] == 0xc2 && s[1] < 0xa0);

    return control || (n == 3 && ftree_text_is_layout(s)) ? 0 : n;
}

/* Purpose: makes a line of text safe for a terminal, in place.  Each byte that is not of such a
 * character becomes `instead`; other UTF-8 stays. */
static inline void ftree_text_clean(char *text, size_t len, char instead)
{
    for (size_t at = 0, n; at < len; at += n ? n : 1) {
        n = ftree_text_printable((const unsigned char *) text + at, len - at);
        if (!n)
            text[at] = instead;
    }
}

/* Purpose: the same where nothing but printable ASCII may be: in what nodes send each other and
 * what a report has, and in what is reported of programs, files and reports of others. */
static inline void ftree_text_ascii(char *text)
{
    for (; *text; text++)
        if (*text < ' ' || *text > '~')
            *text = '?';
}

/* Purpose: as much of `from` (NULL: nothing) as fits, likewise. */
static inline void ftree_text_copy(char *to, size_t room, const char *from)
{
    size_t len = from ? strnlen(from, room - 1) : 0;

    if (len > 0)
        memcpy(to, from, len);
    to[len] = '\0';
    ftree_text_ascii(to);
}

#endif /* FTREE_TEXT_H_INCLUDED */
