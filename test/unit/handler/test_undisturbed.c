/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* What a process is promised whose stacks are taken (doc/user-processes.md): each call in which a
 * thread may wait comes out the same, whether nobody looks at it or its stack is taken a thousand
 * times. */

#include "blocking.h"
#include "faultloc/handler/handler.h"
#include "process.h"
#include "suite.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACKS 1000

static struct handler_copy copy;

static pid_t start(const struct blocking *b, struct blocking_case *c)
{
    pid_t pid = fork();

    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        blocking_call(b, c);
        _exit(0);
    }
    return pid;
}

/* Returns how many were taken. */
static int take_stacks(struct blocking_case *c)
{
    struct handler_thread t = {.tid = c->tid};
    char path[64];
    int mem, taken = 0, wait_ms;

    snprintf(path, sizeof(path), "/proc/%d/mem", (int) c->pid);
    mem = open(path, O_RDONLY | O_CLOEXEC);
    ck_assert_int_ge(mem, 0);
    for (int i = 0; i < STACKS && !c->done; i++) {
        wait_ms = HANDLER_WAIT_MS;
        taken += handler_snapshot(c->pid, mem, &t, &copy, &wait_ms) && !t.why && copy.bytes > 0;
    }
    close(mem);
    return taken;
}

/* What came of the call; NULL: not on this machine. */
static struct blocking_case *run(const struct blocking *b, int (*look)(struct blocking_case *c))
{
    struct blocking_case *c = blocking_prepare(b);
    int status = 0, taken;
    pid_t pid;

    if (!c)
        return NULL;
    pid = start(b, c);
    ck_assert_msg(blocking_await(b, c), "%s: it does not wait", b->name);
    if (look && (taken = look(c)) == 0 && !c->done)
        printf("%s: no stack could be taken\n", b->name);
    blocking_release(b, c);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(status == 0, "%s: it ended with status %#x", b->name, (unsigned) status);
    return c;
}

static void compare(const struct blocking *b, int (*look)(struct blocking_case *c))
{
    struct blocking_case *alone = run(b, NULL), *seen;

    if (!alone) {
        printf("%s: not on this machine\n", b->name);
        return;
    }
    seen = run(b, look);
    ck_assert_ptr_nonnull(seen);
    ck_assert_msg(seen->n == alone->n, "%s: %d results instead of %d", b->name, seen->n, alone->n);
    for (int i = 0; i < alone->n; i++)
        ck_assert_msg(seen->said[i] == alone->said[i], "%s: result %d is %lld instead of %lld",
                      b->name, i, (long long) seen->said[i], (long long) alone->said[i]);
    blocking_end(alone);
    blocking_end(seen);
}

TEST_CASES(a_call_comes_out_the_same, blocking_count)
{
    compare(&blocking[_i], take_stacks);
}

/* The process that takes the stacks may not sample; the one that is looked at has no filter. */
static int take_stacks_without_sampling(struct blocking_case *c)
{
    pid_t pid = fork();
    int status = 0;

    if (pid == 0) {
        /* as where kernel.perf_event_paranoid, or a container, does not permit it */
        process_forbid(SYS_perf_event_open, EACCES);
        _exit(take_stacks(c) == 0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return status == 0;
}

TEST_CASES(a_call_comes_out_the_same_where_nothing_may_be_sampled, blocking_count)
{
    compare(&blocking[_i], take_stacks_without_sampling);
}
