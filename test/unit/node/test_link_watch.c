/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/node/link_watch.h"
#include "files.h"
#include "suite.h"

#include <errno.h>
#include <unistd.h>

/* When changes of the data interface are symptoms; and that the kernel can be asked for them. */

#define S (1000 * FTREE_MS)
#define LONG S

static struct faultloc_link_watch w;
static struct ftree_symptom s;

BEFORE_EACH
{
    w = (struct faultloc_link_watch){.iface = "eth0",
                                     .port = "",
                                     .fd = -1,
                                     .link = FTREE_LINK_UP,
                                     .iface_link = FTREE_LINK_UP,
                                     .port_link = FTREE_LINK_UP};
}

static bool says(ftree_time at, ftree_time waits)
{
    return faultloc_link_watch_symptom(&w, at, 3, waits, &s);
}

TEST_CASE(a_loss_that_lasts_while_a_rank_waits)
{
    faultloc_link_watch_note(&w, 10 * S, FTREE_LINK_NO_CARRIER);
    ck_assert_uint_eq(faultloc_link_watch_deadline(&w, 10 * S), 10 * S + 400 * FTREE_MS);
    ck_assert(!says(10 * S + 300 * FTREE_MS, LONG)); /* it may be a flap */
    ck_assert(!says(11 * S, 0)); /* nobody is harmed */
    ck_assert(says(11 * S, LONG));
    ck_assert_int_eq(s.kind, FTREE_SYMPTOM_CARRIER_LOST);
    ck_assert_int_eq(s.about.node, 3);
    ck_assert_int_eq(s.about.kind, FTREE_KIND_LINK);
    ck_assert_uint_eq(s.first, 10 * S);
    ck_assert(!says(12 * S, LONG)); /* once, */
    ck_assert(says(17 * S, LONG)); /* or what was said is lost */
    ck_assert_uint_eq(w.changes, 1);
    faultloc_link_watch_note(&w, 18 * S, FTREE_LINK_UP);
    ck_assert_uint_eq(w.changes, 2);
    ck_assert(!says(30 * S, LONG));
    ck_assert_uint_eq(faultloc_link_watch_deadline(&w, 30 * S), FTREE_NEVER);
}

TEST_CASE(an_interface_that_is_down_or_gone)
{
    faultloc_link_watch_note(&w, 10 * S, FTREE_LINK_DOWN);
    ck_assert_uint_eq(faultloc_link_watch_deadline(&w, 10 * S), 10 * S + 200 * FTREE_MS);
    faultloc_link_watch_note(&w, 11 * S, FTREE_LINK_GONE);
    ck_assert(says(11 * S, LONG));
    ck_assert_int_eq(s.kind, FTREE_SYMPTOM_INTERFACE_DOWN);
    ck_assert_uint_eq(s.first, 10 * S);
}

TEST_CASE(one_that_was_never_up_is_no_news)
{
    w.link = FTREE_LINK_UNKNOWN;
    faultloc_link_watch_note(&w, 10 * S, FTREE_LINK_NO_CARRIER);
    ck_assert(!says(20 * S, LONG));
}

static void flap(ftree_time at)
{
    faultloc_link_watch_note(&w, at, FTREE_LINK_NO_CARRIER);
    faultloc_link_watch_note(&w, at + 300 * FTREE_MS, FTREE_LINK_UP);
}

TEST_CASE(a_link_that_comes_and_goes)
{
    flap(10 * S);
    ck_assert(!says(11 * S, LONG)); /* one may be an accident */
    flap(15 * S);
    ck_assert_uint_eq(faultloc_link_watch_deadline(&w, 16 * S), 16 * S);
    ck_assert(says(16 * S, 0));
    ck_assert_int_eq(s.kind, FTREE_SYMPTOM_CARRIER_FLAPS);
    ck_assert_str_eq(s.detail, "eth0 was lost and came back 2 times, 5.0 s apart");
    ck_assert(!says(17 * S, 0));
}

TEST_CASE(one_that_somebody_switches_off_and_on)
{
    for (int i = 1; i <= 3; i++) {
        faultloc_link_watch_note(&w, 10 * i * S, i < 3 ? FTREE_LINK_DOWN : FTREE_LINK_NO_CARRIER);
        faultloc_link_watch_note(&w, 10 * i * S + FTREE_MS, FTREE_LINK_DOWN);
        faultloc_link_watch_note(&w, 10 * i * S + 2 * FTREE_MS, FTREE_LINK_UP);
    }
    ck_assert(!says(31 * S, LONG));
}

TEST_CASE(two_that_are_far_apart)
{
    flap(10 * S);
    flap(100 * S);
    ck_assert(!says(101 * S, LONG));
}

static bool says_slow(ftree_time at, const char *speed)
{
    files_write("class/net/eth0/speed", speed);
    return says(at, 0);
}

