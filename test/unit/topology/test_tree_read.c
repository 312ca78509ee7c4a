/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "suite.h"
#include "ftree/topology/topo.h"
#include "ftree/topology/tree_int.h"

#include <stdio.h>

/*
 * Texts and what comes of them: a tree, written as "root(child child(grandchild))" in the order of
 * the numbers, or "line:column: what is wrong".
 */

#define NAMES_MAX 64
#define SHOW_MAX 4096

/* A list of names, apart by blanks. */
static int32_t split(char *list, const char *name[NAMES_MAX])
{
    int32_t n = 0;

    for (char *p = strtok(list, " "); p; p = strtok(NULL, " "))
        name[n++] = p;
    return n;
}

static void show(const struct ftree_tree *t, const char *const *name, const int32_t *order,
                 int32_t node, char *out)
{
    strcat(out, name[order[node]]);
    for (int32_t c = t->first_child[node]; c < t->first_child[node + 1]; c++) {
        strcat(out, c == t->first_child[node] ? "(" : " ");
        show(t, name, order, c, out);
    }
    if (t->height[node])
        strcat(out, ")");
}

static void read_and_show(const char *text, size_t len, const char *names, int32_t fanout,
                          char *out)
{
    char list[SHOW_MAX], *copy = malloc(len ? len : 1);
    const char *name[NAMES_MAX];
    int32_t order[NAMES_MAX], nodes;
    struct ftree_tree_error e;
    struct ftree_tree *t;
    int rc;

    snprintf(list, sizeof(list), "%s", names);
    nodes = split(list, name);
    memcpy(copy, text, len); /* of its own size, so that a sanitizer sees a read behind it */
    rc = ftree_tree_read(copy, len, name, nodes, fanout, &t, order, &e);
    free(copy);
    out[0] = '\0';
    if (rc) {
        ck_assert_int_eq(rc, FTREE_ERR_INVALID);
        ck_assert_ptr_null(t);
        snprintf(out, SHOW_MAX, "%d:%d: %s", e.line, e.column, e.text);
        return;
    }
    ck_assert_pstr_eq(ftree_tree_check(t), NULL);
    ck_assert_int_eq(t->nodes, nodes);
    ck_assert_int_eq(order[0], 0);
    show(t, name, order, 0, out);
    ftree_tree_free(t);
}

#define TWO "SwitchName=s0 Nodes=c[1-4]\nSwitchName=s1 Nodes=c[5-8]\n"
#define ONE_OF(nodes) "SwitchName=s0 Nodes=" nodes "\n"

