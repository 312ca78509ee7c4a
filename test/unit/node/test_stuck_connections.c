/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "faultloc/base/sock.h"
#include "faultloc/node/stuck_connections.h"
#include "suite.h"

#include "files.h"

#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/*
 * Whose a connection is that is stuck.  It is this process's own, between addresses of the loopback,
 * to a listener whose queue is full; the descriptors of ranks are in a folder like /proc.
 */

#define ASKERS 5

static struct faultloc_board *board;
static int listener, asker[ASKERS];

static void make_board(void)
{
    int fd;

    ck_assert_int_eq(faultloc_board_make(2, 4, 2, 0, &board, &fd), 0);
    close(fd);
    board->has_path[FTREE_PATH_DATA] = true;
    for (int n = 0; n < 2; n++)
        faultloc_board_addresses(board)[n].path[FTREE_PATH_DATA] =
            (struct faultloc_inet){.family = AF_INET, .bytes = {127, 80, 1, (uint8_t) (n + 1)}};
    for (int i = 0; i < 2; i++) {
        faultloc_board_slot(board, i)->rank = 2 + i;
        faultloc_board_slot(board, i)->pid = 40 + i;
    }
}

static void ask_in_vain(void)
{
    const struct faultloc_inet *from = &faultloc_board_addresses(board)[0].path[FTREE_PATH_DATA];
    const struct faultloc_inet *to = &faultloc_board_addresses(board)[1].path[FTREE_PATH_DATA];
    struct sockaddr_storage sa;
    socklen_t len;

    ck_assert_int_eq(faultloc_sock_listen(to, 0, &listener), 0);
    ck_assert_int_eq(listen(listener, 0), 0);
    for (int i = 0; i < ASKERS; i++) {
        asker[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        len = faultloc_sockaddr_make(from, 0, &sa);
        ck_assert_int_eq(bind(asker[i], (struct sockaddr *) &sa, len), 0);
        len = faultloc_sockaddr_make(to, faultloc_sock_port(listener), &sa);
        ck_assert_int_eq(connect(asker[i], (struct sockaddr *) &sa, len), -1);
    }
}

/* The process has these sockets of this one. */
static void give(int pid, const int *fd, int n)
{
    char name[64], path[160];
    struct stat st;

    for (int i = 0; i < n; i++) {
        ck_assert_int_eq(fstat(fd[i], &st), 0);
        snprintf(name, sizeof(name), "%d/fd/none", pid);
        files_write(name, "");
        snprintf(path, sizeof(path), "%s/%d/fd/%d", files_root, pid, fd[i]);
        snprintf(name, sizeof(name), "socket:[%lu]", (unsigned long) st.st_ino);
        ck_assert_int_eq(symlink(name, path), 0);
    }
}

TEST_CASE(it_is_of_the_rank_that_has_its_socket)
{
    struct ftree_connection c[FTREE_CONNECTIONS_MAX];
    time_t end = time(NULL) + 120;

    files_begin();
    make_board();
    ask_in_vain();
    ck_assert_int_eq(faultloc_connections(board, files_root, c, FTREE_CONNECTIONS_MAX), 0);
    give(41, asker, ASKERS);
    while (faultloc_connections(board, files_root, c, 1) == 0 && time(NULL) < end)
        usleep(20000);
    ck_assert_int_eq(c[0].rank, 3);
    ck_assert_int_eq(c[0].node, 1);
    ck_assert(c[0].connecting);
    ck_assert_uint_ge(c[0].tries, 3);
    faultloc_board_slot(board, 1)->pid = 42; /* nobody has it */
    ck_assert_int_eq(faultloc_connections(board, files_root, c, FTREE_CONNECTIONS_MAX), 0);
    for (int i = 0; i < ASKERS; i++)
        close(asker[i]);
    close(listener);
    faultloc_board_unmap(board);
}
