/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/node/cgroup.h"
#include "suite.h"

#include "files.h"

#include <stdio.h>
#include <string.h>

/* What control groups say of a process's memory; those of its CPU are in test_rank_lag.c. */

static const struct {
    const char *cgroup; /* of the process */
    const char *folder, *limit, *used; /* what its files say */
    const char *text;
} groups[] = {
    {"0::/job/7\n", "sys/fs/cgroup/job/7", "67108864\n", "67104768\n",
     "64.0 of 64.0 MiB used in /job/7"},
    {"0::/job/7\n", "sys/fs/cgroup/job", "1073741824\n", "536870912\n",
     "512.0 of 1024.0 MiB used in /job"}, /* the one above it */
    {"0::/\n", "sys/fs/cgroup", "67108864\n", "0\n", "0.0 of 64.0 MiB used in /"}, /* a container's */
    {"0::/job/7\n", "sys/fs/cgroup/unified/job/7", "67108864\n", "67108864\n",
     "64.0 of 64.0 MiB used in /job/7"},
    {"0::/job/7\n", "sys/fs/cgroup/job/7", "max\n", "67104768\n", ""},
    {"0::/job/7\n", "sys/fs/cgroup/job/8", "67108864\n", "67104768\n", ""},
    {"nonsense\n", "sys/fs/cgroup/job/7", "67108864\n", "67104768\n", ""},
};

static void expect(const char *expected)
{
    char sys[80], text[128] = "?";

    snprintf(sys, sizeof(sys), "%s/sys", files_root);
    faultloc_cgroup_memory(files_root, sys, 40, text, sizeof(text));
    ck_assert_str_eq(text, expected);
}

BEFORE_EACH
{
    files_begin();
}

TEST_CASES(how_much_memory_it_may_use, COUNT(groups))
{
    char name[120];

    files_write("40/cgroup", groups[_i].cgroup);
    snprintf(name, sizeof(name), "%s/memory.max", groups[_i].folder);
    files_write(name, groups[_i].limit);
    snprintf(name, sizeof(name), "%s/memory.current", groups[_i].folder);
    files_write(name, groups[_i].used);
    expect(groups[_i].text);
}

/* Without a limit there is a number, too. */
TEST_CASE(with_version_1_of_control_groups)
{
    files_write("40/cgroup", "4:memory:/bugs\n3:cpu,cpuacct:/job/7\n0::/\n");
    files_write("sys/fs/cgroup/memory/bugs/memory.limit_in_bytes", "9223372036854771712\n");
    files_write("sys/fs/cgroup/memory/bugs/memory.usage_in_bytes", "134217728\n");
    expect("");
    files_write("sys/fs/cgroup/memory/bugs/memory.limit_in_bytes", "134217728\n");
    expect("128.0 of 128.0 MiB used in /bugs");
}

TEST_CASE(the_fullest_of_all_levels)
{
    files_write("40/cgroup", "0::/job/7\n");
    files_write("sys/fs/cgroup/job/memory.max", "2097152\n");
    files_write("sys/fs/cgroup/job/memory.current", "2097152\n");
    files_write("sys/fs/cgroup/job/7/memory.max", "2097152\n");
    files_write("sys/fs/cgroup/job/7/memory.current", "1048576\n");
    expect("2.0 of 2.0 MiB used in /job");
}
