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

#define PARTS_MAX 16
#define DIGITS_MAX 18 /* fit into 64 bits, with room for a difference */

struct part {
    const char *text; /* as it stands, or what is between the brackets */
    size_t len;
    bool ranges;
    size_t next; /* the range after the present one */
    int64_t now, last;
    int width;
};

struct item {
    struct part part[PARTS_MAX];
    int parts;
    size_t at; /* in the list */
};

struct list {
    const char *text;
    size_t len;
    struct hostlist_error *e;
};

static int wrong(const struct list *l, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int wrong(const struct list *l, const char *at, const char *format, ...)
{
    va_list args;

    l->e->at = (size_t) (at - l->text);
    va_start(args, format);
    vsnprintf(l->e->text, sizeof(l->e->text), format, args);
    va_end(args);
    return FTREE_ERR_INVALID;
}

static int read_number(const struct list *l, const struct part *p, size_t *at, int64_t *out)
{
    size_t begin = *at;

    *out = 0;
    while (*at < p->len && p->text[*at] >= '0' && p->text[*at] <= '9') {
        if (*at - begin == DIGITS_MAX)
            return wrong(l, p->text + begin, "a number of more than %d digits", DIGITS_MAX);
        *out = 10 * *out + (p->text[(*at)++] - '0');
    }
    if (*at == begin)
        return wrong(l, p->text + begin, "a number is expected here, as in [1-16,20]");
    return FTREE_OK;
}

/* The range at p->next becomes the present one. */
static int load_range(const struct list *l, struct part *p)
{
    size_t begin = p->next;
    int rc = read_number(l, p, &p->next, &p->now);

    p->last = p->now;
    p->width = (int) (p->next - begin);
    if (!rc && p->next < p->len && p->text[p->next] == '-') {
        p->next++;
        rc = read_number(l, p, &p->next, &p->last);
    }
    if (rc)
        return rc;
    if (p->last < p->now)
        return wrong(l, p->text + begin, "a range from %lld down to %lld", (long long) p->now,
                     (long long) p->last);
    if (p->next < p->len && p->text[p->next] != ',')
        return wrong(l, p->text + p->next, "',' or ']' is expected here");
    if (p->next + 1 == p->len)
        return wrong(l, p->text + p->next, "a number is expected after ','");
    p->next += p->next < p->len;
    return FTREE_OK;
}

static void rewind_part(const struct list *l, struct part *p)
{
    p->next = 0;
    (void) load_range(l, p); /* count_part() has seen that all are well */
}

/* How many numbers the brackets hold, at most `most`. */
static int count_part(const struct list *l, struct part *p, int64_t most, int64_t *out)
{
    int rc = FTREE_OK;

    *out = 0;
    p->next = 0;
    do {
        rc = load_range(l, p);
        if (!rc && p->last - p->now >= most - *out)
            rc = wrong(l, p->text, "more than %d names in all", TREE_NAMES_MAX);
        if (!rc)
            *out += p->last - p->now + 1;
    } while (!rc && p->next < p->len);
    return rc;
}

/* Splits the item at l->text + *at; *at is then behind it. */
static int split_item(const struct list *l, size_t *at, struct item *item)
{
    const char *p = l->text + *at, *end = l->text + l->len, *close;

    item->parts = 0;
    item->at = *at;
    while (p < end && *p != ',') {
        struct part *part = &item->part[item->parts];
        if (item->parts++ == PARTS_MAX)
            return wrong(l, p, "too many brackets in one name");
        close = p;
        if (*p == '[') {
            close = memchr(p, ']', (size_t) (end - p));
            if (!close)
                return wrong(l, p, "'[' without a ']'");
            *part = (struct part){.text = p + 1, .len = (size_t) (close - p - 1), .ranges = true};
            p = close + 1;
        } else {
            while (p < end && !strchr(",[]", *p))
                p++;
            if (p == close)
                return wrong(l, p, "']' without a '['");
            *part = (struct part){.text = close, .len = (size_t) (p - close)};
        }
    }
    *at = (size_t) (p - l->text);
    return item->parts ? FTREE_OK : wrong(l, p, "a name is expected here");
}

static int count_item(const struct list *l, struct item *item, int64_t *most)
{
    int64_t all = 1, n;

    for (int i = 0; i < item->parts; i++) {
        if (!item->part[i].ranges)
            continue;
        int rc = count_part(l, &item->part[i], *most / all, &n);
        if (rc)
            return rc;
        all *= n;
    }
    if (all > *most)
        return wrong(l, l->text + item->at, "more than %d names in all", TREE_NAMES_MAX);
    *most -= all;
    return FTREE_OK;
}

/* To the next name of an item; false: that was the last. */
static bool step(const struct list *l, struct item *item)
{
    for (int i = item->parts - 1; i >= 0; i--) {
        struct part *p = &item->part[i];
        if (!p->ranges)
            continue;
        if (p->now < p->last) {
            p->now++;
            return true;
        }
        if (p->next < p->len)
            return load_range(l, p) == FTREE_OK;
        rewind_part(l, p);
    }
    return false;
}

/* The present name of an item; its length, which may be more than there is room. */
static size_t compose(const struct item *item, char *out, size_t room)
{
    size_t len = 0;

    for (int i = 0; i < item->parts; i++) {
        const struct part *p = &item->part[i];
        char digits[DIGITS_MAX + 2];
        size_t n = p->len;
        const char *text = p->text;
        if (p->ranges) {
            n = (size_t) snprintf(digits, sizeof(digits), "%0*lld", p->width, (long long) p->now);
            text = digits;
        }
        if (len + n <= room)
            memcpy(out + len, text, n);
        len += n;
    }
    return len;
}

static int each_name(const struct list *l, struct item *item, hostlist_each_fn each, void *ctx)
{
    char name[TREE_NAME_MAX];
    int rc;

    for (int i = 0; i < item->parts; i++)
        if (item->part[i].ranges)
            rewind_part(l, &item->part[i]);
    do {
        size_t len = compose(item, name, sizeof(name));
        if (len > sizeof(name))
            return wrong(l, l->text + item->at, "a name of more than %d characters", TREE_NAME_MAX);
        rc = each(ctx, name, len, item->at);
    } while (rc == FTREE_OK && step(l, item));
    return rc;
}

int ftree_hostlist_each(const char *list, size_t len, int64_t *most, hostlist_each_fn each,
                        void *ctx, struct hostlist_error *e)
{
    const struct list l = {.text = list, .len = len, .e = e};
    struct item item;
    size_t at = 0;
    int rc;

    for (;;) {
        rc = split_item(&l, &at, &item);
        if (!rc)
            rc = count_item(&l, &item, most);
        if (!rc)
            rc = each_name(&l, &item, each, ctx);
        if (rc || at == len)
            return rc;
        at++; /* the comma */
    }
}
