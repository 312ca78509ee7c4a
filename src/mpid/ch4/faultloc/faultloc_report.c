/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc_report.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_MS 1000

/* Writes all of it, or returns an errno.  Who does not read (mpiexec is stopped, a terminal is
 * held) must not hold up an agent that others ask: ETIMEDOUT where nothing was taken for a while.
 * poll(2) says that a pipe has room for PIPE_BUF bytes, no more. */
static int write_all(int fd, const char *text, size_t len)
{
    struct pollfd p = {.fd = fd, .events = POLLOUT};

    while (len > 0) {
        int ready = poll(&p, 1, PATIENCE_MS);
        ssize_t n = ready > 0 ? write(fd, text, len < PIPE_BUF ? len : PIPE_BUF) : ready;
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n <= 0)
            return n < 0 ? errno : ETIMEDOUT;
        text += n;
        len -= (size_t) n;
    }
    return 0;
}

/* Where nobody reads any more the kernel sends SIGPIPE to the thread that writes, which would be
 * the end of the program: it is taken back. */
void faultloc_write(int fd, const char *text)
{
    const struct timespec at_once = {.tv_sec = 0};
    sigset_t sigpipe, before, pending;

    sigemptyset(&sigpipe);
    sigaddset(&sigpipe, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &sigpipe, &before);
    if (write_all(fd, text, strlen(text)) == EPIPE && !sigismember(&pending, SIGPIPE))
        sigtimedwait(&sigpipe, NULL, &at_once);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
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
    ftree_report_clean(line, strlen(line), '?');
    strcat(line, "\n");
    faultloc_write(STDERR_FILENO, line);
}

void faultloc_clean_name(char *name)
{
    ftree_report_clean(name, strlen(name), '_');
    for (; *name; name++)
        if (*name == ' ')
            *name = '_';
}

/* Both return false where it does not fit. */
static bool add_char(char **out, const char *end, char c)
{
    if (*out == end)
        return false;
    *(*out)++ = c;
    return true;
}

static bool add_name(char **out, const char *end, const char *name)
{
    bool fits = true;

    for (; fits && *name; name++)
        fits = add_char(out, end,
                        isalnum((unsigned char) *name) || strchr("._-", *name) ? *name : '_');
    return fits;
}

bool faultloc_expand(const char *pattern, const char *job_id, const char *node, char *out,
                     size_t room)
{
    char *p = out, *end = out + room - 1;
    bool fine = true;

    for (; fine && *pattern; pattern++) {
        if (*pattern != '%')
            fine = add_char(&p, end, *pattern);
        else if (*++pattern == '%')
            fine = add_char(&p, end, '%');
        else if (*pattern == 'j' || *pattern == 'h')
            fine = add_name(&p, end, *pattern == 'j' ? job_id : node);
        else
            fine = false;
    }
    *(fine ? p : out) = '\0';
    return fine;
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

/* /dev/null, /dev/stdout, a named pipe: to be written into, and not to be replaced. */
static bool is_special(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

static int write_special(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    int rc;

    if (fd < 0)
        return errno;
    rc = write_all(fd, text, strlen(text));
    close(fd);
    return rc;
}

int faultloc_replace_file(const char *path, const char *text)
{
    char temporary[4096];
    int rc;

    if (is_special(path))
        return write_special(path, text);

    if (snprintf(temporary, sizeof(temporary), "%s.%d.tmp", path, (int) getpid()) >=
        (int) sizeof(temporary))
        return ENAMETOOLONG;
    unlink(temporary); /* of a process of this number that was killed while it wrote */
    rc = write_file(temporary, text);
    if (!rc && rename(temporary, path))
        rc = errno;
    if (rc && rc != EEXIST)
        unlink(temporary);
    return rc;
}
