/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "faultloc/base/cgroup.h"
#include "suite.h"

#include "files.h"

#define PID 40

static char sys[80], visited[512];

static void setup(void)
{
    files_begin();
    snprintf(sys, sizeof(sys), "%s/sys", files_root);
    visited[0] = '\0';
}

/* "MOUNT|GROUP " for each folder. */
static void note_visit(void *ctx, char folder[FAULTLOC_CGROUP_PATH], size_t top)
{
    size_t mounts = strlen(sys) + strlen("/fs/cgroup"), len = strlen(visited);

    ck_assert_ptr_eq(ctx, visited);
    ck_assert_uint_ge(top, mounts);
    snprintf(visited + len, sizeof(visited) - len, "%.*s|%s ", (int) (top - mounts),
             folder + mounts, folder + top);
}

static const struct {
    const char *groups; /* /proc/PID/cgroup */
    const char *mounts[3]; /* hierarchies that are there */
    const char *visits;
} rows[] = {
    {"4:memory:/x\n3:cpu,cpuacct:/job/7\n", {"cpu"}, "/cpu|/job/7 "},
    {"3:cpu,cpuacct:/job/7\n", {"cpu,cpuacct"}, "/cpu,cpuacct|/job/7 "},
    {"3:cpuset:/job/7\n", {"cpuset", "cpu"}, ""},
    {"3:cpu:/job/7\n", {"cpuset"}, ""},
    {"0::/job/7\n", {"."}, "|/job/7 "},
    {"0::/\n", {"."}, "| "}, /* a container's */
    {"5:cpu:/\n0::/job/7\n", {"unified", "cpu"}, "/cpu| |/job/7 /unified|/job/7 "},
    {"nonsense\n3:cpu\n3:cpu:job\n", {"cpu"}, ""},
    {"", {"cpu"}, ""},
    {NULL, {"cpu"}, ""},
};

START_TEST(folders_of_its_groups_are_visited)
{
    char name[120];

    setup();
    if (rows[_i].groups)
        files_write("40/cgroup", rows[_i].groups);
    for (int i = 0; i < 3 && rows[_i].mounts[i]; i++) {
        snprintf(name, sizeof(name), "sys/fs/cgroup/%s/cpu.stat", rows[_i].mounts[i]);
        files_write(name, "");
    }
    faultloc_cgroup_visit(files_root, sys, PID, "cpu", note_visit, visited);
    ck_assert_str_eq(visited, rows[_i].visits);
    files_end();
}
END_TEST

START_TEST(a_path_that_is_too_long_is_not_visited)
{
    char groups[700] = "3:cpu:/";

    setup();
    memset(groups + strlen(groups), 'x', 600);
    files_write("40/cgroup", groups);
    files_write("sys/fs/cgroup/cpu/cpu.stat", "");
    faultloc_cgroup_visit(files_root, sys, PID, "cpu", note_visit, visited);
    ck_assert_str_eq(visited, "");
    files_end();
}
END_TEST

static const struct {
    const char *groups, *file, *text;
    bool frozen;
} states[] = {
    {"3:freezer:/job\n", "freezer/job/freezer.state", "FROZEN\n", true},
    {"3:freezer:/job\n", "freezer/job/freezer.state", "FREEZING\n", false},
    {"3:freezer:/job\n", "freezer/job/freezer.state", "THAWED\n", false},
    {"3:freezer:/\n", "freezer/job/freezer.state", "FROZEN\n", false},
    {"0::/job\n", "job/cgroup.events", "populated 1\nfrozen 1\n", true},
    {"0::/job\n", "job/cgroup.events", "populated 1\nfrozen 0\n", false},
    {"3:freezer:/\n0::/job\n", "unified/job/cgroup.events", "populated 1\nfrozen 1\n", true},
};

START_TEST(one_that_is_frozen_is_seen)
{
    char name[120];

    setup();
    files_write("40/cgroup", states[_i].groups);
    snprintf(name, sizeof(name), "sys/fs/cgroup/%s", states[_i].file);
    files_write(name, states[_i].text);
    ck_assert_int_eq(faultloc_cgroup_is_frozen(files_root, sys, PID), states[_i].frozen);
    files_end();
}
END_TEST

SUITE("faultloc_cgroup")
{
    TEST_ROWS(folders_of_its_groups_are_visited, COUNT(rows));
    TEST(a_path_that_is_too_long_is_not_visited);
    TEST_ROWS(one_that_is_frozen_is_seen, COUNT(states));
}
