/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc_cleanup.h"
#include "process.h"
#include "suite.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64];

static const char *in_folder(const char *name)
{
    static char path[108];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

BEFORE_EACH
{
    snprintf(folder, sizeof(folder), "/tmp/test-cleanup-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

AFTER_EACH
{
    ck_assert_int_eq(rmdir(folder), 0);
}

/* Closed, it is as a process that was killed leaves it. */
static int make_socket(const char *name)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

    memcpy(a.sun_path, in_folder(name), strlen(in_folder(name)) + 1);
    ck_assert_int_eq(bind(fd, (const struct sockaddr *) &a, sizeof(a)), 0);
    return fd;
}

static bool is_there(const char *name)
{
    struct stat s;

    return lstat(in_folder(name), &s) == 0;
}

TEST_CASE(what_the_dead_left_is_removed)
{
    int live, file;

    live = make_socket("4711@h1.sock");
    close(make_socket("4711@h2.sock"));
    close(make_socket("launcher-12.sock"));
    close(make_socket("other"));
    file = open(in_folder("4711@h3.sock"), O_CREAT | O_WRONLY, 0600);
    ck_assert_int_eq(symlink("4711@h2.sock", in_folder("link.sock")), 0);
    ck_assert_int_eq(HYD_faultloc_cleanup(folder), 2);
    ck_assert(is_there("4711@h1.sock"));
    ck_assert(!is_there("4711@h2.sock"));
    ck_assert(!is_there("launcher-12.sock"));
    ck_assert(is_there("other"));
    ck_assert(is_there("4711@h3.sock"));
    ck_assert(is_there("link.sock"));
    ck_assert_int_eq(HYD_faultloc_cleanup(folder), 0);
    close(live);
    close(file);
    ck_assert_int_eq(HYD_faultloc_cleanup(folder), 1);
    unlink(in_folder("other"));
    unlink(in_folder("4711@h3.sock"));
    unlink(in_folder("link.sock"));
}

TEST_CASE(a_folder_that_is_not_ours_alone_is_not_touched)
{
    char link[80];

    close(make_socket("4711@h2.sock"));
    ck_assert_int_eq(chmod(folder, 0750), 0);
    ck_assert_int_eq(HYD_faultloc_cleanup(folder), -1);
    ck_assert_int_eq(chmod(folder, 0700), 0);
    snprintf(link, sizeof(link), "%s-link", folder);
    ck_assert_int_eq(symlink(folder, link), 0);
    ck_assert_int_eq(HYD_faultloc_cleanup(link), -1);
    unlink(link);
    ck_assert_int_eq(HYD_faultloc_cleanup(in_folder("4711@h2.sock")), -1);
    ck_assert_int_eq(HYD_faultloc_cleanup(in_folder("nothing")), -1);
    ck_assert(is_there("4711@h2.sock"));
    if (geteuid() == 0) {
        ck_assert_int_eq(chown(folder, 65534, (gid_t) -1), 0);
        ck_assert_int_eq(HYD_faultloc_cleanup(folder), -1);
        ck_assert_int_eq(chown(folder, 0, (gid_t) -1), 0);
    }
    ck_assert_int_eq(HYD_faultloc_cleanup(folder), 1);
}

/* ---- aside ----------------------------------------------------------------------------------- */

static int held[2]; /* a pipe: who sweeps has the writing end */

static void sweep_this(void)
{
    HYD_faultloc_cleanup(folder);
}

static void hang(void)
{
    for (;;)
        pause();
}

static void on_child(int signum)
{
    (void) signum;
    ck_abort_msg("a signal of a child that is nobody's");
}

/* Once the call has returned nothing of it is there: neither a child, nor a copy of a
 * descriptor. */
static void expect_nothing_left(void)
{
    char byte;

    close(held[1]);
    ck_assert_int_eq(read(held[0], &byte, 1), 0);
    close(held[0]);
    ck_assert_int_eq(waitpid(-1, NULL, 0), -1);
    ck_assert_int_eq(errno, ECHILD);
}

TEST_CASE(it_is_swept_by_another_process)
{
    signal(SIGCHLD, on_child);
    close(make_socket("4711@h2.sock"));
    ck_assert_int_eq(pipe(held), 0);
    HYD_faultloc_cleanup_in_child(sweep_this, PROCESS_DEADLINE_MS);
    ck_assert(!is_there("4711@h2.sock"));
    expect_nothing_left();
}

/* The file system does not answer. */
TEST_CASE(a_sweep_that_hangs_is_given_up)
{
    signal(SIGCHLD, on_child);
    ck_assert_int_eq(pipe(held), 0);
    process_tick(5000);
    HYD_faultloc_cleanup_in_child(hang, 20); /* returns */
    process_tick(0);
    expect_nothing_left();
}
