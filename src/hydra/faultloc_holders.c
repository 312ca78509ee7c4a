/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "faultloc_holders.h"
#include "faultloc_process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool HYD_faultloc_has_open(const char *proc, int pid, const char *wanted)
{
    char path[256], target[64];
    const struct dirent *e;
    bool found = false;
    ssize_t len;
    DIR *dir;

    snprintf(path, sizeof(path), "%s/%d/fd", proc, pid);
    dir = opendir(path);
    while (dir && !found && (e = readdir(dir))) {
        len = readlinkat(dirfd(dir), e->d_name, target, sizeof(target) - 1);
        target[len > 0 ? len : 0] = '\0';
        found = !strcmp(target, wanted);
    }
    if (dir)
        closedir(dir);
    return found;
}

/* Only root may see which pipes a process of FaultLoc has, because it has the job's key and has
 * forbidden others to look at it.  One of this user counts as having the pipe. */
static bool is_hidden(int pid)
{
    char name[64], line[128];
    unsigned uid = 0;
    bool found = false;
    FILE *f;

    snprintf(name, sizeof(name), "/proc/%d/fd", pid);
    if (access(name, R_OK | X_OK) == 0 || errno != EACCES)
        return false;
    snprintf(name, sizeof(name), "/proc/%d/status", pid);
    f = fopen(name, "re");
    while (f && !found && fgets(line, sizeof(line), f))
        found = sscanf(line, "Uid: %u", &uid) == 1;
    if (f)
        fclose(f);
    return found && uid == getuid();
}

static bool is_own(int pid)
{
    char comm[32];

    HYD_faultloc_read_line("/proc", pid, "comm", comm, sizeof(comm));
    return !strncmp(comm, HYD_FAULTLOC_PROGRAM, strlen(HYD_FAULTLOC_PROGRAM));
}

struct HYD_faultloc_holders HYD_faultloc_holders(int pipe_fd)
{
    struct HYD_faultloc_holders h = {.pid = 0};
    char wanted[64]; /* both ends have the same number */
    const struct dirent *e;
    struct stat s;
    DIR *dir = fstat(pipe_fd, &s) ? NULL : opendir("/proc");

    if (!dir)
        return h;
    snprintf(wanted, sizeof(wanted), "pipe:[%llu]", (unsigned long long) s.st_ino);
    while (!h.others && (e = readdir(dir))) {
        int pid = (int) strtol(e->d_name, NULL, 10);
        if (pid <= 0 || pid == getpid())
            continue;
        if (!HYD_faultloc_has_open("/proc", pid, wanted))
            h.own |= is_own(pid) && is_hidden(pid);
        else if (is_own(pid))
            h.own = true;
        else {
            h.others = true;
            h.pid = pid;
            HYD_faultloc_read_line("/proc", pid, "comm", h.name, sizeof(h.name));
        }
    }
    closedir(dir);
    return h;
}