static const struct {
    const char *text, *names;
    int32_t fanout;
    const char *expect;
} rows[] = {
    /* shapes */
    {TWO, "c1 c2 c3 c4 c5 c6 c7 c8", 32, "c1(c2 c3 c4 c5(c6 c7 c8))"},
    {TWO, "c8 c7 c6 c5 c4 c3 c2 c1", 32, "c8(c7 c6 c5 c4(c3 c2 c1))"},
    {TWO, "c1 c5 c2 c6 c3 c7 c4 c8", 32, "c1(c5(c6 c7 c8) c2 c3 c4)"},
    {TWO, "c1 c2 c3 c4 c5 c6 c7 c8", 1, "c1(c2(c3(c4)) c5(c6(c7(c8))))"},
    {TWO, "c1 c2 c3 c4 c5 c6 c7 c8", 2, "c1(c2(c4) c3 c5(c6(c8) c7))"},
    {TWO, "c2", 32, "c2"},
    {TWO, "c7 c3", 32, "c7(c3)"},
    {TWO "SwitchName=top Switches=s[0-1]", "c6 c2 c1 c5", 32, "c6(c2(c1) c5)"},
    {"SwitchName=top Switches=s[0-1] LinkSpeed=100\n" TWO, "c6 c2 c1 c5", 32, "c6(c2(c1) c5)"},
    {"SwitchName=a Nodes=a[1-2]\nSwitchName=b Nodes=b[1-2]\nSwitchName=c Nodes=c[1-2]\n"
     "SwitchName=d Nodes=d[1-2]\nSwitchName=ab Switches=a,b\nSwitchName=cd Switches=c,d\n"
     "SwitchName=all Switches=ab,cd\n",
     "a1 a2 b1 b2 c1 c2 d1 d2", 32, "a1(a2 b1(b2) c1(c2 d1(d2)))"},
    {"SwitchName=a Nodes=a1\nSwitchName=b Nodes=b1\nSwitchName=c Nodes=c1\nSwitchName=d Nodes=d1\n",
     "a1 b1 c1 d1", 2, "a1(b1(d1) c1)"},
    /* how it may be written */
    {"# all\n\n  switchname = s0\tNODES= \"c[1-2]\" # two\r\n", "c1 c2", 32, "c1(c2)"},
    {"SwitchName=s0 \\\n Nodes=c1,\\  \nc2,\\\r\nc3", "c1 c2 c3", 32, "c1(c2 c3)"},
    {"SwitchName=s0 Nodes=c1\\", "c1", 32, "c1"},
    {"SwitchName=s0 Nodes=c1 # not joined \\\nSwitchName=s1 Nodes=c2", "c1 c2", 32, "c1(c2)"},
    {"# caf\xc3\xa9\n" ONE_OF("c1"), "c1", 32, "c1"},
    {ONE_OF("c[01-03,10]"), "c01 c02 c03 c10", 32, "c01(c02 c03 c10)"},
    {ONE_OF("c[8-11],x,y[1]"), "c8 c9 c10 c11 x y1", 32, "c8(c9 c10 c11 x y1)"},
    {ONE_OF("c[098-101]"), "c098 c099 c100 c101", 32, "c098(c099 c100 c101)"},
    {ONE_OF("r[1-2]n[01-02,04]x"), "r1n01x r1n02x r1n04x r2n01x r2n02x r2n04x", 32,
     "r1n01x(r1n02x r1n04x r2n01x r2n02x r2n04x)"},
    {ONE_OF("[1-3]"), "1 2 3", 32, "1(2 3)"},
    {ONE_OF("a[0-1][0-1]"), "a00 a01 a10 a11", 32, "a00(a01 a10 a11)"},
    /* how a job calls its nodes */
    {TWO, "c1.cluster.org c5.cluster.org", 32, "c1.cluster.org(c5.cluster.org)"},
    {ONE_OF("c[1-2].cluster.org"), "c2 c1", 32, "c2(c1)"},
    {ONE_OF("c[1-2].cluster.org"), "c2.cluster.org c1.data", 32, "c2.cluster.org(c1.data)"},
    {ONE_OF("c1.a,c1.b"), "c1", 32, "c1"},
    {ONE_OF("10.0.0.[1-2]"), "10.0.0.1 10.0.0.2", 32, "10.0.0.1(10.0.0.2)"},
    {TWO, "c1 c1 c5", 32, "c1(c1 c5)"},
    {ONE_OF("c1.a") "SwitchName=s1 Nodes=c1.b", "c1", 32,
     "0:0: which node is c1? The file has several of that name with different domains, behind "
     "different switches"},
    {ONE_OF("10.0.0.[1-2]"), "10", 32, "0:0: no switch has 10 (1 of the job's 1 nodes)"},
    {TWO, "c1 c9 d", 32, "0:0: no switch has c9, d (2 of the job's 3 nodes)"},
    {TWO,
     "c1 a-long-name-indeed-01 a-long-name-indeed-02 a-long-name-indeed-03 "
     "a-long-name-indeed-04 a-long-name-indeed-05",
     32,
     "0:0: no switch has a-long-name-indeed-01, a-long-name-indeed-02, a-long-name-indeed-03, "
     "a-long-name-indeed-04, ... (5 of the job's 6 nodes)"},
    {TWO, "c\x01", 32, "0:0: no switch has c? (1 of the job's 1 nodes)"},
    /* what is wrong with a line */
    {"", "c1", 32, "0:0: no line SwitchName=... in it"},
    {"# nothing\n\n", "c1", 32, "0:0: no line SwitchName=... in it"},
    {"SwitchName=s0 Node=c1", "c1", 32,
     "1:15: 'Node' is not known here; a line is SwitchName=NAME with Nodes=LIST or Switches=LIST"},
    {"\n Include other.conf", "c1", 32,
     "2:2: 'Include' is not known here; a line is SwitchName=NAME with Nodes=LIST or "
     "Switches=LIST"},
    {"=", "c1", 32,
     "1:1: '' is not known here; a line is SwitchName=NAME with Nodes=LIST or Switches=LIST"},
    {"SwitchName", "c1", 32, "1:11: '=' is expected after SwitchName"},
    {"SwitchName s0", "c1", 32, "1:12: '=' is expected after SwitchName"},
    {"SwitchName=", "c1", 32, "1:12: a value is expected after SwitchName="},
    {"SwitchName=s0 Nodes=\"\"", "c1", 32, "1:21: a value is expected after Nodes="},
    {"SwitchName=s0 Nodes=\"c1", "c1", 32, "1:21: a '\"' without a second one"},
    {"SwitchName=s0 Nodes=\"c1 c2\"", "c1", 32, "1:24: ' ' does not belong into a name"},
    {"SwitchName=s0 Nodes=c1,Switches=s1", "c1", 32, "1:32: '=' does not belong into a name"},
    {"SwitchName=s0 Nodes=c1\\c2", "c1", 32, "1:23: '\\' does not belong into a name"},
    {"SwitchName=s0 SwitchName=s1", "c1", 32, "1:15: SwitchName= twice in one line"},
    {"SwitchName=s0 \\\n  Nodes=c1 \\\n Nodes=c2", "c1", 32, "3:2: Nodes= twice in one line"},
    {"Nodes=c1 SwitchName=s0", "c1", 32, "1:1: a line begins with SwitchName="},
    {"SwitchName=s0", "c1", 32,
     "1:12: switch s0 has neither Nodes= nor Switches=; one of them is needed"},
    {"SwitchName=s0 Nodes=c1 Switches=s1", "c1", 32,
     "1:12: switch s0 has both Nodes= and Switches=; one of them is needed"},
    {"SwitchName=s[0-1] Nodes=c1", "c1", 32,
     "1:13: '[' in a SwitchName: a line describes one switch"},
    {"SwitchName=s0 Nodes=c\xc3\xa9", "c1", 32, "1:22: byte 0xc3 is not printable ASCII"},
    /* what is wrong with a list */
    {ONE_OF("c[1-2"), "c1", 32, "1:22: '[' without a ']'"},
    {ONE_OF("c1]"), "c1", 32, "1:23: ']' without a '['"},
    {ONE_OF("c1,,c2"), "c1", 32, "1:24: a name is expected here"},
    {ONE_OF("c1,"), "c1", 32, "1:24: a name is expected here"},
    {ONE_OF(",c1"), "c1", 32, "1:21: a name is expected here"},
    {ONE_OF("c[]"), "c1", 32, "1:23: a number is expected here, as in [1-16,20]"},
    {ONE_OF("c[a]"), "c1", 32, "1:23: a number is expected here, as in [1-16,20]"},
    {ONE_OF("c[1-]"), "c1", 32, "1:25: a number is expected here, as in [1-16,20]"},
    {ONE_OF("c[1,]"), "c1", 32, "1:24: a number is expected after ','"},
    {ONE_OF("c[1x3]"), "c1", 32, "1:24: ',' or ']' is expected here"},
    {ONE_OF("c[1-3-5]"), "c1", 32, "1:26: ',' or ']' is expected here"},
    {ONE_OF("c[9-1]"), "c1", 32, "1:23: a range from 9 down to 1"},
    {ONE_OF("c[1-2],d[7-3]"), "c1", 32, "1:30: a range from 7 down to 3"},
    {ONE_OF("c[1,0000000000000000001]"), "c1", 32, "1:25: a number of more than 18 digits"},
    {ONE_OF("c[0-999999999999999999]"), "c1", 32, "1:23: more than 16777216 names in all"},
    {ONE_OF("c[0-16777216]"), "c1", 32, "1:23: more than 16777216 names in all"},
    {ONE_OF("c[0-9999]n[0-9999]"), "c1", 32, "1:32: more than 16777216 names in all"},
    {ONE_OF("c[1]d[1]e[1]f[1]g[1]h[1]i[1]j[1]k[1]"), "c1d1e1f1g1h1i1j1k1", 32,
     "c1d1e1f1g1h1i1j1k1"},
    /* what is wrong with the whole */
    {TWO "\nSwitchName=s1 Nodes=c9", "c1", 32, "4:12: switch s1 is described in line 2 already"},
    {ONE_OF("c1") "SwitchName=s1 Nodes=x,c1", "c1", 32,
     "2:23: node c1 is behind switch s0 (line 1) already"},
    {ONE_OF("c[1-3],x,c2"), "c1", 32, "1:30: node c2 twice behind one switch"},
    {TWO "SwitchName=t Switches=s0,s2\nSwitchName=u Switches=s1", "c1", 32,
     "3:26: switch s2 is named here but described nowhere"},
    {TWO "SwitchName=t Switches=s0\nSwitchName=u Switches=s1,\\\n  s0", "c1", 32,
     "5:3: 's0' is not known here; a line is SwitchName=NAME with Nodes=LIST or Switches=LIST"},
    {TWO "SwitchName=t Switches=s0\nSwitchName=u Switches=s1,\\\ns0", "c1", 32,
     "5:1: switch s0 is below switch t (line 3) already"},
    {TWO "SwitchName=t Switches=s0,s1,s0", "c1", 32, "3:29: switch s0 twice below one switch"},
    {"SwitchName=t Switches=t", "c1", 32, "1:23: switch t is below itself"},
    {"SwitchName=t Switches=u\nSwitchName=u Switches=v\nSwitchName=v Switches=t\n" TWO, "c1", 32,
     "3:23: switch t is below itself"},
};

