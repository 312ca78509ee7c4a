/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/topology/tree_int.h"

#include <stdio.h>

/*
 * "c[01-16,20],login,r[1-2]n[1-8]": items, separated by commas; an item is text with ranges in
 * brackets, of which the rightmost runs fastest.  A number has as many digits as the first of its
 * range, so 01-16 is 01, 02, ... and 1-16 is 1, 2, ....
 */

#define DIGITS_MAX 18 /* fit into 64 bits, with room for a difference */

struct list {
    const char *text;
    size_t len;
    int64_t *most;
    hostlist_each_fn each;
    void *ctx;
    struct hostlist_error *e;
    size_t item, end; /* of the present item, in the list */
    char name[TREE_NAME_MAX + 1]; /* as far as it is known */
};

struct range {
    int64_t first, last;
    int width;
};

static int wrong(const struct list *l, size_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int wrong(const struct list *l, size_t at, const char *format, ...)
{
    va_list args;

    l->e->at = at;
    va_start(args, format);
    vsnprintf(l->e->text, sizeof(l->e->text), format, args);
    va_end(args);
    return FTREE_ERR_INVALID;
}

static int read_number(const struct list *l, size_t *at, int64_t *out)
{
    size_t begin = *at;

    *out = 0;
    for (; l->text[*at] >= '0' && l->text[*at] <= '9'; (*at)++) {
        if (*at - begin == DIGITS_MAX)
            return wrong(l, begin, "a number of more than %d digits", DIGITS_MAX);
        *out = 10 * *out + (l->text[*at] - '0');
    }
    if (*at == begin)
        return wrong(l, begin, "a number is expected here, as in [1-16,20]");
    return FTREE_OK;
}

/* The range at *at, which is then the comma or the bracket behind it. */
static int read_range(const struct list *l, size_t *at, struct range *r)
{
    size_t begin = *at;
    int rc = read_number(l, at, &r->first);

    r->last = r->first;
    r->width = (int) (*at - begin);
    if (!rc && l->text[*at] == '-') {
        ++*at;
        rc = read_number(l, at, &r->last);
    }
    if (rc)
        return rc;
    if (r->last < r->first)
        return wrong(l, begin, "a range from %lld down to %lld", (long long) r->first,
                     (long long) r->last);
    if (l->text[*at] != ',' && l->text[*at] != ']')
        return wrong(l, *at, "',' or ']' is expected here");
    if (l->text[*at] == ',' && l->text[*at + 1] == ']')
        return wrong(l, *at, "a number is expected after ','");
    return FTREE_OK;
}

/* How many numbers the brackets around `at` hold, at most `most`. */
static int count_numbers(const struct list *l, size_t at, int64_t most, int64_t *n)
{
    size_t begin = at;
    struct range r;
    int rc;

    *n = 0;
    do {
        rc = read_range(l, &at, &r);
        if (!rc && r.last - r.first >= most - *n)
            rc = wrong(l, begin, "more than %d names in all", TREE_NAMES_MAX);
        *n += rc ? 0 : r.last - r.first + 1;
    } while (!rc && l->text[at++] == ',');
    return rc;
}

static int expand(struct list *l, size_t at, size_t len, int64_t most);

/* The name, of which there are `len` bytes, with each number of the brackets that begin at `at`. */
static int expand_brackets(struct list *l, size_t at, size_t len, int64_t most)
{
    const char *close = memchr(l->text + at, ']', l->len - at);
    struct range r;
    int64_t n;
    int rc;

    if (!close)
        return wrong(l, at, "'[' without a ']'");
    rc = count_numbers(l, ++at, most, &n);
    for (; !rc && l->text + at < close; at++) {
        rc = read_range(l, &at, &r);
        for (; !rc && r.first <= r.last; r.first++) {
            int digits = snprintf(l->name + len, sizeof(l->name) - len, "%0*lld", r.width,
                                  (long long) r.first);
            rc = expand(l, (size_t) (close + 1 - l->text), len + (size_t) digits, most / n);
        }
    }
    return rc;
}

/* All names, at most so many, that begin so and go on as the item does at `at`. */
static int expand(struct list *l, size_t at, size_t len, int64_t most)
{
    while (len <= TREE_NAME_MAX && at < l->len && !strchr(",[]", l->text[at]))
        l->name[len++] = l->text[at++];
    if (len > TREE_NAME_MAX)
        return wrong(l, l->item, "a name of more than %d characters", TREE_NAME_MAX);
    if (at < l->len && l->text[at] == '[')
        return expand_brackets(l, at, len, most);
    if (at < l->len && l->text[at] != ',')
        return wrong(l, at, "']' without a '['");
    l->end = at;
    if (len == 0)
        return wrong(l, at, "a name is expected here");
    if (most < 1)
        return wrong(l, l->item, "more than %d names in all", TREE_NAMES_MAX);
    --*l->most;
    return l->each(l->ctx, l->name, len, l->item);
}

int ftree_hostlist_each(const char *list, size_t len, int64_t *most, hostlist_each_fn each,
                        void *ctx, struct hostlist_error *e)
{
    struct list l = {.text = list, .len = len, .most = most, .each = each, .ctx = ctx, .e = e};
    int rc = FTREE_OK;

    for (l.end = (size_t) -1; !rc && l.end != len;) {
        l.item = l.end + 1;
        rc = expand(&l, l.item, 0, *most);
    }
    return rc;
}
