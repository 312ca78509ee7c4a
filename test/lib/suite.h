/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef SUITE_H_INCLUDED
#define SUITE_H_INCLUDED

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * A test is a function in a program of its own suite, which runs all of them in the order given:
 *
 *     UNIT_TEST(parent_is_the_inverse_of_children)
 *     {
 *     }
 *
 * The name of the suite is that of the program without "test_".  Check forks a process for each
 * test, so one that crashes is only one that fails; CK_FORK=no in the environment is for debuggers.
 * The limit is for a test that hangs; none comes near it.
 */

#define UNIT_TEST(name) UNIT_TEST_ROWS(name, 1)

/* The test is called with _i = 0 .. rows - 1: one row of a table each. */
#define UNIT_TEST_ROWS(name, rows) \
    static void name##_body(int _i); \
\
    START_TEST(name) \
    { \
        name##_body(_i); \
    } \
    END_TEST \
\
    static void name##_add(TCase *cases) \
    { \
        tcase_add_loop_test(cases, name, 0, (rows)); \
    } \
\
    static void __attribute__((constructor)) name##_is_there(void) \
    { \
        suite_add(name##_add); \
    } \
\
    static void name##_body(int _i CK_ATTRIBUTE_UNUSED)

void suite_add(void (*add)(TCase *));

#define SUITE_TIMEOUT_S 600

/* The same with START_TEST() of Check and a list of the tests: where main() has arguments, say. */
#define TEST(test) tcase_add_test(cases, test)
#define TEST_ROWS(test, n) tcase_add_loop_test(cases, test, 0, n)

/* What a test makes and need not end itself: it is ended after the test, in the test's process, the
 * youngest first.  Who ends it earlier says so. */
void suite_keep(void *thing, void (*end)(void *));
void suite_forget(void *thing);
void suite_end_test(void);

/* What is in a file, up to 64 KiB, until the next call; "": it is not there. */
const char *suite_text_of(const char *path);

#define SUITE(name) \
    static void add_tests(TCase *cases); \
\
    int main(void) \
    { \
        return suite_main(name, add_tests); \
    } \
\
    static void add_tests(TCase *cases)

static inline int suite_main(const char *name, void (*add)(TCase *))
{
    Suite *suite = suite_create(name);
    TCase *cases = tcase_create(name);
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(cases, SUITE_TIMEOUT_S);
    tcase_add_checked_fixture(cases, NULL, suite_end_test);
    add(cases);
    suite_add_tcase(suite, cases);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* What was said, line by line: fails with the first line that is another, and writes down the whole
 * on stderr.  (Check refuses messages of more than a few thousand characters.) */
#define EXPECT_LINES(got, expected) suite_expect_lines((got), (expected), __FILE__, __LINE__)

static inline void suite_expect_lines(const char *got, const char *expected, const char *file,
                                      int line)
{
    const char *whole = got, *g = got, *e = expected;
    int n = 1;

    while (*g && *g == *e) {
        if (*g++ == '\n') {
            got = g;
            expected = e + 1;
            n++;
        }
        e++;
    }
    if (*g == *e)
        return;
    fputs(whole, stderr);
    ck_abort_msg("%s:%d: line %d is \"%.*s\", expected \"%.*s\"", file, line, n,
                 (int) strcspn(got, "\n"), got, (int) strcspn(expected, "\n"), expected);
}

/* As ck_assert(), for inner loops: Check writes a file for each of its own. */
#define REQUIRE(condition) \
    do { \
        if (!(condition)) \
            ck_abort_msg("%s", #condition); \
    } while (0)

/* The number of elements of an array. */
#define COUNT(array) ((int) (sizeof(array) / sizeof((array)[0])))

#endif /* SUITE_H_INCLUDED */
