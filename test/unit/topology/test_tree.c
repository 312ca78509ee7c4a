/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "suite.h"
#include "ftree/topology/topo.h"
#include "ftree/topology/tree_int.h"

#include <stdio.h>

/*
 * Trees of random files against what the header promises; strings; a tree as bytes; and that each
 * broken invariant is seen.  What a text may say is test_tree_read.c's.
 */

static uint64_t state;

static int32_t draw(int32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int32_t) ((state >> 33) % (uint32_t) below);
}

/* ---- random files ---------------------------------------------------------------------------- */

#define SWITCHES_MAX 40
#define NODES_MAX 300

/* A forest of switches; the first `leaves` have nodes, the others switches. */
struct world {
    int32_t switches, leaves, nodes, fanout;
    int32_t parent[SWITCHES_MAX]; /* always a greater number */
    int32_t leaf[NODES_MAX]; /* of node i of the job, called c<i> */
    char text[64 * (NODES_MAX + SWITCHES_MAX)];
    char name[NODES_MAX][8];
    const char *names[NODES_MAX];
};

static bool has_switches(const struct world *w, int32_t s)
{
    bool found = false;

    for (int32_t i = 0; i < s; i++)
        found = found || w->parent[i] == s;
    return found;
}

/* A leaf has a node that is not in the job, besides. */
static void write_switch(struct world *w, int32_t s)
{
    char *p = w->text + strlen(w->text);

    if (has_switches(w, s)) {
        const char *comma = "";
        p += sprintf(p, "SwitchName=s%d Switches=", (int) s);
        for (int32_t i = 0; i < s; i++)
            if (w->parent[i] == s) {
                p += sprintf(p, "%ss%d", comma, (int) i);
                comma = ",";
            }
    } else {
        p += sprintf(p, "SwitchName=s%d Nodes=spare%d", (int) s, (int) s);
        for (int32_t i = 0; i < w->nodes; i++)
            if (w->leaf[i] == s)
                p += sprintf(p, ",c%d", (int) i);
    }
    sprintf(p, "\n");
}

static void draw_world(struct world *w, uint64_t seed)
{
    state = seed;
    w->leaves = 1 + draw(SWITCHES_MAX / 2);
    w->switches = w->leaves + draw(SWITCHES_MAX - w->leaves);
    w->nodes = 1 + draw(draw(2) ? 20 : NODES_MAX);
    w->fanout = 1 + draw(draw(2) ? 3 : 40);
    for (int32_t s = 0; s < w->switches; s++) {
        int32_t above = (s < w->leaves ? w->leaves : s + 1);
        w->parent[s] =
            above < w->switches && draw(8) ? above + draw(w->switches - above) : FTREE_NONE;
    }
    for (int32_t i = 0; i < w->nodes; i++) {
        w->leaf[i] = draw(w->leaves);
        sprintf(w->name[i], "c%d", (int) i);
        w->names[i] = w->name[i];
    }
    w->text[0] = '\0';
    for (int32_t s = w->switches - 1; s >= 0; s--)
        write_switch(w, s);
}

static struct ftree_tree *read_world(const struct world *w, int32_t *order)
{
    struct ftree_tree *t;
    struct ftree_tree_error e;

    if (ftree_tree_read(w->text, strlen(w->text), w->names, w->nodes, w->fanout, &t, order, &e))
        ck_abort_msg("%d:%d: %s\n%s", e.line, e.column, e.text, w->text);
    return t;
}

static bool is_behind(const struct world *w, int32_t s, int32_t i)
{
    int32_t at = w->leaf[i];

    while (at != FTREE_NONE && at != s)
        at = w->parent[at];
    return at == s;
}

static void check_numbers(const struct world *w, const struct ftree_tree *t, const int32_t *order)
{
    char seen[NODES_MAX] = {0};

    REQUIRE(t->nodes == w->nodes && order[0] == 0);
    for (int32_t n = 0; n < t->nodes; n++) {
        char name[16];
        REQUIRE(order[n] >= 0 && order[n] < w->nodes && !seen[order[n]]);
        seen[order[n]] = 1;
        sprintf(name, "s%d", (int) w->leaf[order[n]]);
        ck_assert_str_eq(t->switch_name[t->node_switch[n]], name);
    }
}

/* The head of a switch is its first node in the job's order; that of no node is FTREE_NONE. */
static void check_heads(const struct world *w, const struct ftree_tree *t, const int32_t *order)
{
    for (int32_t s = 0; s < t->switches; s++) {
        int32_t first = 0, id = atoi(t->switch_name[s] + 1);
        while (first < w->nodes && !is_behind(w, id, first))
            first++;
        if (first == w->nodes)
            REQUIRE(t->switch_head[s] == FTREE_NONE);
        else
            REQUIRE(order[t->switch_head[s]] == first);
    }
}

