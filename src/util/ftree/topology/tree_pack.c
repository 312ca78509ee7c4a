/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/topology/tree_int.h"

/*
 * A tree is one block without pointers, so that processes can share it, and a struct ftree_tree
 * with pointers into the block.  In the block: the sizes, then all tables, then the names of the
 * switches, each with its final zero.
 */

#define MAGIC 0x464c5431u /* "FLT1" */

struct view {
    struct ftree_tree tree;
    const void *block;
    void *own; /* the block, where it is to be freed with the view */
    const char *name[]; /* [switches] */
};

/* In 64 bits: sizes may come from elsewhere. */
static uint64_t bytes_of(const struct tree_sizes *s)
{
    return sizeof(*s) +
           sizeof(int32_t) *
               (4 * (uint64_t) s->nodes + 1 + (uint64_t) s->leaves + 2 * (uint64_t) s->switches) +
           s->text;
}

void *ftree_tree_block(const struct tree_sizes *sizes, char **text)
{
    struct tree_sizes *s = malloc(bytes_of(sizes));

    if (!s)
        return NULL;
    *s = *sizes;
    s->magic = MAGIC;
    *text = (char *) s + bytes_of(s) - s->text;
    return s;
}

static int32_t *take_table(char **at, int64_t n)
{
    int32_t *table = (int32_t *) (void *) *at;

    *at += n * (int64_t) sizeof(int32_t);
    return table;
}

struct ftree_tree *ftree_tree_over(const void *block, void *own)
{
    const struct tree_sizes *s = block;
    char *at = (char *) (uintptr_t) block + sizeof(*s);
    struct view *v = malloc(sizeof(*v) + (size_t) s->switches * sizeof(v->name[0]));

    if (!v)
        return NULL;
    v->block = block;
    v->own = own;
    v->tree = (struct ftree_tree){.nodes = s->nodes,
                                  .leaves = s->leaves,
                                  .switches = s->switches,
                                  .switch_name = v->name};
    v->tree.parent = take_table(&at, s->nodes);
    v->tree.first_child = take_table(&at, (int64_t) s->nodes + 1);
    v->tree.height = take_table(&at, s->nodes);
    v->tree.leaf = take_table(&at, s->leaves);
    v->tree.node_switch = take_table(&at, s->nodes);
    v->tree.switch_parent = take_table(&at, s->switches);
    v->tree.switch_head = take_table(&at, s->switches);
    for (int32_t i = 0; i < s->switches; at += strlen(at) + 1)
        v->name[i++] = at;
    return &v->tree;
}

static const struct view *view_of(const struct ftree_tree *t)
{
    return (const struct view *) (const void *) t; /* its first member */
}

void ftree_tree_free(struct ftree_tree *t)
{
    if (t)
        free(view_of(t)->own);
    free(t);
}

size_t ftree_tree_packed_size(const struct ftree_tree *t)
{
    return (size_t) bytes_of(view_of(t)->block);
}

void ftree_tree_pack(const struct ftree_tree *t, void *bytes)
{
    memcpy(bytes, view_of(t)->block, ftree_tree_packed_size(t));
}

static bool has_all_names(const struct tree_sizes *s)
{
    const char *text = (const char *) s + bytes_of(s) - s->text;
    int32_t zeros = 0;

    for (uint32_t i = 0; i < s->text; i++)
        zeros += text[i] == '\0';
    return zeros == s->switches && (s->text == 0 || text[s->text - 1] == '\0');
}

int ftree_tree_unpack(const void *bytes, size_t len, struct ftree_tree **out)
{
    const struct tree_sizes *s = bytes;

    *out = NULL;
    if (len < sizeof(*s) || s->magic != MAGIC || s->nodes < 1 || s->leaves < 0 || s->switches < 0 ||
        bytes_of(s) != len || !has_all_names(s))
        return FTREE_ERR_INVALID;
    *out = ftree_tree_over(bytes, NULL);
    if (!*out)
        return FTREE_ERR_NOMEM;
    if (!ftree_tree_check(*out))
        return FTREE_OK;
    ftree_tree_free(*out);
    *out = NULL;
    return FTREE_ERR_INVALID;
}
