/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "faultloc/node/rank_lag.h"
#include "suite.h"

#include "files.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What slows ranks, as folders like /proc and /sys say. */

#define MS FTREE_MS
#define SECOND (1000 * MS)

static char sys[80];
static struct faultloc_board *board;
static struct faultloc_seen seen[4];
static struct faultloc_watch watch;
static struct faultloc_lags lags;

static void write_stat(int pid, int faults)
{
    char line[256], name[32];

    snprintf(line, sizeof(line),
             "%d (app) R 1 40 40 0 -1 0 5 0 %d 0 9 9 0 0 20 0 1 0 777 0 0 0 0 0 0 "
             "0 0 0 0 0 0 0 0 0 17 3 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
             pid, faults);
    snprintf(name, sizeof(name), "%d/stat", pid);
    files_write(name, line);
}

static void write_run(int pid, unsigned long ran_ms, unsigned long waited_ms)
{
    char line[80], name[32];

    snprintf(line, sizeof(line), "%lu000000 %lu000000 7\n", ran_ms, waited_ms);
    snprintf(name, sizeof(name), "%d/schedstat", pid);
    files_write(name, line);
}

static void make(int32_t slots)
{
    int fd;

    files_begin();
    snprintf(sys, sizeof(sys), "%s/sys", files_root);
    ck_assert_int_eq(faultloc_board_make(1, slots, slots, 0, &board, &fd), 0);
    close(fd);
    board->settings.sample = 400 * MS;
    watch = (struct faultloc_watch){.board = board, .proc_root = files_root, .seen = seen};
    lags = (struct faultloc_lags){.watch = &watch, .sys_root = sys};
    for (int32_t i = 0; i < slots; i++) {
        struct faultloc_slot *slot = faultloc_board_slot(board, i);
        *slot = (struct faultloc_slot){.rank = 10 + i, .pid = 4000040 + i, .start = 777};
        slot->state = FAULTLOC_SLOT_RUNNING;
        write_stat(slot->pid, 100);
        write_run(slot->pid, 5000, 100);
    }
    files_write("stat", "cpu  1000 0 0 5000 0 0 0 0 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n");
}

AFTER_EACH
{
    free(lags.seen);
}

static struct ftree_lag look(ftree_time now, int32_t i)
{
    struct ftree_lag lag = {.rank = 10 + i, .beside = FTREE_NONE};

    faultloc_lag_look(&lags, now, i, &lag);
    return lag;
}

TEST_CASE(two_questions_measure)
{
    struct ftree_lag lag;

    make(1);
    lag = look(10 * SECOND, 0);
    ck_assert(!lag.measured);
    write_run(4000040, 5400, 1700); /* 0.4 s of 2 s */
    write_stat(4000040, 500);
    files_write("stat", "cpu  1100 0 0 5500 0 0 0 100 0 0\n");
    files_write("pressure/memory", "some avg10=12.50 avg60=1 avg300=0 total=1\n");
    lag = look(14 * SECOND, 0);
    ck_assert(lag.measured);
    ck_assert_int_eq(lag.wants, 500);
    ck_assert_int_eq(lag.gets, 200);
    ck_assert_int_eq(lag.throttled, 0);
    ck_assert_int_eq(lag.stolen, 500);
    ck_assert_int_eq(lag.stall, 125);
    ck_assert_uint_eq(lag.faults, 100);
    ck_assert_int_eq(lag.clock, 0);
    ck_assert_int_eq(lag.beside, FTREE_NONE);
}

static const struct {
    ftree_time after;
    bool measured;
} questions[] = {{100 * MS, false}, {799 * MS, false}, {800 * MS, true},
                 {20 * SECOND, true}, {200 * SECOND, false}};

TEST_CASES(too_soon_and_too_late_is_not_measured, COUNT(questions))
{
    make(1);
    look(10 * SECOND, 0);
    ck_assert(look(10 * SECOND + questions[_i].after, 0).measured == questions[_i].measured);
    if (questions[_i].after < SECOND) /* but by the next one, from the first on */
        ck_assert(look(14 * SECOND, 0).measured);
}

