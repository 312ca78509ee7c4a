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
 * The tests of a program: one suite, whose main() is here, too.
 *
 *     TEST_CASE(parent_is_the_inverse_of_children)
 *     {
 *         ...
 *     }
 *
 * They are run in the order given.  Check forks a process for each, so one that crashes is only one
 * that fails; CK_FORK=no in the environment is for debuggers.
 */

struct suite_test {
    TTest test;
    int rows;
    struct suite_test *next;
};

void suite_add(struct suite_test *test);
void suite_surround(void (*before)(void), void (*after)(void));

/* Runs all; for a program that has a main() of its own.  Returns the exit code. */
int suite_run(void);

#define TEST_CASE(name) TEST_CASES(name, 1)

/* The test is called with _i = 0 .. n - 1: one row of a table each. */
#define TEST_CASES(name, n) \
    static void name(int _i); \
    __attribute__((constructor)) static void add_##name(void) \
    { \
        static struct suite_test test = {{#name, name, __FILE__, __LINE__}, 0, NULL}; \
        test.rows = n; \
        suite_add(&test); \
    } \
    static void name(int _i __attribute__((unused)))

/* What each test of the program begins and ends with. */
#define BEFORE_EACH SUITE_SURROUND(before_each, before_each, NULL)
#define AFTER_EACH SUITE_SURROUND(after_each, NULL, after_each)

#define SUITE_SURROUND(name, before, after) \
    static void name(void); \
    __attribute__((constructor)) static void add_##name(void) \
    { \
        suite_surround(before, after); \
    } \
    static void name(void)

/* The limit is for a test that hangs; none comes near it. */
#define SUITE_TIMEOUT_S 600

/* What a test makes and need not end itself: it is ended after the test, in the test's process, the
 * youngest first.  Who ends it earlier says so. */
void suite_keep(void *thing, void (*end)(void *));
void suite_forget(void *thing);
void suite_end_test(void);

/* What is in a file, up to 64 KiB, until the next call; "": it is not there. */
const char *suite_text_of(const char *path);

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
