/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc_cgroup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUPS 64 /* more are not told apart: their kills of before this job count, too */
#define PATH 512

static struct {
    char path[PATH];
    long kills;
} groups[GROUPS];

/* Where the kernel counts, for one line "HIERARCHY:CONTROLLERS:/PATH" of /proc/PID/cgroup. */
static bool counter_of(char *line, char *out, size_t room)
{
    char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;
    const char *at[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};

    if (!path)
        return false;
    *path++ = '\0';
    path[strcspn(path, "\n")] = '\0';
    if (strstr(controllers, "memory")) {
        snprintf(out, room, "/sys/fs/cgroup/memory%s/memory.oom_control", path);
        return true;
    }
    for (size_t i = 0; controllers[1] == '\0' && i < sizeof(at) / sizeof(at[0]); i++) {
        FILE *f;
        snprintf(out, room, "%s%s/memory.events", at[i], path);
        f = fopen(out, "re");
        if (f) {
            fclose(f);
            return true;
        }
    }
    return false;
}

static bool find_counter(pid_t pid, char *out, size_t room)
{
    char name[64], line[PATH];
    bool found = false;
    FILE *f;

    snprintf(name, sizeof(name), "/proc/%d/cgroup", (int) pid);
    f = fopen(name, "re");
    while (f && !found && fgets(line, sizeof(line), f))
        found = counter_of(line, out, room);
    if (f)
        fclose(f);
    return found;
}

static long read_counter(const char *path)
{
    char line[128];
    long kills = 0;
    FILE *f = fopen(path, "re");

    while (f && fgets(line, sizeof(line), f))
        if (!strncmp(line, "oom_kill ", strlen("oom_kill ")))
            kills = strtol(line + strlen("oom_kill "), NULL, 10);
    if (f)
        fclose(f);
    return kills;
}

/* Its place in `groups`; -1: there is no room. */
static int find_group(const char *path)
{
    for (int i = 0; i < GROUPS; i++) {
        if (!groups[i].path[0])
            snprintf(groups[i].path, PATH, "%s", path);
        if (!strcmp(groups[i].path, path))
            return i;
    }
    return -1;
}

void HYD_faultloc_cgroup_note(pid_t pid)
{
    char path[PATH];
    int i = find_counter(pid, path, sizeof(path)) ? find_group(path) : -1;

    if (i >= 0)
        groups[i].kills = read_counter(path);
}

bool HYD_faultloc_cgroup_killed(pid_t pid)
{
    char path[PATH];
    long kills, before = 0;
    int i;

    if (!find_counter(pid, path, sizeof(path)))
        return false;
    kills = read_counter(path);
    i = find_group(path);
    if (i >= 0) {
        before = groups[i].kills;
        groups[i].kills = kills;
    }
    return kills > before;
}
