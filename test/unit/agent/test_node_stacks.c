/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* How the agent has stacks taken: by the program itself, and by others in its place that hang, die,
 * or print anything. */

#include "base.h"
#include "faultloc/agent/report/node_stacks.h"
#include "faultloc/base/clock.h"
#include "faultloc/base/proc.h"
#include "suite.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct faultloc_board *board;
static struct faultloc_stacks stacks;
static char folder[] = "/tmp/faultloc-stacks-XXXXXX", script[64];
static pid_t child;

static struct {
    int times;
    uint32_t number;
    int32_t n;
    bool has_process[2];
    char why[2][128], text[64 * 1024];
} got;

static void taken(void *ctx, uint32_t number, const struct faultloc_stack *stack, int32_t n)
{
    (void) ctx;
    got.times++;
    got.number = number;
    got.n = n;
    for (int32_t i = 0; i < n; i++) {
        got.has_process[i] = stack[i].process != NULL;
        snprintf(got.why[i], sizeof(got.why[i]), "%s", stack[i].why ? stack[i].why : "");
    }
    if (stack[0].process) {
        faultloc_stack_add_lines(stack[0].process);
        snprintf(got.text, sizeof(got.text), "%s",
                 json_object_to_json_string_ext(
                     stack[0].process, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
    }
}

/* ---- a rank ---------------------------------------------------------------------------------- */

static volatile int turns;

static __attribute__((noinline)) void sleep_in_known_function(void)
{
    const struct timespec t = {.tv_sec = 1000};

    nanosleep(&t, NULL); /* the line */
    turns++;
}
enum { KNOWN_LINE = __LINE__ - 3 };

static __attribute__((noinline)) void call_it(void)
{
    sleep_in_known_function();
    turns++;
}

static void set_slot(int32_t i, pid_t pid)
{
    struct faultloc_proc proc = {0};

    ck_assert_int_eq(faultloc_proc_read(NULL, pid, &proc), 0);
    faultloc_board_slot(board, i)->rank = i;
    faultloc_board_slot(board, i)->pid = pid;
    faultloc_board_slot(board, i)->start = proc.start;
}

static char state_of(pid_t pid)
{
    struct faultloc_proc proc = {0};

    faultloc_proc_read(NULL, pid, &proc);
    return proc.state;
}

BEFORE_EACH
{
    int fd;

    memset(&got, 0, sizeof(got));
    ck_assert_int_eq(faultloc_board_make(1, 2, 2, 0, &board, &fd), 0);
    close(fd);
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(script, sizeof(script), "%s/handler", folder);
    faultloc_stacks_init(&stacks, board, -1);
    child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        call_it();
        _exit(0);
    }
    while (state_of(child) != 'S')
        ;
    set_slot(0, child);
    set_slot(1, getpid());
}

AFTER_EACH
{
    faultloc_stacks_end(&stacks);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    faultloc_board_unmap(board);
    unlink(script);
    rmdir(folder);
}

/* ---- a handler ------------------------------------------------------------------------------- */

static void write_script(const char *lines)
{
    FILE *f = fopen(script, "w");

    fprintf(f, "#!/bin/sh\n%s\n", lines);
    fclose(f);
    chmod(script, 0700);
    strcpy(stacks.path, script);
}

static void take(int32_t n)
{
    static const int32_t local[] = {0, 1};

    ck_assert(faultloc_stacks_take(&stacks, local, n, false, taken, NULL, 17));
    ck_assert_int_eq(got.times, 0);
}

/* Turns as the agent's loop does, until it was called back. */
static void await(void)
{
    for (int i = 0; i < 20000 && got.times == 0; i++) {
        struct pollfd p = {.fd = stacks.child.fd, .events = POLLIN};
        faultloc_stacks_turn(&stacks, faultloc_now());
        if (got.times == 0)
            poll(&p, 1, stacks.child.fd < 0 ? 1 : 5);
    }
    ck_assert_int_eq(got.times, 1);
    ck_assert_int_eq(got.number, 17);
    ck_assert_int_eq(stacks.n, 0);
    ck_assert(faultloc_stacks_deadline(&stacks) == FTREE_NEVER);
}

static const struct {
    const char *lines, *why;
} fakes[] = {{"kill -SEGV $$", "faultloc-handler was killed by signal 11"},
             {"echo '{\"schema\": \"faultloc-handler/1\"' >&3; kill -9 $$",
              "faultloc-handler was killed by signal 9"},
             {"exit 3", "faultloc-handler ended with code 3"},
             {"exit 127", "faultloc-handler cannot be executed, or is not installed"},
             {"exit 0", "faultloc-handler said nothing of it"},
             {"echo '\"[{' >&3", "faultloc-handler returned invalid output"},
             {"head -c 300000 /dev/urandom >&3", "faultloc-handler returned invalid output"},
             {"echo '{\"schema\": \"faultloc-handler/1\", \"pid\": 1, \"stacks\": true}' >&3",
              "faultloc-handler returned invalid output"},
             {"exec yes >&3", "faultloc-handler prints too much"}};

TEST_CASES(a_bad_handler_costs_only_the_stack, COUNT(fakes))
{
    write_script(fakes[_i].lines);
    take(2);
    await();
    ck_assert_int_eq(got.n, 2);
    ck_assert(!got.has_process[0] && !got.has_process[1]);
    ck_assert_str_eq(got.why[0], fakes[_i].why);
    ck_assert_str_eq(got.why[1], fakes[_i].why);
}

TEST_CASE(a_handler_that_hangs_is_ended)
{
    write_script("echo $$ >$(dirname $0)/pid; exec sleep 1000");
    take(1);
    faultloc_stacks_turn(&stacks, faultloc_now());
    ck_assert_int_gt(stacks.child.pid, 0);
    pid_t pid = stacks.child.pid;
    faultloc_stacks_turn(&stacks, faultloc_now() + FAULTLOC_STACKS_PATIENCE - 500 * FTREE_MS);
    ck_assert_int_eq(got.times, 0);
    faultloc_stacks_turn(&stacks, faultloc_now() + FAULTLOC_STACKS_PATIENCE + FTREE_MS);
    ck_assert_int_eq(got.times, 1);
    ck_assert_str_eq(got.why[0], "no answer of faultloc-handler in 5 s");
    while (kill(pid, 0) == 0)
        faultloc_stacks_turn(&stacks, faultloc_now());
    ck_assert_int_eq(stacks.child.lost, 0);
    snprintf(script + strlen(folder), 8, "/pid");
    unlink(script);
    snprintf(script, sizeof(script), "%s/handler", folder);
}

/* The agent ignores SIGCHLD, and still learns how the handler ended. */
TEST_CASE(sigchld_is_ignored_before_and_after)
{
    signal(SIGCHLD, SIG_IGN);
    write_script("kill -SEGV $$");
    take(1);
    await();
    ck_assert_str_eq(got.why[0], "faultloc-handler was killed by signal 11");
    for (int i = 0; i < 1000 && stacks.child.lost > 0; i++)
        faultloc_stacks_turn(&stacks, faultloc_now());
    ck_assert(signal(SIGCHLD, SIG_DFL) == SIG_IGN);
}

/* The agent asks those for leave that it may not trace, and no others. */
static const struct {
    const char *scope;
    bool asks;
} scopes[] = {{"1\n", true}, {"0\n", false}, {"2\n", false}, {"3\n", false}, {"", false}};

TEST_CASES(leave_is_asked_where_it_is_needed, COUNT(scopes))
{
    int status = 0;
    pid_t nobody;
    FILE *f = fopen(script, "w");

    fputs(scopes[_i].scope, f);
    fclose(f);
    if (getuid() != 0)
        return;
    chmod(folder, 0755);
    nobody = fork();
    if (nobody == 0) {
        if (setgid(65534) || setuid(65534) || prctl(PR_SET_DUMPABLE, 1, 0, 0, 0))
            _exit(9);
        faultloc_board_slot(board, 1)->pid = getpid();
        faultloc_stacks_ask_leave(board, script);
        _exit(0);
    }
    waitpid(nobody, &status, 0);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(faultloc_board_slot(board, 0)->tracer, scopes[_i].asks ? nobody : 0);
    ck_assert_int_eq(faultloc_board_slot(board, 0)->news, scopes[_i].asks);
    ck_assert_int_eq(faultloc_board_slot(board, 1)->tracer, 0);
}

/* What it has said before is there: which file a rank waits for is known without any stack. */
TEST_CASE(what_was_said_before_it_hung_counts)
{
    char lines[256];

    snprintf(lines, sizeof(lines),
             "echo '{\"schema\": \"faultloc-handler/1\", \"pid\": %d, \"stacks\": false, "
             "\"state\": \"D\"}' >&3; kill -9 $$", (int) child);
    write_script(lines);
    take(2);
    await();
    ck_assert(got.has_process[0] && !got.has_process[1]);
    ck_assert_str_eq(got.why[0], "faultloc-handler was killed by signal 9");
    ck_assert_ptr_nonnull(strstr(got.text, "\"state\":\"D\""));
}

TEST_CASE(one_that_is_not_there_is_said)
{
    strcpy(stacks.path, "/nowhere/faultloc-handler");
    take(1);
    await();
    ck_assert_str_eq(got.why[0], "faultloc-handler cannot be executed, or is not installed");
}

TEST_CASE(requests_wait_and_are_bounded)
{
    static const int32_t local = 0;

    write_script("exit 0");
    take(1);
    for (int i = 1; i < FAULTLOC_STACKS_REQUESTS; i++)
        ck_assert(faultloc_stacks_take(&stacks, &local, 1, false, taken, NULL, 18));
    ck_assert(!faultloc_stacks_take(&stacks, &local, 1, false, taken, NULL, 19));
    for (int i = 0; i < 10000 && got.times < FAULTLOC_STACKS_REQUESTS; i++) {
        faultloc_stacks_turn(&stacks, faultloc_now());
        poll(NULL, 0, 1);
    }
    ck_assert_int_eq(got.times, FAULTLOC_STACKS_REQUESTS);
    ck_assert_int_eq(got.number, 18);
}

/* ---- the real one ---------------------------------------------------------------------------- */

/* False: it was built without libdw. */
static bool find_real(void)
{
    char command[FAULTLOC_SPAWN_PATH + 64];

    snprintf(stacks.path, sizeof(stacks.path), "%s/faultloc-handler", getenv("top_builddir"));
    snprintf(command, sizeof(command), "%.4000s --version | grep -q 'with stacks'", stacks.path);
    return system(command) == 0;
}

TEST_CASE(a_rank_is_where_it_is)
{
    char line[160];
    bool with_stacks = find_real();

    take(1);
    await();
    ck_assert(got.has_process[0]);
    ck_assert_ptr_nonnull(strstr(got.text, "\"syscall\":\"clock_nanosleep\""));
    ck_assert_int_eq(state_of(child), 'S');
    snprintf(line, sizeof(line), "call_it test_node_stacks.c:%d > sleep_in_known_function "
             "test_node_stacks.c:%d > ", KNOWN_LINE + 7, KNOWN_LINE);
    ck_assert_msg(strstr(got.text, with_stacks ? line : "built without libdw"), "%s is not in %s",
                  line, got.text);
}

/* A rank that another one traces already, and one that has ended. */
TEST_CASE(a_rank_that_cannot_be_held_says_why)
{
    if (!find_real())
        return;
    faultloc_board_slot(board, 0)->start++;
    take(1);
    await();
    ck_assert_str_eq(got.why[0], "there is no such process");
}
