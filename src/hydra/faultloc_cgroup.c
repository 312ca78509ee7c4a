/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc_cgroup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUPS 64 /* of one node */
#define PATH 512

static struct {
    char path[PATH];
    long kills;
} groups[GROUPS];

/* Where the kernel counts, for one line "HIERARCHY:CONTROLLERS:/PATH" of /proc/PID/cgroup. */
static bool counter_of(char *line, char *out, size_t room)
{
    char *controllers = strchr(line, ':'),
         *path = controllers ? strchr(controllers + 1, ':') : NULL;
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

int HYD_faultloc_cgroup_of(pid_t pid)
{
    char path[PATH];

    if (!find_counter(pid, path, sizeof(path)))
        return -1;
    for (int i = 0; i < GROUPS; i++) {
        if (!groups[i].path[0]) {
            snprintf(groups[i].path, PATH, "%s", path);
            groups[i].kills = read_counter(path);
        }
        if (!strcmp(groups[i].path, path))
            return i;
    }
    return -1;
}

bool HYD_faultloc_cgroup_killed(int group)
{
    if (group < 0 || read_counter(groups[group].path) <= groups[group].kills)
        return false;
    groups[group].kills++;
    return true;
}
