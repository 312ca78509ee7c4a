/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/*
 * The rule base of a running agent: which file, what is said of a bad one, and that a change takes
 * effect however it is made.  The files are real, in a folder of the test's own; the clock is not.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "faultloc_rules.h"
#include "process.h"
#include "suite.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOW (100000 * FTREE_MS)
#define SECOND (1000 * FTREE_MS)

static char folder[64], path[128], other[128], err_path[128];
static struct faultloc_rules rules;

static void setup(void)
{
    snprintf(folder, sizeof(folder), "/tmp/test_faultloc_rules.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/rules.json", folder);
    snprintf(other, sizeof(other), "%s/other.json", folder);
    snprintf(err_path, sizeof(err_path), "%s/err", folder);
    dup2(open(err_path, O_WRONLY | O_CREAT | O_APPEND, 0600), STDERR_FILENO);
}

static void teardown(void)
{
    faultloc_rules_close(&rules);
    unlink(path);
    unlink(other);
    unlink(err_path);
    ck_assert_int_eq(rmdir(folder), 0);
}

static const char *said(void)
{
    static char text[65536];
    FILE *f = fopen(err_path, "r");

    text[f ? fread(text, 1, sizeof(text) - 1, f) : 0] = '\0';
    if (f)
        fclose(f);
    return text;
}

static int times_said(const char *what)
{
    int n = 0;

    for (const char *at = strstr(said(), what); at; at = strstr(at + 1, what))
        n++;
    return n;
}

/* The built-in base with `name` as its name, which is how the tests tell one from another. */
static void write_base(const char *file, const char *name)
{
    const char *text = ftree_rules_builtin(NULL), *at = strstr(text, "\"name\"");
    FILE *f = fopen(file, "w");

    ck_assert_ptr_nonnull(f);
    at = strchr(strchr(at, ':'), '"') + 1;
    ck_assert_int_gt(fprintf(f, "%.*s%s%s", (int) (at - text), text, name, strchr(at, '"')), 0);
    ck_assert_int_eq(fclose(f), 0);
}

static void write_text(const char *file, const char *text)
{
    FILE *f = fopen(file, "w");

    ck_assert_ptr_nonnull(f);
    ck_assert_int_ge(fputs(text, f), 0);
    ck_assert_int_eq(fclose(f), 0);
}

static bool refresh(ftree_time now)
{
    struct ftree_rules *old;

    if (!faultloc_rules_refresh(&rules, now, &old))
        return false;
    ck_assert_ptr_ne(old, rules.base);
    ftree_rules_free(old);
    return true;
}

/* Waits for the kernel to say that something has changed, and looks. */
static bool refresh_when_told(ftree_time now)
{
    struct pollfd p = {.fd = rules.inotify, .events = POLLIN};

    ck_assert_int_ge(rules.inotify, 0);
    ck_assert_int_eq(poll(&p, 1, PROCESS_DEADLINE_MS), 1);
    return refresh(now);
}

/* ---- at start -------------------------------------------------------------------------------- */

START_TEST(without_a_file_the_built_in_base_is_used)
{
    struct ftree_rules *old;

    setup();
    ck_assert_int_eq(faultloc_rules_open(&rules, "", "h1", true), 0);
    ck_assert_ptr_nonnull(rules.base);
    ck_assert_int_gt(rules.base->models, 0);
    ck_assert_int_eq(rules.inotify, -1);
    ck_assert_uint_eq(rules.look_at, FTREE_NEVER);
    ck_assert(!faultloc_rules_refresh(&rules, NOW, &old));
    ck_assert_str_eq(said(), "");
    teardown();
}
END_TEST

START_TEST(a_file_is_used)
{
    char line[256];

    setup();
    write_base(path, "mine");
    ck_assert_int_eq(faultloc_rules_open(&rules, path, "h1", true), 0);
    ck_assert_str_eq(rules.base->name, "mine");
    snprintf(line, sizeof(line), "[faultloc] rules: %s is in use now (%d rules, %d models)\n", path,
             (int) rules.base->rules, (int) rules.base->models);
    ck_assert_str_eq(said(), line);
    ck_assert(!refresh(NOW));
    ck_assert(!refresh(NOW + 5 * SECOND));
    teardown();
}
END_TEST

START_TEST(only_one_agent_says_so)
{
    setup();
    write_base(path, "mine");
    ck_assert_int_eq(faultloc_rules_open(&rules, path, "h1", false), 0);
    ck_assert_str_eq(said(), "");
    teardown();
}
END_TEST