TEST_CASE(a_port_that_was_trained_low)
{
    files_begin();
    w.sys_root = files_root;
    ck_assert(!says_slow(10 * S, "5000\n")); /* nobody knows what it should be */
    w.due_mbps = 10000;
    ck_assert(!says_slow(20 * S, "10000\n"));
    ck_assert(!says_slow(21 * S, "5000\n")); /* it is not looked at all the time */
    ck_assert(says_slow(23 * S, "5000\n"));
    ck_assert_int_eq(s.kind, FTREE_SYMPTOM_LINK_SLOW);
    ck_assert_int_eq(s.about.node, 3);
    ck_assert_str_eq(s.detail, "eth0 has 5000 Mbit/s instead of 10000");
    ck_assert(!says_slow(30 * S, "5000\n")); /* once */
    ck_assert(says_slow(40 * S, "1000\n"));
    ck_assert(!says_slow(50 * S, "-1\n"));
    ck_assert(!says_slow(60 * S, "400000000000000000000\n"));
    ck_assert(!says_slow(70 * S, "7x\n"));
    ck_assert(!says_slow(80 * S, ""));
    ck_assert(!says_slow(90 * S, "25000\n"));
}

/* A link that is lost has no speed. */
TEST_CASE(the_speed_of_what_is_up_counts)
{
    files_begin();
    w.sys_root = files_root;
    w.due_mbps = 10000;
    faultloc_link_watch_note(&w, 10 * S, FTREE_LINK_NO_CARRIER);
    ck_assert(!says_slow(20 * S, "10\n"));
}

#define PORT "class/infiniband/mlx5_0/ports/1/"

static void begin_port(const char *state)
{
    files_begin();
    files_write(PORT "state", state);
    files_write(PORT "phys_state", "2: Polling\n");
    files_write(PORT "rate", "100 Gb/sec (4X EDR)\n");
    files_write(PORT "counters/link_downed", "7\n");
    if (faultloc_link_watch_open(&w, files_root, "lo", "mlx5_0:1", 100000) == 0)
        faultloc_link_watch_close(&w); /* else a container does not allow it */
    w.link = w.iface_link = FTREE_LINK_UP;
}

TEST_CASE(a_port_that_is_not_active_any_more)
{
    begin_port("4: ACTIVE\n");
    ck_assert(!says(10 * S, LONG));
    files_write(PORT "state", "1: DOWN\n");
    ck_assert(!says(11 * S, 0)); /* nobody waits, and nobody looks */
    ck_assert_uint_eq(w.lost, 0);
    ck_assert(!says(12 * S, LONG));
    ck_assert_uint_eq(faultloc_link_watch_deadline(&w, 12 * S), 12 * S + 400 * FTREE_MS);
    ck_assert(says(13 * S, LONG));
    ck_assert_int_eq(s.kind, FTREE_SYMPTOM_CARRIER_LOST);
    ck_assert_str_eq(s.detail, "mlx5_0:1 is DOWN, Polling");
    faultloc_link_watch_note(&w, 14 * S, FTREE_LINK_DOWN); /* the interface on it, too */
    faultloc_link_watch_note(&w, 15 * S, FTREE_LINK_UP);
    ck_assert_uint_eq(w.lost, 12 * S);
    ck_assert_uint_eq(w.changes, 2);
    files_write(PORT "state", "4: ACTIVE\n");
    ck_assert(!says(20 * S, LONG));
    ck_assert_uint_eq(w.lost, 0);
}

TEST_CASE(a_port_that_is_taken_out)
{
    begin_port("4: ACTIVE\n");
    unlink(files_path(PORT "state"));
    ck_assert(!says(10 * S, LONG));
    ck_assert(says(11 * S, LONG));
    ck_assert_int_eq(s.kind, FTREE_SYMPTOM_INTERFACE_DOWN);
    ck_assert_str_eq(s.detail, "mlx5_0:1 is gone");
}

/* The job does not use it. */
TEST_CASE(a_port_that_was_never_active)
{
    begin_port("2: INIT\n");
    files_write(PORT "state", "1: DOWN\n");
    files_write(PORT "counters/link_downed", "9\n");
    ck_assert(!says(10 * S, LONG));
    ck_assert(!says(20 * S, LONG));
}

TEST_CASE(a_port_that_comes_and_goes_between_looks)
{
    begin_port("4: ACTIVE\n");
    for (int i = 0; i < 2; i++) {
        ck_assert(!says((10 + 5 * i) * S, LONG));
        files_write(PORT "counters/link_downed", i ? "9\n" : "8\n");
    }
    ck_assert(says(20 * S, LONG));
    ck_assert_int_eq(s.kind, FTREE_SYMPTOM_CARRIER_FLAPS);
    ck_assert_str_eq(s.detail, "mlx5_0:1 was lost and came back 2 times, 5.0 s apart");
    ck_assert(!says(21 * S, LONG));
}

TEST_CASE(an_adapter_that_was_trained_low)
{
    begin_port("4: ACTIVE\n");
    ck_assert(!says(10 * S, LONG));
    files_write(PORT "rate", "25 Gb/sec (1X EDR)\n");
    ck_assert(says(20 * S, LONG));
    ck_assert_int_eq(s.kind, FTREE_SYMPTOM_LINK_SLOW);
    ck_assert_str_eq(s.detail, "mlx5_0:1 has 25000 Mbit/s instead of 100000");
}

TEST_CASE(the_kernel_is_asked)
{
    if (faultloc_link_watch_open(&w, NULL, "lo", "", 0))
        return; /* a container may not allow it */
    ck_assert_int_ge(w.fd, 0);
    faultloc_link_watch_hear(&w, S); /* nothing is told yet, and that is not waited for */
    ck_assert(!says(S, LONG));
    faultloc_link_watch_close(&w);
    ck_assert_int_eq(faultloc_link_watch_open(&w, NULL, "", NULL, 0), ENODEV);
    faultloc_link_watch_hear(&w, S);
}
