/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "suite.h"
#include "ftree/ftree.h"
#include "ftree/topology/topo.h"
#include "ftree/topology/tree.h"

/* Trees of every kind: one node, chains, stars, full and ragged ones. */
static const struct {
    int32_t nodes, fanout;
    uint64_t seed;
} formulas[] = {
    {1, 1, 1},     {1, 32, 1},      {2, 1, 3},     {2, 2, 3},   {3, 2, 5},   {4, 32, 7},
    {7, 2, 7},     {8, 2, 7},       {8, 3, 8},     {17, 1, 9},  {31, 2, 1},  {32, 31, 2},
    {33, 32, 3},   {34, 32, 4},     {100, 3, 4},   {255, 4, 5}, {256, 4, 6}, {1000, 7, 7},
    {1057, 32, 8}, {1058, 32, 9},   {1100, 1, 1},  {64, 64, 2}, {65, 64, 2}, {66, 64, 2},
    {5, 1000, 3},  {1000, 999, 11}, {1000, 31, 0},
};

/* And trees from outside. */
static const struct {
    const char *string;
    int32_t fanout, children_max;
    uint64_t seed;
} strings[] = {
    {"node:1", 32, 0, 1},
    {"switch:1 node:1", 32, 0, 2},
    {"switch:4 node:1", 1, 1, 3},
    {"switch:2 node:4", 32, 4, 4},
    {"switch:5 node:7", 2, 4, 5},
    {"switch:3 node:6", 1, 2, 6},
    {"switch:2 switch:3 switch:2 node:9", 4, 12, 7},
    {"switch:32 node:33", 32, 63, 8},
    {"node:100", 3, 3, 9},
};

static struct topo shapes[COUNT(formulas) + COUNT(strings)];
static struct ftree_tree *trees[COUNT(strings)];

static struct topo complete(int32_t nodes, int32_t fanout, uint64_t seed)
{
    return ftree_topo_of(&(struct ftree_job){.nodes = nodes, .fanout = fanout, .seed = seed});
}

static void free_trees(void *all)
{
    suite_forget(all);
    for (int i = 0; i < COUNT(strings); i++)
        ftree_tree_free(trees[i]);
}

/* `fanout` of a tree from outside is for the tests alone: the most children that a node has. */
static const struct topo *all_shapes(void)
{
    struct topo *t = shapes;
    struct ftree_tree_error e;
    int32_t ranks;

    for (int i = 0; i < COUNT(formulas); i++)
        *t++ = complete(formulas[i].nodes, formulas[i].fanout, formulas[i].seed);
    for (int i = 0; i < COUNT(strings); i++) {
        ck_assert_int_eq(
            ftree_tree_synthetic(strings[i].string, strings[i].fanout, &trees[i], &ranks, &e), 0);
        *t++ = ftree_topo_of(&(struct ftree_job){.nodes = trees[i]->nodes,
                                                 .fanout = strings[i].children_max,
                                                 .seed = strings[i].seed,
                                                 .tree = trees[i]});
    }
    suite_keep(shapes, free_trees);
    return shapes;
}

TEST_CASE(parent_is_the_inverse_of_children)
{
    for (const struct topo *t = all_shapes(); t < shapes + COUNT(shapes); t++) {
        int32_t seen = 1; /* the root is nobody's child */
        ck_assert_int_eq(ftree_topo_parent(t, 0), -1);
        for (int32_t node = 0; node < t->nodes; node++) {
            int32_t first, n = ftree_topo_children(t, node, &first);
            ck_assert_int_le(n, t->fanout);
            for (int32_t child = first; child < first + n; child++) {
                ck_assert_int_eq(ftree_topo_parent(t, child), node);
                ck_assert_int_eq(child, seen);
                seen++;
            }
        }
        ck_assert_int_eq(seen, t->nodes);
    }
}

TEST_CASE(children_of_a_leaf_are_none)
{
    const struct topo t = {.nodes = 4, .fanout = 32};
    int32_t first = 17;

    ck_assert_int_eq(ftree_topo_children(&t, 3, &first), 0);
    ck_assert_int_eq(first, 4);
    ck_assert_int_eq(ftree_topo_children(&t, 0, &first), 3);
    ck_assert_int_eq(first, 1);
}

TEST_CASE(above_is_the_chain_of_parents)
{
    for (const struct topo *t = all_shapes(); t < shapes + COUNT(shapes); t++) {
        int32_t step = t->nodes > 100 ? t->nodes / 50 : 1;
        for (int32_t b = 0; b < t->nodes; b += step)
            for (int32_t a = 0; a < t->nodes; a += step) {
                bool above = false;
                for (int32_t n = b; n >= 0; n = ftree_topo_parent(t, n))
                    above = above || n == a;
                ck_assert_int_eq(ftree_topo_is_above(t, a, b), above);
            }
    }
}

TEST_CASE(child_toward_is_a_child_and_on_the_way)
{
    for (const struct topo *t = all_shapes(); t < shapes + COUNT(shapes); t++)
        for (int32_t node = 1; node < t->nodes; node++)
            for (int32_t a = ftree_topo_parent(t, node); a >= 0; a = ftree_topo_parent(t, a)) {
                int32_t child = ftree_topo_child_toward(t, a, node);
                ck_assert_int_eq(ftree_topo_parent(t, child), a);
                ck_assert(ftree_topo_is_above(t, child, node));
                if (t->fanout == 1)
                    break; /* a chain: every node is above, the square of a thousand */
            }
}

