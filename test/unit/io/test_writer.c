/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/*
 * What agent and deputy write: in order, never holding up who writes, whatever pipe, file or file
 * system it goes to; and into no file that another user has chosen.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "faultloc/base/say.h"
#include "faultloc/io/writer.h"
#include "ftree/report/report.h"
#include "hang.h"
#include "process.h"
#include "suite.h"

#include <errno.h>
#include <json.h>
#include <sys/wait.h>

#define LONG_MS 20000 /* nobody waits so long who is not held */
#define STRANGER 65533

static struct faultloc_writer *writer;
static char folder[64], path[128], other[128];
static int people[2], stderr_before, descriptors;
static char heard[1 << 20];
static size_t heard_len;

BEFORE_EACH
{
    snprintf(folder, sizeof(folder), "/tmp/test_writer.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/file", folder);
    snprintf(other, sizeof(other), "%s/other", folder);
    stderr_before = dup(STDERR_FILENO);
    ck_assert_int_eq(pipe2(people, O_CLOEXEC), 0);
    fcntl(people[0], F_SETFL, O_NONBLOCK);
    dup2(people[1], STDERR_FILENO);
    close(people[1]);
    heard_len = 0;
}

static void start(const char *trace, const char *report)
{
    descriptors = process_descriptors();
    ck_assert_int_eq(faultloc_writer_start(trace, report, false, &writer), 0);
}

static int threads(void)
{
    return process_threads(getpid(), "faultloc-stderr") +
           process_threads(getpid(), "faultloc-report") +
           process_threads(getpid(), "faultloc-trace");
}

/* Whether all that was written for people is read. */
static bool end_within(int ms)
{
    struct faultloc_writer *w = writer;

    writer = NULL;
    return faultloc_writer_end(w, ms);
}

/* What it had is gone; the leak detector sees to the memory. */
AFTER_EACH
{
    ck_assert(end_within(LONG_MS));
    UNTIL(threads() == 0 && process_descriptors() == descriptors);
    dup2(stderr_before, STDERR_FILENO);
    close(stderr_before);
    close(people[0]);
    unlink(path);
    rmdir(path);
    unlink(other);
    ck_assert_int_eq(rmdir(folder), 0);
}

static const char *hear(void)
{
    ssize_t n;

    while ((n = read(people[0], heard + heard_len, sizeof(heard) - 1 - heard_len)) > 0)
        heard_len += (size_t) n;
    heard[heard_len] = '\0';
    return heard;
}

/* Waits until all of it is said, and nothing else. */
static void expect(const char *said)
{
    UNTIL(strlen(hear()) >= strlen(said) && faultloc_writer_done(writer));
    EXPECT_LINES(hear(), said);
}

/* Reads what process_fill() has written, or a part. */
static void empty(void)
{
    hear();
    heard_len -= strspn(heard, "#");
    memmove(heard, heard + strspn(heard, "#"), heard_len);
}

static void put(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");

    ck_assert_int_ge(fputs(text, f), 0);
    ck_assert_int_eq(fclose(f), 0);
}

/* ---- messages ------------------------------------------------------------------------------ */

TEST_CASE(messages_come_in_order)
{
    struct pollfd p;

    start("", "");
    ck_assert(faultloc_writer_done(writer));
    faultloc_say("%d", 1);
    faultloc_writer_text(writer, strdup("[faultloc] a text\n  of lines\n"), NULL, 0);
    faultloc_say("%d", 2);
    p = (struct pollfd){.fd = faultloc_writer_fd(writer), .events = POLLIN};
    ck_assert_int_eq(poll(&p, 1, PROCESS_DEADLINE_MS), 1);
    expect("[faultloc] 1\n[faultloc] a text\n  of lines\n[faultloc] 2\n");
    ck_assert_int_eq(poll(&p, 1, 0), 0);
}

TEST_CASE(threads_are_there_when_they_are_needed)
{
    start("", path);
    ck_assert_int_eq(threads(), 0);
    faultloc_say("a");
    expect("[faultloc] a\n");
    ck_assert_int_eq(threads(), 1);
}

TEST_CASE(without_a_writer_lines_are_written_directly)
{
    start("", "");
    ck_assert(end_within(LONG_MS));
    faultloc_say("a");
    EXPECT_LINES(hear(), "[faultloc] a\n");
    ck_assert(faultloc_writer_end(NULL, 0));
}

