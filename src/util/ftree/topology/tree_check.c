/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/topology/tree_int.h"

static bool in(int32_t value, int32_t n)
{
    return value >= 0 && value < n;
}

static const char *check_children(const struct ftree_tree *t)
{
    if (t->first_child[0] != 1)
        return "the root's children begin with node 1";
    for (int32_t n = 0; n < t->nodes; n++)
        if (t->first_child[n + 1] < t->first_child[n] || t->first_child[n + 1] > t->nodes)
            return "children are ranges in ascending order";
    if (t->first_child[t->nodes] != t->nodes)
        return "every node but the root is somebody's child";
    for (int32_t n = 0; n < t->nodes; n++)
        for (int32_t c = t->first_child[n]; c < t->first_child[n + 1]; c++)
            if (t->parent[c] != n || c <= n)
                return "a node is above its children, and has the lesser number";
    return t->parent[0] == FTREE_NONE ? NULL : "nobody is above the root";
}

static const char *check_heights(const struct ftree_tree *t)
{
    int32_t leaves = 0;

    for (int32_t n = 0; n < t->nodes; n++) {
        int32_t height = 0;
        for (int32_t c = t->first_child[n]; c < t->first_child[n + 1]; c++)
            if (t->height[c] >= height)
                height = t->height[c] + 1;
        if (t->height[n] != height)
            return "a node's height is one more than that of its highest child";
        if (height == 0 && (leaves == t->leaves || t->leaf[leaves++] != n))
            return "the leaves are those without children, ascending";
    }
    return leaves == t->leaves ? NULL : "the leaves are all those without children";
}

static const char *check_switches(const struct ftree_tree *t)
{
    for (int32_t s = 0; s < t->switches; s++) {
        int32_t above = s;
        if (t->switch_parent[s] != FTREE_NONE && !in(t->switch_parent[s], t->switches))
            return "above a switch is a switch, or none";
        if (t->switch_head[s] != FTREE_NONE && !in(t->switch_head[s], t->nodes))
            return "a switch's head is a node, or none";
        for (int n = 0; above != FTREE_NONE; n++) {
            if (n == TREE_DEPTH_MAX || !in(above, t->switches))
                return "no switch is above itself";
            above = t->switch_parent[above];
        }
    }
    for (int32_t n = 0; n < t->nodes; n++)
        if (t->node_switch[n] != FTREE_NONE && !in(t->node_switch[n], t->switches))
            return "a node is behind a switch, or none";
    return NULL;
}

/* Nodes behind one switch are in one subtree: its head, and whose parent is behind it, too. */
static const char *check_subtrees(const struct ftree_tree *t)
{
    for (int32_t n = 0; n < t->nodes; n++)
        for (int32_t s = t->node_switch[n]; s != FTREE_NONE; s = t->switch_parent[s]) {
            int32_t head = t->switch_head[s];
            if (head == FTREE_NONE)
                return "a switch with nodes has a head";
            if (n != head && (n < head || !ftree_tree_is_behind(t, s, t->parent[n])))
                return "the nodes behind a switch are one subtree below its head";
        }
    for (int32_t s = 0; s < t->switches; s++)
        if (t->switch_head[s] != FTREE_NONE && !ftree_tree_is_behind(t, s, t->switch_head[s]))
            return "a switch's head is behind it";
    return NULL;
}

const char *ftree_tree_check(const struct ftree_tree *t)
{
    const char *broken = t->nodes < 1 ? "there is a node" : check_children(t);

    if (!broken)
        broken = check_heights(t);
    if (!broken)
        broken = check_switches(t);
    return broken ? broken : check_subtrees(t);
}
