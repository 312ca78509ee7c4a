/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "topo.h"

int32_t ftree_topo_parent(const struct topo *t, int32_t node)
{
    return node == 0 ? -1 : (node - 1) / t->fanout;
}

int32_t ftree_topo_children(const struct topo *t, int32_t node, int32_t *first)
{
    /* 64 bits: node * fanout passes 2^31 for the leaves of a large tree */
    int64_t lo = (int64_t) node * t->fanout + 1;
    int64_t left = t->nodes - lo;

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

    /* numbering is level by level, so the first child's branch is never shorter than another's */
    while (ftree_topo_children(t, node, &first) > 0) {
        node = first;
        height++;
    }
    return height;
}

static uint64_t mix(uint64_t x)
{
    /* the finalizer of splitmix64 (Steele, Lea, Flood 2014) */
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
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

int32_t ftree_topo_root_substitute(const struct topo *t, int32_t k)
{
    int64_t first_leaf = (t->nodes - 2 + (int64_t) t->fanout) / t->fanout;
    uint64_t leaves, a;

    if (k <= 0)
        return k == 0 ? 0 : -1;
    if (t->nodes < 2)
        return -1;
    leaves = (uint64_t) (t->nodes - first_leaf);
    if ((uint64_t) k > leaves)
        return k < t->nodes ? (int32_t) (k - (int64_t) leaves) : -1;
    a = mix(t->seed) % leaves;
    while (gcd(a, leaves) != 1)
        a++;
    return (int32_t) (first_leaf + (a * (uint64_t) (k - 1) + mix(t->seed + 1) % leaves) % leaves);
}
