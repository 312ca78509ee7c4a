/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "faultloc_holders.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* "pipe:[NUMBER]": both ends have the same. */
static bool has_open(const char *pid, const char *wanted)
{
    char name[64], target[64];
    const struct dirent *e;
    bool found = false;
    ssize_t len;
    DIR *dir;

    snprintf(name, sizeof(name), "/proc/%.16s/fd", pid);
    dir = opendir(name);
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
static bool is_hidden(const char *pid)
{
    char name[64], line[128];
    unsigned uid = 0;
    bool found = false;
    FILE *f;

    snprintf(name, sizeof(name), "/proc/%.16s/fd", pid);
    if (access(name, R_OK | X_OK) == 0 || errno != EACCES)
        return false;
    snprintf(name, sizeof(name), "/proc/%.16s/status", pid);
    f = fopen(name, "re");
    while (f && !found && fgets(line, sizeof(line), f))
        found = sscanf(line, "Uid: %u", &uid) == 1;
    if (f)
        fclose(f);
    return found && uid == getuid();
}

static void read_name(const char *pid, char comm[32])
{
    char name[64];
    FILE *f;

    comm[0] = '\0';
    snprintf(name, sizeof(name), "/proc/%.16s/comm", pid);
    f = fopen(name, "re");
    if (f && !fgets(comm, 32, f))
        comm[0] = '\0';
    if (f)
        fclose(f);
    comm[strcspn(comm, "\n")] = '\0';
    for (char *c = comm; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
}

static bool is_own(const char *pid)
{
    char comm[32];

    read_name(pid, comm);
    return !strncmp(comm, HYD_FAULTLOC_PROGRAM, strlen(HYD_FAULTLOC_PROGRAM));
}

struct HYD_faultloc_holders HYD_faultloc_holders(int pipe_fd)
{
    struct HYD_faultloc_holders h = {.pid = 0};
    char wanted[64];
    const struct dirent *e;
    struct stat s;
    DIR *dir = fstat(pipe_fd, &s) ? NULL : opendir("/proc");

    if (!dir)
        return h;
    snprintf(wanted, sizeof(wanted), "pipe:[%llu]", (unsigned long long) s.st_ino);
    while (!h.others && (e = readdir(dir))) {
        if (!isdigit((unsigned char) e->d_name[0]) || strtol(e->d_name, NULL, 10) == getpid())
            continue;
        if (!has_open(e->d_name, wanted))
            h.own |= is_own(e->d_name) && is_hidden(e->d_name);
        else if (is_own(e->d_name))
            h.own = true;
        else {
            h.others = true;
            h.pid = (int) strtol(e->d_name, NULL, 10);
            read_name(e->d_name, h.name);
        }
    }
    closedir(dir);
    return h;
}
