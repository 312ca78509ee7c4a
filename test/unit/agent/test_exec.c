/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* The site's program: what it is started with, and what becomes of one that prints, fails, or
 * hangs. */

#include "base.h"
#include "faultloc/agent/act/exec.h"
#include "faultloc/base/clock.h"
#include "program.h"
#include "suite.h"

#include <fcntl.h>
#include <json.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#define LONG_MS 20000

static struct faultloc_program program;
static struct faultloc_reporter reporter;
static struct faultloc_exec exec;
static struct ftree_verdict verdict;
static char folder[64], people[128], script[128];
static int stderr_before;

BEFORE_EACH
{
    FILE *f;

    snprintf(folder, sizeof(folder), "/tmp/test_exec.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(people, sizeof(people), "%s/stderr", folder);
    snprintf(script, sizeof(script), "%s/site", folder);
    program_open(&program, 0);
    program.epoll = epoll_create1(EPOLL_CLOEXEC);
    strcpy(program.board->settings.program, script);
    stderr_before = dup(STDERR_FILENO);
    f = fopen(people, "w");
    dup2(fileno(f), STDERR_FILENO);
    fclose(f);
    memset(&reporter, 0, sizeof(reporter));
    ck_assert_int_eq(faultloc_reporter_open(&reporter, &program), 0);
    faultloc_exec_init(&exec, &program, &reporter);
    verdict = base_verdict("node-outage/both-paths-silent", 2, FTREE_NONE);
    verdict.located = verdict.first_symptom = 1;
    signal(SIGCHLD, SIG_IGN); /* as the agent does */
}

/* All is written. */
static const char *said(void)
{
    ck_assert(faultloc_writer_end(reporter.writer, LONG_MS));
    dup2(stderr_before, STDERR_FILENO);
    close(stderr_before);
    return suite_text_of(people);
}

AFTER_EACH
{
    static const char *const files[] = {"stderr", "site", "in", "env", "fds", "pid", "go", "end"};
    char path[160];

    faultloc_exec_end(&exec);
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, files[i]);
        unlink(path);
    }
    ck_assert_int_eq(rmdir(folder), 0);
    close(program.epoll);
    program_close(&program);
}

static void write_script(const char *lines)
{
    FILE *f = fopen(script, "w");

    fprintf(f, "#!/bin/sh\ncd %s\n%s\n", folder, lines);
    fclose(f);
    chmod(script, 0700);
}

static const char *text_of(const char *name)
{
    char path[160];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return suite_text_of(path);
}

static void turn(void)
{
    struct pollfd p = {.fd = program.epoll, .events = POLLIN};

    poll(&p, 1, 5);
    faultloc_exec_turn(&exec, faultloc_now());
}

static void run(void)
{
    ftree_time by = faultloc_now() + LONG_MS * FTREE_MS;

    faultloc_exec_verdict(&exec, faultloc_now(), &verdict);
    while (faultloc_exec_runs(&exec) && faultloc_now() < by)
        turn();
    ck_assert(!faultloc_exec_runs(&exec));
}

static void await_file(const char *name)
{
    ftree_time by = faultloc_now() + LONG_MS * FTREE_MS;

    while (!*text_of(name) && faultloc_now() < by)
        turn();
    ck_assert(*text_of(name));
}

/* ---- what it is started with ----------------------------------------------------------------- */

TEST_CASE(it_has_report_and_facts)
{
    struct json_object *o;
    const char *env;

    ck_assert_int_eq(ftree_restore(program.ft, 2, &verdict), FTREE_OK);
    write_script(
        "cat >in; env >env; ls /proc/self/fd | tr '\\n' ' ' >fds; echo done; echo oops >&2");
    run();
    o = json_tokener_parse(text_of("in"));
    ck_assert_ptr_nonnull(o);
    ck_assert_uint_eq(json_object_array_length(json_object_object_get(o, "verdicts")), 1);
    json_object_put(o);
    env = text_of("env");
    ck_assert_ptr_nonnull(strstr(env, "FAULTLOC_CLASS=node-outage\n"));
    ck_assert_ptr_nonnull(strstr(env, "FAULTLOC_HOST=h2\n"));
    ck_assert_ptr_nonnull(strstr(env, "FAULTLOC_RANKS=4-5\n"));
    ck_assert_ptr_nonnull(strstr(env, "FAULTLOC_JOB=4711\n"));
    ck_assert_ptr_nonnull(strstr(env, "PATH=/usr/local/sbin:"));
    ck_assert_ptr_null(strstr(env, "HOME="));
    ck_assert_str_eq(text_of("fds"), "0 1 2 3 "); /* 3 is that of ls */
    ck_assert_str_eq(said(), "[faultloc] site: done\n[faultloc] site: oops\n");
    ck_assert(signal(SIGCHLD, SIG_DFL) == SIG_IGN);
}