/* So many children for each switch that a node is the head of, and for the top. */
static void check_fanout(const struct world *w, const struct ftree_tree *t)
{
    for (int32_t n = 0; n < t->nodes; n++) {
        int32_t groups = n == 0 ? 1 : 0, most = 0;
        for (int32_t s = 0; s < t->switches; s++)
            groups += t->switch_head[s] == n;
        most = w->fanout * (groups + 1);
        REQUIRE(t->first_child[n + 1] - t->first_child[n] <= most);
    }
}

TEST_CASES(random_files_give_what_the_header_promises, 400)
{
    static struct world w;
    int32_t order[NODES_MAX];
    struct ftree_tree *t;

    draw_world(&w, 20260131u + (uint64_t) _i);
    t = read_world(&w, order);
    ck_assert_pstr_eq(ftree_tree_check(t), NULL);
    check_numbers(&w, t, order);
    check_heads(&w, t, order);
    check_fanout(&w, t);
    ftree_tree_free(t);
}

/* A tree made of the new numbers is the same once more. */
TEST_CASES(numbering_twice_changes_nothing, 50)
{
    static struct world w;
    const char *again[NODES_MAX];
    int32_t order[NODES_MAX], identity[NODES_MAX];
    struct ftree_tree *a, *b;
    struct ftree_tree_error e;

    draw_world(&w, 77u + (uint64_t) _i);
    a = read_world(&w, order);
    for (int32_t n = 0; n < w.nodes; n++)
        again[n] = w.names[order[n]];
    ck_assert_int_eq(
        ftree_tree_read(w.text, strlen(w.text), again, w.nodes, w.fanout, &b, identity, &e),
        FTREE_OK);
    for (int32_t n = 0; n < w.nodes; n++)
        REQUIRE(identity[n] == n && a->parent[n] == b->parent[n]);
    ftree_tree_free(a);
    ftree_tree_free(b);
}

/* ---- strings --------------------------------------------------------------------------------- */

static const struct {
    const char *string;
    int32_t nodes, switches, ranks;
    const char *wrong;
} strings[] = {
    {"switch:32 node:64 rank:8", 2048, 32, 8, NULL},
    {"switch:4 switch:8 node:16", 512, 36, 1, NULL},
    {" SWITCH:2\tNode:4 \n", 8, 2, 1, NULL},
    {"node:5", 5, 0, 1, NULL},
    {"switch:1024 node:1024 rank:1", 1048576, 1024, 1, NULL},
    {"", 0, 0, 0, "1:1: node:N is expected"},
    {"switch:3", 0, 0, 0, "1:9: node:N is expected"},
    {"switch:2 node:4 switch:2", 0, 0, 0,
     "1:17: switch: cannot stand here; the order is switch, ..., node, rank"},
    {"node:4 node:4", 0, 0, 0,
     "1:8: node: cannot stand here; the order is switch, ..., node, rank"},
    {"node:4 rank:1 rank:2", 0, 0, 0,
     "1:15: rank: cannot stand here; the order is switch, ..., node, rank"},
    {"switch:2 rank:4", 0, 0, 0, "1:10: node: is expected before rank:"},
    {"switches:2 node:4", 0, 0, 0, "1:1: 'switches:2' is none of switch:N, node:N, rank:N"},
    {"switch:2 node", 0, 0, 0, "1:10: 'node' is none of switch:N, node:N, rank:N"},
    {"/etc/topology.conf", 0, 0, 0,
     "1:1: '/etc/topology.conf' is none of switch:N, node:N, rank:N"},
    {"switch: node:4", 0, 0, 0, "1:8: a number from 1 to 16777216 is expected after switch:"},
    {"switch:2 node:0", 0, 0, 0, "1:15: a number from 1 to 16777216 is expected after node:"},
    {"node:4x", 0, 0, 0, "1:6: a number from 1 to 16777216 is expected after node:"},
    {"node:-1", 0, 0, 0, "1:6: a number from 1 to 16777216 is expected after node:"},
    {"node:16777217", 0, 0, 0, "1:6: a number from 1 to 16777216 is expected after node:"},
    {"node:99999999999", 0, 0, 0, "1:6: a number from 1 to 16777216 is expected after node:"},
    {"switch:16777216 node:2", 0, 0, 0, "1:17: more than 16777216 of node in all"},
    {"switch:4097 switch:4097 node:1", 0, 0, 0, "1:13: more than 16777216 of switch in all"},
};

