/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "suite.h"
#include "sim/topology.h"

#include <unistd.h>

static struct sim_topology t;

/* A topology of a file with this text; the exit code of sim_topology_make(). */
static int from_text(const char *text, int32_t nodes)
{
    char file[] = "/tmp/test_sim_topology.XXXXXX";
    int fd = mkstemp(file), rc;

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq((int) write(fd, text, strlen(text)), (int) strlen(text));
    close(fd);
    rc = sim_topology_make(&t, file, nodes, 32, 0, 1);
    unlink(file);
    return rc;
}

TEST_CASE(a_number_of_nodes_is_a_job_without_switches)
{
    ck_assert_int_eq(sim_topology_make(&t, NULL, 7, 2, 3, 1), FTREE_OK);
    ck_assert_int_eq(t.job.nodes, 7);
    ck_assert_int_eq(t.job.size, 21);
    ck_assert_int_eq(t.job.rank_node[20], 6);
    ck_assert_int_eq(sim_topology_node(&t, "n6", 2), 6);
    ck_assert_int_eq(sim_topology_node(&t, "6", 1), 6);
    ck_assert_int_eq(sim_topology_node(&t, "7", 1), FTREE_NONE);
    ck_assert_int_eq(sim_topology_switch(&t, "0", 1), FTREE_NONE);
    sim_topology_free(&t);
}

TEST_CASE(a_string_names_switches_nodes_and_ranks)
{
    ck_assert_int_eq(sim_topology_make(&t, "switch:3 node:5 rank:2", 0, 32, 0, 1), FTREE_OK);
    ck_assert_int_eq(t.job.nodes, 15);
    ck_assert_int_eq(t.job.size, 30);
    ck_assert_int_eq(sim_topology_switch(&t, "s2", 2), 2);
    ck_assert_int_eq(sim_topology_switch(&t, "2", 1), 2);
    sim_topology_free(&t);
    ck_assert_int_eq(sim_topology_make(&t, "switch:3 node:5", 16, 32, 0, 1), FTREE_ERR_INVALID);
    sim_topology_free(&t);
    ck_assert_int_eq(sim_topology_make(&t, "switch:3 knot:5", 0, 32, 0, 1), FTREE_ERR_INVALID);
    sim_topology_free(&t);
}

TEST_CASE(the_nodes_of_a_file_are_the_jobs)
{
    ck_assert_int_eq(from_text("# Nodes=x\nSwitchName=leaf1 Nodes=c[1-3]\n"
                               "switchname=leaf2 nodes=d1,d2 # more\n"
                               "SwitchName=top Switches=leaf[1-2]\n",
                               5),
                     FTREE_OK);
    ck_assert_int_eq(t.job.nodes, 5);
    ck_assert_int_ne(sim_topology_node(&t, "d2", 2), FTREE_NONE);
    ck_assert_str_eq(t.name[sim_topology_node(&t, "d2", 2)], "d2");
    ck_assert_str_eq(t.tree->switch_name[t.tree->node_switch[sim_topology_node(&t, "d2", 2)]],
                     "leaf2");
    sim_topology_free(&t);
}

TEST_CASES(a_file_that_is_wrong_is_refused, 6)
{
    static const char *const texts[] = {"",
                                        "SwitchName=a\n",
                                        "SwitchName=a Nodes=c[1-\n",
                                        "SwitchName=a Nodes=c1,c1\n",
                                        "Nodes=c1\n",
                                        "#"};

    ck_assert_int_eq(from_text(texts[_i], 0), FTREE_ERR_INVALID);
    sim_topology_free(&t);
}