/* What the child says would wait for a thread that it has not. */
TEST_CASE(a_forked_process_writes_for_itself)
{
    int status;
    pid_t pid;

    start("", "");
    UNTIL(faultloc_writer_idle(writer));
    pid = faultloc_writer_fork();
    if (pid == 0) {
        faultloc_say("by the child");
        _exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    EXPECT_LINES(hear(), "[faultloc] by the child\n");
    faultloc_say("by its parent");
    expect("[faultloc] by the child\n[faultloc] by its parent\n");
}

#define MANY 5000

/* Nobody reads, then somebody does: what there was room for is there in order, and how many are
 * not. */
TEST_CASES(a_full_stderr_holds_up_nobody, 2)
{
    int64_t began = process_now_ms();
    unsigned n, next = 0, dropped, written = 0;
    char *line;

    if (_i)
        fcntl(STDERR_FILENO, F_SETFL, O_NONBLOCK);
    process_fill(STDERR_FILENO);
    start("", "");
    for (int i = 0; i < MANY; i++)
        faultloc_say("number %d of what nobody reads", i);
    faultloc_writer_text(writer, strdup("[faultloc] a verdict\n"), NULL, 0);
    ck_assert(!faultloc_writer_done(writer));
    ck_assert_int_lt(process_now_ms() - began, LONG_MS);
    UNTIL((empty(), faultloc_writer_done(writer)));
    hear();
    for (line = heard; sscanf(line, "[faultloc] number %u of", &n) == 1;
         line = strchr(line, '\n') + 1) {
        REQUIRE(n >= next);
        next = n + 1;
        written++;
    }
    ck_assert_uint_gt(written, 100);
    ck_assert_int_eq(strncmp(line, "[faultloc] a verdict\n", 21), 0);
    ck_assert_int_eq(sscanf(line + 21, "[faultloc] %u messages dropped: standard", &dropped), 1);
    ck_assert_uint_eq(dropped + written, MANY);
    heard_len = 0;
    faultloc_say("again");
    expect("[faultloc] again\n");
}

TEST_CASE(a_stderr_that_nobody_has_open_is_survived)
{
    start("", "");
    close(people[0]);
    descriptors--;
    faultloc_say("nobody reads this");
    UNTIL(faultloc_writer_done(writer));
    close(STDERR_FILENO);
    faultloc_say("nor this");
    UNTIL(faultloc_writer_done(writer));
    dup2(stderr_before, STDERR_FILENO);
}

TEST_CASE(the_end_waits_within_limits)
{
    int64_t began = process_now_ms();

    process_fill(STDERR_FILENO);
    start("", "");
    faultloc_say("a");
    faultloc_say("b");
    ck_assert(!end_within(20));
    ck_assert_int_lt(process_now_ms() - began, LONG_MS);
    ck_assert_int_eq(threads(), 1);
    UNTIL((empty(), threads() == 0));
}

/* There are no descriptors at first; likewise threads. */
TEST_CASE(a_thread_that_cannot_be_started_is_tried_again)
{
    start("", "");
    process_take_descriptors();
    faultloc_say("a");
    faultloc_say("b");
    ck_assert(!faultloc_writer_done(writer));
    process_give_descriptors();
    ck_assert_int_eq(threads(), 0);
    ck_assert(!faultloc_writer_done(writer) || threads() == 1);
    expect("[faultloc] a\n[faultloc] b\n");
}

TEST_CASE(what_there_was_no_memory_for_is_counted)
{
    start("", path);
    faultloc_writer_text(writer, NULL, strdup("otherwise"), 0);
    faultloc_writer_text(writer, strdup("text"), NULL, faultloc_writer_report(writer, strdup("r")));
    UNTIL(strstr(hear(), " messages dropped: "));
    heard_len = 0;
    ck_assert_uint_eq(faultloc_writer_report(writer, NULL), 2);
    UNTIL(strstr(hear(), "cannot write the report to /tmp/"));
    ck_assert_ptr_nonnull(strstr(heard, "/file: Cannot allocate memory; set MPIR_CVAR_FAULTLOC_"));
}

/* ---- the report ---------------------------------------------------------------------------- */

static void tell(const char *json)
{
    uint32_t report = faultloc_writer_report(writer, strdup(json));

    faultloc_writer_text(writer, strdup("named\n"), strdup("not named\n"), report);
}

/* One thread has been there from the start; there are none for the report, as if the program had
 * taken them. */
TEST_CASE(without_a_second_thread_the_first_writes_the_report)
{
    uint32_t report;

    descriptors = process_descriptors();
    ck_assert_int_eq(faultloc_writer_start("", path, true, &writer), 0);
    UNTIL(threads() == 1);
    process_take_descriptors();
    report = faultloc_writer_report(writer, strdup("1"));
    process_give_descriptors();
    faultloc_writer_text(writer, strdup("named\n"), strdup("not named\n"), report);
    UNTIL(strlen(hear()) > 0);
    ck_assert_str_eq(hear(), "named\n");
    ck_assert_str_eq(suite_text_of(path), "1");
    ck_assert_int_eq(threads(), 1);
}

TEST_CASE(a_text_names_the_file_that_is_there)
{
    start("", path);
    tell("{}");
    UNTIL(strlen(hear()) >= 5);
    ck_assert_str_eq(suite_text_of(path), "{}");
    faultloc_say("next");
    expect("named\n[faultloc] next\n");
}

TEST_CASE(a_job_without_a_report_has_texts)
{
    start("", "");
    ck_assert_uint_eq(faultloc_writer_report(writer, strdup("{}")), 0);
    faultloc_writer_text(writer, strdup("text\n"), NULL, 0);
    expect("text\n");
}

/* It says so once, and again after it could be. */
TEST_CASE(a_report_that_cannot_be_written_is_not_named)
{
    char report[256], line[512];

    snprintf(report, sizeof(report), "%s/report", path);
    snprintf(line, sizeof(line),
             "not named\n[faultloc] cannot write the report to %s: No such file or directory; set "
             "MPIR_CVAR_FAULTLOC_REPORT to a file that can be written\n",
             report);
    start("", report);
    for (int i = 0; i < 2; i++) {
        tell("1");
        UNTIL(strstr(hear(), "not named\n") && strstr(hear(), "can be written\n") &&
              faultloc_writer_done(writer));
        ck_assert_uint_eq(strlen(hear()), strlen(line));
        heard_len = 0;
        tell("2");
        expect("not named\n");
        heard_len = 0;
        ck_assert_int_eq(mkdir(path, 0700), 0);
        tell("3");
        expect("named\n");
        heard_len = 0;
        unlink(report);
        ck_assert_int_eq(rmdir(path), 0);
    }
}

/* The report's file system does not answer: messages come, nobody says that the file is there, and
 * it is said when it is. */
TEST_CASE(a_dead_file_system_holds_back_no_message)
{
    char line[512];

    hang_begin(strcat(folder, "/"));
    start("", path);
    tell("1");
    UNTIL(*hang_held == 1);
    faultloc_say("a message");
    snprintf(line, sizeof(line),
             "not named\n[faultloc] a message\n"
             "[faultloc] the report is still being written to %s\n",
             path);
    expect(line);
    ck_assert_str_eq(suite_text_of(path), "");
    heard_len = 0;
    hang_end();
    snprintf(line, sizeof(line), "[faultloc] full report: %s\n", path);
    expect(line);
    ck_assert_str_eq(suite_text_of(path), "1");
}

#define OF_JOB "{\"id\": \"a}\\\"started\\\"}b\", \"started\": " /* its number is a}"started"}b */

/* Another start of the job has the name: it keeps it, and people are told the other one, also where
 * the text calls the first otherwise, as one with unusual characters. */
TEST_CASE(a_report_of_another_start_stays)
{
    char text[512], otherwise[64] = "not named\n", numbered[160];

    put(path, OF_JOB "1} x");
    faultloc_number_path(path, 2, numbered, sizeof(numbered));
    start("", path);
    for (int i = 0; i < 2; i++) {
        snprintf(text, sizeof(text), "full report: %s\n", i ? path : "?");
        faultloc_writer_text(writer, strdup(text), strdup(otherwise),
                             faultloc_writer_report(writer, strdup(i ? OF_JOB "2} b" : OF_JOB "2} a")));
        UNTIL(faultloc_writer_done(writer));
        snprintf(text, sizeof(text), "%s[faultloc]   full report: %s\n", otherwise, numbered);
        expect(text);
        heard_len = 0;
    }
    ck_assert_str_eq(suite_text_of(path), OF_JOB "1} x");
    ck_assert_str_eq(suite_text_of(numbered), OF_JOB "2} b");
    unlink(numbered);
}

#define VERDICT(id, more) "{\"id\": " #id ", \"fln\": \"h1\"" more "}"

/* A report with these verdicts, as it is printed; to be freed. */
static char *report_with(const char *verdicts)
{
    char json[512];
    struct json_object *o;
    char *text;

    snprintf(json, sizeof(json), "{\"job\": {\"id\": \"7\", \"started\": 2}, \"verdicts\": [%s]}",
             verdicts);
    o = json_tokener_parse(json);
    text = ftree_report_json_text(o, FTREE_REPORT_JSON_FLAGS);
    json_object_put(o);
    return text;
}

/* The agent that has told of a verdict has its stacks; another one that writes after it does not. */
TEST_CASE(stacks_of_another_agents_verdict_stay)
{
    char *before = report_with(VERDICT(1, ", \"stacks\": 5") ", " VERDICT(2, ", \"stacks\": 6") ", "
                               VERDICT(3, ", \"stacks\": 7"));
    char *after = report_with(VERDICT(2, ", \"stacks\": 6") ", "
                              VERDICT(3, ", \"no_stacks\": \"late\"") ", " VERDICT(4, ""));

    put(path, before);
    start("", path);
    faultloc_writer_report(writer, report_with(VERDICT(2, "") ", "
                                               VERDICT(3, ", \"no_stacks\": \"late\"") ", "
                                               VERDICT(4, "")));
    UNTIL(faultloc_writer_idle(writer));
    ck_assert_str_eq(suite_text_of(path), after);
    free(before);
    free(after);
}

TEST_CASE(of_reports_that_wait_the_newest_is_written)
{
    char text[64] = "";
    int fd;

    ck_assert_int_eq(mkfifo(path, 0600), 0); /* it has all that is written, not only the last */
    fd = open(path, O_RDONLY | O_NONBLOCK);
    hang_begin(strcat(folder, "/"));
    start("", path);
    faultloc_writer_report(writer, strdup("one "));
    UNTIL(*hang_held == 1);
    faultloc_writer_report(writer, strdup("two "));
    faultloc_writer_report(writer, strdup("three "));
    tell("four ");
    hang_end();
    UNTIL(strstr(hear(), "named\n"));
    ck_assert(end_within(LONG_MS));
    ck_assert_int_gt(read(fd, text, sizeof(text) - 1), 0);
    ck_assert_str_eq(text, "one four ");
}

TEST_CASE(the_end_does_not_wait_for_a_dead_file_system)
{
    int64_t began = process_now_ms();

    hang_begin(strcat(folder, "/"));
    start(path, path);
    tell("1");
    UNTIL(*hang_held == 1);
    ck_assert(!end_within(20));
    ck_assert_int_lt(process_now_ms() - began, LONG_MS);
    ck_assert_int_eq(*hang_held, 1);
    hang_end();
}

/* ---- the trace ----------------------------------------------------------------------------- */

TEST_CASE(a_trace_is_appended_to)
{
    start(path, "");
    ck_assert(faultloc_writer_has_trace(writer));
    put(path, "old\n");
    faultloc_writer_trace(writer, "1\n");
    faultloc_writer_trace(writer, "2\n");
    ck_assert(end_within(LONG_MS));
    ck_assert_str_eq(suite_text_of(path), "old\n1\n2\n");
    ck_assert_str_eq(hear(), "");
}

TEST_CASE(a_new_trace_is_made)
{
    struct stat st;

    umask(027);
    start(path, "");
    faultloc_writer_trace(writer, "1\n");
    ck_assert(end_within(LONG_MS));
    ck_assert_str_eq(suite_text_of(path), "1\n");
    ck_assert_int_eq(fstatat(AT_FDCWD, path, &st, 0), 0);
    ck_assert_int_eq(st.st_mode & 0777, 0640);
}

TEST_CASE(without_a_name_there_is_no_trace)
{
    start("", "");
    ck_assert(!faultloc_writer_has_trace(writer));
    faultloc_writer_trace(writer, "1\n");
}

TEST_CASES(a_device_takes_a_trace, 2)
{
    start(_i ? "/dev/stderr" : "/dev/null", "");
    faultloc_writer_trace(writer, "1\n");
    ck_assert(end_within(LONG_MS));
    ck_assert_str_eq(hear(), _i ? "1\n" : "");
}

TEST_CASE(a_pipe_that_somebody_reads_takes_a_trace)
{
    char text[16] = "";
    int fd;

    ck_assert_int_eq(mkfifo(path, 0600), 0);
    fd = open(path, O_RDONLY | O_NONBLOCK);
    start(path, "");
    faultloc_writer_trace(writer, "1\n");
    ck_assert(end_within(LONG_MS));
    ck_assert_int_eq(read(fd, text, sizeof(text) - 1), 2);
    ck_assert_str_eq(text, "1\n");
}

static void make_symlink(void)
{
    put(other, "precious");
    ck_assert_int_eq(symlink(other, path), 0);
}

static void make_dangling(void)
{
    ck_assert_int_eq(symlink(other, path), 0);
}

static void make_fifo(void)
{
    ck_assert_int_eq(mkfifo(path, 0600), 0);
}

static void make_folder(void)
{
    ck_assert_int_eq(mkdir(path, 0700), 0);
}

static void make_hard_link(void)
{
    put(other, "precious");
    ck_assert_int_eq(link(other, path), 0);
}

static void make_strangers_file(void)
{
    put(path, "");
    ck_assert_int_eq(chown(path, STRANGER, STRANGER), 0);
}

static void make_strangers_fifo(void)
{
    make_fifo();
    ck_assert_int_eq(chown(path, STRANGER, STRANGER), 0);
    ck_assert_int_ge(open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), 0);
}