/* rows: texts_become_trees_or_say_what_is_wrong */
TEST_CASES(texts_become_trees_or_say_what_is_wrong, COUNT(rows))
{
    char out[SHOW_MAX];

    read_and_show(rows[_i].text, strlen(rows[_i].text), rows[_i].names, rows[_i].fanout, out);
    ck_assert_str_eq(out, rows[_i].expect);
}

TEST_CASE(a_zero_byte_is_an_error)
{
    static const char text[] = "SwitchName=s0\0Nodes=c1";
    char out[SHOW_MAX];

    read_and_show(text, sizeof(text), "c1", 32, out);
    ck_assert_str_eq(out, "1:14: byte 0x00 is not printable ASCII");
}

TEST_CASE(a_text_may_end_anywhere)
{
    static const char text[] = "SwitchName=s0 Nodes=\"c[01-02]\" # \\\n"
                               "SwitchName=t Switches=s0\\ \n";
    char out[SHOW_MAX];

    for (size_t len = 0; len < sizeof(text); len++)
        read_and_show(text, len, "c01 c02", 32, out);
}

TEST_CASE(a_name_has_a_longest)
{
    char text[1000], name[300], out[SHOW_MAX];

    memset(name, 'x', sizeof(name));
    name[TREE_NAME_MAX] = '\0';
    snprintf(text, sizeof(text), "SwitchName=%s Nodes=%s", name, name);
    read_and_show(text, strlen(text), name, 32, out);
    ck_assert_str_eq(out, name);
    snprintf(text, sizeof(text), "SwitchName=s0 Nodes=c[1-2],%s[8-9]", name);
    read_and_show(text, strlen(text), "c1", 32, out);
    ck_assert_str_eq(out, "1:28: a name of more than 255 characters");
    snprintf(text, sizeof(text), "SwitchName=%sy Nodes=c1", name);
    read_and_show(text, strlen(text), "c1", 32, out);
    ck_assert_str_eq(out, "1:12: a name of more than 255 characters");
}

