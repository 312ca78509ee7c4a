/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc_keepalive.h"
#include "suite.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const struct {
    int level, name;
} options[] = {{IPPROTO_TCP, TCP_KEEPIDLE},
               {IPPROTO_TCP, TCP_KEEPINTVL},
               {IPPROTO_TCP, TCP_KEEPCNT},
               {IPPROTO_TCP, TCP_USER_TIMEOUT},
               {SOL_SOCKET, SO_KEEPALIVE}};

static void read_options(int fd, int value[COUNT(options)])
{
    for (size_t i = 0; i < COUNT(options); i++) {
        socklen_t len = sizeof(value[i]);
        ck_assert_int_eq(getsockopt(fd, options[i].level, options[i].name, &value[i], &len), 0);
    }
}

TEST_CASES(what_is_turned_on_is_taken_back, 2)
{
    int before[COUNT(options)], now[COUNT(options)], idle = 4711, on = 1;
    struct HYD_faultloc_keepalive k = {0};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (_i) { /* they were not those of the kernel */
        ck_assert_int_eq(setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle)), 0);
        ck_assert_int_eq(setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on)), 0);
    }
    read_options(fd, before);
    HYD_faultloc_keepalive_set(&k, fd, false);
    read_options(fd, now);
    ck_assert_int_eq(memcmp(before, now, sizeof(now)), 0);
    HYD_faultloc_keepalive_set(&k, fd, true);
    HYD_faultloc_keepalive_set(&k, fd, true); /* by another verdict */
    read_options(fd, now);
    ck_assert_int_eq(now[0], 1);
    ck_assert_int_eq(now[3], 0);
    ck_assert_int_eq(now[4], 1);
    HYD_faultloc_keepalive_set(&k, fd, false);
    read_options(fd, now);
    ck_assert_int_eq(memcmp(before, now, sizeof(now)), 0);
    close(fd);
}

TEST_CASE(what_has_no_options_is_left_alone)
{
    struct HYD_faultloc_keepalive k = {0};

    HYD_faultloc_keepalive_set(&k, -1, true);
    ck_assert(!k.on);
}
