/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* Waiting for events: a descriptor that is not listened to for a while. */

#include "faultloc/io/loop.h"

#include "suite.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define TAG 7
#define NOW (1000 * FTREE_MS)

static int events_of(int epoll)
{
    uint64_t tags[4] = {0};
    int n = faultloc_loop_wait(epoll, 0, tags, 4);

    ck_assert(n == 0 || tags[0] == TAG);
    return n;
}

TEST_CASE(a_pause_hides_what_comes)
{
    struct faultloc_pause pause = {0};
    int pair[2], epoll = epoll_create1(EPOLL_CLOEXEC);

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair), 0);
    ck_assert_int_eq(faultloc_loop_add(epoll, pair[0], TAG), 0);
    ck_assert(faultloc_pause_deadline(&pause) == FTREE_NEVER);
    ck_assert_int_eq(send(pair[1], "x", 1, 0), 1);
    ck_assert_int_eq(events_of(epoll), 1);
    faultloc_pause_begin(&pause, NOW, epoll, pair[0]);
    ck_assert(faultloc_pause_deadline(&pause) == NOW + FAULTLOC_LOOP_PAUSE);
    ck_assert_int_eq(send(pair[1], "x", 1, 0), 1);
    ck_assert_int_eq(events_of(epoll), 0);
    faultloc_pause_turn(&pause, NOW + FAULTLOC_LOOP_PAUSE - 1, epoll, pair[0], TAG);
    ck_assert_int_eq(events_of(epoll), 0);
    faultloc_pause_turn(&pause, NOW + FAULTLOC_LOOP_PAUSE, epoll, pair[0], TAG);
    ck_assert(faultloc_pause_deadline(&pause) == FTREE_NEVER);
    ck_assert_int_eq(events_of(epoll), 1);
    close(pair[0]);
    close(pair[1]);
    close(epoll);
}

TEST_CASE(what_is_not_there_has_no_pause)
{
    struct faultloc_pause pause = {0};
    int epoll = epoll_create1(EPOLL_CLOEXEC);

    faultloc_pause_begin(&pause, NOW, epoll, -1);
    faultloc_pause_turn(&pause, NOW, epoll, -1, TAG);
    ck_assert(faultloc_pause_deadline(&pause) == FTREE_NEVER);
    close(epoll);
}
