/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/base/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_LENGTH_MAX 512

static size_t read_path(const char *path, char *text, size_t room)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    size_t len = 0;
    ssize_t got = 1;

    errno = fd < 0 ? errno : 0;
    while (fd >= 0 && got > 0 && len < room - 1) {
        got = read(fd, text + len, room - 1 - len);
        if (got < 0 && errno == EINTR)
            got = 1;
        else if (got > 0)
            len += (size_t) got;
    }
    if (fd >= 0)
        close(fd);
    text[len] = '\0';
    return len;
}

size_t faultloc_text_vread(const char *root, char *text, size_t room, const char *format,
                           va_list args)
{
    char path[PATH_LENGTH_MAX];
    int dir = snprintf(path, sizeof(path), "%s/", root ? root : "/proc"), rest;

    text[0] = '\0';
    errno = ENAMETOOLONG;
    if (dir < 0 || (size_t) dir >= sizeof(path))
        return 0;
    rest = vsnprintf(path + dir, sizeof(path) - (size_t) dir, format, args);
    if (rest < 0 || (size_t) rest >= sizeof(path) - (size_t) dir)
        return 0;
    return read_path(path, text, room);
}

size_t faultloc_text_read(const char *root, char *text, size_t room, const char *format, ...)
{
    va_list args;
    size_t len;

    va_start(args, format);
    len = faultloc_text_vread(root, text, room, format, args);
    va_end(args);
    return len;
}

const char *faultloc_text_line(const char *text, const char *key)
{
    size_t len = strlen(key);

    while (strncmp(text, key, len) != 0) {
        text = strchr(text, '\n');
        if (!text)
            return NULL;
        text++;
    }
    return text + len;
}

uint64_t faultloc_text_number(const char *root, const char *format, ...)
{
    char text[64], *end;
    uint64_t n;
    va_list args;

    va_start(args, format);
    faultloc_text_vread(root, text, sizeof(text), format, args);
    va_end(args);
    errno = 0;
    n = strtoull(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && !errno && (*end == '\n' || !*end) ? n : UINT64_MAX;
}
