/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "sim/deadline.h"
#include "sim/draw.h"
#include "suite.h"

#define NODES 500

TEST_CASE(nobody_is_due_at_first)
{
    struct sim_deadlines d;
    ftree_time at;

    sim_deadlines_init(&d, 3);
    ck_assert_int_eq(sim_deadlines_first(&d, &at), FTREE_NONE);
    ck_assert(at == FTREE_NEVER);
    sim_deadlines_set(&d, 1, FTREE_NEVER); /* as it was */
    ck_assert_int_eq(d.n, 0);
    sim_deadlines_free(&d);
}

TEST_CASE(equal_times_are_in_the_order_of_the_nodes)
{
    struct sim_deadlines d;
    ftree_time at;

    sim_deadlines_init(&d, 5);
    for (int32_t n = 4; n >= 0; n--)
        sim_deadlines_set(&d, n, 7);
    for (int32_t n = 0; n < 5; n++) {
        ck_assert_int_eq(sim_deadlines_first(&d, &at), n);
        ck_assert(at == 7);
        sim_deadlines_set(&d, n, FTREE_NEVER);
    }
    ck_assert_int_eq(sim_deadlines_first(&d, &at), FTREE_NONE);
    sim_deadlines_free(&d);
}

/* Against the plainest thing that does the same. */
TEST_CASE(the_first_is_the_least_whatever_changes)
{
    struct sim_deadlines d;
    ftree_time plain[NODES], at;
    struct draw draw = draw_stream(3, 1);

    sim_deadlines_init(&d, NODES);
    for (int32_t n = 0; n < NODES; n++)
        plain[n] = FTREE_NEVER;
    for (int i = 0; i < 20000; i++) {
        int32_t node = (int32_t) draw_below(&draw, NODES), least = 0, in = 0;
        plain[node] = draw_below(&draw, 3) ? draw_below(&draw, 1000) : FTREE_NEVER;
        sim_deadlines_set(&d, node, plain[node]);
        for (int32_t n = 0; n < NODES; n++) {
            least = plain[n] < plain[least] ? n : least;
            in += plain[n] != FTREE_NEVER;
        }
        REQUIRE(d.n == in);
        REQUIRE(sim_deadlines_first(&d, &at) == (in ? least : FTREE_NONE));
        REQUIRE(at == plain[least]);
    }
    sim_deadlines_free(&d);
}
