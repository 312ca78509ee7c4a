/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/topology/tree_int.h"

#include <stdio.h>
#include <strings.h>

/* "switch:4 switch:8 node:16 rank:2": a word and a number for each level. */
struct synthetic {
    int levels; /* of switches */
    int32_t count[TREE_DEPTH_MAX]; /* of a level: how many there are in all */
    int32_t per_switch; /* nodes */
    int32_t nodes;
    int32_t ranks; /* of a node */
};

enum level {
    LEVEL_SWITCH,
    LEVEL_NODE,
    LEVEL_RANK,
    LEVEL_COUNT
};
static const char *const level_name[] = {"switch", "node", "rank"};

/* "switch:32": what stands at p, of `len` bytes. */
static int read_level(const char *p, size_t len, int column, enum level *level, int32_t *number,
                      struct ftree_tree_error *e)
{
    const char *colon = memchr(p, ':', len);
    size_t word = colon ? (size_t) (colon - p) : len, digits;
    long n;

    for (*level = 0; *level < LEVEL_COUNT; (*level)++)
        if (strlen(level_name[*level]) == word && !strncasecmp(level_name[*level], p, word))
            break;
    if (!colon || *level == LEVEL_COUNT)
        return ftree_tree_wrong(e, 1, column, "'%.*s' is none of switch:N, node:N, rank:N",
                                (int) (len < 40 ? len : 40), p);
    digits = strspn(colon + 1, "0123456789");
    n = strtol(colon + 1, NULL, 10);
    if (digits == 0 || word + 1 + digits != len || n < 1 || n > TREE_NAMES_MAX)
        return ftree_tree_wrong(e, 1, column + (int) word + 1,
                                "a number from 1 to %d is expected after %s:", TREE_NAMES_MAX,
                                level_name[*level]);
    *number = (int32_t) n;
    return FTREE_OK;
}

/* The next level further in; `total` is how many of the one before there are. */
static int add_level(struct synthetic *s, enum level level, int32_t number, int column,
                     struct ftree_tree_error *e)
{
    int32_t total = s->nodes ? s->nodes : s->levels ? s->count[s->levels - 1] : 1;

    if (s->ranks || (s->nodes && level != LEVEL_RANK))
        return ftree_tree_wrong(e, 1, column,
                                "%s: cannot stand here; the order is switch, ..., "
                                "node, rank",
                                level_name[level]);
    if (level == LEVEL_RANK && !s->nodes)
        return ftree_tree_wrong(e, 1, column, "node: is expected before rank:");
    if (level == LEVEL_RANK) {
        s->ranks = number;
        return FTREE_OK;
    }
    if ((int64_t) total * number > TREE_NAMES_MAX)
        return ftree_tree_wrong(e, 1, column, "more than %d of %s in all", TREE_NAMES_MAX,
                                level_name[level]);
    if (level == LEVEL_NODE) {
        s->per_switch = number;
        s->nodes = total * number;
        return FTREE_OK;
    }
    if (s->levels == TREE_DEPTH_MAX)
        return ftree_tree_wrong(e, 1, column, "more than %d levels of switches", TREE_DEPTH_MAX);
    s->count[s->levels++] = total * number;
    return FTREE_OK;
}

static int read_string(const char *string, struct synthetic *s, struct ftree_tree_error *e)
{
    static const char blanks[] = " \t\r\n";
    enum level level;
    int32_t number = 0;
    int rc = FTREE_OK;

    *s = (struct synthetic){0};
    *e = (struct ftree_tree_error){0};
    for (const char *p = string + strspn(string, blanks); !rc && *p; p += strspn(p, blanks)) {
        size_t len = strcspn(p, blanks);
        int column = (int) (p - string) + 1;
        rc = read_level(p, len, column, &level, &number, e);
        if (!rc)
            rc = add_level(s, level, number, column, e);
        p += len;
    }
    if (!rc && s->nodes == 0)
        rc = ftree_tree_wrong(e, 1, (int) strlen(string) + 1, "node:N is expected");
    if (!rc && s->ranks == 0)
        s->ranks = 1;
    return rc;
}

/* Switches are numbered level by level, from the outermost. */
static bool name_switches(const struct synthetic *s, struct names *names, int32_t *parent)
{
    int32_t base = 0, base_above = 0, i = 0;
    char name[16];

    for (int l = 0; l < s->levels; l++) {
        base = i;
        for (int32_t k = 0; k < s->count[l]; k++, i++) {
            snprintf(name, sizeof(name), "s%d", (int) i);
            if (names_add(names, name, strlen(name)) < 0)
                return false;
            parent[i] = l == 0 ? FTREE_NONE : base_above + k / (s->count[l] / s->count[l - 1]);
        }
        base_above = base;
    }
    return true;
}

static int build(const struct synthetic *s, int32_t fanout, struct ftree_tree **out, int32_t *order)
{
    struct tree_shape shape = {.nodes = s->nodes};
    struct names names = {0};
    int rc = FTREE_ERR_NOMEM;
    int32_t first_leaf;

    for (int l = 0; l < s->levels; l++)
        shape.switches += s->count[l];
    first_leaf = s->levels ? shape.switches - s->count[s->levels - 1] : 0;
    shape.switch_name = &names;
    shape.switch_parent = malloc(((size_t) shape.switches + 1) * sizeof(int32_t));
    shape.node_switch = malloc((size_t) s->nodes * sizeof(int32_t));
    if (shape.switch_parent && shape.node_switch && name_switches(s, &names, shape.switch_parent)) {
        for (int32_t i = 0; i < s->nodes; i++)
            shape.node_switch[i] = s->levels ? first_leaf + i / s->per_switch : FTREE_NONE;
        rc = ftree_tree_build(&shape, fanout, out, order);
    }
    names_free(&names);
    free(shape.switch_parent);
    free(shape.node_switch);
    return rc;
}

int ftree_tree_synthetic(const char *string, int32_t fanout, struct ftree_tree **out,
                         int32_t *ranks_per_node, struct ftree_tree_error *e)
{
    struct synthetic s;
    int32_t *order;
    int rc = read_string(string, &s, e);

    *out = NULL;
    if (!rc && fanout < 1)
        rc = ftree_tree_wrong(e, 0, 0, "a fan-out of %d", (int) fanout);
    if (rc)
        return rc;
    *ranks_per_node = s.ranks;
    order = malloc((size_t) s.nodes * sizeof(*order));
    rc = order ? build(&s, fanout, out, order) : FTREE_ERR_NOMEM;
    free(order);
    return rc;
}

int ftree_tree_synthetic_job(const char *string, int32_t nodes, int32_t fanout,
                             struct ftree_tree **out, int32_t *order, struct ftree_tree_error *e)
{
    struct synthetic s;
    int rc = read_string(string, &s, e);

    *out = NULL;
    if (!rc && s.nodes != nodes)
        rc = ftree_tree_wrong(e, 0, 0, "these are %d nodes, but the job has %d", (int) s.nodes,
                              (int) nodes);
    if (!rc && fanout < 1)
        rc = ftree_tree_wrong(e, 0, 0, "a fan-out of %d", (int) fanout);
    return rc ? rc : build(&s, fanout, out, order);
}
