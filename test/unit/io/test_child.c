/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* A program beside the agent: what is heard of it, how it ends, and what it cannot do to the
 * agent. */

#include "faultloc/io/child.h"
#include "faultloc/base/clock.h"
#include "process.h"
#include "suite.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#define LONG_MS 20000
#define SECOND (1000 * FTREE_MS)

static struct faultloc_child child;
static int status;

BEFORE_EACH
{
    child = (struct faultloc_child){.epoll = epoll_create1(EPOLL_CLOEXEC),
                                    .patience = LONG_MS * FTREE_MS,
                                    .most = 4096,
                                    .fd = -1};
    status = -2;
    signal(SIGCHLD, SIG_IGN); /* as the agent does */
}

/* Nothing is left of it, in whatever way it ended. */
AFTER_EACH
{
    ftree_time by = faultloc_now() + LONG_MS * FTREE_MS;

    faultloc_child_end(&child);
    while (child.lost > 0 && faultloc_now() < by)
        faultloc_child_turn(&child, faultloc_now(), &status);
    ck_assert_int_eq(child.lost, 0);
    ck_assert_ptr_null(child.text);
    ck_assert(signal(SIGCHLD, SIG_DFL) == SIG_IGN);
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG | __WALL), -1);
    close(child.epoll);
}

static int start_of(struct faultloc_child *c, const char *path, const char *script, bool as_fd)
{
    char *const arguments[] = {"sh", "-c", (char *) (uintptr_t) script, NULL};
    char *const environment[] = {"PATH=/usr/bin:/bin", NULL};
    struct faultloc_spawn_child s = {.path = path,
                                     .arguments = arguments,
                                     .environment = environment,
                                     .fd = as_fd ? 0 : -1,
                                     .input = -1,
                                     .output = -1};

    return faultloc_child_start(c, faultloc_now(), &s);
}

static void start(const char *script)
{
    ck_assert_int_eq(start_of(&child, "/bin/sh", script, false), 0);
}

static void await_event(void)
{
    struct pollfd p = {.fd = child.epoll, .events = POLLIN};

    poll(&p, 1, 5);
}

static enum faultloc_child_state await_end(void)
{
    ftree_time by = faultloc_now() + LONG_MS * FTREE_MS;
    enum faultloc_child_state state = FAULTLOC_CHILD_RUNS;

    while (state == FAULTLOC_CHILD_RUNS && faultloc_now() < by) {
        await_event();
        state = faultloc_child_turn(&child, faultloc_now(), &status);
    }
    return state;
}

/* Until it has printed so much. */
static void await_text(size_t len)
{
    ftree_time by = faultloc_now() + LONG_MS * FTREE_MS;

    while (child.len < len && faultloc_now() < by) {
        await_event();
        ck_assert_int_eq(faultloc_child_turn(&child, faultloc_now(), &status), FAULTLOC_CHILD_RUNS);
    }
    ck_assert_uint_ge(child.len, len);
}

/* The process that it named by its number. */
static pid_t printed_pid(void)
{
    char text[32] = "";

    memcpy(text, child.text, child.len < sizeof(text) ? child.len : sizeof(text) - 1);
    return atoi(text);
}

static void await_no_process(pid_t pid)
{
    for (int i = 0; i < LONG_MS && kill(pid, 0) == 0; i++)
        poll(NULL, 0, 1);
    ck_assert_int_eq(kill(pid, 0), -1);
}

/* ---- what is heard --------------------------------------------------------------------------- */

/* rows: on standard output and error, on its descriptor */
TEST_CASES(what_it_prints_and_how_it_ends_is_known, 2)
{
    ck_assert_int_eq(
        start_of(&child, "/bin/sh", _i ? "echo one >&3; exit 7" : "echo o; echo e >&2; exit 7", _i),
        0);
    ck_assert_int_eq(await_end(), FAULTLOC_CHILD_ENDED);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    ck_assert_uint_eq(child.len, 4);
    ck_assert_mem_eq(child.text, _i ? "one\n" : "o\ne\n", 4);
    ck_assert(faultloc_child_deadline(&child) == FTREE_NEVER);
    faultloc_child_forget(&child);
}