TEST_CASE(height_is_one_more_than_that_of_the_highest_child)
{
    for (const struct topo *t = all_shapes(); t < shapes + COUNT(shapes); t++)
        for (int32_t node = 0; node < t->nodes; node++) {
            int32_t first, n = ftree_topo_children(t, node, &first), height = -1;
            for (int32_t child = first; child < first + n; child++)
                if (ftree_topo_height(t, child) > height)
                    height = ftree_topo_height(t, child);
            ck_assert_int_eq(ftree_topo_height(t, node), height + 1);
            if (t->fanout == 1 && node > 40)
                break;
        }
}

TEST_CASE(root_substitutes_are_the_leaves_drawn_and_then_all_others)
{
    for (const struct topo *t = all_shapes(); t < shapes + COUNT(shapes); t++) {
        char *seen = calloc((size_t) t->nodes, 1);
        int32_t first, n, k, leaves = 0;
        ck_assert_int_eq(ftree_topo_root_substitute(t, 0), 0);
        for (n = 1; n < t->nodes; n++)
            leaves += ftree_topo_children(t, n, &first) == 0;
        for (k = 1; (n = ftree_topo_root_substitute(t, k)) != -1; k++) {
            ck_assert_int_gt(n, 0);
            ck_assert_int_lt(n, t->nodes);
            ck_assert_int_eq(ftree_topo_children(t, n, &first) == 0, k <= leaves);
            ck_assert_int_eq(seen[n], 0);
            seen[n] = 1;
        }
        ck_assert_int_eq(k, t->nodes);
        free(seen);
    }
}

/* Leaves at different depths, and inner nodes between them. */
TEST_CASE(substitutes_of_a_ragged_tree)
{
    struct ftree_tree_error e;
    struct ftree_tree *tree;
    struct topo ragged;
    int32_t ranks, last = 0;

    ck_assert_int_eq(ftree_tree_synthetic("switch:3 node:4", 2, &tree, &ranks, &e), 0);
    ragged = ftree_topo_of(&(struct ftree_job){.nodes = tree->nodes, .seed = 4, .tree = tree});
    for (int32_t k = tree->leaves + 1; k < tree->nodes; k++) {
        int32_t n = ftree_topo_root_substitute(&ragged, k);
        ck_assert_int_gt(n, last);
        ck_assert_int_gt(tree->height[n], 0);
        last = n;
    }
    ck_assert_int_eq(ftree_topo_root_substitute(&ragged, tree->nodes), -1);
    ftree_tree_free(tree);
}

TEST_CASE(switches_are_known_where_a_tree_from_outside_is)
{
    const struct topo formula = {.nodes = 8, .fanout = 2};
    const struct topo *from_outside = all_shapes() + COUNT(formulas);
    const struct topo none = from_outside[8], two = from_outside[3];
    int32_t behind = 0;

    ck_assert_int_eq(ftree_topo_switch_of(&formula, 3), -1);
    ck_assert(!ftree_topo_same_switch(&formula, 3, 3));
    ck_assert_int_eq(ftree_topo_switch_of(&none, 3), -1);
    ck_assert(!ftree_topo_same_switch(&none, 3, 4));
    for (int32_t n = 0; n < 8; n++) {
        int32_t s = ftree_topo_switch_of(&two, n);
        ck_assert(s == 0 || s == 1);
        ck_assert_int_eq(ftree_topo_same_switch(&two, 0, n), s == 0);
        behind += s == 0;
    }
    ck_assert_int_eq(behind, 4);
}

TEST_CASE(substitutes_end_and_stay_ended)
{
    const struct topo t = complete(4, 32, 7);

    ck_assert_int_eq(ftree_topo_root_substitute(&t, -1), -1);
    ck_assert_int_eq(ftree_topo_root_substitute(&t, 4), -1);
    ck_assert_int_eq(ftree_topo_root_substitute(&t, INT32_MAX), -1);
}

TEST_CASE(the_seed_draws_the_order)
{
    const struct topo a = complete(1000, 32, 1), b = complete(1000, 32, 2);
    int32_t differ = 0;

    for (int32_t k = 1; k < 900; k++) {
        ck_assert_int_eq(ftree_topo_root_substitute(&a, k), ftree_topo_root_substitute(&a, k));
        differ += ftree_topo_root_substitute(&a, k) != ftree_topo_root_substitute(&b, k);
    }
    ck_assert_int_gt(differ, 800);
}

TEST_CASE(the_largest_trees_do_not_overflow)
{
    const struct topo wide = complete(INT32_MAX, INT32_MAX, 3);
    const struct topo deep = complete(INT32_MAX, 2, 3);
    int32_t first;

    ck_assert_int_eq(ftree_topo_children(&wide, 0, &first), INT32_MAX - 1);
    ck_assert_int_eq(ftree_topo_children(&wide, INT32_MAX - 1, &first), 0);
    ck_assert_int_eq(ftree_topo_children(&deep, INT32_MAX - 1, &first), 0);
    ck_assert_int_eq(ftree_topo_height(&deep, 0), 30);
    ck_assert(ftree_topo_is_above(&deep, 0, INT32_MAX - 1));
    for (int32_t k = 1; k < 1000; k++) {
        ck_assert_int_gt(ftree_topo_root_substitute(&wide, k), 0);
        ck_assert_int_eq(ftree_topo_children(&deep, ftree_topo_root_substitute(&deep, k), &first),
                         0);
    }
}
