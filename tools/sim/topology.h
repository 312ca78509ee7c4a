/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef TOPOLOGY_H_INCLUDED
#define TOPOLOGY_H_INCLUDED

#include "ftree.h"
#include "ftree/topology/tree.h"

/*
 * The shape of the job that is simulated: one for all handles, made once and never written again.
 * From a number of nodes (a complete tree), from a string ("switch:32 node:64 rank:2"), or from a
 * file in the syntax of Slurm's topology.conf, of which all nodes are the job's.
 */
struct sim_topology {
    struct ftree_job job;
    struct ftree_tree *tree; /* NULL: no switches */
    struct ftree_rules *rules;
    int32_t ranks_per_node;
    char *string, *file_text; /* what the tree was made of: one of them, or both NULL */
    char **name; /* [nodes], in the job's order; NULL: n0, n1, ... */
    int32_t *rank_node, *node_first, *node_ranks; /* NULL where each node has one rank */
};

/* Purpose: makes it.  `what`: NULL (then `nodes`), or a string or the name of a file; nodes 0: as
 * many as there are, else a number that must fit.  ranks 0: as the string says, else 1.  seed draws
 * the root's substitutes.  On error a line on stderr says what is wrong and where.
 * Errors: FTREE_ERR_INVALID. */
int sim_topology_make(struct sim_topology *t, const char *what, int32_t nodes, int32_t fanout,
                      int32_t ranks, uint64_t seed);

/* Purpose: the same, of the text of a file; `file` is named where something is wrong with it. */
int sim_topology_make_of_text(struct sim_topology *t, const char *file, const char *text,
                              size_t len, int32_t fanout, int32_t ranks, uint64_t seed);
void sim_topology_free(struct sim_topology *t);

/* Purpose: the node or switch of that name or number; FTREE_NONE: there is no such. */
int32_t sim_topology_node(const struct sim_topology *t, const char *name, size_t len);
int32_t sim_topology_switch(const struct sim_topology *t, const char *name, size_t len);

/* Ranks of a node are a range. */
static inline int32_t sim_first_rank(const struct sim_topology *t, int32_t node)
{
    return node * t->ranks_per_node;
}

#endif /* TOPOLOGY_H_INCLUDED */
