/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/*
 * The thread that opens the door: it comes to its owner, its name goes with it, and a file system
 * that hangs holds up nobody else.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "faultloc/io/porter.h"
#include "hang.h"
#include "process.h"
#include "suite.h"

static const char *const names[] = {"h0"};
static const struct ftree_job job = {.nodes = 1, .size = 2, .node_name = names};

static char folder[64], doors[96], path[128];
static struct faultloc_porter *porter;
static struct faultloc_door door;
static int descriptors; /* before there was a porter */

static void start(void)
{
    ck_assert_int_eq(faultloc_porter_start(&job, 0, "4711", &porter), 0);
}

static void setup(void)
{
    snprintf(folder, sizeof(folder), "/tmp/test_faultloc_porter.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(doors, sizeof(doors), "%s/faultloc", folder);
    snprintf(path, sizeof(path), "%s/4711@h0.sock", doors);
    setenv("XDG_RUNTIME_DIR", folder, 1);
    descriptors = process_descriptors();
}

/* The thread ends, and takes with it all it had; the leak detector sees to the memory. */
static void teardown(void)
{
    UNTIL(process_threads(getpid(), "faultloc-door") == 0 &&
          process_descriptors() == descriptors);
    ck_assert_int_ne(access(path, F_OK), 0);
    rmdir(doors);
    ck_assert_int_eq(rmdir(folder), 0);
}

START_TEST(the_door_comes_to_the_owner_once)
{
    struct pollfd p = {.events = POLLIN};

    setup();
    start();
    p.fd = faultloc_porter_fd(porter);
    ck_assert_int_eq(poll(&p, 1, PROCESS_DEADLINE_MS), 1);
    ck_assert(faultloc_porter_take(porter, &door));
    ck_assert_str_eq(door.path, path);
    ck_assert_int_eq(access(path, F_OK), 0);
    ck_assert(!faultloc_porter_is_busy(porter));
    ck_assert(!faultloc_porter_take(porter, &door));
    faultloc_porter_stop(porter, PROCESS_DEADLINE_MS);
    ck_assert_int_ne(access(path, F_OK), 0);
    teardown();
}
END_TEST

START_TEST(a_door_that_cannot_be_is_given_up)
{
    setup();
    ck_assert_int_eq(mkdir(doors, 0755), 0); /* open to others */
    start();
    UNTIL(!faultloc_porter_is_busy(porter));
    ck_assert(!faultloc_porter_take(porter, &door));
    faultloc_porter_stop(porter, PROCESS_DEADLINE_MS);
    teardown();
}
END_TEST

/* At whatever point the thread is. */
START_TEST(it_may_be_stopped_at_any_time)
{
    setup();
    for (int i = 0; i < 100; i++) {
        start();
        if (i % 3 == 0)
            UNTIL(!faultloc_porter_is_busy(porter));
        faultloc_porter_stop(porter, PROCESS_DEADLINE_MS);
    }
    faultloc_porter_stop(NULL, 0);
    teardown();
}
END_TEST

START_TEST(who_hangs_is_left_behind)
{
    setup();
    hang_begin(folder);
    start();
    UNTIL(*hang_held == 1);
    ck_assert(faultloc_porter_is_busy(porter));
    ck_assert(!faultloc_porter_take(porter, &door));
    faultloc_porter_stop(porter, 1); /* returns */
    ck_assert_int_eq(*hang_held, 1);
    hang_end();
    teardown();
}
END_TEST

START_TEST(what_hung_comes_late)
{
    setup();
    hang_begin(folder);
    start();
    UNTIL(*hang_held == 1);
    hang_end();
    UNTIL(faultloc_porter_take(porter, &door));
    ck_assert_int_eq(access(path, F_OK), 0);
    faultloc_porter_stop(porter, PROCESS_DEADLINE_MS);
    teardown();
}
END_TEST

SUITE("faultloc_porter")
{
    TEST(the_door_comes_to_the_owner_once);
    TEST(a_door_that_cannot_be_is_given_up);
    TEST(it_may_be_stopped_at_any_time);
    TEST(who_hangs_is_left_behind);
    TEST(what_hung_comes_late);
}
