/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* What a site wants to happen after a verdict, word by word; and the walltime that a scheduler
 * tells. */

#include "faultloc/board/action.h"
#include "suite.h"

#include <stdlib.h>

#define PATH_WORD "needs the absolute path of a program, as in exec:/usr/local/sbin/PROGRAM"
#define NONE_WORD "must be report, abort or exec:/PROGRAM"

static const struct {
    const char *value;
    enum faultloc_action action;
    const char *program, *word, *wrong;
} rows[] = {
    {"report", FAULTLOC_ACTION_REPORT, "", "", NULL},
    {"abort", FAULTLOC_ACTION_ABORT, "", "", NULL},
    {"report,abort", FAULTLOC_ACTION_ABORT, "", "", NULL},
    {"abort,report", FAULTLOC_ACTION_ABORT, "", "", NULL},
    {"exec:/bin/x", FAULTLOC_ACTION_REPORT, "/bin/x", "", NULL},
    {"report,exec:/bin/x", FAULTLOC_ACTION_REPORT, "/bin/x", "", NULL},
    {"abort,exec:/bin/x", FAULTLOC_ACTION_ABORT, "/bin/x", "", NULL},
    {"exec:/bin/a b:c,abort", FAULTLOC_ACTION_ABORT, "/bin/a b:c", "", NULL},
    /* what is wrong does not take the rest with it */
    {"abrot", FAULTLOC_ACTION_REPORT, "", "abrot", NONE_WORD},
    {"", FAULTLOC_ACTION_REPORT, "", "", NONE_WORD},
    {"abort,", FAULTLOC_ACTION_ABORT, "", "", NONE_WORD},
    {"Abort", FAULTLOC_ACTION_REPORT, "", "Abort", NONE_WORD},
    {"abort exec:/bin/x", FAULTLOC_ACTION_REPORT, "", "abort exec:/bin/x", NONE_WORD},
    {"aborted,exec:/bin/x", FAULTLOC_ACTION_REPORT, "/bin/x", "aborted", NONE_WORD},
    {"exec", FAULTLOC_ACTION_REPORT, "", "exec", NONE_WORD},
    {"abort,exec:", FAULTLOC_ACTION_ABORT, "", "exec:", PATH_WORD},
    {"exec:x,abort", FAULTLOC_ACTION_ABORT, "", "exec:x", PATH_WORD},
    {"exec:./x,abrot", FAULTLOC_ACTION_REPORT, "", "exec:./x", PATH_WORD},
    {"exec:/a,exec:/b", FAULTLOC_ACTION_REPORT, "/a", "exec:/b",
     "is a second program; one can be run"},
};

TEST_CASES(words_of_the_action, COUNT(rows))
{
    char program[FAULTLOC_PATH_ROOM] = "?", word[FAULTLOC_ACTION_WORD] = "";
    enum faultloc_action action;
    const char *wrong = faultloc_action_read(rows[_i].value, &action, program, word);

    ck_assert_int_eq(action, rows[_i].action);
    ck_assert_str_eq(program, rows[_i].program);
    ck_assert_str_eq(word, rows[_i].word);
    ck_assert_str_eq(wrong ? wrong : "", rows[_i].wrong ? rows[_i].wrong : "");
}

TEST_CASE(a_path_of_any_length)
{
    char value[FAULTLOC_PATH_ROOM + 16] = "exec:", program[FAULTLOC_PATH_ROOM],
         word[FAULTLOC_ACTION_WORD];
    enum faultloc_action action;

    memset(value + 5, '/', FAULTLOC_PATH_ROOM - 1);
    ck_assert_ptr_null(faultloc_action_read(value, &action, program, word));
    ck_assert_uint_eq(strlen(program), FAULTLOC_PATH_ROOM - 1);
    value[5 + FAULTLOC_PATH_ROOM - 1] = '/';
    ck_assert_str_eq(faultloc_action_read(value, &action, program, word), "is too long");
    ck_assert_str_eq(program, "");
    ck_assert_uint_eq(strlen(word), FAULTLOC_ACTION_WORD - 1);
}

static const struct {
    const char *start, *end, *limit;
    struct report_walltime walltime;
} times[] = {
    {NULL, NULL, NULL, {0, 0, false}},
    {"1700000000", "1700003600", NULL, {1700003600000, 3600, false}},
    {NULL, "1700003600", NULL, {1700003600000, 0, false}},
    {"1700003600", "1700003600", NULL, {1700003600000, 0, false}},
    {"1700000000", NULL, NULL, {0, 0, false}},
    {NULL, NULL, "7200", {1700007300000, 7200, true}},
    {"1700000000", "1700003600", "7200", {1700003600000, 3600, false}},
    {NULL, "", "", {0, 0, false}},
    {NULL, "-1", "-7200", {0, 0, false}},
    {NULL, "1700003600s", "2:00:00", {0, 0, false}},
    {NULL, "18446744073709551616", "99999999999999", {0, 0, false}},
};

static void set(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

TEST_CASES(walltime_of_a_scheduler, COUNT(times))
{
    const struct report_walltime *w = &times[_i].walltime;
    struct report_walltime got;

    set("SLURM_JOB_START_TIME", times[_i].start);
    set("SLURM_JOB_END_TIME", times[_i].end);
    set("PBS_WALLTIME", times[_i].limit);
    faultloc_walltime_read(1700000100000, &got);
    ck_assert_int_eq(got.end_ms, w->end_ms);
    ck_assert_int_eq(got.limit_s, w->limit_s);
    ck_assert_int_eq(got.at_most, w->at_most);
}
