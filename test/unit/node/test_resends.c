/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/node/resends.h"
#include "suite.h"

#include "files.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* When packets that are sent again are a symptom, from numbers that the test makes up. */

#define S (1000 * FTREE_MS)

static struct faultloc_resends r;
static struct ftree_symptom s;

BEFORE_EACH
{
    files_begin();
    r = (struct faultloc_resends){.proc_root = files_root};
}

static bool more(ftree_time at, int32_t node, uint32_t n)
{
    return faultloc_resends_add(&r, at, node, n, &s);
}

TEST_CASE(two_looks_are_a_symptom)
{
    ck_assert(!more(10 * S, 2, 3));
    ck_assert(!more(11 * S, 3, 9)); /* another node */
    ck_assert(more(12 * S, 2, 1));
    ck_assert_int_eq(s.kind, FTREE_SYMPTOM_LINK_ERRORS);
    ck_assert_int_eq(s.about.node, 2);
    ck_assert_uint_eq(s.count, 4);
    ck_assert_uint_eq(s.first, 10 * S);
    ck_assert_str_eq(s.detail, "4 packets to it were lost in 2.0 s");
}

TEST_CASE(few_or_seldom_are_none)
{
    for (ftree_time t = 0; t < 30; t++)
        ck_assert(!more(10 * S + t * 11 * S, 2, 100));
}

/* It may be how this network is. */
TEST_CASE(it_is_told_again_ever_more_seldom)
{
    int told = 0;

    for (ftree_time t = 0; t < 600; t++)
        told += more(10 * S + t * S, 2, 5);
    ck_assert_int_ge(told, 8);
    ck_assert_int_le(told, 16);
}

/* Totals at one look after the other; what is counted there. */
static const struct {
    const char *what;
    struct faultloc_sent at[4];
    uint32_t more[4];
} totals[] = {
    {"lost", {{100, 0}, {120, 1}, {140, 1}, {160, 3}}, {0, 0, 1, 0}},
    {"a busy host: it was there already", {{100, 0}, {120, 1}, {140, 0}, {160, 1}}, {0}},
    {"a busy host, again and again", {{100, 2}, {120, 3}, {140, 2}, {160, 2}}, {0}},
    {"one of many", {{100, 0}, {90000, 1}, {90100, 1}, {90200, 1}}, {0}},
    {"a connection ends", {{90000, 5}, {20, 0}, {40, 1}, {60, 1}}, {0, 0, 0, 1}},
};

TEST_CASES(what_is_lost_is_counted_at_the_next_look, COUNT(totals))
{
    struct faultloc_sent counted = totals[_i].at[0];

    for (int i = 1; i < 4; i++)
        ck_assert_msg(faultloc_resends_more(&totals[_i].at[i], &totals[_i].at[i - 1], &counted) ==
                          totals[_i].more[i],
                      "%s, look %d", totals[_i].what, i);
}

TEST_CASE(of_many_nodes_some_are_kept)
{
    for (int32_t i = 0; i < 100; i++)
        more((10 + (ftree_time) i) * S, i, 1);
    ck_assert_int_eq(r.n, FAULTLOC_RESENDS_NODES);
}

static bool look_with(ftree_time at, const char *text)
{
    files_write("self/net/snmp", text);
    return faultloc_resends_look(&r, at, &s);
}

/* The kernel is asked about connections only where the number has grown. */
TEST_CASE(the_number_of_the_node_is_read_first)
{
#define HEAD "Ip: A B\nIp: 1 2\nTcp: RtoMin MaxConn OutSegs RetransSegs InErrs\n"
    struct faultloc_board *board;
    int fd;

    ck_assert_int_eq(faultloc_board_make(1, 64, 1, 0, &board, &fd), 0);
    close(fd);
    r.board = board;
    ck_assert(!look_with(10 * S, HEAD "Tcp: 200 -1 1000 7 0\n"));
    ck_assert_uint_eq(r.all, 7);
    ck_assert(!look_with(11 * S, HEAD "Tcp: 200 -1 2000 7 0\n"));
    ck_assert_ptr_null(r.total);
    ck_assert(!look_with(12 * S, HEAD "Tcp: 200 -1 9000 8 0\n")); /* one of many thousands */
    ck_assert_ptr_null(r.total);
    ck_assert(!look_with(13 * S, HEAD "Tcp: 200 -1 9100 9 0\n"));
    ck_assert_ptr_nonnull(r.total);
    ck_assert(!look_with(14 * S, "Tcp: RetransSegs\n"));
    ck_assert(!look_with(15 * S, "Tcp: RetransSegs\nTcp: x\n"));
    ck_assert(!look_with(16 * S, ""));
    ck_assert(!r.known);
    free(r.total);
    faultloc_board_unmap(board);
}
