/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc_report.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* As many bytes as can be written; returns an errno. */
static int write_all(int fd, const char *text, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, text, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? errno : EIO;
        text += n;
        len -= (size_t) n;
    }
    return 0;
}

void faultloc_write(int fd, const char *text)
{
    write_all(fd, text, strlen(text));
}

void faultloc_say(const char *format, ...)
{
    static const char prefix[] = "[faultloc] ";
    char line[1024];
    va_list args;
    int n;

    memcpy(line, prefix, sizeof(prefix));
    va_start(args, format);
    n = vsnprintf(line + sizeof(prefix) - 1, sizeof(line) - sizeof(prefix) - 1, format, args);
    va_end(args);
    if (n < 0)
        return;
    strcat(line, "\n");
    faultloc_write(STDERR_FILENO, line);
}

static void add_name(char **out, const char *end, const char *name)
{
    for (; *name && *out < end; name++)
        *(*out)++ = isalnum((unsigned char) *name) || strchr("._-", *name) ? *name : '_';
}

bool faultloc_expand(const char *pattern, const char *job_id, const char *node, char *out,
                     size_t room)
{
    char *p = out, *end = out + room - 1;

    for (; *pattern && p < end; pattern++) {
        if (*pattern != '%') {
            *p++ = *pattern;
            continue;
        }
        switch (*++pattern) {
            case 'j':
                add_name(&p, end, job_id);
                break;
            case 'h':
                add_name(&p, end, node);
                break;
            case '%':
                *p++ = '%';
                break;
            default:
                *out = '\0';
                return false;
        }
    }
    *p = '\0';
    if (*pattern)
        *out = '\0';
    return *pattern == '\0';
}

static int write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    int rc;

    if (fd < 0)
        return errno;
    rc = write_all(fd, text, strlen(text));
    if (!rc && fsync(fd))
        rc = errno;
    if (close(fd) && !rc)
        rc = errno;
    return rc;
}

int faultloc_replace_file(const char *path, const char *text)
{
    char temporary[4096];
    int rc;

    if (snprintf(temporary, sizeof(temporary), "%s.%d.tmp", path, (int) getpid()) >=
        (int) sizeof(temporary))
        return ENAMETOOLONG;
    rc = write_file(temporary, text);
    if (!rc && rename(temporary, path))
        rc = errno;
    if (rc && rc != EEXIST)
        unlink(temporary);
    return rc;
}