static const struct {
    const char *cgroup; /* of the process */
    const char *folder; /* that has the quota */
    int throttled;
} groups[] = {
    {"4:memory:/x\n3:cpu,cpuacct:/job/7\n0::/\n", "sys/fs/cgroup/cpu/job/7", 900},
    {"3:cpuacct,cpu:/job/7\n", "sys/fs/cgroup/cpu,cpuacct/job/7", 900},
    {"3:cpu:/job/7\n", "sys/fs/cgroup/cpu/job", 900}, /* the one above it */
    {"0::/job/7\n", "sys/fs/cgroup/job/7", 900},
    {"0::/\n", "sys/fs/cgroup", 900}, /* a container's */
    {"5:cpu:/\n0::/job/7\n", "sys/fs/cgroup/unified/job/7", 900},
    {"3:cpuset:/job/7\n", "sys/fs/cgroup/cpuset/job/7", 0},
    {"3:cpu:/job/8\n", "sys/fs/cgroup/cpu/job/7", 0},
    {"nonsense\n3:cpu\n", "sys/fs/cgroup/cpu/job/7", 0},
    {"", "sys/fs/cgroup/cpu/job/7", 0},
};

TEST_CASE(a_quota_above_that_is_not_used_up_hides_nothing)
{
    make(1);
    files_write("4000040/cgroup", "0::/job/7\n");
    files_write("sys/fs/cgroup/job/cpu.stat", "nr_periods 100\nnr_throttled 0\n");
    files_write("sys/fs/cgroup/job/7/cpu.stat", "nr_periods 100\nnr_throttled 50\n");
    look(10 * SECOND, 0);
    files_write("sys/fs/cgroup/job/cpu.stat", "nr_periods 140\nnr_throttled 0\n");
    files_write("sys/fs/cgroup/job/7/cpu.stat", "nr_periods 140\nnr_throttled 56\n");
    ck_assert_int_eq(look(14 * SECOND, 0).throttled, 150);
}

TEST_CASES(a_quota_of_its_cgroup_is_seen, COUNT(groups))
{
    char name[120];

    make(1);
    files_write("4000040/cgroup", groups[_i].cgroup);
    snprintf(name, sizeof(name), "%s/cpu.stat", groups[_i].folder);
    files_write(name, "nr_periods 100\nnr_throttled 50\nthrottled_time 7\n");
    look(10 * SECOND, 0);
    files_write(name, "usage_usec 9\nnr_periods 140\nnr_throttled 86\nthrottled_time 9\n");
    ck_assert_int_eq(look(14 * SECOND, 0).throttled, groups[_i].throttled);
}

TEST_CASES(a_clock_is_compared_with_the_nominal_one, 2)
{
    static const char *const nominal[] = {"base_frequency", "cpuinfo_max_freq"};
    char name[120];

    make(1);
    files_write("sys/devices/system/cpu/cpu3/cpufreq/scaling_cur_freq", "800000\n");
    snprintf(name, sizeof(name), "sys/devices/system/cpu/cpu3/cpufreq/%s", nominal[_i]);
    files_write(name, "2000000\n");
    look(10 * SECOND, 0);
    write_run(4000040, 9000, 100);
    ck_assert_int_eq(look(14 * SECOND, 0).clock, 400);
}

/* This process is two ranks, bound to one core. */
TEST_CASE(ranks_that_are_bound_to_one_core_are_seen)
{
    cpu_set_t before, one;

    make(3);
    ck_assert_int_eq(sched_getaffinity(0, sizeof(before), &before), 0);
    for (int32_t i = 0; i < 2; i++)
        faultloc_board_slot(board, i)->pid = (int32_t) getpid();
    write_stat((int) getpid(), 3);
    write_run((int) getpid(), 5000, 100);
    CPU_ZERO(&one);
    for (int cpu = 0; CPU_COUNT(&one) == 0; cpu++)
        if (CPU_ISSET(cpu, &before))
            CPU_SET(cpu, &one);
    ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
    for (int32_t i = 0; i < 3; i++)
        look(10 * SECOND, i);
    ck_assert_int_eq(look(14 * SECOND, 0).beside, 11);
    ck_assert_int_eq(look(14 * SECOND, 1).beside, 10);
    ck_assert_int_eq(look(14 * SECOND, 2).beside, FTREE_NONE);
    faultloc_board_slot(board, 1)->state = FAULTLOC_SLOT_LEFT;
    ck_assert_int_eq(look(18 * SECOND, 0).beside, FTREE_NONE);
    ck_assert(!look(18 * SECOND, 1).measured);
    sched_setaffinity(0, sizeof(before), &before);
}

/* Its number is another process's now. */
TEST_CASE(of_another_process_nothing_is_measured)
{
    make(1);
    look(10 * SECOND, 0);
    faultloc_board_slot(board, 0)->start = 778;
    ck_assert(!look(14 * SECOND, 0).measured);
}
