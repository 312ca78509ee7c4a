#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Check 0.15.2 (Debian 0.15.2-2+b1): CK_RUN_CASE and CK_RUN_SUITE with a name that no test has run nothing, and all is
# well: "100%", exit code 0.
#
# The variables choose what is run, as --gtest_filter and pytest -k do elsewhere.  A guess: a name that fits nothing is
# an error, as pytest's exit code 5 says, or at least no success; and several names may be given, with spaces between.
# Seen: "100%: Checks: 0, Failures: 0, Errors: 0", and srunner_ntests_failed() is 0, so that a test program by the manual's
# pattern exits with 0; a list of names is one name, which nothing has.  So: a script that runs a test by name for a
# while, or a hundred times for a rare failure, shows nothing once the case has another name; count the checks.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/check.sh"

compile suite <<'END'
#include <check.h>

START_TEST(fails)
{
    ck_abort_msg("it fails");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("files");
    TCase *reading = tcase_create("reading"), *writing = tcase_create("writing");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_test(reading, fails);
    tcase_add_test(writing, fails);
    suite_add_tcase(suite, reading);
    suite_add_tcase(suite, writing);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
END
run() {
    local code=0
    env "$@" ./suite >out 2>&1 || code=$?
    echo "$*: $(grep -oE '[0-9]+%: Checks: [0-9]+' out), exit code $code"
}
{
    run CK_RUN_CASE=reading
    run CK_RUN_CASE=raeding
    run CK_RUN_CASE='reading writing'
    run CK_RUN_SUITE=file
} | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
CK_RUN_CASE=reading: 0%: Checks: 1, exit code 1
CK_RUN_CASE=raeding: 100%: Checks: 0, exit code 0
CK_RUN_CASE=reading writing: 100%: Checks: 0, exit code 0
CK_RUN_SUITE=file: 100%: Checks: 0, exit code 0
END
echo "as seen with Check 0.15.2"
