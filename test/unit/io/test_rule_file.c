/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/*
 * The file of the rules: what is said of a bad one, and that a change takes effect however it is
 * made.  The files are real, in a folder of the test's own; the clock is not.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "base.h"
#include "faultloc/base/say.h"
#include "faultloc/io/rule_file.h"
#include "process.h"
#include "suite.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOW (100000 * FTREE_MS)
#define SECOND (1000 * FTREE_MS)

static char folder[64], path[128], other[128], err_path[128];
static struct faultloc_rules rules;
static struct ftree_rules *base; /* in use, NULL: none of the file */

BEFORE_EACH
{
    snprintf(folder, sizeof(folder), "/tmp/test_rule_file.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/rules.json", folder);
    snprintf(other, sizeof(other), "%s/other.json", folder);
    snprintf(err_path, sizeof(err_path), "%s/err", folder);
    dup2(open(err_path, O_WRONLY | O_CREAT | O_APPEND, 0600), STDERR_FILENO);
}

AFTER_EACH
{
    ftree_rules_free(base);
    unlink(path);
    unlink(other);
    unlink(err_path);
    ck_assert_int_eq(rmdir(folder), 0);
}

static const char *said(void)
{
    return suite_text_of(err_path);
}

static int times_said(const char *what)
{
    int n = 0;

    for (const char *at = strstr(said(), what); at; at = strstr(at + 1, what))
        n++;
    return n;
}

static void write_text(const char *file, const char *text)
{
    FILE *f = fopen(file, "w");

    ck_assert_ptr_nonnull(f);
    ck_assert_int_ge(fputs(text, f), 0);
    ck_assert_int_eq(fclose(f), 0);
}

/* As the agent does; true: there is a new base. */
static bool refresh(ftree_time now)
{
    struct faultloc_rules_news news;

    if (!faultloc_rules_refresh(&rules, now, &news))
        return false;
    if (news.text[0])
        faultloc_say("%s", news.text);
    if (!news.base)
        return false;
    ftree_rules_free(base);
    base = news.base;
    return true;
}

static bool begin(const char *file, bool tells)
{
    faultloc_rules_init(&rules, file, "h1", tells);
    return refresh(NOW - 10 * SECOND);
}

/* The clock goes from one time at which it wants to look to the next; returns how long it took. */
static ftree_time time_until_changed(ftree_time now)
{
    ftree_time begin = now;

    while (!refresh(now)) {
        ck_assert_uint_le(now, begin + 10 * SECOND);
        now = rules.look_at > now ? rules.look_at : now;
    }
    return now - begin;
}

/* ---- at start -------------------------------------------------------------------------------- */

TEST_CASE(there_is_a_built_in_base)
{
    ck_assert_int_eq(faultloc_rules_builtin(&base), 0);
    ck_assert_int_gt(base->models, 0);
}

TEST_CASE(a_file_is_used)
{
    char line[256];

    base_write(path, "mine");
    ck_assert(begin(path, true));
    ck_assert_str_eq(base->name, "mine");
    snprintf(line, sizeof(line), "[faultloc] rules: %s is in use now (%d rules, %d models)\n", path,
             (int) base->rules, (int) base->models);
    ck_assert_str_eq(said(), line);
    ck_assert(!refresh(NOW));
    ck_assert(!refresh(NOW + 5 * SECOND));
}

TEST_CASE(only_one_agent_says_so)
{
    base_write(path, "mine");
    ck_assert(begin(path, false));
    ck_assert_str_eq(said(), "");
}

static const struct {
    const char *text; /* NULL: there is no file */
    const char *said;
} bad_rows[] = {
    {NULL, "rules.json: No such file or directory; using the built-in rules\n"},
    {"", "rules.json:1:1: "},
    {"{\n  \"schema\": 5,\n", "rules.json:"},
    {"{\n  \"schema\": \"faultloc-rules/1\",\n  \"colour\": 5\n}\n", "rules.json:3:3: "},
};

TEST_CASES(a_bad_file_gives_way_to_the_built_in_base, COUNT(bad_rows))
{
    if (bad_rows[_i].text)
        write_text(path, bad_rows[_i].text);
    ck_assert(!begin(path, true));
    ck_assert_msg(strstr(said(), bad_rows[_i].said) != NULL, "%s", said());
    ck_assert_ptr_nonnull(strstr(said(), "[faultloc] node h1: rules: /tmp/"));
    ck_assert_int_eq(times_said("; using the built-in rules\n"), 1);
    for (int i = 1; i < 6; i++)
        ck_assert(!refresh(NOW + (ftree_time) i * SECOND));
    ck_assert_int_eq(times_said("\n"), 1); /* and not again */
    base_write(path, "mended");
    ck_assert_uint_lt(time_until_changed(NOW + 7 * SECOND), 2 * SECOND);
    ck_assert_str_eq(base->name, "mended");
}

TEST_CASE(what_is_no_file_is_an_error)
{
    ck_assert(!begin(folder, true));
    ck_assert_ptr_nonnull(strstr(said(), ": is not a regular file; using the built-in rules"));
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert(!begin(path, true)); /* does not wait */
    ck_assert_int_eq(times_said(": is not a regular file; "), 2);
    unlink(path);
    ck_assert(!begin("/nonexistent/rules.json", true));
    ck_assert_int_eq(times_said("; using the built-in rules\n"), 3);
}

TEST_CASE(a_file_of_more_than_a_megabyte_is_refused)
{
    write_text(path, "{}");
    ck_assert_int_eq(truncate(path, RULES_FILE_MAX + 1), 0);
    ck_assert(!begin(path, true));
    ck_assert_ptr_nonnull(strstr(said(), "is larger than 1 MiB, the limit for a rule base"));
}