static const struct {
    const char *text; /* NULL: there is no file */
    const char *said;
} bad_rows[] = {
    {NULL, "rules.json: No such file or directory; the built-in rules are used\n"},
    {"", "rules.json:1:1: "},
    {"{\n  \"schema\": 5,\n", "rules.json:"},
    {"{\n  \"schema\": \"faultloc-rules/1\",\n  \"colour\": 5\n}\n", "rules.json:3:3: "},
};

/* rows: a_bad_file_gives_way_to_the_built_in_base COUNT(bad_rows) */
START_TEST(a_bad_file_gives_way_to_the_built_in_base)
{
    setup();
    if (bad_rows[_i].text)
        write_text(path, bad_rows[_i].text);
    ck_assert_int_eq(faultloc_rules_open(&rules, path, "h1", true), 0);
    ck_assert_int_gt(rules.base->models, 0);
    ck_assert_msg(strstr(said(), bad_rows[_i].said) != NULL, "%s", said());
    ck_assert_ptr_nonnull(strstr(said(), "[faultloc] node h1: rules: /tmp/"));
    ck_assert_int_eq(times_said("; the built-in rules are used\n"), 1);
    for (int i = 1; i < 6; i++)
        ck_assert(!refresh(NOW + (ftree_time) i * SECOND));
    ck_assert_int_eq(times_said("\n"), 1); /* and not again */
    write_base(path, "mended");
    ck_assert(refresh_when_told(NOW + 7 * SECOND));
    ck_assert_str_eq(rules.base->name, "mended");
    teardown();
}
END_TEST

START_TEST(what_is_no_file_is_an_error)
{
    setup();
    ck_assert_int_eq(faultloc_rules_open(&rules, folder, "h1", true), 0);
    ck_assert_ptr_nonnull(strstr(said(), ": is no regular file; the built-in rules are used"));
    faultloc_rules_close(&rules);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert_int_eq(faultloc_rules_open(&rules, path, "h1", true), 0); /* does not wait */
    ck_assert_int_eq(times_said(": is no regular file; "), 2);
    faultloc_rules_close(&rules);
    unlink(path);
    ck_assert_int_eq(faultloc_rules_open(&rules, "/nonexistent/rules.json", "h1", true), 0);
    ck_assert_int_gt(rules.base->models, 0);
    teardown();
}
END_TEST

START_TEST(a_file_of_more_than_a_megabyte_is_refused)
{
    setup();
    write_text(path, "{}");
    ck_assert_int_eq(truncate(path, RULES_FILE_MAX + 1), 0);
    ck_assert_int_eq(faultloc_rules_open(&rules, path, "h1", true), 0);
    ck_assert_ptr_nonnull(strstr(said(), "is larger than a rule base can be (1 MiB)"));
    teardown();
}
END_TEST

/* ---- while the job runs ---------------------------------------------------------------------- */

static void change_in_place(const char *name)
{
    write_base(path, name);
}

static void change_by_rename(const char *name)
{
    write_base(other, name);
    ck_assert_int_eq(rename(other, path), 0);
}

static void (*const changes[])(const char *name) = {change_in_place, change_by_rename};

/* rows: a_change_takes_effect COUNT(changes) */
START_TEST(a_change_takes_effect)
{
    setup();
    write_base(path, "first");
    ck_assert_int_eq(faultloc_rules_open(&rules, path, "h1", true), 0);
    for (int i = 0; i < 5; i++) {
        char name[32];
        snprintf(name, sizeof(name), "again-%d", i);
        changes[_i](name);
        UNTIL(refresh_when_told(NOW));
        ck_assert_str_eq(rules.base->name, name);
    }
    ck_assert_int_eq(times_said(" is in use now ("), 6);
    teardown();
}
END_TEST

/* Other files of the folder are nobody's business. */
START_TEST(another_file_is_no_change)
{
    setup();
    write_base(path, "first");
    ck_assert_int_eq(faultloc_rules_open(&rules, path, "h1", false), 0);
    ck_assert(!refresh(NOW));
    write_base(other, "other");
    ck_assert(!refresh_when_told(NOW));
    ck_assert(!refresh(NOW + 3 * SECOND));
    ck_assert_str_eq(rules.base->name, "first");
    teardown();
}
END_TEST

