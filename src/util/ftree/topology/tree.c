/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/topology/tree_int.h"

/*
 * From a shape to a tree.  A switch is a group; so is one switch above all that have none above
 * them, which is called the top here.  The members of a group are, in the job's order, its nodes,
 * or the heads of the switches below it; the first is the head of the group, and the others lie
 * below it as a complete tree.  A node that is the head of its group is a member of the next one
 * up, too; the group in which it is not the first decides who is above it.
 *
 * In the job's order a node is always behind the one above it.  Only then are they numbered anew.
 */

struct build {
    const struct tree_shape *shape;
    int32_t fanout;
    int32_t groups; /* switches + 1 */
    int32_t *head; /* [groups] */
    int32_t *begin; /* [groups + 1]: the group's members are member[begin[g] ..] */
    int32_t *filled; /* [groups]: how many of them are known */
    int32_t *member; /* [begin[groups]]: each node once, and once more for each group it heads */
    int32_t *parent; /* [nodes], all in the job's order */
    int32_t *child_begin; /* [nodes + 1] */
    int32_t *child; /* [nodes] */
    int32_t *number; /* [nodes]: new ones */
};

static int32_t group_of(const struct build *b, int32_t node)
{
    int32_t s = b->shape->node_switch[node];

    return s == FTREE_NONE ? b->groups - 1 : s;
}

/* FTREE_NONE above the top. */
static int32_t group_above(const struct build *b, int32_t g)
{
    if (g == b->groups - 1)
        return FTREE_NONE;
    return b->shape->switch_parent[g] == FTREE_NONE ? b->groups - 1 : b->shape->switch_parent[g];
}

static void find_heads(struct build *b)
{
    for (int32_t g = 0; g < b->groups; g++)
        b->head[g] = FTREE_NONE;
    for (int32_t i = 0; i < b->shape->nodes; i++)
        for (int32_t g = group_of(b, i); g >= 0 && b->head[g] == FTREE_NONE; g = group_above(b, g))
            b->head[g] = i;
}

/* All members there are: less than two for each node, for each group that has some one. */
static void count_members(struct build *b)
{
    memset(b->begin, 0, (size_t) (b->groups + 1) * sizeof(*b->begin));
    for (int32_t i = 0; i < b->shape->nodes; i++)
        for (int32_t g = group_of(b, i); g >= 0; g = group_above(b, g)) {
            b->begin[g + 1]++;
            if (b->head[g] != i)
                break;
        }
    for (int32_t g = 0; g < b->groups; g++)
        b->begin[g + 1] += b->begin[g];
}

static void find_parents(struct build *b)
{
    memset(b->filled, 0, (size_t) b->groups * sizeof(*b->filled));
    for (int32_t i = 0; i < b->shape->nodes; i++) {
        b->parent[i] = FTREE_NONE;
        for (int32_t g = group_of(b, i); g >= 0; g = group_above(b, g)) {
            int32_t k = b->filled[g]++, *member = b->member + b->begin[g];
            member[k] = i;
            if (k > 0) {
                b->parent[i] = member[(k - 1) / b->fanout];
                break;
            }
        }
    }
}

static void list_children(struct build *b)
{
    const int32_t nodes = b->shape->nodes;

    memset(b->child_begin, 0, (size_t) (nodes + 1) * sizeof(int32_t));
    for (int32_t i = 1; i < nodes; i++)
        b->child_begin[b->parent[i] + 1]++;
    for (int32_t i = 0; i < nodes; i++) {
        b->number[i] = b->child_begin[i]; /* for now: where its next child goes */
        b->child_begin[i + 1] += b->child_begin[i];
    }
    for (int32_t i = 1; i < nodes; i++)
        b->child[b->number[b->parent[i]]++] = i;
}

/* Level by level; order[] is the queue. */
static void number_nodes(struct build *b, int32_t *order)
{
    int32_t n = 1;

    order[0] = 0;
    for (int32_t k = 0; k < b->shape->nodes; k++) {
        int32_t i = order[k];
        b->number[i] = k;
        for (int32_t c = b->child_begin[i]; c < b->child_begin[i + 1]; c++)
            order[n++] = b->child[c];
    }
}

static void fill_nodes(const struct build *b, const int32_t *order, struct ftree_tree *t)
{
    const int32_t nodes = b->shape->nodes;
    int32_t leaves = 0;

    t->first_child[0] = 1;
    for (int32_t n = 0; n < nodes; n++) {
        int32_t i = order[n], children = b->child_begin[i + 1] - b->child_begin[i];
        t->parent[n] = n == 0 ? FTREE_NONE : b->number[b->parent[i]];
        t->first_child[n + 1] = t->first_child[n] + children;
        t->node_switch[n] = b->shape->node_switch[i];
        t->height[n] = 0;
        if (children == 0)
            t->leaf[leaves++] = n;
    }
    for (int32_t n = nodes - 1; n > 0; n--)
        if (t->height[t->parent[n]] <= t->height[n])
            t->height[t->parent[n]] = t->height[n] + 1;
}

static int finish(const struct build *b, const int32_t *order, struct ftree_tree **out)
{
    const struct names *names = b->shape->switch_name;
    struct tree_sizes sizes = {.nodes = b->shape->nodes,
                               .switches = b->shape->switches,
                               .text = (uint32_t) names->text_len};
    char *text;
    void *block;

    for (int32_t i = 0; i < sizes.nodes; i++)
        sizes.leaves += b->child_begin[i] == b->child_begin[i + 1];
    block = ftree_tree_block(&sizes, &text);
    if (!block)
        return FTREE_ERR_NOMEM;
    if (sizes.text > 0)
        memcpy(text, names->text, names->text_len);
    *out = ftree_tree_over(block, block);
    if (!*out) {
        free(block);
        return FTREE_ERR_NOMEM;
    }
    fill_nodes(b, order, *out);
    for (int32_t s = 0; s < sizes.switches; s++) {
        (*out)->switch_parent[s] = b->shape->switch_parent[s];
        (*out)->switch_head[s] = b->head[s] == FTREE_NONE ? FTREE_NONE : b->number[b->head[s]];
    }
    return FTREE_OK;
}

int ftree_tree_build(const struct tree_shape *shape, int32_t fanout, struct ftree_tree **out,
                     int32_t *order)
{
    size_t nodes = (size_t) shape->nodes, groups = (size_t) shape->switches + 1;
    int32_t *block = malloc((4 * groups + 5 * nodes + 2) * sizeof(*block));
    struct build b = {.shape = shape, .fanout = fanout, .groups = shape->switches + 1};
    int rc;

    *out = NULL;
    if (!block)
        return FTREE_ERR_NOMEM;
    b.head = block;
    b.begin = b.head + groups;
    b.filled = b.begin + groups + 1;
    b.member = b.filled + groups;
    b.parent = b.member + nodes + groups;
    b.child_begin = b.parent + nodes;
    b.child = b.child_begin + nodes + 1;
    b.number = b.child + nodes;
    find_heads(&b);
    count_members(&b);
    find_parents(&b);
    list_children(&b);
    number_nodes(&b, order);
    rc = finish(&b, order, out);
    free(block);
    return rc;
}
