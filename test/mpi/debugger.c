/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* What a debugger does to processes: it attaches to all their threads, which stops them, holds them
 * for a while, and lets them go on.
 *
 * debugger MS PID...
 *
 * Exit code: 0 all were held, 1 one could not be attached to, 2 wrong usage. */

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

static pid_t held[4096];
static size_t count;

static int is_held(pid_t tid)
{
    for (size_t i = 0; i < count; i++)
        if (held[i] == tid)
            return 1;
    return 0;
}

static int hold(pid_t tid)
{
    if (count == sizeof(held) / sizeof(*held) || ptrace(PTRACE_ATTACH, tid, NULL, NULL))
        return errno == ESRCH ? 0 : -1;
    held[count++] = tid;
    return waitpid(tid, NULL, __WALL) == tid ? 1 : -1;
}

/* Once more as long as there are new ones: a thread that runs may start another. Returns -1 when
 * one cannot be held. */
static int hold_all(const char *pid)
{
    char path[64];
    int found = 1;

    snprintf(path, sizeof(path), "/proc/%s/task", pid);
    while (found > 0) {
        DIR *dir = opendir(path);
        struct dirent *entry;

        if (!dir)
            return -1;
        found = 0;
        while (found >= 0 && (entry = readdir(dir)))
            if (*entry->d_name != '.' && !is_held((pid_t) atol(entry->d_name))) {
                int rc = hold((pid_t) atol(entry->d_name));

                found = rc ? rc : found;
            }
        closedir(dir);
    }
    return found;
}

static void let_go(void)
{
    for (size_t i = 0; i < count; i++)
        ptrace(PTRACE_DETACH, held[i], NULL, NULL);
}

int main(int argc, char **argv)
{
    long ms = argc > 2 ? atol(argv[1]) : -1;
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    int failed = 0;

    if (ms < 0) {
        fputs("Usage: debugger MS PID...\n", stderr);
        return 2;
    }
    for (int i = 2; i < argc && !failed; i++) {
        failed = hold_all(argv[i]);
        if (failed)
            fprintf(stderr, "debugger: process %s: %s\n", argv[i], strerror(errno));
    }
    if (!failed)
        nanosleep(&t, NULL);
    let_go();
    return failed != 0;
}
