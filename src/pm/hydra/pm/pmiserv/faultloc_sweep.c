/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* O_DIRECTORY, O_NOFOLLOW */
#endif

#include "faultloc_sweep.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

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

int HYD_faultloc_sweep(const char *folder)
{
    int fd = open_folder(folder), removed = 0;
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *e;

    if (!dir) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    for (int i = 0; i < HYD_FAULTLOC_SWEEP && (e = readdir(dir)); i++)
        if (is_socket(fd, e->d_name) && is_left(fd, e->d_name))
            removed += !unlinkat(fd, e->d_name, 0);
    closedir(dir);
    return removed;
}
