/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/topology/tree.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The other way round than tree_hostlist.c: names become "c[01-16,20],login".  Of a name the last
 * number runs; a range is one only where counting on from its first gives each of its names.
 */

#define DIGITS_MAX 18 /* fit into 64 bits */

struct name {
    const char *text;
    int before, digits; /* the number begins after `before`; digits 0: there is none */
    int64_t number;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static struct name split(const char *text)
{
    int end = (int) strlen(text), begin;

    while (end > 0 && !is_digit(text[end - 1]))
        end--;
    for (begin = end; begin > 0 && is_digit(text[begin - 1]); begin--)
        ;
    if (end == begin || end - begin > DIGITS_MAX)
        return (struct name){.text = text, .before = (int) strlen(text)};
    return (struct name){.text = text,
                         .before = begin,
                         .digits = end - begin,
                         .number = strtoll(text + begin, NULL, 10)};
}

static const char *after(const struct name *n)
{
    return n->text + n->before + n->digits;
}

/* By what is around the number. */
static int compare_pattern(const struct name *a, const struct name *b)
{
    int c = strncmp(a->text, b->text, (size_t) (a->before < b->before ? a->before : b->before));

    if (!c)
        c = a->before - b->before;
    if (!c)
        c = (a->digits > 0) - (b->digits > 0);
    return c ? c : strcmp(after(a), after(b));
}

static int compare(const void *left, const void *right)
{
    const struct name *a = left, *b = right;
    int c = compare_pattern(a, b);

    if (!c)
        c = (a->number > b->number) - (a->number < b->number);
    return c ? c : a->digits - b->digits;
}

/* The name that follows `last` in the range that begins with `first`. */
static bool is_next(const struct name *first, const struct name *last, const struct name *next)
{
    return next->number == last->number + 1 &&
           next->digits == snprintf(NULL, 0, "%0*lld", first->digits, (long long) next->number);
}

static int32_t put_range(FILE *f, const struct name *list, int32_t n)
{
    int32_t k = 1;

    while (k < n && is_next(&list[0], &list[k - 1], &list[k]))
        k++;
    fprintf(f, "%.*s", list[0].digits, list[0].text + list[0].before);
    if (k > 1)
        fprintf(f, "-%.*s", list[k - 1].digits, list[k - 1].text + list[k - 1].before);
    return k;
}

/* Those that differ by the number alone; returns how many. */
static int32_t put_item(FILE *f, const struct name *list, int32_t n)
{
    int32_t alike = 1;

    while (alike < n && list[0].digits > 0 && compare_pattern(&list[0], &list[alike]) == 0)
        alike++;
    if (alike == 1) {
        fputs(list[0].text, f);
        return 1;
    }
    fprintf(f, "%.*s[", list[0].before, list[0].text);
    for (int32_t i = 0; i < alike;) {
        fputs(i ? "," : "", f);
        i += put_range(f, &list[i], alike - i);
    }
    fprintf(f, "]%s", after(&list[0]));
    return alike;
}

char *ftree_tree_fold(const char *const *names, int32_t n)
{
    struct name *list = malloc((size_t) (n + 1) * sizeof(*list));
    char *text = NULL;
    size_t len;
    FILE *f = list ? open_memstream(&text, &len) : NULL;

    for (int32_t i = 0; f && i < n; i++)
        list[i] = split(names[i]);
    if (f)
        qsort(list, (size_t) n, sizeof(*list), compare);
    for (int32_t i = 0; f && i < n;) {
        fputs(i ? "," : "", f);
        i += put_item(f, &list[i], n - i);
    }
    if (f && fclose(f)) {
        free(text);
        text = NULL;
    }
    free(list);
    return text;
}
