/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/site/site.h"

#include "faultloc/base/say.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* A program that a handler runs, and all that it prints.  Nobody here watches the time: the handler's
 * process is ended at its deadline, and this with it. */

#define FILES 2
#define FIRST_FD 3 /* of its files */

/* They go up first, for each may be where the other one belongs. */
static bool place(const int files[FILES])
{
    int up[FILES];

    for (int i = 0; i < FILES; i++)
        up[i] = files[i] >= 0 ? fcntl(files[i], F_DUPFD, FIRST_FD + FILES) : -1;
    for (int i = 0; i < FILES; i++)
        if (files[i] >= 0 && dup2(up[i], FIRST_FD + i) < 0)
            return false;
    return true;
}

static void become(const char *const *arguments, const int out[2], const int err[2],
                   const int files[FILES])
{
    int n = 0;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (dup2(out[1], STDOUT_FILENO) < 0 || dup2(err[1], STDERR_FILENO) < 0 || !place(files))
        _exit(126);
    while (n < FILES && files[n] >= 0)
        n++;
    close_range((unsigned) (FIRST_FD + n), ~0U, 0);
    execvp(arguments[0], (char *const *) (uintptr_t) arguments);
    _exit(127);
}

/* More than there is room for is read, and dropped. */
static bool hear(int fd, char *text, size_t *len)
{
    char dropped[4096];
    bool fits = *len < SITE_SAID_MAX - 1;
    ssize_t n =
        read(fd, fits ? text + *len : dropped, fits ? SITE_SAID_MAX - 1 - *len : sizeof(dropped));

    if (n > 0 && fits)
        *len += (size_t) n;
    return n > 0 || (n < 0 && errno == EINTR);
}

static void hear_all(int out, int err, struct site_said *s)
{
    struct pollfd fds[2] = {{.fd = out, .events = POLLIN}, {.fd = err, .events = POLLIN}};
    char *text[2] = {s->out, s->err};
    size_t len[2] = {0, 0};

    while (fds[0].fd >= 0 || fds[1].fd >= 0) {
        if (poll(fds, 2, -1) < 0)
            continue;
        for (int i = 0; i < 2; i++)
            if (fds[i].fd >= 0 && fds[i].revents && !hear(fds[i].fd, text[i], &len[i]))
                fds[i].fd = -1;
    }
    s->out[len[0]] = s->err[len[1]] = '\0';
    for (int i = 0; i < 2; i++) /* a zero in it would hide the rest */
        for (size_t j = 0; j < len[i]; j++)
            if (!text[i][j])
                text[i][j] = '?';
}

/* False: out of descriptors. */
static bool make_files(const char *const *texts, int files[FILES])
{
    for (int i = 0; i < FILES; i++)
        files[i] = -1;
    for (int i = 0; texts && i < FILES && texts[i]; i++)
        if ((files[i] = faultloc_memory_file("input", 0, texts[i])) < 0)
            return false;
    return true;
}

static void close_files(const int files[FILES])
{
    for (int i = 0; i < FILES; i++)
        if (files[i] >= 0)
            close(files[i]);
}

bool site_run(const char *const *arguments, const char *const *texts, struct site_said *s)
{
    int out[2], err[2], files[FILES], status = 0;
    bool made = make_files(texts, files) && !pipe(out) && !pipe(err);
    pid_t pid = made ? fork() : -1;

    if (pid == 0)
        become(arguments, out, err, files);
    close_files(files);
    if (!made)
        return false;
    close(out[1]);
    close(err[1]);
    hear_all(out[0], err[0], s);
    close(out[0]);
    close(err[0]);
    s->code =
        pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return true;
}
