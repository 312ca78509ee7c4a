/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#define _GNU_SOURCE
#include "faultloc_children.h"
#include "demux.h"

#include <time.h>

struct ended {
    pid_t pid;
    int64_t ms; /* when its signal came: it may be long until that is looked at */
};

/* A signal may come at any time; who waits in poll() is woken by what its handler writes. */
static struct {
    int pids[2]; /* a pipe */
    bool *some_ended;
    struct ended ended[64]; /* a ring; of more than it holds the first are kept */
    unsigned in, out;
} me = {.pids = {-1, -1}};

#define ENDED (sizeof(me.ended) / sizeof(me.ended[0]))

int64_t HYD_faultloc_now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t) t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void note_end(int signum, siginfo_t *info, void *context)
{
    struct ended child = {.pid = info->si_pid, .ms = HYD_faultloc_now_ms()};
    int saved = errno;

    (void) signum;
    (void) context;
    if (write(me.pids[1], &child, sizeof(child)) < 0) {
        /* it is full: there is enough to read */
    }
    errno = saved;
}

static HYD_status pids_cb(int fd, HYD_event_t events, void *userp)
{
    struct ended child;

    (void) events;
    (void) userp;
    while (read(fd, &child, sizeof(child)) == (ssize_t) sizeof(child)) {
        *me.some_ended = true;
        if (me.in - me.out < ENDED)
            me.ended[me.in++ % ENDED] = child;
    }
    return HYD_SUCCESS;
}

pid_t HYD_faultloc_children_next(int64_t *ms)
{
    struct ended child = {.pid = 0};

    if (me.out != me.in)
        child = me.ended[me.out++ % ENDED];
    *ms = child.ms;
    return child.pid;
}

/* As HYDU_set_signal, but no write of hydra's is interrupted, which it takes for an error. */
static void handle(int signum, void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction a = {.sa_sigaction = handler,
                          .sa_flags = SA_RESTART | SA_NOCLDSTOP | SA_SIGINFO};

    sigemptyset(&a.sa_mask);
    sigaction(signum, &a, NULL);
}

static void ignore(int signum, siginfo_t *info, void *context)
{
    (void) signum;
    (void) info;
    (void) context;
}

void HYD_faultloc_children_outlive(void)
{
    handle(SIGPIPE, ignore); /* not SIG_IGN, which children would inherit */
}

HYD_status HYD_faultloc_children_watch(bool *some_ended)
{
    HYD_status status = HYD_SUCCESS;

    me.some_ended = some_ended;
    if (pipe2(me.pids, O_CLOEXEC | O_NONBLOCK))
        HYDU_ERR_SETANDJUMP(status, HYD_INTERNAL_ERROR, "pipe error (%s)\n", MPL_strerror(errno));
    status = HYDT_dmx_register_fd(1, &me.pids[0], HYD_POLLIN, NULL, pids_cb);
    HYDU_ERR_POP(status, "unable to register fd\n");
    handle(SIGCHLD, note_end);

fn_exit:
    return status;
fn_fail:
    goto fn_exit;
}