/* rows: strings_become_trees_or_say_what_is_wrong */
TEST_CASES(strings_become_trees_or_say_what_is_wrong, COUNT(strings))
{
    struct ftree_tree *t;
    struct ftree_tree_error e;
    int32_t ranks = -1;
    int rc = ftree_tree_synthetic(strings[_i].string, 32, &t, &ranks, &e);
    char wrong[300];

    if (strings[_i].wrong) {
        snprintf(wrong, sizeof(wrong), "%d:%d: %s", e.line, e.column, e.text);
        ck_assert_int_eq(rc, FTREE_ERR_INVALID);
        ck_assert_str_eq(wrong, strings[_i].wrong);
        ck_assert_ptr_null(t);
        return;
    }
    ck_assert_int_eq(rc, FTREE_OK);
    ck_assert_int_eq(t->nodes, strings[_i].nodes);
    ck_assert_int_eq(t->switches, strings[_i].switches);
    ck_assert_int_eq(ranks, strings[_i].ranks);
    ck_assert_pstr_eq(ftree_tree_check(t), NULL);
    ftree_tree_free(t);
}

TEST_CASE(switches_have_a_deepest_level)
{
    char string[12 * (TREE_DEPTH_MAX + 2)] = "";
    struct ftree_tree *t;
    struct ftree_tree_error e;
    int32_t ranks;

    for (int i = 0; i < TREE_DEPTH_MAX; i++)
        strcat(string, "switch:1 ");
    strcat(string, "node:2");
    ck_assert_int_eq(ftree_tree_synthetic(string, 2, &t, &ranks, &e), FTREE_OK);
    ck_assert_pstr_eq(ftree_tree_check(t), NULL);
    ftree_tree_free(t);
    strcpy(string + 9 * TREE_DEPTH_MAX, "switch:1 node:2");
    ck_assert_int_eq(ftree_tree_synthetic(string, 2, &t, &ranks, &e), FTREE_ERR_INVALID);
    ck_assert_str_eq(e.text, "more than 64 levels of switches");
}

/* Without a switch it is the complete tree. */
TEST_CASE(nodes_alone_are_the_tree_by_formula)
{
    struct topo formula = {.nodes = 1000};
    struct ftree_tree *t;
    struct ftree_tree_error e;
    int32_t ranks;

    for (formula.fanout = 1; formula.fanout < 1100; formula.fanout += 1 + formula.fanout / 3) {
        ck_assert_int_eq(ftree_tree_synthetic("node:1000", formula.fanout, &t, &ranks, &e), 0);
        for (int32_t n = 0; n < 1000; n++)
            REQUIRE(t->parent[n] == ftree_topo_parent(&formula, n));
        ftree_tree_free(t);
    }
}

TEST_CASE(a_string_says_who_is_where_in_a_job)
{
    struct ftree_tree *t;
    struct ftree_tree_error e;
    int32_t order[8];

    ck_assert_int_eq(ftree_tree_synthetic_job("switch:2 node:4", 8, 32, &t, order, &e), FTREE_OK);
    for (int32_t n = 0; n < 8; n++) {
        ck_assert_int_eq(t->node_switch[n], order[n] / 4);
        ck_assert_int_eq(ftree_tree_is_behind(t, 0, n), order[n] < 4);
    }
    ck_assert_int_eq(order[t->switch_head[1]], 4);
    ck_assert_str_eq(t->switch_name[1], "s1");
    ftree_tree_free(t);
    ck_assert_int_eq(ftree_tree_synthetic_job("switch:2 node:4", 6, 32, &t, order, &e),
                     FTREE_ERR_INVALID);
    ck_assert_str_eq(e.text, "these are 8 nodes, but the job has 6");
    ck_assert_int_eq(ftree_tree_synthetic_job("node:x", 6, 32, &t, order, &e), FTREE_ERR_INVALID);
    ck_assert_int_eq(ftree_tree_synthetic_job("node:6", 6, 0, &t, order, &e), FTREE_ERR_INVALID);
    ck_assert_ptr_null(t);
}

TEST_CASE(a_string_wants_a_fanout)
{
    struct ftree_tree *t;
    struct ftree_tree_error e;
    int32_t ranks;

    ck_assert_int_eq(ftree_tree_synthetic("node:4", 0, &t, &ranks, &e), FTREE_ERR_INVALID);
    ck_assert_str_eq(e.text, "a fan-out of 0");
}

/* ---- as bytes -------------------------------------------------------------------------------- */

