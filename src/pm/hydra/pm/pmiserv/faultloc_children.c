/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#define _GNU_SOURCE
#include "faultloc_children.h"
#include "demux.h"

#include <time.h>

/* A signal may come at any time; who waits in poll() is woken by a byte. */
static struct {
    int bytes[2]; /* a pipe: one for each SIGCHLD */
    bool *some_ended;
} me = {.bytes = {-1, -1}};

int64_t HYD_faultloc_now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t) t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void note_end(int signum)
{
    int saved = errno;

    (void) signum;
    if (write(me.bytes[1], "", 1) < 0) {
        /* it is full: there is enough to read */
    }
    errno = saved;
}

static HYD_status bytes_cb(int fd, HYD_event_t events, void *userp)
{
    char bytes[64];

    (void) events;
    (void) userp;
    while (read(fd, bytes, sizeof(bytes)) > 0)
        *me.some_ended = true;
    return HYD_SUCCESS;
}

static void ignore(int signum)
{
    (void) signum;
}

/* As HYDU_set_signal, but no write of hydra's is interrupted, which it takes for an error. */
static void handle(int signum, void (*handler)(int))
{
    struct sigaction a = {.sa_handler = handler, .sa_flags = SA_RESTART | SA_NOCLDSTOP};

    sigemptyset(&a.sa_mask);
    sigaction(signum, &a, NULL);
}

HYD_status HYD_faultloc_children_watch(bool *some_ended)
{
    HYD_status status = HYD_SUCCESS;

    me.some_ended = some_ended;
    if (pipe2(me.bytes, O_CLOEXEC | O_NONBLOCK))
        HYDU_ERR_SETANDJUMP(status, HYD_INTERNAL_ERROR, "pipe error (%s)\n", MPL_strerror(errno));
    status = HYDT_dmx_register_fd(1, &me.bytes[0], HYD_POLLIN, NULL, bytes_cb);
    HYDU_ERR_POP(status, "unable to register fd\n");
    handle(SIGCHLD, note_end);
    handle(SIGPIPE, ignore); /* not SIG_IGN, which children would inherit */

fn_exit:
    return status;
fn_fail:
    goto fn_exit;
}
