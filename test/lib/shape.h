/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef SHAPE_H_INCLUDED
#define SHAPE_H_INCLUDED

#include "ftree/topology/tree.h"

#include <check.h>
#include <stdint.h>
#include <stdio.h>

/*
 * The shapes of jobs that tests begin with: how many nodes with how many ranks each, and how they
 * are one above the other.  lone_of() makes one handle of such a job, world_of() all of them.
 */

struct shape {
    int32_t nodes, ranks; /* ranks on each node */
    int32_t fanout;
    char topology[64]; /* as `faultloc simulate --topology` has it; empty: a complete tree by fan-out */
};

/* A complete tree, in which every node has up to `fanout` children. */
static inline struct shape shape_tree(int32_t nodes, int32_t ranks, int32_t fanout)
{
    return (struct shape){.nodes = nodes, .ranks = ranks, .fanout = fanout};
}

/* Node 0 is the root and the FLN of all others, 32 at most. */
static inline struct shape shape_star(int32_t nodes, int32_t ranks)
{
    return shape_tree(nodes, ranks, 32);
}

/* Two below each: 0 - 1 2, 1 - 3 4, 2 - 5 6, 3 - 7 8, ... */
static inline struct shape shape_binary(int32_t nodes, int32_t ranks)
{
    return shape_tree(nodes, ranks, 2);
}

/* Nodes behind switches, one rank on each node.  In "switch:2 switch:2 node:4" s0 and s1 are above
 * the leaf switches s2, s3 and s4, s5. */
static inline struct shape shape_switches(const char *topology)
{
    struct shape s = {.ranks = 1, .fanout = 32};

    snprintf(s.topology, sizeof(s.topology), "%s", topology);
    return s;
}

/* So many nodes behind s0; the same behind each of s0 and s1, and of three and four switches. */
static inline struct shape shape_switches_of(int32_t switches, int32_t nodes)
{
    char topology[64];

    snprintf(topology, sizeof(topology), "switch:%d node:%d", (int) switches, (int) nodes);
    return shape_switches(topology);
}

static inline struct shape shape_one_switch_of(int32_t nodes)
{
    return shape_switches_of(1, nodes);
}

static inline struct shape shape_two_switches_of(int32_t nodes)
{
    return shape_switches_of(2, nodes);
}

/* The tree of such a topology, to be freed by ftree_tree_free(). */
static inline struct ftree_tree *shape_read(const char *topology)
{
    struct ftree_tree_error e;
    struct ftree_tree *tree;
    int32_t ranks;

    ck_assert_int_eq(ftree_tree_synthetic(topology, 32, &tree, &ranks, &e), FTREE_OK);
    return tree;
}

#endif /* SHAPE_H_INCLUDED */
