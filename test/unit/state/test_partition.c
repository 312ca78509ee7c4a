/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "switches.h"

#define CUTS "switch-fault/all-behind-silent"

#define FLAT "switch:3 node:4"
#define NESTED "switch:2 switch:2 node:4" /* s0 and s1; below them s2, s3 and s4, s5 */

static void lose_each(struct lone *l, const char *switches)
{
    for (; *switches; switches++)
        ck_assert(switches_lose(l, *switches - '0', CUTS).parts);
}

/* ---- who is where ---------------------------------------------------------------------------- */

static const struct {
    const char *topology, *self;
    const char *lost; /* switches */
    const char *other; /* leaf switches behind which all are on the other side */
    const char *leads_back; /* of their nodes those below which there may be some of this one */
    const char *top;
    bool is_cut_off;
    const char *first; /* of this side, from the top on */
} sides[] = {
    {FLAT, "0.1", "", "", "", "0.0", false, "0.0"},
    /* outside */
    {FLAT, "0.1", "1", "1", "1.0", "0.0", false, "0.0"},
    {FLAT, "2.3", "1", "1", "1.0", "0.0", false, "0.0"},
    {FLAT, "0.1", "12", "12", "1.0 2.0", "0.0", false, "0.0"},
    /* behind it */
    {FLAT, "1.3", "1", "02", "", "1.0", true, "1.0"},
    {FLAT, "1.0", "1", "02", "", "1.0", true, "1.0"},
    {FLAT, "1.3", "12", "02", "2.0", "1.0", true, "1.0"},
    /* the root is behind it */
    {FLAT, "0.1", "0", "12", "", "0.0", true, "0.0"},
    {FLAT, "1.3", "0", "0", "0.0", "0.0", false, "1.0"},
    {FLAT, "2.3", "01", "01", "0.0 1.0", "0.0", false, "2.0"},
    {FLAT, "2.3", "012", "01", "0.0 1.0", "2.0", true, "2.0"},
    /* a switch above switches */
    {NESTED, "2.1", "1", "45", "4.0", "2.0", false, "2.0"},
    {NESTED, "5.1", "1", "23", "", "4.0", true, "4.0"},
    {NESTED, "3.1", "0", "45", "", "2.0", true, "2.0"},
    {NESTED, "5.1", "0", "23", "2.0", "2.0", false, "4.0"},
    /* one within another: the lowest that this node is behind counts */
    {NESTED, "4.1", "15", "235", "5.0", "4.0", true, "4.0"},
    {NESTED, "5.1", "15", "234", "", "5.0", true, "5.0"},
    {NESTED, "5.1", "51", "234", "", "5.0", true, "5.0"},
    {NESTED, "2.1", "15", "45", "4.0 5.0", "2.0", false, "2.0"},
    /* both have the same head */
    {NESTED, "2.1", "14", "45", "4.0", "2.0", false, "2.0"},
    {NESTED, "5.1", "14", "234", "4.0", "4.0", true, "5.0"},
    {NESTED, "4.1", "14", "235", "", "4.0", true, "4.0"},
    {NESTED, "3.1", "02", "245", "2.0", "2.0", true, "3.0"},
    {NESTED, "3.1", "2", "2", "2.0", "2.0", false, "3.0"},
};

/* rows: each_side_knows_who_is_on_the_other */
TEST_CASES(each_side_knows_who_is_on_the_other, COUNT(sides))
{
    struct lone *l = switches_new(sides[_i].topology, sides[_i].self);
    const struct ftree_tree *t = l->job.tree;
    char name[24];

    lose_each(l, sides[_i].lost);
    for (int32_t n = 0; n < t->nodes; n++) {
        bool other = strchr(sides[_i].other, '0' + t->node_switch[n]) != NULL;
        bool back = strstr(sides[_i].leads_back, switches_name(t, n, name)) != NULL;
        ck_assert_msg(ftree_partition_is_other(l->ft, n) == other, "row %d: is_other %s", _i, name);
        ck_assert_msg(ftree_has_failed(l->ft, n) == other, "row %d: has_failed %s", _i, name);
        ck_assert_msg(ftree_partition_ends_at(l->ft, n) == (other && !back), "row %d: ends_at %s",
                      _i, name);
    }
}

