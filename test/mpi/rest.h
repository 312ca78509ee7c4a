/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef REST_H_INCLUDED
#define REST_H_INCLUDED

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Ranks that wait at their ease: for programs of which many ranks share few processors. To be
 * included by one source file of a program, because it defines epoll_wait().
 *
 * UCX turns its TCP transport by epoll_wait(), without waiting; the program's own symbol comes
 * before that of the C library (build.sh links with -rdynamic). Other threads wait as they want
 * to. */

static struct {
    double us;
    pthread_t thread;
} idle;

/* From now on the calling thread sleeps so many microseconds where there is no news; 0: never. */
static void rest_while_idle(double us)
{
    idle.us = us;
    idle.thread = pthread_self();
}

int epoll_wait(int fd, struct epoll_event *events, int room, int timeout)
{
    int n = (int) syscall(SYS_epoll_pwait, fd, events, room, timeout, NULL, 8);

    if (n == 0 && timeout == 0 && idle.us > 0 && pthread_equal(pthread_self(), idle.thread)) {
        struct timespec t = {.tv_sec = (time_t) (idle.us / 1e6) };

        t.tv_nsec = (long) ((idle.us - (double) t.tv_sec * 1e6) * 1e3);
        nanosleep(&t, NULL);
    }
    return n;
}

#endif /* REST_H_INCLUDED */
