/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "sim/network.h"
#include "suite.h"
#include "sim/topology.h"

static struct sim_topology topology;
static struct sim_network net;

/* Two rows of two switches with two nodes each. */
static void begin(void)
{
    ck_assert_int_eq(sim_topology_make(&topology, "switch:2 switch:2 node:2", 0, 32, 0, 1),
                     FTREE_OK);
    sim_network_init(&net, topology.job.nodes, topology.tree);
    net.draw = draw_stream(1, 1);
    net.link = (struct sim_latency){.base = 10, .kind = SIM_SPREAD_NONE};
}

static void finish(void)
{
    sim_network_free(&net);
    sim_topology_free(&topology);
}

/* A node behind the i-th leaf switch (from 0); the k-th there. */
static int32_t node(int i, int k)
{
    for (int32_t n = 0; n < topology.job.nodes; n++)
        if (topology.tree->node_switch[n] == 2 + i && k-- == 0)
            return n;
    ck_abort();
}

TEST_CASE(time_adds_up_link_by_link)
{
    begin();
    ck_assert_uint_eq(sim_network_takes(&net, node(0, 0), node(0, 1), FTREE_PATH_DATA), 20);
    ck_assert_uint_eq(sim_network_takes(&net, node(0, 0), node(1, 0), FTREE_PATH_DATA), 40);
    /* the two rows meet in a core without a name */
    ck_assert_uint_eq(sim_network_takes(&net, node(0, 0), node(2, 0), FTREE_PATH_DATA), 60);
    ck_assert_uint_eq(sim_network_takes(&net, node(0, 0), node(2, 0), FTREE_PATH_MGMT), 20);
    ck_assert_uint_eq(sim_network_takes(&net, node(2, 0), node(3, 0), FTREE_PATH_DATA), 40);
    finish();
}

TEST_CASE(a_lost_switch_takes_what_passes_it)
{
    begin();
    net.any_switch = true;
    net.switch_lost[2] = 1; /* of node(0, ...) */
    ck_assert(!sim_network_works(&net, node(0, 0), node(0, 1), FTREE_PATH_DATA));
    ck_assert(!sim_network_works(&net, node(1, 0), node(0, 1), FTREE_PATH_DATA));
    ck_assert(sim_network_works(&net, node(1, 0), node(0, 1), FTREE_PATH_MGMT));
    ck_assert(sim_network_works(&net, node(1, 0), node(2, 1), FTREE_PATH_DATA));
    net.switch_lost[2] = 0;
    net.switch_lost[0] = 1; /* of the first row */
    ck_assert(sim_network_works(&net, node(0, 0), node(0, 1), FTREE_PATH_DATA));
    ck_assert(!sim_network_works(&net, node(0, 0), node(1, 1), FTREE_PATH_DATA));
    ck_assert(!sim_network_works(&net, node(0, 0), node(2, 1), FTREE_PATH_DATA));
    ck_assert(sim_network_works(&net, node(2, 0), node(3, 1), FTREE_PATH_DATA));
    finish();
}

TEST_CASE(cuts_and_partitions_are_of_a_path)
{
    begin();
    net.down[0] = 1 << FTREE_PATH_DATA;
    ck_assert(!sim_network_works(&net, 0, 1, FTREE_PATH_DATA));
    ck_assert(!sim_network_works(&net, 1, 0, FTREE_PATH_DATA));
    ck_assert(sim_network_works(&net, 0, 1, FTREE_PATH_MGMT));
    net.down[0] = 0;
    sim_network_cut(&net, 0, 2, SIM_BOTH_PATHS);
    ck_assert(!sim_network_works(&net, 2, 0, FTREE_PATH_DATA));
    ck_assert(sim_network_works(&net, 2, 1, FTREE_PATH_DATA));
    sim_network_cut(&net, 2, 0, 0);
    ck_assert(sim_network_works(&net, 0, 2, FTREE_PATH_MGMT));
    net.side[3] = net.side[4] = 1;
    ck_assert(sim_network_works(&net, 3, 1, FTREE_PATH_DATA));
    net.parted = 1 << FTREE_PATH_MGMT;
    ck_assert(sim_network_works(&net, 3, 1, FTREE_PATH_DATA));
    ck_assert(!sim_network_works(&net, 3, 1, FTREE_PATH_MGMT));
    ck_assert(sim_network_works(&net, 3, 4, FTREE_PATH_MGMT));
    finish();
}

/* Shares of a drawn sample are near what they should be; the draw is the same each time. */
TEST_CASE(messages_are_lost_doubled_and_late_as_often_as_was_asked)
{
    int copies[3] = {0}, late = 0;
    ftree_time takes[2];

    begin();
    net.loss = 0.05;
    net.duplicate = 0.1;
    net.delay = 0.2;
    net.delay_max = 1000 * FTREE_MS;
    for (int i = 0; i < 100000; i++) {
        int n = sim_network_carry(&net, 0, 1, FTREE_PATH_MGMT, takes);
        copies[n]++;
        late += n > 0 && takes[0] > FTREE_MS;
        REQUIRE(n < 1 || (takes[0] >= 20 && takes[0] <= 1000 * FTREE_MS + 20));
    }
    ck_assert_int_gt(copies[0], 4700);
    ck_assert_int_lt(copies[0], 5300);
    ck_assert_int_gt(copies[2], 9000);
    ck_assert_int_lt(copies[2], 10000);
    ck_assert_int_gt(late, 18000);
    ck_assert_int_lt(late, 20000);
    finish();
}

TEST_CASE(a_latency_has_a_base_and_a_spread)
{
    struct sim_latency l;
    double sum = 0;

    begin();
    ck_assert(sim_latency_read("25us", &l) && l.kind == SIM_SPREAD_NONE && l.base == 25000);
    ck_assert(sim_latency_read("1us+uni3us", &l) && l.kind == SIM_SPREAD_UNIFORM);
    net.link = l;
    for (int i = 0; i < 1000; i++) {
        ftree_time t = sim_network_takes(&net, 0, 1, FTREE_PATH_MGMT);
        REQUIRE(t >= 2000 && t <= 8000);
    }
    ck_assert(sim_latency_read("0us+exp10us", &l) && l.kind == SIM_SPREAD_EXPONENTIAL);
    net.link = l;
    for (int i = 0; i < 10000; i++)
        sum += (double) sim_network_takes(&net, 0, 1, FTREE_PATH_MGMT);
    ck_assert(sum / 10000 > 19000 && sum / 10000 < 21000);
    ck_assert(!sim_latency_read("25", &l));
    ck_assert(!sim_latency_read("25us+", &l));
    ck_assert(!sim_latency_read("25us+exp", &l));
    ck_assert(!sim_latency_read("25us+foo3us", &l));
    finish();
}
