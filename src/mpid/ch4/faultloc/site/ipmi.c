/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/site/site.h"

#include "faultloc/base/say.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Handler: the BMC of a node, by ipmitool: has it power, are its sensors well.  -N 1 -R 1: the BMC is
 * asked twice within 2 s, and no more; -C 3: the cipher suite that all have; -v: else a refused login
 * reads like a dead BMC.  The password is in a file in memory, which no argument shows.
 *
 * -L USER: who only reads needs no more, and ipmitool writes where it may: "sdr" clears a repository
 * of sensors that is empty, and makes it anew.  So that is looked at first.
 */

#define TEXT_MAX (32 * 1024)
#define PASSWORD_FD 3

struct login {
    const char *address, *port, *user, *password;
};

struct said {
    char out[TEXT_MAX], err[TEXT_MAX];
    int code; /* -1: it did not end by itself */
};

static void run_ipmitool(const struct login *l, int password, const int out[2], const int err[2],
                         const char *const *command)
{
    const char *arguments[24] = {"ipmitool", "-I", "lanplus", "-C",       "3",     "-N",
                                 "1",        "-R", "1",       "-L",       "USER",  "-H",
                                 l->address, "-p", l->port,   "-U",       l->user, "-f",
                                 "/proc/self/fd/3", "-v"};
    int n = 20;

    while (*command && n < 23)
        arguments[n++] = *command++;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (dup2(out[1], STDOUT_FILENO) < 0 || dup2(err[1], STDERR_FILENO) < 0 ||
        dup2(password, PASSWORD_FD) < 0)
        _exit(126);
    close_range(PASSWORD_FD + 1, ~0U, 0);
    execvp(arguments[0], (char *const *) (uintptr_t) arguments);
    _exit(127);
}

/* More than there is room for is read, and dropped. */
static bool hear(int fd, char *text, size_t *len)
{
    char dropped[4096];
    bool fits = *len < TEXT_MAX - 1;
    ssize_t n = read(fd, fits ? text + *len : dropped,
                     fits ? TEXT_MAX - 1 - *len : sizeof(dropped));

    if (n > 0 && fits)
        *len += (size_t) n;
    return n > 0 || (n < 0 && errno == EINTR);
}

/* Nobody here watches the time: this process is ended at its deadline. */
static void hear_all(int out, int err, struct said *s)
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

static bool ask(const struct login *l, const char *const *command, struct said *s)
{
    int out[2], err[2], password, status = 0;
    pid_t pid;

    password = faultloc_memory_file("password", 0, l->password);
    if (password < 0 || pipe(out) || pipe(err))
        return false;
    pid = fork();
    if (pid == 0)
        run_ipmitool(l, password, out, err, command);
    close(out[1]);
    close(err[1]);
    close(password);
    hear_all(out[0], err[0], s);
    close(out[0]);
    close(err[0]);
    s->code = pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status)
                                                                              : -1;
    return true;
}

static void ask_more(const struct login *l, struct said *s, FILE *out)
{
    static const char *const events[] = {"-c", "sel", "list", "last", "8", NULL};
    static const char *const repository[] = {"sdr", "info", NULL};
    static const char *const sensors[] = {"-c", "sdr", NULL};

    if (ask(l, events, s) && s->code == 0)
        site_ipmi_events(s->out, out);
    if (ask(l, repository, s) && s->code == 0 && site_ipmi_has_sensors(s->out) &&
        ask(l, sensors, s) && s->code == 0)
        site_ipmi_sensors(s->out, out);
}

void site_ipmi(struct json_object *request, FILE *out)
{
    static const char *const power[] = {"chassis", "power", "status", NULL};
    static struct said s;
    struct login l = {site_text(request, "address"), site_text(request, "port"),
                      site_text(request, "user"), site_text(request, "password")};

    if (!l.address || !l.user || !l.password) {
        site_say_not(out, "it needs address, user and password, as strings");
        return;
    }
    l.port = l.port ? l.port : "623";
    if (!ask(&l, power, &s))
        site_say_not(out, "ipmitool cannot be started");
    else if (s.code == 127)
        site_say_not(out, "ipmitool is not installed");
    else if (s.code != 0 || !site_ipmi_power(s.out, out))
        site_say_not(out, site_ipmi_why(s.err));
    else
        ask_more(&l, &s, out);
}
