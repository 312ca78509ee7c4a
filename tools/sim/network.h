/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef NETWORK_H_INCLUDED
#define NETWORK_H_INCLUDED

#include "sim/draw.h"
#include "ftree/topology/tree.h"

/*
 * The networks between the nodes: the data network, which follows the switches of the topology (one
 * network of nothing but cables where there is none), and the management network, which has
 * switches of its own that never fail.  A message takes the sum of its links: one at each end, and
 * one between every two switches that it passes.
 */

#define SIM_BOTH_PATHS 3 /* a set of paths: bit p is path p */

/* How a link behaves: base + a drawn part. */
struct sim_latency {
    ftree_time base;
    ftree_time spread;
    enum {
        SIM_SPREAD_NONE,
        SIM_SPREAD_UNIFORM, /* 0 .. spread */
        SIM_SPREAD_EXPONENTIAL /* of mean spread */
    } kind;
};

struct sim_pair {
    int32_t a, b;
    uint8_t paths;
};

struct sim_network {
    struct draw draw;
    int32_t nodes;
    const struct ftree_tree *tree; /* NULL: no switches */
    struct sim_latency link;
    double loss, duplicate, delay; /* shares of the messages, 0 .. 1 */
    ftree_time delay_max; /* of those that are delayed, and of a second copy */
    uint8_t *down; /* [nodes]: the paths on which the node's end is cut; all: it has no power */
    uint8_t *side; /* [nodes]: which side of a partition it is on */
    uint8_t parted; /* the paths that are parted */
    struct sim_pair *pair; /* [pairs]: nodes between which nothing passes */
    int32_t pairs;
    uint8_t *switch_lost; /* [switches] */
    uint8_t *switch_depth; /* [switches] */
    bool any_switch; /* is lost, or was */
};

void sim_network_init(struct sim_network *n, int32_t nodes, const struct ftree_tree *tree);
void sim_network_free(struct sim_network *n);

/* Purpose: cuts two nodes from each other on a set of paths, or (paths 0) no more. */
void sim_network_cut(struct sim_network *n, int32_t a, int32_t b, uint8_t paths);

/* Purpose: true if a packet gets from a to b by that path now. */
bool sim_network_works(const struct sim_network *n, int32_t a, int32_t b, int path);

/* Purpose: how long a message from a to b takes, drawn. */
ftree_time sim_network_takes(struct sim_network *n, int32_t a, int32_t b, int path);

/* Purpose: what happens to one message: how many copies arrive (0, 1, 2) and how long each
 * takes. */
int sim_network_carry(struct sim_network *n, int32_t a, int32_t b, int path, ftree_time takes[2]);

/* Purpose: reads "25us", "25us+exp5us", "25us+uni10us"; false: it is none of these. */
bool sim_latency_read(const char *text, struct sim_latency *out);

#endif /* NETWORK_H_INCLUDED */
