/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "suite.h"

#include <unistd.h>

static struct suite_test *first;
static void (*before_each)(void), (*after_each)(void);

/* The linker may have them in another order than the file. */
void suite_add(struct suite_test *test)
{
    struct suite_test **at = &first;

    while (*at && (*at)->test.line < test->test.line)
        at = &(*at)->next;
    test->next = *at;
    *at = test;
}

void suite_surround(void (*before)(void), void (*after)(void))
{
    before_each = before ? before : before_each;
    after_each = after ? after : after_each;
}

static pid_t testing; /* the process of the test that runs */

/* Check takes a test that ends its process by exit(0) for one that has passed. */
static void ended_early(void)
{
    if (testing == getpid())
        _exit(EXIT_FAILURE);
}

static void begin_test(void)
{
    testing = getpid();
    atexit(ended_early);
    if (before_each)
        before_each();
}

static void end_test(void)
{
    testing = 0;
    if (after_each)
        after_each();
    suite_end_test();
}

int suite_run(void)
{
    Suite *suite = suite_create(first->test.file);
    TCase *cases = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(cases, SUITE_TIMEOUT_S);
    tcase_add_checked_fixture(cases, begin_test, end_test);
    for (struct suite_test *t = first; t; t = t->next)
        tcase_add_loop_test(cases, &t->test, 0, t->rows);
    suite_add_tcase(suite, cases);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

__attribute__((weak)) int main(void)
{
    return suite_run();
}

/* ---- what a test makes ----------------------------------------------------------------------- */

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
