/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/*
 * What the variable stands for: a file, a string, nothing; what is said where it is wrong; and the
 * tree's way through the board.
 */

#include "faultloc/board/board.h"
#include "faultloc/board/topology_text.h"
#include "files.h"
#include "suite.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char error[512];

BEFORE_EACH
{
    files_begin();
}

static const char *write_file(const char *name, const char *text, size_t times)
{
    const char *path = files_path(name);
    FILE *f = fopen(path, "w");

    ck_assert_ptr_nonnull(f);
    for (size_t i = 0; i < times; i++)
        ck_assert_int_ge(fputs(text, f), 0);
    ck_assert_int_eq(fclose(f), 0);
    return path;
}

TEST_CASE(nothing_stands_for_nothing)
{
    struct faultloc_topology t;

    ck_assert_int_eq(faultloc_topology_load("", &t, error, sizeof(error)), FTREE_OK);
    ck_assert_ptr_null(t.text);
    ck_assert_int_eq(faultloc_topology_load(NULL, &t, error, sizeof(error)), FTREE_OK);
    ck_assert_ptr_null(t.text);
}

TEST_CASE(a_name_stands_for_a_file)
{
    struct faultloc_topology t;
    const char *path = write_file("topology.conf", "SwitchName=s Nodes=c[1-2]\n", 1);

    ck_assert_int_eq(faultloc_topology_load(path, &t, error, sizeof(error)), FTREE_OK);
    ck_assert_str_eq(t.text, "SwitchName=s Nodes=c[1-2]\n");
    ck_assert_uint_eq(t.len, strlen(t.text));
    ck_assert(!t.is_string);
    free(t.text);
}

TEST_CASE(a_colon_makes_a_string_where_there_is_no_such_file)
{
    struct faultloc_topology t;
    const char *path;

    ck_assert_int_eq(faultloc_topology_load("switch:2 node:4", &t, error, sizeof(error)), FTREE_OK);
    ck_assert(t.is_string);
    ck_assert_str_eq(t.text, "switch:2 node:4");
    free(t.text);
    path = write_file("switch:2", "SwitchName=s Nodes=c[1-2]\n", 1);
    ck_assert_int_eq(faultloc_topology_load(path, &t, error, sizeof(error)), FTREE_OK);
    ck_assert(!t.is_string);
    free(t.text);
}

static void expect_refused(const char *path, const char *why)
{
    struct faultloc_topology t;
    char expect[600];

    snprintf(expect, sizeof(expect), "cannot read the topology file %s: %s", path, why);
    ck_assert_int_eq(faultloc_topology_load(path, &t, error, sizeof(error)), FTREE_ERR_INVALID);
    ck_assert_str_eq(error, expect);
    ck_assert_ptr_null(t.text);
}

TEST_CASE(a_file_that_cannot_be_read_is_named)
{
    expect_refused("/no/such/file", "No such file or directory");
    expect_refused(files_root, "it is not a regular file");
    expect_refused(write_file("empty", "", 1), "it is empty");
    ck_assert_int_eq(mkfifo(files_path("pipe"), 0600), 0);
    expect_refused(files_path("pipe"), "it is not a regular file");
}

TEST_CASE(a_file_has_a_largest_size)
{
    static const char line[] = "# 16 characters\n";
    struct faultloc_topology t;
    const char *path = write_file("large", line, FAULTLOC_TOPOLOGY_MAX / 16);

    ck_assert_int_eq(faultloc_topology_load(path, &t, error, sizeof(error)), FTREE_OK);
    ck_assert_uint_eq(t.len, FAULTLOC_TOPOLOGY_MAX);
    free(t.text);
    expect_refused(write_file("large", line, FAULTLOC_TOPOLOGY_MAX / 16 + 1),
                   "it is larger than 4 MiB");
}

static const char *const name[] = {"c1", "c2", "c3", "c4"};

static int make(const char *text, bool is_string, struct ftree_tree **tree, int32_t *order)
{
    char copy[256];
    struct faultloc_topology t = {.text = copy, .len = strlen(text), .is_string = is_string};

    strcpy(copy, text);
    return faultloc_topology_tree(&t, "FILE", name, COUNT(name), 32, tree, order, error,
                                  sizeof(error));
}

TEST_CASE(a_wrong_file_is_reported_with_its_place)
{
    struct ftree_tree *tree;
    int32_t order[COUNT(name)];

    ck_assert_int_eq(make("\nSwitchName=s Node=c1", false, &tree, order), FTREE_ERR_INVALID);
    ck_assert_str_eq(error, "FILE, line 2, column 14: 'Node' is not known here; a line is "
                            "SwitchName=NAME with Nodes=LIST or Switches=LIST");
    ck_assert_int_eq(make("SwitchName=s Nodes=c[1-3]", false, &tree, order), FTREE_ERR_INVALID);
    ck_assert_str_eq(error, "FILE: no switch has c4 (1 of the job's 4 nodes)");
    ck_assert_int_eq(make("switch:2 node:1", true, &tree, order), FTREE_ERR_INVALID);
    ck_assert_str_eq(error, "topology 'FILE': these are 2 nodes, but the job has 4");
    ck_assert_int_eq(make("switch:2 nod:1", true, &tree, order), FTREE_ERR_INVALID);
    ck_assert_str_eq(error, "topology 'FILE', column 10: 'nod:1' is none of switch:N, node:N, "
                            "rank:N");
    ck_assert_ptr_null(tree);
}

/* What a leader puts on the board another process of the node finds there. */
TEST_CASE(the_board_hands_a_tree_on)
{
    struct ftree_tree *tree, *again;
    struct faultloc_board *b, *theirs;
    int32_t order[COUNT(name)];
    int fd, their_fd;
    size_t len;

    ck_assert_int_eq(
        make("SwitchName=s Nodes=c[1,3]\nSwitchName=t Nodes=c[2,4]", false, &tree, order),
        FTREE_OK);
    len = ftree_tree_packed_size(tree);
    ck_assert_int_eq(faultloc_board_make(4, 4, 1, len, &b, &fd), 0);
    ck_assert_uint_eq(b->tree_bytes, len);
    ck_assert_uint_ge(b->tree_at, sizeof(*b));
    ck_assert_uint_le(b->tree_at + len, b->slots_at);
    ftree_tree_pack(tree, faultloc_board_tree(b));
    ck_assert_int_eq(faultloc_board_open((int32_t) getpid(), fd, &theirs, &their_fd), 0);
    ck_assert_int_eq(
        ftree_tree_unpack(faultloc_board_tree(theirs), (size_t) theirs->tree_bytes, &again),
        FTREE_OK);
    ck_assert_int_eq(again->nodes, 4);
    for (int32_t n = 0; n < 4; n++)
        ck_assert(again->parent[n] == tree->parent[n] &&
                  again->node_switch[n] == tree->node_switch[n]);
    ck_assert_str_eq(again->switch_name[1], "t");
    ftree_tree_free(again);
    ftree_tree_free(tree);
    faultloc_board_unmap(theirs);
    faultloc_board_unmap(b);
    close(fd);
    close(their_fd);
}