START_TEST(a_bad_change_is_refused)
{
    const struct ftree_rules *before;

    setup();
    write_base(path, "good");
    ck_assert_int_eq(faultloc_rules_open(&rules, path, "h1", false), 0);
    before = rules.base;
    write_text(other, "{\n  \"schema\": \"faultloc-rules/1\",\n  \"colour\": 5\n}\n");
    ck_assert_int_eq(rename(other, path), 0);
    ck_assert(!refresh_when_told(NOW));
    ck_assert_ptr_eq(rules.base, before);
    ck_assert_ptr_nonnull(strstr(said(), "rules.json:3:3: "));
    ck_assert_int_eq(times_said("; the rules read before stay in use\n"), 1);
    for (int i = 1; i < 6; i++)
        ck_assert(!refresh(NOW + (ftree_time) i * SECOND));
    ck_assert_int_eq(times_said("\n"), 1);
    change_by_rename("mended");
    ck_assert(refresh_when_told(NOW + 7 * SECOND));
    ck_assert_str_eq(rules.base->name, "mended");
    teardown();
}
END_TEST

/* The base in use needs no file; that it is gone is said once, and not between two steps of an
 * editor. */
START_TEST(a_file_that_is_gone_changes_nothing)
{
    setup();
    write_base(path, "first");
    ck_assert_int_eq(faultloc_rules_open(&rules, path, "h1", false), 0);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert(!refresh(NOW));
    ck_assert_str_eq(said(), "");
    for (int i = 1; i < 6; i++)
        ck_assert(!refresh(NOW + (ftree_time) i * SECOND));
    ck_assert_int_eq(times_said("No such file or directory; the rules read before stay in use"), 1);
    ck_assert_str_eq(rules.base->name, "first");
    change_by_rename("back");
    ck_assert(refresh_when_told(NOW + 7 * SECOND));
    teardown();
}
END_TEST

/* ---- without the kernel's word, as over NFS -------------------------------------------------- */

static void lose_inotify(void)
{
    close(rules.inotify);
    rules.inotify = -1;
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

START_TEST(a_change_is_seen_without_being_told)
{
    setup();
    write_base(path, "first");
    ck_assert_int_eq(faultloc_rules_open(&rules, path, "h1", false), 0);
    lose_inotify();
    ck_assert(!refresh(NOW));
    ck_assert_uint_le(rules.look_at, NOW + SECOND);
    change_by_rename("second-longer");
    ck_assert_uint_lt(time_until_changed(NOW + 1), 2 * SECOND);
    ck_assert_str_eq(rules.base->name, "second-longer");
    ck_assert(!refresh(NOW + 20 * SECOND));
    teardown();
}
END_TEST

/* A file that grows from look to look is being written. */
START_TEST(a_file_that_is_being_written_is_left_alone)
{
    ftree_time now = NOW;
    FILE *f;

    setup();
    write_base(path, "first");
    ck_assert_int_eq(faultloc_rules_open(&rules, path, "h1", false), 0);
    lose_inotify();
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
    write_base(path, "second-longer");
    ck_assert_uint_lt(time_until_changed(now), 2 * SECOND);
    ck_assert_str_eq(said(), "");
    teardown();
}
END_TEST

/* A link that is put in the file's place by link(2) or symlink(2) is made, not written. */
START_TEST(a_link_in_its_place_takes_effect)
{
    setup();
    ck_assert_int_eq(faultloc_rules_open(&rules, path, "h1", false), 0);
    ck_assert(!refresh(NOW));
    write_base(other, "linked");
    ck_assert_int_eq(symlink(other, path), 0);
    ck_assert_uint_lt(time_until_changed(NOW + 1), 2 * SECOND);
    ck_assert_str_eq(rules.base->name, "linked");
    teardown();
}
END_TEST

SUITE("faultloc_rules")
{
    TEST(without_a_file_the_built_in_base_is_used);
    TEST(a_file_is_used);
    TEST(only_one_agent_says_so);
    TEST_ROWS(a_bad_file_gives_way_to_the_built_in_base, COUNT(bad_rows));
    TEST(what_is_no_file_is_an_error);
    TEST(a_file_of_more_than_a_megabyte_is_refused);
    TEST_ROWS(a_change_takes_effect, COUNT(changes));
    TEST(another_file_is_no_change);
    TEST(a_bad_change_is_refused);
    TEST(a_file_that_is_gone_changes_nothing);
    TEST(a_change_is_seen_without_being_told);
    TEST(a_file_that_is_being_written_is_left_alone);
    TEST(a_link_in_its_place_takes_effect);
}
