/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/topology/topo.h"

#include "ftree/ftree.h"
#include "ftree/topology/tree.h"

int32_t ftree_topo_parent(const struct topo *t, int32_t node)
{
    if (t->tree)
        return t->tree->parent[node];
    return node == 0 ? -1 : (node - 1) / t->fanout;
}

int32_t ftree_topo_children(const struct topo *t, int32_t node, int32_t *first)
{
    /* 64 bits: node * fanout passes 2^31 for the leaves of a large tree */
    int64_t lo = (int64_t) node * t->fanout + 1;
    int64_t left = t->nodes - lo;

    if (t->tree) {
        *first = t->tree->first_child[node];
        return t->tree->first_child[node + 1] - *first;
    }
    *first = left > 0 ? (int32_t) lo : t->nodes;
    if (left <= 0)
        return 0;
    return left < t->fanout ? (int32_t) left : t->fanout;
}

bool ftree_topo_is_above(const struct topo *t, int32_t a, int32_t b)
{
    while (b > a)
        b = ftree_topo_parent(t, b);
    return a == b;
}

int32_t ftree_topo_child_toward(const struct topo *t, int32_t above, int32_t node)
{
    int32_t parent = ftree_topo_parent(t, node);

    while (parent != above) {
        node = parent;
        parent = ftree_topo_parent(t, node);
    }
    return node;
}

int32_t ftree_topo_height(const struct topo *t, int32_t node)
{
    int32_t height = 0, first;

    if (t->tree)
        return t->tree->height[node];
    /* numbering is level by level, so the first child's branch is never shorter than another's */
    while (ftree_topo_children(t, node, &first) > 0) {
        node = first;
        height++;
    }
    return height;
}

static uint64_t mix(uint64_t x)
{
    return ftree_topo_mix(x + 0x9e3779b97f4a7c15u);
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

/* Of the complete tree; all behind it are leaves. */
static int32_t first_leaf(const struct topo *t)
{
    return (int32_t) ((t->nodes - 2 + (int64_t) t->fanout) / t->fanout);
}

static uint64_t leaves_of(const struct topo *t)
{
    return (uint64_t) (t->tree ? t->tree->leaves : t->nodes - first_leaf(t));
}

/* The k-th leaf (from 0), ascending. */
static int32_t leaf_at(const struct topo *t, uint64_t k)
{
    return t->tree ? t->tree->leaf[k] : first_leaf(t) + (int32_t) k;
}

struct topo ftree_topo_of(const struct ftree_job *job)
{
    struct topo t = {.nodes = job->nodes, .fanout = job->fanout, .tree = job->tree};
    uint64_t leaves = leaves_of(&t), a = mix(job->seed) % leaves;

    while (gcd(a, leaves) != 1)
        a++;
    t.step = (uint32_t) a;
    t.begin = (uint32_t) (mix(job->seed + 1) % leaves);
    return t;
}

/* The k-th node (from 1) that is neither the root nor a leaf, ascending; -1: there are less. */
static int32_t inner_at(const struct topo *t, uint64_t leaves, int64_t k)
{
    if (k + 1 + (int64_t) leaves > t->nodes)
        return -1;
    for (int32_t i = 0; t->tree && i < t->tree->leaves && t->tree->leaf[i] <= k; i++)
        k++;
    return (int32_t) k;
}

int32_t ftree_topo_root_substitute(const struct topo *t, int32_t k)
{
    uint64_t leaves;

    if (k <= 0)
        return k == 0 ? 0 : -1;
    if (t->nodes < 2)
        return -1;
    leaves = leaves_of(t);
    if ((uint64_t) k > leaves)
        return inner_at(t, leaves, k - (int64_t) leaves);
    return leaf_at(t, (t->step * (uint64_t) (k - 1) + t->begin) % leaves);
}

int32_t ftree_topo_switch_of(const struct topo *t, int32_t node)
{
    return t->tree ? t->tree->node_switch[node] : FTREE_NONE;
}

bool ftree_topo_same_switch(const struct topo *t, int32_t a, int32_t b)
{
    int32_t s = ftree_topo_switch_of(t, a);

    return s != FTREE_NONE && s == ftree_topo_switch_of(t, b);
}

bool ftree_tree_is_behind(const struct ftree_tree *t, int32_t switch_, int32_t node)
{
    return ftree_tree_is_above(t, switch_, t->node_switch[node]);
}

bool ftree_tree_is_above(const struct ftree_tree *t, int32_t above, int32_t switch_)
{
    while (switch_ != FTREE_NONE && switch_ != above)
        switch_ = t->switch_parent[switch_];
    return switch_ != FTREE_NONE;
}
