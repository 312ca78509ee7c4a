/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef SWITCHES_H_INCLUDED
#define SWITCHES_H_INCLUDED

#include "lone.h"
#include "suite.h"

/*
 * One handle in a job with switches, whose nodes are called by where they are: "2.0" is the first
 * node behind the leaf switch s2, its head.  (The tree numbers nodes level by level, which says
 * little.)  In "switch:2 switch:2 node:4" s0 and s1 are above the leaf switches s2, s3 and s4, s5.
 */

/* The node that the text begins with; *end is what follows. */
static inline int32_t switches_node(const struct ftree_tree *tree, const char *text,
                                    const char **end)
{
    char *dot, *after;
    long leaf = strtol(text, &dot, 10), k = strtol(dot + 1, &after, 10);

    ck_assert_msg(*dot == '.' && after > dot + 1, "a node is LEAF.NUMBER, not %s", text);
    if (end)
        *end = after;
    for (int32_t n = 0; n < tree->nodes; n++)
        if (tree->node_switch[n] == leaf && k-- == 0)
            return n;
    ck_abort_msg("there is no node %s", text);
}

/* What a node is called; "none" for FTREE_NONE. */
static inline const char *switches_name(const struct ftree_tree *tree, int32_t node, char buf[24])
{
    int32_t k = 0;

    snprintf(buf, 24, "none");
    for (int32_t n = 0; n < node; n++)
        k += tree->node_switch[n] == tree->node_switch[node];
    if (node != FTREE_NONE)
        snprintf(buf, 24, "%d.%d", (int) tree->node_switch[node], (int) k);
    return buf;
}

static inline struct lone *switches_new(const char *topology, const char *self)
{
    struct ftree_tree *tree = shape_read(topology);
    struct lone *l = lone_new(tree->nodes, 1, 32, switches_node(tree, self, NULL));

    lone_use_tree(l, tree);
    return l;
}

/* It is known that this switch is lost, as the sign says. */
static inline struct ftree_inspect_verdict switches_lose(struct lone *l, int32_t switch_,
                                                         const char *sign)
{
    struct ftree_verdict v =
        lone_verdict(l, sign, l->job.tree->switch_head[switch_], FTREE_NONE, l->self);

    v.id += 10000 * (1 + (uint32_t) switch_); /* several may have one head */
    v.kind = FTREE_KIND_SWITCH;
    v.switch_ = switch_;
    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_OK);
    ck_assert_ptr_null(ftree_check(l->ft));
    return lone_known(l, ftree_inspect_verdicts(l->ft) - 1);
}

/* It is known that this node is down. */
static inline void switches_node_fails(struct lone *l, int32_t node)
{
    struct ftree_verdict v =
        lone_verdict(l, "node-outage/both-paths-silent", node, FTREE_NONE, l->self);

    v.id += 10000000;
    ck_assert_int_eq(ftree_restore(l->ft, l->now, &v), FTREE_OK);
}

#endif /* SWITCHES_H_INCLUDED */
