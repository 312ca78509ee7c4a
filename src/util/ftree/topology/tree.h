/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef TREE_H_INCLUDED
#define TREE_H_INCLUDED

#include "ftree/base/types.h"

#pragma GCC visibility push(hidden)

/*
 * A fault localization tree from outside: from a file in the syntax of Slurm's topology.conf, or
 * from one string ("switch:32 node:64 rank:8").  Nodes that are behind one switch are in one
 * subtree, with one of them at its head, so that faults with one cause meet in one FLN:
 *
 *   - of a leaf switch, the first node (in the job's order) is the head, the others lie below it;
 *   - of a switch of switches, the head is the head of its first switch, the heads of its other
 *     switches lie below it;
 *   - whatever lies below one head does so as a complete tree of `fanout` children a node; a node
 *     that is the head of several switches has up to so many for each of them;
 *   - switches in the order of their first nodes, so that the job's first node is the root.
 *
 * Nodes are numbered level by level, so that parent(n) < n and the children of a node are a range.
 * The tree is immutable once made, and shared by all handles of a process.
 */
struct ftree_tree {
    int32_t nodes;
    int32_t *parent; /* [nodes]; FTREE_NONE of node 0, the root */
    int32_t *first_child; /* [nodes + 1]: of n, first_child[n] .. first_child[n + 1] - 1 */
    int32_t *height; /* [nodes]: levels below */
    int32_t leaves;
    int32_t *leaf; /* [leaves], ascending */
    int32_t switches;
    const char *const *switch_name; /* [switches] */
    int32_t *switch_parent; /* [switches]; FTREE_NONE: no switch above */
    int32_t *switch_head; /* [switches]; FTREE_NONE: none of its nodes is in the job */
    int32_t *node_switch; /* [nodes]: leaf switch, FTREE_NONE: the file does not have it */
};

/* What is wrong with a file or a string, and where: line and column from 1, 0 where it is about
 * the whole. */
struct ftree_tree_error {
    int line, column;
    char text[200];
};

/* Purpose: makes the tree of a job whose nodes are called name[0 .. nodes-1] from the text of a
 * topology file.  order[new number] = index into name: the caller numbers its nodes anew by it.
 * Switches of the file that have none of the job's nodes stay in the table of switches without a
 * head; nodes that the file lacks are an error that names (some of) them, and so are: syntax,
 * unknown words, duplicate switches, a node behind two switches, a cycle of switches, a switch
 * that is named but not described.  `*out` is freed by ftree_tree_free().
 * Slurm's topology.conf(5): SwitchName=, Nodes=, Switches=, LinkSpeed= (ignored), hostlist ranges
 * ("c[01-16,20]"), comments with #, continuation with \, words in any case.
 * Errors: FTREE_ERR_INVALID (*e says what), FTREE_ERR_NOMEM. */
int ftree_tree_read(const char *text, size_t len, const char *const *name, int32_t nodes,
                    int32_t fanout, struct ftree_tree **out, int32_t *order,
                    struct ftree_tree_error *e);

/* Purpose: the tree and the shape of the job that a string describes, from the outermost level to
 * the innermost, as hwloc's synthetic topologies do: "switch:32 node:64 rank:8" are 32 switches of
 * 64 nodes each with 8 ranks each; "switch:4 switch:8 node:16" has two levels of switches; "rank"
 * may be left out (1).  Nodes are n0, n1, ..., switches s0, s1, ....
 * *ranks_per_node is set.  Errors: as above; more than 2^24 nodes is one. */
int ftree_tree_synthetic(const char *string, int32_t fanout, struct ftree_tree **out,
                         int32_t *ranks_per_node, struct ftree_tree_error *e);

/* Purpose: the same for a job that there is: its nodes are, in its order, those of the string, of
 * which there must be as many (the ranks are not looked at).  order[] as above. */
int ftree_tree_synthetic_job(const char *string, int32_t nodes, int32_t fanout,
                             struct ftree_tree **out, int32_t *order, struct ftree_tree_error *e);

void ftree_tree_free(struct ftree_tree *t);

/* Purpose: the tree as bytes without pointers, for memory that processes share: how many, and a
 * copy of them. */
size_t ftree_tree_packed_size(const struct ftree_tree *t);
void ftree_tree_pack(const struct ftree_tree *t, void *bytes);

/* Purpose: a tree over such bytes, which are aligned to 4 and outlive it; freed as any other.
 * Errors: FTREE_ERR_INVALID (they are no tree), FTREE_ERR_NOMEM. */
int ftree_tree_unpack(const void *bytes, size_t len, struct ftree_tree **out);

/* Purpose: true if a switch (leaf or above) has the node below it. */
bool ftree_tree_is_behind(const struct ftree_tree *t, int32_t switch_, int32_t node);

/* Purpose: true if one switch is the other, or above it. */
bool ftree_tree_is_above(const struct ftree_tree *t, int32_t above, int32_t switch_);

/* Purpose: names as a hostlist, "c[01-16,20],login", each once more where it is there twice; to be freed
 * by free(3).  NULL: out of memory. */
char *ftree_tree_fold(const char *const *names, int32_t n);

/* Purpose: every invariant above; NULL or the first that does not hold.  For tests. */
const char *ftree_tree_check(const struct ftree_tree *t);

#pragma GCC visibility pop

#endif /* TREE_H_INCLUDED */
