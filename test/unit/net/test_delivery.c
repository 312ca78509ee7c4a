/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* What the kernel says of connections that the test makes, between addresses of the loopback. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "faultloc/base/sock.h"
#include "faultloc/net/delivery.h"
#include "suite.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NODES 3
#define SECOND (1000 * FTREE_MS)

static struct faultloc_address table[NODES];
static int from, to; /* a connection of node 0 to node 1 */

static struct faultloc_inet loopback(uint8_t last)
{
    return (struct faultloc_inet){.family = AF_INET, .bytes = {127, 80, 0, last}};
}

BEFORE_EACH
{
    struct sockaddr_storage sa;
    int listener;

    for (int n = 0; n < NODES; n++)
        table[n] = (struct faultloc_address){.path = {loopback((uint8_t) (n + 1))}};
    ck_assert_int_eq(faultloc_sock_listen(&table[1].path[0], 0, &listener), 0);
    ck_assert_int_eq(faultloc_sock_bound(&table[0].path[0], &from), 0);
    connect(from, (struct sockaddr *) &sa,
            faultloc_sockaddr_make(&table[1].path[0], faultloc_sock_port(listener), &sa));
    while ((to = accept(listener, NULL, NULL)) < 0) {
    }
    close(listener);
}

AFTER_EACH
{
    close(from);
    close(to);
}

static bool delivers(int32_t self, int32_t node, ftree_time within)
{
    return faultloc_delivers(table, NODES, self, node, FTREE_PATH_DATA, within, 0);
}

static void send_data(void)
{
    char byte = 0;

    ck_assert_int_eq(send(from, &byte, 1, 0), 1);
    while (recv(to, &byte, 1, 0) < 0) {
    }
}

TEST_CASE(what_was_received_came_through)
{
    send_data();
    ck_assert(delivers(1, 0, 30 * SECOND));
    ck_assert(delivers(1, FTREE_NONE, 30 * SECOND));
    ck_assert(!delivers(1, 2, 30 * SECOND)); /* not from there */
    ck_assert(!delivers(2, FTREE_NONE, 30 * SECOND));
}

TEST_CASE(what_was_received_long_ago_says_nothing)
{
    time_t end = time(NULL) + 60;

    send_data();
    while (delivers(1, 0, 2 * FTREE_MS) && time(NULL) < end) {
    }
    ck_assert(!delivers(1, 0, 2 * FTREE_MS));
    ck_assert(delivers(1, 0, 100 * SECOND));
}

TEST_CASE(a_loopback_is_not_slow)
{
    send_data();
    ck_assert(faultloc_delivers(table, NODES, 1, 0, FTREE_PATH_DATA, 30 * SECOND, 1000));
    ck_assert(!faultloc_delivers(table, NODES, 1, 0, FTREE_PATH_DATA, 30 * SECOND, 30 * SECOND));
}

/* What an agent asks and answers is no data of ranks. */
TEST_CASE(agents_do_not_count)
{
    send_data();
    table[1].port[FTREE_ROLE_DEPUTY] = faultloc_sock_port(to);
    ck_assert(!delivers(1, 0, 30 * SECOND));
    ck_assert(!delivers(0, 1, 30 * SECOND));
    ck_assert(!delivers(0, FTREE_NONE, 30 * SECOND));
    table[1].port[FTREE_ROLE_DEPUTY] = 0;
    ck_assert(delivers(1, 0, 30 * SECOND));
}

TEST_CASE(nothing_is_known_where_there_is_no_path_and_no_node)
{
    send_data();
    ck_assert(!faultloc_delivers(table, NODES, 1, 0, FTREE_PATH_MGMT, 30 * SECOND, 0));
    ck_assert(!delivers(1, NODES, 30 * SECOND));
    ck_assert(!delivers(1, FTREE_LOCAL, 30 * SECOND));
}

/* Nothing is lost there. */
TEST_CASE(what_was_sent_is_counted)
{
    struct faultloc_sent total[NODES] = {{0}};

    send_data();
    send_data();
    ck_assert(faultloc_sent(table, NODES, 0, FTREE_PATH_DATA, total));
    ck_assert_uint_ge(total[1].packets, 2);
    ck_assert_uint_eq(total[1].lost, 0);
    ck_assert_uint_eq(total[2].packets, 0);
}

/* ---- what is stuck --------------------------------------------------------------------------- */

static int32_t stuck(struct faultloc_stuck *s, int32_t room)
{
    return faultloc_stuck(table, NODES, 0, FTREE_PATH_DATA, s, room);
}

TEST_CASE(what_is_acknowledged_is_not_stuck)
{
    struct faultloc_stuck s;
    char byte = 0;

    ck_assert_int_eq(send(from, &byte, 1, 0), 1); /* and nobody reads it */
    ck_assert_int_eq(stuck(&s, 1), 0);
    ck_assert_int_eq(stuck(&s, 0), 0);
}

/* From node 0 to that port of node 1; it is not waited for. */
static int begin_to_connect(uint16_t port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct sockaddr_storage sa;
    socklen_t len = faultloc_sockaddr_make(&table[0].path[0], 0, &sa);

    ck_assert_int_eq(bind(fd, (struct sockaddr *) &sa, len), 0);
    len = faultloc_sockaddr_make(&table[1].path[0], port, &sa);
    ck_assert_int_eq(connect(fd, (struct sockaddr *) &sa, len), -1);
    return fd;
}

#define ASKERS 5

/* Whether one of them has asked for a connection in vain: a listener whose queue is full is silent. */
static bool find_asker(const int *fd, struct faultloc_stuck *s)
{
    struct stat st;

    if (stuck(s, 1) == 0)
        return false;
    for (int i = 0; i < ASKERS; i++)
        if (fstat(fd[i], &st) == 0 && st.st_ino == s->inode)
            return true;
    return false;
}

TEST_CASE(a_connection_that_is_asked_for_in_vain)
{
    struct faultloc_stuck s = {.c = {.node = FTREE_NONE}};
    time_t end = time(NULL) + 120;
    int listener, fd[ASKERS];

    ck_assert_int_eq(faultloc_sock_listen(&table[1].path[0], 0, &listener), 0);
    ck_assert_int_eq(listen(listener, 0), 0);
    for (int i = 0; i < ASKERS; i++)
        fd[i] = begin_to_connect(faultloc_sock_port(listener));
    ck_assert_int_eq(stuck(&s, 1), 0); /* not yet */
    while (!find_asker(fd, &s) && time(NULL) < end)
        usleep(20000);
    ck_assert_int_eq(s.c.node, 1);
    ck_assert(s.c.connecting);
    ck_assert_uint_ge(s.c.tries, 3);
    ck_assert_uint_gt(s.c.packet, 0);
    ck_assert_uint_ge(s.c.since, 2 * SECOND);
    ck_assert_uint_lt(s.c.since, 120 * SECOND);
    table[1].port[FTREE_ROLE_AGENT] = faultloc_sock_port(listener);
    ck_assert_int_eq(stuck(&s, 1), 0); /* an agent's is none of a rank */
    table[1].port[FTREE_ROLE_AGENT] = 0;
    for (int i = 0; i < ASKERS; i++)
        close(fd[i]);
    close(listener);
}
