#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Check 0.15.2 (Debian 0.15.2-2+b1): a test whose process calls exit(0) in its middle has passed, and so has one whose
# child failed.
#
# Check runs each test in a process of its own, so that a crash is that test's failure alone.  A guess: a test that
# does not come to its end, because the code under test called exit(0) or _exit(0), is an error ("early exit"), and a
# ck_assert() that fails in a process that the test has forked is a failure of the test, as one in a thread is.
# Seen: both have passed; the early exit is an error only with a code that is not 0, and then after the place is lost
# ("(null):-1").  The checked teardown does not run.  The child's failure is written to a file that the test's own
# passing replaces.  So: code that may end the process is tested with tcase_add_exit_test(), or the suite has a
# function of atexit(3) that fails where the teardown was not reached; a child tells by its exit code.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/check.sh"

compile suite <<'END'
#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

START_TEST(calls_exit)
{
    exit(0);
    ck_abort_msg("not reached");
}
END_TEST

START_TEST(calls__exit)
{
    _exit(0);
    ck_abort_msg("not reached");
}
END_TEST

START_TEST(exits_with_3)
{
    exit(3);
}
END_TEST

START_TEST(child_fails)
{
    pid_t child = fork();

    if (child == 0) {
        ck_assert_int_eq(1, 2);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}
END_TEST

static void *in_thread(void *none)
{
    ck_assert_int_eq(1, 2);
    return none;
}

START_TEST(thread_fails)
{
    pthread_t thread;

    pthread_create(&thread, NULL, in_thread, NULL);
    pthread_join(thread, NULL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("s");
    TCase *all = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_test(all, calls_exit);
    tcase_add_test(all, calls__exit);
    tcase_add_test(all, exits_with_3);
    tcase_add_test(all, child_fails);
    tcase_add_test(all, thread_fails);
    suite_add_tcase(suite, all);
    srunner_run_all(runner, CK_VERBOSE);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
END
{ ./suite || true; } | sed -n 's/^[^:]*:[^:]*:\([PFE]\):all:\([^:]*\):.*: /\1 \2: /p' | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
P calls_exit: Passed
P calls__exit: Passed
E exits_with_3: (after this point) Early exit with return value 3
P child_fails: Passed
F thread_fails: 1 == 1, 2 == 2
END
echo "as seen with Check 0.15.2"
