/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "suite.h"

#define KEPT_MAX 256

static struct {
    void *thing;
    void (*end)(void *);
} kept[KEPT_MAX];
static int n;

void suite_keep(void *thing, void (*end)(void *))
{
    ck_assert_int_lt(n, KEPT_MAX);
    kept[n].thing = thing;
    kept[n++].end = end;
}

void suite_forget(void *thing)
{
    int i = n - 1;

    while (i >= 0 && kept[i].thing != thing)
        i--;
    ck_assert_msg(i >= 0, "it is not kept, or ended already");
    for (n--; i < n; i++)
        kept[i] = kept[i + 1];
}

/* The youngest first. */
void suite_end_test(void)
{
    while (n > 0)
        kept[n - 1].end(kept[n - 1].thing);
}

const char *suite_text_of(const char *path)
{
    static char text[65536];
    FILE *f = fopen(path, "r");

    text[f ? fread(text, 1, sizeof(text) - 1, f) : 0] = '\0';
    if (f)
        fclose(f);
    return text;
}