/* What the agent ignores or blocks is not ignored or blocked there (the C library keeps those from
 * 32 on to itself); it has a group of its own. */
TEST_CASE(it_has_default_signals)
{
    const char *in;
    sigset_t term;
    char group[32], *end;

    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    sigprocmask(SIG_BLOCK, &term, NULL);
    write_script(
        "grep -E '^Sig(Blk|Ign)' /proc/self/status >in; echo $$ >pid; ps -o pgid= -p $$ >end");
    run();
    in = text_of("in");
    ck_assert_uint_eq(strtoull(in + strcspn(in, "\t"), &end, 16) & 0x7fffffff, 0);
    ck_assert_uint_eq(strtoull(end + strcspn(end, "\t"), NULL, 16) & 0x7fffffff, 0);
    snprintf(group, sizeof(group), "%d", atoi(text_of("pid")));
    ck_assert_int_eq(atoi(text_of("end")), atoi(group));
    ck_assert_int_gt(atoi(group), 0);
    said();
}

static const struct {
    const char *program;
    bool withdrawn, local_only;
} nothing[] = {{"", false, false}, {NULL, true, false}, {NULL, false, true}};

TEST_CASES(it_is_not_run, 3)
{
    write_script("echo run");
    if (nothing[_i].program)
        strcpy(program.board->settings.program, nothing[_i].program);
    verdict.withdrawn = nothing[_i].withdrawn;
    verdict.local_only = nothing[_i].local_only;
    faultloc_exec_verdict(&exec, faultloc_now(), &verdict);
    ck_assert(!faultloc_exec_runs(&exec));
    ck_assert(faultloc_exec_deadline(&exec) == FTREE_NEVER);
    ck_assert_str_eq(said(), "");
}

/* ---- what becomes of it ---------------------------------------------------------------------- */

TEST_CASE(one_that_fails_is_said)
{
    char expected[512];

    write_script("kill -SEGV $$");
    run();
    write_script("printf 'not so\\033[1m'; exit 3");
    run();
    snprintf(expected, sizeof(expected),
             "[faultloc] node h0: exec %s was killed by signal 11\n"
             "[faultloc] site: not so?[1m\n"
             "[faultloc] node h0: exec %s ended with code 3\n",
             script, script);
    ck_assert_str_eq(said(), expected);
}

TEST_CASE(one_that_is_not_there_is_said_once)
{
    char expected[512];

    run();
    run();
    snprintf(
        expected, sizeof(expected),
        "[faultloc] node h0: exec %s cannot be run: it is not a program, or it ended with code 127; "
        "see exec in MPIR_CVAR_FAULTLOC_ACTION\n",
        script);
    ck_assert_str_eq(said(), expected);
}

/* And what it has started, in its group, with it; what it has said is there. */
TEST_CASE(one_that_hangs_is_killed_with_its_group)
{
    char expected[512];
    pid_t pid;

    write_script("echo begun; sleep 1000 & echo $! >pid; wait");
    faultloc_exec_verdict(&exec, faultloc_now(), &verdict);
    await_file("pid");
    pid = atoi(text_of("pid"));
    ck_assert_int_eq(kill(pid, 0), 0);
    faultloc_exec_turn(&exec, faultloc_now() + FAULTLOC_EXEC_PATIENCE - 2000 * FTREE_MS);
    ck_assert(faultloc_exec_runs(&exec));
    faultloc_exec_turn(&exec, faultloc_now() + FAULTLOC_EXEC_PATIENCE);
    ck_assert(!faultloc_exec_runs(&exec));
    for (int i = 0; i < LONG_MS && kill(pid, 0) == 0; i++) /* until init has seen it */
        poll(NULL, 0, 1);
    ck_assert_int_eq(kill(pid, 0), -1);
    for (int i = 0; i < LONG_MS && exec.child[0].lost > 0; i++)
        turn();
    ck_assert_int_eq(exec.child[0].lost, 0);
    snprintf(
        expected, sizeof(expected),
        "[faultloc] site: begun\n[faultloc] node h0: exec %s was killed, with its process group: it "
        "had not ended after 10 s\n",
        script);
    ck_assert_str_eq(said(), expected);
}

