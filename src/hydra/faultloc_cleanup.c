/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* O_DIRECTORY, O_NOFOLLOW, pipe2, ppoll */
#endif

#include "faultloc_cleanup.h"

#include "mpid/ch4/faultloc/base/syscalls.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OLD_KERNEL_FDS 65536 /* before Linux 5.9 each descriptor is closed by itself */

/* From here on the folder is this one, whatever its name comes to mean. */
static int open_folder(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat s;

    if (fd >= 0 && !fstat(fd, &s) && s.st_uid == geteuid() && !(s.st_mode & 077))
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static bool is_socket(int folder, const char *name)
{
    size_t len = strlen(name), end = strlen(".sock");
    struct stat s;

    return len > end && !strcmp(name + len - end, ".sock") &&
           !fstatat(folder, name, &s, AT_SYMLINK_NOFOLLOW) && S_ISSOCK(s.st_mode);
}

/* True if nobody listens there any more.  There is no connectat(). */
static bool is_left(int folder, const char *name)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd, len =
                snprintf(at.sun_path, sizeof(at.sun_path), "/proc/self/fd/%d/%s", folder, name);
    bool left;

    if (len < 0 || (size_t) len >= sizeof(at.sun_path))
        return false;
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    left = fd >= 0 && connect(fd, (const struct sockaddr *) &at, sizeof(at)) &&
           errno == ECONNREFUSED;
    if (fd >= 0)
        close(fd);
    return left;
}

int HYD_faultloc_cleanup(const char *folder)
{
    int fd = open_folder(folder), removed = 0;
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *e;

    if (!dir) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    for (int i = 0; i < HYD_FAULTLOC_CLEANUP_MAX && (e = readdir(dir)); i++)
        if (is_socket(fd, e->d_name) && is_left(fd, e->d_name))
            removed += !unlinkat(fd, e->d_name, 0);
    closedir(dir);
    return removed;
}

/* ---- in a child ------------------------------------------------------------------------------ */

/* A process that holds the caller's pipes and connections open would pass for the caller. */
static void run_in_child(void (*cleanup)(void), int end)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(end, STDIN_FILENO);
    if (syscall(SYS_close_range, 1, INT_MAX, 0))
        for (int fd = 1; fd < OLD_KERNEL_FDS; fd++)
            close(fd);
    cleanup();
    _exit(0);
}

/* The caller's waiting for its own children must not meet this one: it is forked without a signal,
 * and waited for by its number. */
void HYD_faultloc_cleanup_in_child(void (*cleanup)(void), int ms)
{
    struct timespec patience = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
    struct pollfd ended = {.events = POLLIN};
    sigset_t all; /* none cuts the patience short */
    int pair[2], n;
    pid_t pid;

    if (pipe2(pair, O_CLOEXEC))
        return;
    pid = (pid_t) syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);
    if (pid == 0)
        run_in_child(cleanup, pair[1]);
    close(pair[1]);
    ended.fd = pair[0];
    sigfillset(&all);
    n = pid > 0 ? ppoll(&ended, 1, &patience, &all) : 0;
    if (pid > 0 && n <= 0)
        kill(pid, SIGKILL);
    if (pid > 0)
        waitpid(pid, NULL, n > 0 ? __WALL : __WALL | WNOHANG);
    close(pair[0]);
}
