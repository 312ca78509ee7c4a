/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc_holders.h"
#include "suite.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* A process of that name that has the pipe open; it has its name when this returns. */
static pid_t hold(int pipe_fd[2], const char *name)
{
    int ready[2];
    char byte;
    pid_t pid;

    ck_assert_int_eq(pipe(ready), 0);
    pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prctl(PR_SET_NAME, name);
        close(pipe_fd[0]);
        if (write(ready[1], "", 1) == 1)
            pause();
        _exit(0);
    }
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return pid;
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

TEST_CASE(who_has_the_other_end)
{
    struct HYD_faultloc_holders who;
    int pipe_fd[2];
    pid_t own, other;

    ck_assert_int_eq(pipe(pipe_fd), 0);
    who = HYD_faultloc_holders(pipe_fd[0]);
    ck_assert(!who.own && !who.others); /* the one that asks does not count */
    own = hold(pipe_fd, HYD_FAULTLOC_PROGRAM "agent");
    who = HYD_faultloc_holders(pipe_fd[0]);
    ck_assert(who.own && !who.others);
    other = hold(pipe_fd, "daemon");
    who = HYD_faultloc_holders(pipe_fd[0]);
    ck_assert(who.others);
    end(own);
    who = HYD_faultloc_holders(pipe_fd[0]);
    ck_assert(!who.own && who.others);
    end(other);
    who = HYD_faultloc_holders(-1);
    ck_assert(!who.own && !who.others);
    close(pipe_fd[0]);
    close(pipe_fd[1]);
}

/* As the agent does, which others may then not look at: true for a user who is not root. */
TEST_CASE(own_that_may_not_be_looked_at)
{
    struct HYD_faultloc_holders who;
    int pipe_fd[2];
    pid_t own;

    if (getuid() == 0)
        ck_assert_int_eq(setresuid(65534, 65534, 65534), 0);
    ck_assert_int_eq(pipe(pipe_fd), 0);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); /* the child's, too */
    own = hold(pipe_fd, HYD_FAULTLOC_PROGRAM "agent");
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    close(pipe_fd[1]);
    who = HYD_faultloc_holders(pipe_fd[0]);
    ck_assert(who.own && !who.others);
    end(own);
    who = HYD_faultloc_holders(pipe_fd[0]);
    ck_assert(!who.others);
    close(pipe_fd[0]);
}