/* rows: each_side_has_a_top */
TEST_CASES(each_side_has_a_top, COUNT(sides))
{
    struct lone *l = switches_new(sides[_i].topology, sides[_i].self);
    const struct ftree_tree *t = l->job.tree;
    int32_t top, first;
    char name[24];

    lose_each(l, sides[_i].lost);
    top = ftree_partition_top(l->ft);
    first = ftree_route_first(l->ft, 0, top, FTREE_NONE);
    ck_assert_msg(!strcmp(switches_name(t, top, name), sides[_i].top), "row %d: %s", _i, name);
    ck_assert_int_eq(ftree_partition_is_cut_off(l->ft), sides[_i].is_cut_off);
    ck_assert_msg(!strcmp(switches_name(t, first, name), sides[_i].first), "row %d: %s", _i, name);
}

/* All of one side agree on its top and its first, whoever of them is asked. */
TEST_CASE(all_of_one_side_agree)
{
    static const char *const lost[] = {"1", "0", "15", "14", "02", "25", "0145"};
    struct ftree_tree *tree = shape_read(NESTED);

    for (int i = 0; i < COUNT(lost); i++) {
        int32_t of[16];
        uint32_t others[16] = {0};
        for (int32_t n = 0; n < tree->nodes; n++) {
            char self[24];
            struct lone *l = switches_new(NESTED, switches_name(tree, n, self));
            lose_each(l, lost[i]);
            of[n] = ftree_route_first(l->ft, 0, ftree_partition_top(l->ft), FTREE_NONE);
            for (int32_t m = 0; m < tree->nodes; m++)
                others[n] |= (uint32_t) ftree_partition_is_other(l->ft, m) << m;
            ck_assert(!(others[n] >> of[n] & 1));
            for (int32_t m = 0; m < n; m++)
                if (!(others[n] >> m & 1))
                    ck_assert(of[m] == of[n] && others[m] == others[n]);
            lone_free(l);
        }
    }
    ftree_tree_free(tree);
}

/* ---- what parts nobody ----------------------------------------------------------------------- */

static void nobody_is_parted(const struct lone *l)
{
    for (int32_t n = 0; n < l->job.nodes; n++)
        ck_assert(!ftree_partition_is_other(l->ft, n) && !ftree_partition_ends_at(l->ft, n));
    ck_assert_int_eq(ftree_partition_top(l->ft), 0);
    ck_assert(!ftree_partition_is_cut_off(l->ft));
}

TEST_CASE(a_cut_that_is_withdrawn_parts_nobody)
{
    static const char *const selves[] = {"0.1", "1.1"};

    for (int i = 0; i < COUNT(selves); i++) {
        struct lone *l = switches_new(FLAT, selves[i]);
        switches_lose(l, 1, CUTS);
        ck_assert(
            ftree_partition_is_other(l->ft, switches_node(l->job.tree, i ? "0.1" : "1.1", NULL)));
        lone_withdraw(l, 0);
        ck_assert(lone_known(l, 0).parts);
        nobody_is_parted(l);
        lone_free(l);
    }
}

TEST_CASE(a_switch_without_its_data_path_parts_nobody)
{
    static const char *const selves[] = {"0.1", "1.1"};

    for (int i = 0; i < COUNT(selves); i++) {
        struct lone *l = switches_new(FLAT, selves[i]);
        ck_assert(!switches_lose(l, 1, "switch-fault/data-behind-silent").parts);
        nobody_is_parted(l);
        lone_free(l);
    }
}

TEST_CASE(a_lost_node_is_on_this_side)
{
    struct lone *l = switches_new(FLAT, "0.1");

    switches_node_fails(l, switches_node(l->job.tree, "1.0", NULL));
    nobody_is_parted(l);
}

TEST_CASE(without_switches_there_is_one_side)
{
    struct lone *l = lone_of(shape_tree(12, 1, 4), 3);

    nobody_is_parted(l);
    ck_assert_int_eq(ftree_route_first(l->ft, 0, 0, 0), 1);
}

/* ---- the first of a side --------------------------------------------------------------------- */