TEST_CASE(switches_may_be_so_deep_and_no_deeper)
{
    char text[8192] = "SwitchName=s0 Nodes=c1\n", out[SHOW_MAX];
    size_t len = strlen(text);

    for (int i = 1; i < TREE_DEPTH_MAX; i++)
        len += (size_t) snprintf(text + len, sizeof(text) - len, "SwitchName=s%d Switches=s%d\n", i,
                                 i - 1);
    read_and_show(text, len, "c1", 32, out);
    ck_assert_str_eq(out, "c1");
    snprintf(text + len, sizeof(text) - len, "SwitchName=top Switches=s%d", TREE_DEPTH_MAX - 1);
    read_and_show(text, strlen(text), "c1", 32, out);
    ck_assert_str_eq(out, "2:24: switch s0 has more than 64 switches above it");
}

/* Lists draw on one account. */
TEST_CASE(names_are_counted_over_all_lists)
{
    static const char text[] = "SwitchName=a Nodes=a[1-5]\nSwitchName=b Nodes=b[1-4]\n"
                               "SwitchName=c Switches=a,b";
    const char *name[] = {"a1"};
    struct ftree_tree_error e;
    struct ftree_tree *t;
    int32_t order[1];

    for (int most = 0; most <= 11; most++) {
        int rc = ftree_tree_read_most(text, strlen(text), most, name, 1, 4, &t, order, &e);
        ck_assert_int_eq(rc, most < 11 ? FTREE_ERR_INVALID : FTREE_OK);
        ck_assert(!rc || strstr(e.text, "names in all"));
        ftree_tree_free(t);
    }
}