TEST_CASE(its_loop_is_woken_when_it_prints)
{
    struct epoll_event e;

    start("echo hello; exec sleep 1000");
    ck_assert_int_eq(epoll_wait(child.epoll, &e, 1, LONG_MS), 1);
    await_text(2);
}

TEST_CASE(one_that_cannot_be_executed_ends)
{
    ck_assert_int_eq(start_of(&child, "/no/such/program", "", false), 0);
    ck_assert_int_eq(await_end(), FAULTLOC_CHILD_ENDED);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 127);
}

TEST_CASE(one_that_dies_of_a_signal_ends)
{
    start("kill -SEGV $$");
    ck_assert_int_eq(await_end(), FAULTLOC_CHILD_ENDED);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

/* rows: bytes that it may print, that it prints; whether more is dropped */
static const struct {
    size_t most;
    const char *prints;
    bool drops;
    enum faultloc_child_state state;
} sizes[] = {{4096, "4096", false, FAULTLOC_CHILD_ENDED},
             {4096, "4097", false, FAULTLOC_CHILD_FULL},
             {4096, "500000", true, FAULTLOC_CHILD_ENDED},
             {100000, "100000", false, FAULTLOC_CHILD_ENDED},
             {100000, "100001", false, FAULTLOC_CHILD_FULL},
             {1000000, "700000", false, FAULTLOC_CHILD_ENDED}};

TEST_CASES(it_may_print_so_much, 6)
{
    char script[64];
    size_t prints = strtoul(sizes[_i].prints, NULL, 10);

    child.most = sizes[_i].most;
    child.drops = sizes[_i].drops;
    snprintf(script, sizeof(script), "head -c %s /dev/zero", sizes[_i].prints);
    start(script);
    ck_assert_int_eq(await_end(), sizes[_i].state);
    if (sizes[_i].state == FAULTLOC_CHILD_ENDED)
        ck_assert_uint_eq(child.len, prints < child.most ? prints : child.most);
    else
        ck_assert_uint_le(child.len, child.most);
    faultloc_child_forget(&child);
}

/* ---- how it ends ----------------------------------------------------------------------------- */

TEST_CASE(one_that_is_late_is_killed_with_its_group)
{
    pid_t pid;

    start("sleep 1000 & echo $!; wait");
    await_text(2);
    pid = printed_pid();
    ck_assert(faultloc_child_deadline(&child) <= child.end_by);
    ck_assert_int_eq(faultloc_child_turn(&child, child.end_by - 1, &status), FAULTLOC_CHILD_RUNS);
    ck_assert_uint_eq(faultloc_child_deadline(&child), child.end_by);
    ck_assert_int_eq(faultloc_child_turn(&child, child.end_by, &status), FAULTLOC_CHILD_LATE);
    ck_assert_int_eq(status, -1);
    await_no_process(pid);
}

/* Nobody waits for a process that has the output open, and is not the child. */
TEST_CASE(what_it_leaves_behind_is_not_waited_for)
{
    start("sleep 1000 & echo $!");
    ck_assert_int_eq(await_end(), FAULTLOC_CHILD_ENDED);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    ck_assert_int_eq(kill(printed_pid(), SIGKILL), 0);
    faultloc_child_forget(&child);
}

/* Unless all of its process group is to end with it; but one that cannot print is not killed. */
TEST_CASE(what_it_leaves_behind_may_end_with_it)
{
    child.all_end = true;
    start("sleep 1000 & echo $!; exit 3");
    ck_assert_int_eq(await_end(), FAULTLOC_CHILD_ENDED);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    await_no_process(printed_pid());
    faultloc_child_forget(&child);
    start("sleep 1000 >/dev/null 2>&1 & echo $!; exit 0");
    ck_assert_int_eq(await_end(), FAULTLOC_CHILD_ENDED);
    ck_assert_int_eq(kill(printed_pid(), SIGKILL), 0);
    faultloc_child_forget(&child);
}

/* All is said: it has `linger`, and is then over, without a code. */
TEST_CASE(one_that_has_closed_its_output_has_a_while_more)
{
    ftree_time now;

    child.linger = SECOND;
    start("echo $$; exec sleep 1000 >&- 2>&-");
    for (now = faultloc_now(); !child.lingers; await_event())
        ck_assert_int_eq(faultloc_child_turn(&child, now, &status), FAULTLOC_CHILD_RUNS);
    ck_assert_uint_eq(child.end_by, now + SECOND);
    ck_assert_int_eq(faultloc_child_turn(&child, now + SECOND - 1, &status), FAULTLOC_CHILD_RUNS);
    ck_assert_int_eq(faultloc_child_turn(&child, now + SECOND, &status), FAULTLOC_CHILD_ENDED);
    ck_assert_int_eq(status, -1);
}

TEST_CASE(another_may_follow)
{
    for (int i = 0; i < 3; i++) {
        start("exit 0");
        ck_assert_int_eq(await_end(), FAULTLOC_CHILD_ENDED);
        ck_assert_int_eq(status, 0);
    }
}

/* How children end is known as long as there is one. */
TEST_CASE(signals_of_children_are_the_agents_again_after_the_last)
{
    struct faultloc_child other = {
        .epoll = -1, .patience = LONG_MS * FTREE_MS, .most = 10, .fd = -1};
    void (*now)(int);

    start("exit 0");
    ck_assert_int_eq(start_of(&other, "/bin/sh", "sleep 1000", false), 0);
    ck_assert_int_eq(await_end(), FAULTLOC_CHILD_ENDED);
    now = signal(SIGCHLD, SIG_DFL);
    ck_assert(now == SIG_DFL);
    faultloc_child_end(&other);
    while (other.lost > 0)
        faultloc_child_turn(&other, faultloc_now(), &status);
}

/* ---- what cannot be started ------------------------------------------------------------------ */

TEST_CASE(none_is_started_without_descriptors)
{
    process_take_descriptors();
    ck_assert_int_eq(start_of(&child, "/bin/sh", "exit 0", false), EMFILE);
    process_give_descriptors();
    ck_assert_int_eq(child.pid, 0);
    ck_assert(faultloc_child_deadline(&child) == FTREE_NEVER);
}

/* What a file system holds in the kernel does not end when it is killed; these stand for such. */
TEST_CASE(none_is_started_while_too_many_do_not_end)
{
    signal(SIGCHLD, SIG_DFL);
    for (int i = 0; i < FAULTLOC_CHILD_LOST; i++) {
        child.lost_pid[i] = fork();
        if (child.lost_pid[i] == 0)
            for (;;)
                pause();
        child.lost++;
    }
    signal(SIGCHLD, SIG_IGN);
    ck_assert_int_eq(faultloc_child_turn(&child, faultloc_now(), &status), FAULTLOC_CHILD_RUNS);
    ck_assert_int_eq(child.lost, FAULTLOC_CHILD_LOST);
    ck_assert_int_eq(start_of(&child, "/bin/sh", "exit 0", false), ECHILD);
    kill(child.lost_pid[1], SIGKILL);
    while (child.lost == FAULTLOC_CHILD_LOST)
        faultloc_child_turn(&child, faultloc_now(), &status);
    ck_assert_int_eq(child.lost, FAULTLOC_CHILD_LOST - 1);
    start("exit 0");
    ck_assert_int_eq(await_end(), FAULTLOC_CHILD_ENDED);
    for (int i = 0; i < child.lost; i++)
        kill(child.lost_pid[i], SIGKILL);
}
