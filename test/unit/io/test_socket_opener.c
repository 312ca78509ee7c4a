/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/*
 * The thread that opens the symptom socket: it comes to its owner, its name goes with it, and a
 * file system that hangs holds up nobody else.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "faultloc/io/socket_opener.h"
#include "hang.h"
#include "process.h"
#include "suite.h"

#include <errno.h>
#include <sys/syscall.h>

static const char *const names[] = {"h0"};
static const struct ftree_job job = {.nodes = 1, .size = 2, .node_name = names};

static char folder[64], sockets[96], path[128];
static struct faultloc_socket_opener *opener;
static struct faultloc_symptom_socket sock;
static int descriptors; /* before there was a opener */

static void start(void)
{
    ck_assert_int_eq(faultloc_socket_opener_start(&job, 0, "4711", 0, &opener), 0);
}

BEFORE_EACH
{
    snprintf(folder, sizeof(folder), "/tmp/test_socket_opener.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(sockets, sizeof(sockets), "%s/faultloc", folder);
    snprintf(path, sizeof(path), "%s/4711@h0.sock", sockets);
    setenv("XDG_RUNTIME_DIR", folder, 1);
    descriptors = process_descriptors();
}

/* The thread ends, and takes with it all it had; the leak detector sees to the memory. */
AFTER_EACH
{
    UNTIL(process_threads(getpid(), "faultloc-socket") == 0 &&
          process_descriptors() == descriptors);
    ck_assert_int_ne(access(path, F_OK), 0);
    rmdir(sockets);
    ck_assert_int_eq(rmdir(folder), 0);
}

TEST_CASE(the_owner_takes_the_socket_once)
{
    struct pollfd p = {.events = POLLIN};

    start();
    p.fd = faultloc_socket_opener_fd(opener);
    ck_assert_int_eq(poll(&p, 1, PROCESS_DEADLINE_MS), 1);
    ck_assert(faultloc_socket_opener_take(opener, &sock));
    ck_assert_str_eq(sock.path, path);
    ck_assert_int_eq(access(path, F_OK), 0);
    ck_assert(!faultloc_socket_opener_is_busy(opener));
    ck_assert(!faultloc_socket_opener_take(opener, &sock));
    faultloc_socket_opener_stop(opener, PROCESS_DEADLINE_MS);
    ck_assert_int_ne(access(path, F_OK), 0);
}

TEST_CASE(a_symptom_socket_that_cannot_be_opened_is_given_up)
{
    ck_assert_int_eq(mkdir(sockets, 0755), 0); /* open to others */
    start();
    UNTIL(!faultloc_socket_opener_is_busy(opener));
    ck_assert(!faultloc_socket_opener_take(opener, &sock));
    faultloc_socket_opener_stop(opener, PROCESS_DEADLINE_MS);
}

/* At whatever point the thread is. */
TEST_CASE(it_may_be_stopped_at_any_time)
{
    for (int i = 0; i < 100; i++) {
        start();
        if (i % 3 == 0)
            UNTIL(!faultloc_socket_opener_is_busy(opener));
        faultloc_socket_opener_stop(opener, PROCESS_DEADLINE_MS);
    }
    faultloc_socket_opener_stop(NULL, 0);
}

TEST_CASE(who_hangs_is_left_behind)
{
    hang_begin(folder);
    start();
    UNTIL(*hang_held == 1);
    ck_assert(faultloc_socket_opener_is_busy(opener));
    ck_assert(!faultloc_socket_opener_take(opener, &sock));
    faultloc_socket_opener_stop(opener, 1); /* returns */
    ck_assert_int_eq(*hang_held, 1);
    hang_end();
}

TEST_CASE(what_hung_comes_late)
{
    hang_begin(folder);
    start();
    UNTIL(*hang_held == 1);
    hang_end();
    UNTIL(faultloc_socket_opener_take(opener, &sock));
    ck_assert_int_eq(access(path, F_OK), 0);
    faultloc_socket_opener_stop(opener, PROCESS_DEADLINE_MS);
}

static int stop_without_threads(int in, int out, void *arg)
{
    struct pollfd p = {.events = POLLIN};

    (void) in;
    (void) out;
    (void) arg;
    if (faultloc_socket_opener_start(&job, 0, "4711", 0, &opener))
        return 1;
    p.fd = faultloc_socket_opener_fd(opener);
    if (poll(&p, 1, PROCESS_DEADLINE_MS) != 1 || !faultloc_socket_opener_take(opener, &sock))
        return 2;
    while (process_threads(getpid(), "faultloc-socket") > 0)
        process_pause();
    process_forbid(SYS_clone, EAGAIN); /* as where a control group has as many as it may */
    process_forbid(SYS_clone3, EAGAIN);
    faultloc_socket_opener_stop(opener, 1);
    return access(path, F_OK) == 0 ? 4 : 0;
}

TEST_CASE(the_name_goes_also_where_no_thread_can_be_had)
{
    struct process p;

    process_start(&p, stop_without_threads, NULL);
    ck_assert_int_eq(process_end(&p), 0);
}