/* ---- while the job runs ---------------------------------------------------------------------- */

static void change_in_place(const char *name)
{
    base_write(path, name);
}

static void change_by_rename(const char *name)
{
    base_write(other, name);
    ck_assert_int_eq(rename(other, path), 0);
}

static void (*const changes[])(const char *name) = {change_in_place, change_by_rename};

TEST_CASES(a_change_takes_effect, COUNT(changes))
{
    base_write(path, "first");
    ck_assert(begin(path, true));
    for (int i = 0; i < 5; i++) {
        char name[32];
        snprintf(name, sizeof(name), "again-%d", i);
        changes[_i](name);
        ck_assert_uint_lt(time_until_changed(NOW + (ftree_time) i * 10 * SECOND), 2 * SECOND);
        ck_assert_str_eq(base->name, name);
    }
    ck_assert_int_eq(times_said(" is in use now ("), 6);
}

/* Other files of the folder are nobody's business. */
TEST_CASE(another_file_is_no_change)
{
    base_write(path, "first");
    ck_assert(begin(path, false));
    ck_assert(!refresh(NOW));
    base_write(other, "other");
    for (int i = 1; i < 4; i++)
        ck_assert(!refresh(NOW + (ftree_time) i * SECOND));
    ck_assert_str_eq(base->name, "first");
}

TEST_CASE(a_bad_change_is_refused)
{
    struct ftree_rules *before;

    base_write(path, "good");
    ck_assert(begin(path, false));
    before = base;
    write_text(other, "{\n  \"schema\": \"faultloc-rules/1\",\n  \"colour\": 5\n}\n");
    ck_assert_int_eq(rename(other, path), 0);
    for (int i = 0; i < 2; i++)
        ck_assert(!refresh(NOW + (ftree_time) i * SECOND));
    ck_assert_ptr_eq(base, before);
    ck_assert_ptr_nonnull(strstr(said(), "rules.json:3:3: "));
    ck_assert_int_eq(times_said("; keeping the previous rules\n"), 1);
    for (int i = 1; i < 6; i++)
        ck_assert(!refresh(NOW + (ftree_time) i * SECOND));
    ck_assert_int_eq(times_said("\n"), 1);
    change_by_rename("mended");
    ck_assert_uint_lt(time_until_changed(NOW + 7 * SECOND), 2 * SECOND);
    ck_assert_str_eq(base->name, "mended");
}

/* The base in use needs no file; that it is gone is said once, and not between two steps of an
 * editor. */
TEST_CASE(a_file_that_is_gone_changes_nothing)
{
    base_write(path, "first");
    ck_assert(begin(path, false));
    ck_assert_int_eq(unlink(path), 0);
    ck_assert(!refresh(NOW));
    ck_assert_str_eq(said(), "");
    for (int i = 1; i < 6; i++)
        ck_assert(!refresh(NOW + (ftree_time) i * SECOND));
    ck_assert_int_eq(times_said("No such file or directory; keeping the previous rules"), 1);
    ck_assert_str_eq(base->name, "first");
    change_by_rename("back");
    ck_assert_uint_lt(time_until_changed(NOW + 7 * SECOND), 2 * SECOND);
}

TEST_CASE(a_change_is_seen_within_two_seconds)
{
    base_write(path, "first");
    ck_assert(begin(path, false));
    ck_assert(!refresh(NOW));
    ck_assert_uint_le(rules.look_at, NOW + SECOND);
    change_by_rename("second-longer");
    ck_assert_uint_lt(time_until_changed(NOW + 1), 2 * SECOND);
    ck_assert_str_eq(base->name, "second-longer");
    ck_assert(!refresh(NOW + 20 * SECOND));
}

/* A file that grows from look to look is being written. */
TEST_CASE(a_file_that_is_being_written_is_left_alone)
{
    ftree_time now = NOW;
    FILE *f;

    base_write(path, "first");
    ck_assert(begin(path, false));
    ck_assert(!refresh(now));
    f = fopen(path, "w");
    for (int i = 0; i < 5; i++) {
        fputs("{  ", f);
        fflush(f);
        now = rules.look_at;
        ck_assert(!refresh(now));
    }
    ck_assert_str_eq(said(), "");
    fclose(f);
    base_write(path, "second-longer");
    ck_assert_uint_lt(time_until_changed(now), 2 * SECOND);
    ck_assert_str_eq(said(), "");
}

/* A link that is put in the file's place by link(2) or symlink(2) is made, not written. */
TEST_CASE(a_link_in_its_place_takes_effect)
{
    ck_assert(!begin(path, false));
    ck_assert(!refresh(NOW));
    base_write(other, "linked");
    ck_assert_int_eq(symlink(other, path), 0);
    ck_assert_uint_lt(time_until_changed(NOW + 1), 2 * SECOND);
    ck_assert_str_eq(base->name, "linked");
}

TEST_CASE(a_folder_in_its_place_takes_effect)
{
    char before[96], moved[128];

    base_write(path, "first");
    ck_assert(begin(path, false));
    snprintf(before, sizeof(before), "%s.before", folder);
    snprintf(moved, sizeof(moved), "%s/rules.json", before);
    ck_assert_int_eq(rename(folder, before), 0);
    ck_assert_int_eq(mkdir(folder, 0700), 0);
    base_write(path, "second-longer");
    ck_assert_uint_lt(time_until_changed(NOW), 2 * SECOND);
    ck_assert_str_eq(base->name, "second-longer");
    unlink(moved);
    snprintf(moved, sizeof(moved), "%s/err", before);
    unlink(moved);
    ck_assert_int_eq(rmdir(before), 0);
}