static const struct {
    const char *topology, *self;
    const char *lost; /* switches */
    const char *failed, *muted; /* nodes */
    const char *from, *skip; /* skip "": nobody */
    const char *first, *now; /* as things are, and at the moment */
} firsts[] = {
    {FLAT, "0.1", "", "", "", "0.0", "", "0.0", "0.0"},
    {FLAT, "0.1", "", "", "", "0.0", "0.0", "0.1", "0.1"},
    {FLAT, "0.1", "", "", "", "1.0", "", "1.0", "1.0"},
    {FLAT, "0.2", "", "0.0", "", "0.0", "", "0.1", "0.1"},
    {FLAT, "0.2", "", "", "0.0", "0.0", "", "0.0", "0.1"}, /* a mute one is one still */
    {FLAT, "0.3", "", "0.0", "0.2", "0.0", "0.1", "0.2", "0.3"},
    /* behind a lost switch: its head, else the next below it */
    {FLAT, "1.3", "1", "1.0", "", "1.0", "", "1.1", "1.1"},
    {FLAT, "1.3", "1", "1.0", "1.1", "1.0", "", "1.1", "1.2"},
    {FLAT, "1.3", "1", "1.0", "", "1.0", "1.1", "1.2", "1.2"},
    {FLAT, "1.3", "1", "1.0 1.1 1.2", "", "1.0", "1.3", "none", "none"}, /* nobody is left */
    /* each before its children, and a head's own nodes before other heads */
    {NESTED, "5.2", "1", "4.0 4.1 4.2 4.3", "", "4.0", "", "5.0", "5.0"},
    {NESTED, "5.2", "1", "4.0 4.1 4.2 4.3", "5.0", "4.0", "", "5.0", "5.1"},
    {NESTED, "5.2", "1", "4.0 4.1 4.2 4.3 5.0", "", "4.0", "", "5.1", "5.1"},
    /* nobody of the other side */
    {FLAT, "1.3", "1", "", "", "0.0", "", "none", "none"},
    {FLAT, "1.3", "1", "", "", "2.0", "", "none", "none"},
    {FLAT, "2.3", "1", "", "", "1.0", "", "none", "none"},
    {NESTED, "5.3", "4", "", "", "4.0", "", "5.0", "5.0"}, /* by way of the lost head */
};

static bool is_one_of(const struct ftree_tree *t, const char *nodes, int32_t node)
{
    for (; *nodes; nodes += *nodes == ' ')
        if (switches_node(t, nodes, &nodes) == node)
            return true;
    return false;
}

/* rows: who_is_the_first */
TEST_CASES(who_is_the_first, COUNT(firsts))
{
    struct lone *l = switches_new(firsts[_i].topology, firsts[_i].self);
    const struct ftree_tree *t = l->job.tree;
    int32_t from = switches_node(t, firsts[_i].from, NULL), skip = FTREE_NONE, found;
    char name[24];

    if (firsts[_i].skip[0])
        skip = switches_node(t, firsts[_i].skip, NULL);
    lose_each(l, firsts[_i].lost);
    for (int32_t n = 0; n < t->nodes; n++) {
        if (is_one_of(t, firsts[_i].failed, n))
            switches_node_fails(l, n);
        if (is_one_of(t, firsts[_i].muted, n))
            ftree_peer_unresponsive(l->ft, l->now, n, false);
    }
    found = ftree_route_first(l->ft, 0, from, skip);
    ck_assert_msg(!strcmp(switches_name(t, found, name), firsts[_i].first), "row %d: %s", _i, name);
    found = ftree_route_first(l->ft, l->now, from, skip);
    ck_assert_msg(!strcmp(switches_name(t, found, name), firsts[_i].now), "row %d: %s", _i, name);
}

/* ---- walks are bounded ----------------------------------------------------------------------- */

/* 10,000 nodes.  Whoever looks below a node where the walk is to end finds a bait: the tree says of
 * all those nodes that they are behind another switch, which is not lost. */
static struct lone *with_baits(const char *self, int32_t lost, bool outside)
{
    struct lone *l = switches_new("switch:10 node:1000", self);
    const struct ftree_tree *t = l->job.tree;
    int32_t *node_switch = (int32_t *) (uintptr_t) t->node_switch;
    int32_t own = t->node_switch[l->self], baits = 0;

    switches_lose(l, lost, CUTS);
    for (int32_t n = t->nodes - 1; n > 0; n--) {
        int32_t parent = t->parent[n];
        bool below = outside ? node_switch[n] == lost && parent != t->switch_head[lost] &&
                                   n != t->switch_head[lost]
                             : node_switch[n] != lost;
        if (below) {
            node_switch[n] = own;
            baits++;
        }
    }
    ck_assert_int_gt(baits, 900);
    return l;
}

TEST_CASE(outside_nobody_looks_below_the_lost)
{
    struct lone *l = with_baits("0.5", 7, true);
    int32_t head = l->job.tree->switch_head[7];

    ck_assert(!ftree_partition_ends_at(l->ft, head));
    ck_assert_int_eq(ftree_route_first(l->ft, 0, head, FTREE_NONE), FTREE_NONE);
}

TEST_CASE(behind_it_nobody_looks_at_the_rest_of_the_job)
{
    struct lone *l = with_baits("7.5", 7, false);

    ck_assert(ftree_partition_ends_at(l->ft, 0));
    ck_assert_int_eq(ftree_route_first(l->ft, 0, 0, FTREE_NONE), FTREE_NONE);
}
