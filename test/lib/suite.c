/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "suite.h"

#define KEPT_MAX 256
#define TESTS_MAX 256

static struct {
    void *thing;
    void (*end)(void *);
} kept[KEPT_MAX];
static int n;

static void (*tests[TESTS_MAX])(TCase *);
static int n_tests;

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

/* Before main(), where no test is there to fail. */
void suite_add(void (*add)(TCase *))
{
    if (n_tests == TESTS_MAX)
        abort();
    tests[n_tests++] = add;
}

static void add_tests(TCase *cases)
{
    for (int i = 0; i < n_tests; i++)
        tests[i](cases);
}

/* Of programs that have none of their own. */
int __attribute__((weak)) main(int argc, char **argv)
{
    const char *name = strrchr(argv[0], '/');

    (void) argc;
    name = name ? name + 1 : argv[0];
    return suite_main(strncmp(name, "test_", 5) == 0 ? name + 5 : name, add_tests);
}