static struct ftree_tree *sample(void)
{
    static const char text[] = "SwitchName=a Nodes=c[1-5]\nSwitchName=b Nodes=d[1-5]\n"
                               "SwitchName=x Nodes=x\nSwitchName=t Switches=a,b";
    static const char *name[] = {"c1", "c2", "d1", "c3", "d2", "d3", "c4", "d4"};
    struct ftree_tree *t;
    struct ftree_tree_error e;
    int32_t order[COUNT(name)];

    ck_assert_int_eq(ftree_tree_read(text, strlen(text), name, COUNT(name), 2, &t, order, &e), 0);
    return t;
}

TEST_CASE(a_tree_comes_out_of_its_bytes_as_it_was)
{
    struct ftree_tree *a = sample(), *b;
    size_t len = ftree_tree_packed_size(a);
    void *bytes = malloc(len);

    ftree_tree_pack(a, bytes);
    ck_assert_int_eq(ftree_tree_unpack(bytes, len, &b), FTREE_OK);
    ck_assert_int_eq(b->nodes, a->nodes);
    ck_assert_int_eq(b->leaves, a->leaves);
    ck_assert_int_eq(b->switches, a->switches);
    for (int32_t n = 0; n < a->nodes; n++)
        ck_assert(a->parent[n] == b->parent[n] && a->first_child[n] == b->first_child[n] &&
                  a->height[n] == b->height[n] && a->node_switch[n] == b->node_switch[n]);
    for (int32_t s = 0; s < a->switches; s++) {
        ck_assert_str_eq(a->switch_name[s], b->switch_name[s]);
        ck_assert(a->switch_parent[s] == b->switch_parent[s] &&
                  a->switch_head[s] == b->switch_head[s]);
    }
    ck_assert_uint_eq(ftree_tree_packed_size(b), len);
    ftree_tree_free(a);
    ftree_tree_free(b);
    free(bytes);
}

/* Whatever the bytes are: an error or a tree. */
TEST_CASE(other_bytes_do_no_harm)
{
    struct ftree_tree *a = sample(), *b;
    size_t len = ftree_tree_packed_size(a), trees = 0;
    char *bytes = malloc(len);

    for (size_t cut = 0; cut < len; cut++) {
        char *some = malloc(cut ? cut : 1);
        ftree_tree_pack(a, bytes);
        memcpy(some, bytes, cut);
        ck_assert_int_eq(ftree_tree_unpack(some, cut, &b), FTREE_ERR_INVALID);
        ck_assert_ptr_null(b);
        free(some);
    }
    state = 20260131u;
    for (int i = 0; i < 20000; i++) {
        ftree_tree_pack(a, bytes);
        bytes[draw((int32_t) len)] = (char) draw(256);
        if (ftree_tree_unpack(bytes, len, &b) == FTREE_OK) {
            REQUIRE(!ftree_tree_check(b));
            trees++;
        }
        ftree_tree_free(b);
    }
    ck_assert_uint_lt(trees, 10000);
    ftree_tree_free(a);
    free(bytes);
}

/* ---- every invariant is looked at ------------------------------------------------------------ */

enum table {
    PARENT,
    FIRST_CHILD,
    HEIGHT,
    LEAF,
    NODE_SWITCH,
    SWITCH_PARENT,
    SWITCH_HEAD
};

static const struct {
    enum table table;
    int32_t at, value;
    const char *says;
} breakages[] = {
    {FIRST_CHILD, 0, 2, "the root's children begin with node 1"},
    {FIRST_CHILD, 1, 9, "children are ranges in ascending order"},
    {FIRST_CHILD, 2, 1, "children are ranges in ascending order"},
    {PARENT, 3, 3, "a node is above its children, and has the lesser number"},
    {PARENT, 0, 0, "nobody is above the root"},
    {HEIGHT, 0, 1, "a node's height is one more than that of its highest child"},
    {HEIGHT, 7, 1, "a node's height is one more than that of its highest child"},
    {LEAF, 0, 1, "the leaves are those without children, ascending"},
    {SWITCH_PARENT, 0, 4, "above a switch is a switch, or none"},
    {SWITCH_PARENT, 0, -2, "above a switch is a switch, or none"},
    {SWITCH_PARENT, 3, 0, "no switch is above itself"},
    {SWITCH_HEAD, 0, 8, "a switch's head is a node, or none"},
    {NODE_SWITCH, 2, 4, "a node is behind a switch, or none"},
    {NODE_SWITCH, 0, 2, "a switch with nodes has a head"},
    {SWITCH_HEAD, 0, 1, "the nodes behind a switch are one subtree below its head"},
    {SWITCH_HEAD, 2, 1, "a switch's head is behind it"},
};