static const struct {
    void (*make)(void);
    const char *why;
    bool root;
} refused[] = {
    {make_symlink, "it is a symbolic link, which is not followed", false},
    {make_dangling, "it is a symbolic link, which is not followed", false},
    {make_fifo, "it is a pipe or socket that nobody reads", false},
    {make_folder, "Is a directory", false},
    {make_hard_link, "it has another name, too (a hard link)", false},
    {make_strangers_file, "it belongs to another user", true},
    {make_strangers_fifo, "it belongs to another user", true},
};

/* At once, with one message; and nothing is written there. */
TEST_CASES(a_trace_is_refused, COUNT(refused))
{
    char line[512];

    if (!refused[_i].root || geteuid() == 0) {
        refused[_i].make();
        snprintf(line, sizeof(line),
                 "[faultloc] cannot write the trace to %s: %s; set MPIR_CVAR_FAULTLOC_TRACE to a "
                 "file of your own\n",
                 path, refused[_i].why);
        start(path, "");
        for (int i = 0; i < 3; i++)
            faultloc_writer_trace(writer, "trace\n");
        ck_assert(end_within(LONG_MS));
        EXPECT_LINES(hear(), line);
        if (refused[_i].make != make_fifo && refused[_i].make != make_strangers_fifo)
            ck_assert_ptr_null(strstr(suite_text_of(path), "trace"));
        ck_assert_ptr_null(strstr(suite_text_of(other), "trace"));
    } else {
        printf("skipped: only root can make files of another user's\n");
        descriptors = process_descriptors();
    }
}

