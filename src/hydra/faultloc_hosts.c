/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc_hosts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TAIL 32 /* for "],... (N more)" and "..." */
#define DIGITS 18 /* fit into 64 bits */

/* ---- hosts ----------------------------------------------------------------------------------- */

/* A name as text, number, text. */
struct name {
    int before, digits; /* how long the first two are; no digits: there is no number */
    long long number;
    const char *after;
};

/* "n17.c2.site" has its number in the first label, "10.0.0.17" at its end. */
static size_t numbered_part(const char *text)
{
    size_t len = strlen(text), label = strcspn(text, ".");

    if (strchr(text, ':'))
        return 0; /* IPv6 is in hexadecimal */
    return strspn(text, "0123456789.") == len ? len : label;
}

static struct name split(const char *text)
{
    size_t end = numbered_part(text), begin;
    struct name n = {.before = (int) strlen(text), .after = ""};

    while (end > 0 && !isdigit((unsigned char) text[end - 1]))
        end--;
    for (begin = end; begin > 0 && isdigit((unsigned char) text[begin - 1]); begin--)
        ;
    if (begin == end || end - begin > DIGITS)
        return n;
    return (struct name){.before = (int) begin,
                         .digits = (int) (end - begin),
                         .number = strtoll(text + begin, NULL, 10),
                         .after = text + end};
}

/* Names that can share brackets are neighbours, by their numbers. */
static int compare(const void *left, const void *right)
{
    const char *const *a = left, *const *b = right;
    struct name m = split(*a), n = split(*b);
    int shorter = m.before < n.before ? m.before : n.before;
    int rc = strncmp(*a, *b, (size_t) shorter);

    rc = rc ? rc : m.before - n.before;
    rc = rc ? rc : (m.digits > 0) - (n.digits > 0);
    rc = rc ? rc : strcmp(m.after, n.after);
    if (!rc && m.number != n.number)
        rc = m.number < n.number ? -1 : 1;
    return rc ? rc : m.digits - n.digits;
}

static bool are_alike(const char *a, const char *b)
{
    struct name m = split(a), n = split(b);

    return m.digits && n.digits && m.before == n.before && !strncmp(a, b, (size_t) m.before) &&
           !strcmp(m.after, n.after);
}

/* True if "[A-B]" is these two. */
static bool follows(const char *a, const char *b)
{
    struct name m = split(a), n = split(b);

    return n.number == m.number + 1 &&
           (m.digits == n.digits || (a[m.before] != '0' && b[n.before] != '0'));
}

static int drop_repeated(const char **name, int count)
{
    int n = 0;

    for (int i = 0; i < count; i++)
        if (n == 0 || strcmp(name[n - 1], name[i]))
            name[n++] = name[i];
    return n;
}

/* Writes one name, or one range of a pair of brackets; false: there is no room. */
static bool put_range(const char *first, const char *last, bool alone, bool opens, char *out,
                      size_t room)
{
    struct name a = split(first), b = split(last);
    int n;

    if (alone)
        n = snprintf(out, room, "%s", first);
    else if (first == last)
        n = snprintf(out, room, "%.*s%s%.*s", opens ? a.before : 0, first, opens ? "[" : ",",
                     a.digits, first + a.before);
    else
        n = snprintf(out, room, "%.*s%s%.*s-%.*s", opens ? a.before : 0, first, opens ? "[" : ",",
                     a.digits, first + a.before, b.digits, last + b.before);
    if (n >= 0 && (size_t) n < room)
        return true;
    *out = '\0';
    return false;
}

/* The names from `from` to before `to` share brackets. Returns how many were written. */
static int put_alike(const char **name, int from, int to, char *out, size_t room)
{
    const char *after = split(name[from]).after;
    size_t len = 0, rest = to - from > 1 ? strlen(after) : 0;
    int i = from, last;

    room = room > rest ? room - rest : 0;
    for (; i < to && len < room; i = last + 1) {
        for (last = i; last + 1 < to && follows(name[last], name[last + 1]); last++)
            ;
        if (!put_range(name[i], name[last], to - from == 1, i == from, out + len, room - len))
            break;
        len += strlen(out + len);
    }
    if (i > from && to - from > 1)
        snprintf(out + len, rest + TAIL, "]%s", after);
    return i - from;
}

const char *HYD_faultloc_hosts(const char **name, int count, char *out, size_t room)
{
    int from = 0, to, put;
    size_t len = 0, limit = room - TAIL;

    *out = '\0';
    qsort(name, (size_t) count, sizeof(*name), compare);
    count = drop_repeated(name, count);
    while (from < count) {
        for (to = from + 1; to < count && are_alike(name[to - 1], name[to]); to++)
            ;
        if (len + 1 >= limit)
            break;
        if (from)
            out[len++] = ',';
        put = put_alike(name, from, to, out + len, limit - len);
        len += put ? strlen(out + len) : 0;
        from += put;
        if (from < to)
            break;
    }
    if (from < count)
        snprintf(out + len, room - len, "%s... (%d more)", len && out[len - 1] != ',' ? "," : "",
                 count - from);
    return out;
}

/* ---- ranks ----------------------------------------------------------------------------------- */

static int compare_ranges(const void *left, const void *right)
{
    const struct HYD_faultloc_range *a = left, *b = right;

    return (a->first > b->first) - (a->first < b->first);
}

const char *HYD_faultloc_ranks(struct HYD_faultloc_range *range, int count, bool more, char *out,
                               size_t room)
{
    size_t len = 0;
    int i = 0, n;

    *out = '\0';
    qsort(range, (size_t) count, sizeof(*range), compare_ranges);
    while (i < count && len + TAIL < room) {
        struct HYD_faultloc_range r = range[i++];
        for (; i < count && range[i].first - 1 <= r.last; i++)
            r.last = range[i].last > r.last ? range[i].last : r.last;
        n = snprintf(out + len, room - len, r.first < r.last ? "%s%d-%d" : "%s%d", len ? ", " : "",
                     (int) r.first, (int) r.last);
        len += (size_t) n;
    }
    if (more || i < count)
        snprintf(out + len, room - len, "%s...", len ? ", " : "");
    return out;
}
