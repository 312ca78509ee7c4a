/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef TREE_INT_H_INCLUDED
#define TREE_INT_H_INCLUDED

#include "ftree/topology/tree.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(hidden)

/*
 * A tree from outside, in the making:
 *
 *     tree_read.c       the syntax of topology.conf; what a file may not say
 *     tree_hostlist.c   "c[01-16,20]"
 *     tree_fold.c       names as such a list
 *     tree_names.c      a set of names, each with a number; what is wrong with the text
 *     tree_synthetic.c  "switch:32 node:64"
 *     tree_match.c      which nodes of the file the job's nodes are
 *     tree.c            from switches and nodes to the finished tables
 *     tree_pack.c       how they lie in memory, which processes may share
 *     tree_check.c      every invariant
 */

/* Bounds that keep a file, whatever is in it, within a machine's memory. */
#define TREE_NAMES_MAX (1 << 24) /* nodes, and references to switches; in all hostlists together */
#define TREE_DEPTH_MAX 64 /* switches above one another */
#define TREE_NAME_MAX 255 /* of a node or a switch, in bytes */

/* Fills in *e and returns FTREE_ERR_INVALID.  line, column: 0 where it is about the whole. */
int ftree_tree_wrong(struct ftree_tree_error *e, int line, int column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- a set of names -------------------------------------------------------------------------- */

/* Names are numbered 0, 1, ... in the order in which they came.  All zero: an empty set. */
struct names {
    char *text; /* all names, each with a final zero */
    size_t text_len, text_room;
    uint32_t *at; /* [n]: where in text */
    int32_t n, room;
    int32_t *slot; /* [slots], a power of two, at least half of them free: number, or -1 */
    uint32_t slots;
};

/* The number of a name; FTREE_NONE: it is not in the set. */
int32_t names_find(const struct names *s, const char *name, size_t len);

/* Adds a name, which must not be in the set; its number, or FTREE_NONE: out of memory. */
int32_t names_add(struct names *s, const char *name, size_t len);

const char *names_text(const struct names *s, int32_t i);
void names_free(struct names *s);

/* ---- hostlists ------------------------------------------------------------------------------- */

/* What is wrong with a hostlist: `at` bytes from its beginning. */
struct hostlist_error {
    size_t at;
    char text[120];
};

/* Calls each(ctx, name, len, at) for all names of a list, in its order; `at` is where the item is
 * that the name is from.  A return value other than FTREE_OK ends it.  *most names are allowed,
 * and are taken off.
 * Errors: FTREE_ERR_INVALID (*e says what, unless it came from each()), or what each() returned. */
typedef int (*hostlist_each_fn)(void *ctx, const char *name, size_t len, size_t at);
int ftree_hostlist_each(const char *list, size_t len, int64_t *most, hostlist_each_fn each,
                        void *ctx, struct hostlist_error *e);

/* ---- from switches and nodes to a tree ------------------------------------------------------- */

struct tree_shape {
    int32_t nodes;
    int32_t switches;
    int32_t *node_switch; /* [nodes], in the job's order: leaf switch */
    int32_t *switch_parent; /* [switches]; FTREE_NONE: none; no cycles */
    const struct names *switch_name; /* [switches] */
};

/* Purpose: the tree of a shape, and how its nodes are numbered anew.  Errors: FTREE_ERR_NOMEM. */
int ftree_tree_build(const struct tree_shape *shape, int32_t fanout, struct ftree_tree **out,
                     int32_t *order);

/* ---- the finished tables --------------------------------------------------------------------- */

struct tree_sizes {
    uint32_t magic;
    int32_t nodes, leaves, switches;
    uint32_t text; /* bytes of the names of all switches, with their final zeros */
};

/* Purpose: a block for a tree of these sizes, to be freed with free(), and where in it the names of
 * the switches go, one behind the other.  NULL: out of memory. */
void *ftree_tree_block(const struct tree_sizes *sizes, char **text);

/* Purpose: the tree that a block holds, which has the names; its tables are filled in, or valid.
 * `own` is freed with it; may be NULL.  NULL: out of memory. */
struct ftree_tree *ftree_tree_over(const void *block, void *own);

/* Purpose: node_switch[i] of the job's node name[i]; `file` are the nodes of the file and
 * file_switch[] their leaf switches.  A name is looked up as it is, then without its domain, then
 * among those of the file without theirs.
 * Errors: FTREE_ERR_INVALID (*e names some that the file lacks), FTREE_ERR_NOMEM. */
int ftree_tree_match(const struct names *file, const int32_t *file_switch, const char *const *name,
                     int32_t nodes, int32_t *node_switch, struct ftree_tree_error *e);

/* Purpose: ftree_tree_read() with another bound than TREE_NAMES_MAX, for tests. */
int ftree_tree_read_most(const char *text, size_t len, int64_t most, const char *const *name,
                         int32_t nodes, int32_t fanout, struct ftree_tree **out, int32_t *order,
                         struct ftree_tree_error *e);

#pragma GCC visibility pop

#endif /* TREE_INT_H_INCLUDED */