TEST_CASE(a_job_has_nodes_and_a_fanout)
{
    struct ftree_tree_error e;
    struct ftree_tree *t;
    int32_t order[1];
    const char *name[] = {"c1"};

    ck_assert_int_eq(ftree_tree_read(TWO, strlen(TWO), name, 0, 4, &t, order, &e),
                     FTREE_ERR_INVALID);
    ck_assert_int_eq(ftree_tree_read(TWO, strlen(TWO), name, 1, 0, &t, order, &e),
                     FTREE_ERR_INVALID);
    ck_assert_str_eq(e.text, "a job of 1 nodes, a fan-out of 0");
}

TEST_CASE(switches_keep_their_names_and_places)
{
    static const char text[] = TWO "SwitchName=s2 Nodes=d1\nSwitchName=top Switches=s[0-2]";
    const char *name[] = {"c7", "c1", "c8"};
    struct ftree_tree_error e;
    struct ftree_tree *t;
    int32_t order[3];

    ck_assert_int_eq(ftree_tree_read(text, strlen(text), name, 3, 4, &t, order, &e), FTREE_OK);
    ck_assert_int_eq(t->switches, 4);
    ck_assert_str_eq(t->switch_name[0], "s0");
    ck_assert_str_eq(t->switch_name[1], "s1");
    ck_assert_str_eq(t->switch_name[2], "s2");
    ck_assert_str_eq(t->switch_name[3], "top");
    ck_assert_int_eq(t->switch_parent[0], 3);
    ck_assert_int_eq(t->switch_parent[3], FTREE_NONE);
    ck_assert_int_eq(t->switch_head[0], 1);
    ck_assert_int_eq(t->switch_head[1], 0);
    ck_assert_int_eq(t->switch_head[2], FTREE_NONE); /* no node of it is in the job */
    ck_assert_int_eq(t->switch_head[3], 0);
    ck_assert_int_eq(t->node_switch[0], 1);
    ck_assert_int_eq(t->node_switch[1], 0);
    ck_assert_int_eq(t->node_switch[2], 1);
    ck_assert(ftree_tree_is_behind(t, 1, 0) && ftree_tree_is_behind(t, 3, 0));
    ck_assert(!ftree_tree_is_behind(t, 0, 0) && !ftree_tree_is_behind(t, 2, 1));
    ftree_tree_free(t);
}
