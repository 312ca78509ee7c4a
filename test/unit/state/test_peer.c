/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "switches.h"

/* How another node is, from ok to cut off. */

TEST_CASE(each_state_hides_those_before_it)
{
    struct lone *l = switches_new("switch:2 node:4", "0.1");
    int32_t node = switches_node(l->job.tree, "1.2", NULL);

    ck_assert_int_eq(ftree_peer(l->ft, l->now, node), FTREE_PEER_OK);
    ck_assert(ftree_peer_usable(l->ft, l->now, node));
    ftree_peer_unresponsive(l->ft, l->now, node, true);
    ck_assert_int_eq(ftree_peer(l->ft, l->now, node), FTREE_PEER_BUSY);
    ftree_peer_unresponsive(l->ft, l->now, node, false);
    ck_assert_int_eq(ftree_peer(l->ft, l->now, node), FTREE_PEER_UNRESPONSIVE);
    ck_assert(!ftree_peer_usable(l->ft, l->now, node));
    ck_assert(ftree_peer_can_act(l->ft, node));
    ck_assert(!ftree_peer_leaves(l->ft, node, true));
    ck_assert_int_eq(ftree_peer(l->ft, l->now, node), FTREE_PEER_LEFT);
    ck_assert(!ftree_peer_all_left(l->ft, node));
    ck_assert(ftree_peer_leaves(l->ft, node, false));
    ck_assert(!ftree_peer_leaves(l->ft, node, false));
    ck_assert(ftree_peer_all_left(l->ft, node));
    ck_assert_int_eq(ftree_peer(l->ft, l->now, node), FTREE_PEER_LEFT);
    ck_assert(!ftree_peer_can_act(l->ft, node));
    ck_assert(!ftree_has_no_agent(l->ft, node));
    lone_knows(l, "unknown/unobserved", node, FTREE_NONE, l->self);
    ck_assert_int_eq(ftree_peer(l->ft, l->now, node), FTREE_PEER_STOPPED);
    ck_assert(ftree_has_no_agent(l->ft, node));
    ck_assert(!ftree_has_failed(l->ft, node));
    lone_knows(l, "node-outage/both-paths-silent", node, FTREE_NONE, l->self);
    ck_assert_int_eq(ftree_peer(l->ft, l->now, node), FTREE_PEER_LOST);
    ck_assert(ftree_has_failed(l->ft, node));
    switches_lose(l, 1, "switch-fault/all-behind-silent");
    ck_assert_int_eq(ftree_peer(l->ft, l->now, node), FTREE_PEER_CUT_OFF);
}

TEST_CASE(who_is_heard_responds_but_may_be_busy)
{
    struct lone *l = lone_of(shape_tree(4, 1, 4), 1);

    ck_assert(!ftree_peer_heard(l->ft, 2));
    ftree_peer_unresponsive(l->ft, l->now, 2, false);
    ftree_peer_unresponsive(l->ft, l->now, 3, true);
    ck_assert(ftree_peer_heard(l->ft, 2));
    ck_assert(!ftree_peer_heard(l->ft, 3));
    ck_assert_int_eq(ftree_peer(l->ft, l->now, 2), FTREE_PEER_OK);
    ck_assert_int_eq(ftree_peer(l->ft, l->now, 3), FTREE_PEER_BUSY);
}

TEST_CASE(after_a_while_it_is_tried_again)
{
    struct lone *l = lone_of(shape_tree(4, 1, 4), 1);

    ftree_peer_unresponsive(l->ft, l->now, 2, false);
    ck_assert_int_eq(ftree_peer(l->ft, l->now + 4999 * FTREE_MS, 2), FTREE_PEER_UNRESPONSIVE);
    ck_assert_int_eq(ftree_peer(l->ft, l->now + 5000 * FTREE_MS, 2), FTREE_PEER_OK);
    ck_assert_int_eq(ftree_inspect_unresponsive(l->ft), 1);
    ftree_peer_tick(l->ft, l->now + 5000 * FTREE_MS);
    ck_assert_int_eq(ftree_inspect_unresponsive(l->ft), 0);
}

TEST_CASE(one_that_is_slow_is_so_until_then)
{
    struct lone *l = lone_of(shape_tree(4, 1, 4), 1);

    ck_assert(!ftree_peer_is_slow(l->ft, l->now, 2));
    ftree_peer_slow(l->ft, l->now + 100, 2);
    ftree_peer_tick(l->ft, l->now + 99);
    ck_assert(ftree_peer_is_slow(l->ft, l->now + 99, 2));
    ck_assert(!ftree_peer_is_slow(l->ft, l->now + 100, 2));
    ck_assert(ftree_peer_usable(l->ft, l->now, 2));
    ftree_peer_tick(l->ft, l->now + 100);
    ck_assert_int_eq(l->ft->state->peers.n, 0);
}