TEST_CASE(a_trace_that_cannot_be_written_is_said_once)
{
    start("/dev/full", "");
    faultloc_writer_trace(writer, "1\n");
    faultloc_writer_trace(writer, "2\n");
    ck_assert(end_within(LONG_MS));
    EXPECT_LINES(hear(), "[faultloc] cannot write the trace to /dev/full: No space left on device; "
                         "lines of it are lost\n");
}

/* A pipe whose reader sleeps: lines are dropped and counted, and messages come. */
TEST_CASE(a_trace_that_nobody_reads_holds_back_no_message)
{
    static const char line[] = "a line of the trace, of which there are many\n";
    static char text[1 << 20];
    size_t len = 0, lines = 0;
    unsigned dropped;
    ssize_t n;
    int fd;

    ck_assert_int_eq(mkfifo(path, 0600), 0);
    fd = open(path, O_RDONLY | O_NONBLOCK);
    start(path, "");
    for (int i = 0; i < 20 * MANY; i++)
        faultloc_writer_trace(writer, line);
    faultloc_say("a message");
    expect("[faultloc] a message\n");
    UNTIL(((n = read(fd, text + len, sizeof(text) - 1 - len)) < 0 || (len += (size_t) n)) &&
          strstr(text, "dropped\n"));
    while (strncmp(text + lines * strlen(line), line, strlen(line)) == 0)
        lines++;
    ck_assert_int_eq(sscanf(text + lines * strlen(line), "%u lines of the trace", &dropped), 1);
    ck_assert_uint_eq(lines + dropped, 20 * MANY);
}