static int32_t *table_of(const struct ftree_tree *t, enum table table)
{
    const int32_t *const tables[] = {t->parent,      t->first_child,   t->height,     t->leaf,
                                     t->node_switch, t->switch_parent, t->switch_head};

    return (int32_t *) (uintptr_t) tables[table];
}

/* rows: what_is_broken_is_seen */
TEST_CASES(what_is_broken_is_seen, COUNT(breakages))
{
    struct ftree_tree *t = sample();

    ck_assert_pstr_eq(ftree_tree_check(t), NULL);
    table_of(t, breakages[_i].table)[breakages[_i].at] = breakages[_i].value;
    ck_assert_pstr_eq(ftree_tree_check(t), breakages[_i].says);
    ftree_tree_free(t);
}

TEST_CASE(wrong_numbers_of_leaves_and_nodes_are_seen)
{
    struct ftree_tree *t = sample();

    t->leaves++;
    ck_assert_pstr_eq(ftree_tree_check(t), "the leaves are all those without children");
    t->leaves -= 2;
    ck_assert_pstr_eq(ftree_tree_check(t), "the leaves are those without children, ascending");
    t->nodes = 0;
    ck_assert_pstr_eq(ftree_tree_check(t), "there is a node");
    ftree_tree_free(t);
    t = sample();
    for (int32_t n = 0; n <= t->nodes; n++)
        table_of(t, FIRST_CHILD)[n] = 1;
    ck_assert_pstr_eq(ftree_tree_check(t), "every node but the root is somebody's child");
    ftree_tree_free(t);
    ftree_tree_free(NULL);
}

/* ---- names folded ---------------------------------------------------------------------------- */

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

static const struct {
    const char *const *names;
    const char *folded;
} folds[] = {
    {LIST("c1"), "c1"},
    {LIST("login"), "login"},
    {LIST("c3", "c1", "c2"), "c[1-3]"},
    {LIST("c08", "c09", "c10", "c11"), "c[08-11]"},
    {LIST("c8", "c9", "c10"), "c[8-10]"},
    {LIST("c099", "c100", "c101", "c0102"), "c[099-101,0102]"},
    {LIST("c1", "c01", "c001"), "c[1,01,001]"},
    {LIST("c1", "c3", "c4", "d4", "login"), "c[1,3-4],d4,login"},
    {LIST("r1n1", "r1n2", "r2n1", "r2n2"), "r1n[1-2],r2n[1-2]"},
    {LIST("n1-ib", "n2-ib", "n2"), "n2,n[1-2]-ib"},
    {LIST("7", "8"), "[7-8]"},
    {LIST("c99999999999999999999"), "c99999999999999999999"},
    {LIST("c1", "c1"), "c[1,1]"},
};

static struct unfolded {
    int n;
    char name[2000][16];
} unfolded;

static int take_name(void *ctx, const char *name, size_t len, size_t at)
{
    struct unfolded *u = ctx;

    (void) at;
    snprintf(u->name[u->n++], sizeof(u->name[0]), "%.*s", (int) len, name);
    return FTREE_OK;
}

static const struct unfolded *unfold(const char *list)
{
    struct hostlist_error e;
    int64_t most = 2000;

    unfolded.n = 0;
    if (ftree_hostlist_each(list, strlen(list), &most, take_name, &unfolded, &e))
        ck_abort_msg("%s", e.text);
    return &unfolded;
}

TEST_CASES(names_fold, (int) (sizeof(folds) / sizeof(folds[0])))
{
    int32_t n = 0;
    char *text;

    while (folds[_i].names[n])
        n++;
    text = ftree_tree_fold(folds[_i].names, n);
    ck_assert_str_eq(text, folds[_i].folded);
    free(text);
}

/* What is read again is each name once. */
TEST_CASES(random_names_fold_and_unfold, 20)
{
    static char name[1000][16];
    const char *names[1000];
    int32_t n = 0;
    char *text;

    state = (uint64_t) _i + 1;
    for (int i = 0; i < 1000; i++)
        if (draw(10) > 0) {
            snprintf(name[n], sizeof(name[n]), _i % 2 ? "c%d" : "c%04d", i);
            names[n] = name[n];
            n++;
        }
    text = ftree_tree_fold(names, n);
    ck_assert_int_eq(unfold(text)->n, n);
    for (int32_t i = 0; i < n; i++)
        ck_assert_str_eq(unfolded.name[i], names[i]);
    free(text);
}
