/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef TOPO_H_INCLUDED
#define TOPO_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct ftree_job;
struct ftree_tree;

/*
 * The shape of the fault localization tree: one from outside (tree.h), or a complete tree of
 * `nodes` nodes in which every node has up to `fanout` children, numbered level by level:
 *
 *     parent(i) = (i - 1) / fanout        children(i) = i * fanout + 1 .. i * fanout + fanout
 *
 * Nothing is stored in a handle, so a million of them share the shape for free.  All functions are
 * pure; nodes are 0 .. nodes - 1 and are not checked here.  In both trees parent(i) < i, and the
 * children of a node are a range.
 */
struct topo {
    int32_t nodes;
    int32_t fanout;
    uint32_t step, begin; /* of the draw of the root's substitutes: a and b */
    const struct ftree_tree *tree; /* NULL: the complete one; else of as many nodes */
};

/* That of a job. */
struct topo ftree_topo_of(const struct ftree_job *job);

/* Draws by a number: the same on all nodes without any message, and another one for the next.  It
 * is the finalizer of splitmix64 (Steele, Lea, Flood 2014). */
static inline uint64_t ftree_topo_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* The fault localization node (FLN) of `node`; -1 for the root. */
int32_t ftree_topo_parent(const struct topo *t, int32_t node);

/* The children of `node` are *first .. *first + (returned number) - 1. */
int32_t ftree_topo_children(const struct topo *t, int32_t node, int32_t *first);

/* True if a is b, or above it. */
bool ftree_topo_is_above(const struct topo *t, int32_t a, int32_t b);

/* The child of `above` on the way down to `node`, which lies strictly below it. */
int32_t ftree_topo_child_toward(const struct topo *t, int32_t above, int32_t node);

/* The levels below `node`, 0 for a leaf. */
int32_t ftree_topo_height(const struct topo *t, int32_t node);

/* Who acts as root: substitute 0 is the root itself, 1, 2, ... are leaves in an order drawn by
 * the seed, the same on all nodes without any message; when the leaves are used up (a chain has
 * only one), the other nodes in ascending order; -1 when there are no more.  The draw is the affine
 * permutation k -> (a k + b) mod leaves with a prime to the number of leaves. */
int32_t ftree_topo_root_substitute(const struct topo *t, int32_t k);

/* The leaf switch that `node` is behind, by number in the tree from outside; -1: not known. */
int32_t ftree_topo_switch_of(const struct topo *t, int32_t node);

/* True if both are known to be behind the same leaf switch. */
bool ftree_topo_same_switch(const struct topo *t, int32_t a, int32_t b);

#pragma GCC visibility pop

#endif /* TOPO_H_INCLUDED */