/* One that has left a process behind has ended, although that has its output open. */
TEST_CASE(what_it_leaves_behind_is_not_waited_for)
{
    pid_t pid;

    write_script("sleep 1000 & echo $! >pid; echo left");
    run();
    pid = atoi(text_of("pid"));
    ck_assert_int_eq(kill(pid, 0), 0);
    kill(pid, SIGKILL);
    ck_assert_str_eq(said(), "[faultloc] site: left\n");
}

TEST_CASE(what_is_too_much_is_dropped)
{
    const char *text, *end = "\n[faultloc] site: what it printed beyond 4096 bytes is not shown\n";

    write_script("i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i + 1)); done");
    run();
    text = said();
    ck_assert_ptr_nonnull(strstr(text, "[faultloc] site: line 99\n"));
    ck_assert_str_eq(text + strlen(text) - strlen(end), end);
    ck_assert_uint_lt(strlen(text), 3 * FAULTLOC_EXEC_BYTES);
}

/* Several verdicts at a time: each has its own, and those beyond a number wait. */
TEST_CASE(more_than_can_run_wait)
{
    char expected[512];

    write_script("until [ -e go ]; do sleep 0.05; done; echo one >>end");
    for (int i = 0; i < FAULTLOC_EXEC_MAX + 2; i++)
        faultloc_exec_verdict(&exec, faultloc_now(), &verdict);
    close(open((snprintf(expected, sizeof(expected), "%s/go", folder), expected),
               O_CREAT | O_WRONLY, 0600));
    while (faultloc_exec_runs(&exec))
        turn();
    ck_assert_uint_eq(strlen(text_of("end")), 4 * (FAULTLOC_EXEC_MAX + 2));
    ck_assert_str_eq(said(), "");
}

TEST_CASE(who_waits_for_too_long_is_refused)
{
    char expected[512];
    ftree_time now = faultloc_now();

    write_script("sleep 1000");
    for (int i = 0; i < FAULTLOC_EXEC_MAX + 2; i++)
        faultloc_exec_verdict(&exec, now, &verdict);
    ck_assert_int_eq(exec.n, 2);
    ck_assert(faultloc_exec_deadline(&exec) > now); /* no turn that does nothing */
    exec.due[0].at = exec.due[1].at = now - FAULTLOC_EXEC_WAIT;
    faultloc_exec_turn(&exec, now);
    ck_assert_int_eq(exec.n, 0);
    snprintf(expected, sizeof(expected),
             "[faultloc] node h0: exec %s cannot be run: earlier ones have not ended; see exec in "
             "MPIR_CVAR_FAULTLOC_ACTION\n",
             script);
    ck_assert_str_eq(said(), expected);
}

/* Found sooner than by the stall limit; a crash is what it is. */
TEST_CASES(what_may_pass_waits, 3)
{
    ftree_time now = faultloc_now(), stall = 1000 * FTREE_MS;

    program.board->settings.stall = stall;
    program.board->settings.patience = 4 * stall;
    write_script("echo one >>end");
    if (_i == 2)
        verdict = base_verdict("process-crash/pid-gone", 2, 4);
    verdict.first_symptom = now - stall / 2;
    verdict.located = now;
    faultloc_exec_verdict(&exec, now, &verdict);
    ck_assert_int_eq(exec.n, _i == 2 ? 0 : 1);
    if (_i != 2)
        ck_assert(faultloc_exec_deadline(&exec) == now + stall);
    verdict.withdrawn = _i == 1;
    if (_i == 1)
        faultloc_exec_verdict(&exec, now, &verdict);
    else
        faultloc_exec_turn(&exec, now + stall);
    ck_assert_int_eq(exec.n, 0);
    while (faultloc_exec_runs(&exec))
        turn();
    ck_assert_str_eq(text_of("end"), _i == 1 ? "" : "one\n");
    ck_assert_str_eq(said(), "");
}
