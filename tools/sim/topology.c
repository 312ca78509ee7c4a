/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "sim/topology.h"

#include "sim/sim_memory.h"
#include "ftree/rules/rules.h"
#include "ftree/topology/tree_int.h"
#include "sim/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- a file ---------------------------------------------------------------------------------- */

struct listing {
    char **name;
    int32_t n;
};

static int add_name(void *ctx, const char *name, size_t len, size_t at)
{
    struct listing *l = ctx;

    (void) at;
    l->name = sim_grow(l->name, l->n, sizeof(*l->name));
    l->name[l->n] = sim_realloc(NULL, len + 1, 1);
    memcpy(l->name[l->n], name, len);
    l->name[l->n++][len] = 0;
    return FTREE_OK;
}

/* The nodes that a file names.  What is wrong with it ftree_tree_read() says better: here it is
 * passed over. */
static void list_nodes(const char *text, struct listing *l)
{
    int64_t most = TREE_NAMES_MAX;
    struct hostlist_error e;

    for (const char *p = text; *p; p++) {
        bool first = p == text || strchr(" \t\r\n", p[-1]);
        if (*p == '#') {
            p += strcspn(p, "\n");
            p -= !*p;
        } else if (first && !strncasecmp(p, "Nodes=", 6)) {
            p += 6;
            ftree_hostlist_each(p, strcspn(p, " \t\r\n#\\"), &most, add_name, l, &e);
            p--;
        }
    }
    if (l->n == 0)
        add_name(l, "?", 1, 0);
}

static int from_text(struct sim_topology *t, const char *file, const char *text, size_t len)
{
    struct ftree_tree_error e = {0};
    struct listing l = {0};
    int32_t *order;
    int rc;

    list_nodes(text, &l);
    order = sim_calloc((size_t) l.n, sizeof(*order));
    rc = ftree_tree_read(text, len, (const char *const *) l.name, l.n, t->job.fanout, &t->tree,
                         order, &e);
    if (rc)
        sim_complain("faultloc simulate: --topology %s:%d:%d: %s", file, e.line, e.column,
                     rc == FTREE_ERR_INVALID ? e.text : ftree_strerror(rc));
    t->name = sim_calloc((size_t) l.n, sizeof(*t->name));
    for (int32_t i = 0; i < l.n; i++)
        t->name[i] = l.name[rc ? i : order[i]];
    t->job.nodes = l.n;
    free(l.name);
    free(order);
    return rc ? FTREE_ERR_INVALID : FTREE_OK;
}

static int from_file(struct sim_topology *t, const char *file)
{
    size_t len;

    t->file_text = sim_read_file("--topology", file, &len);
    return t->file_text ? from_text(t, file, t->file_text, len) : FTREE_ERR_INVALID;
}

/* ---- a string, or only a number -------------------------------------------------------------- */

static int from_string(struct sim_topology *t, const char *string)
{
    struct ftree_tree_error e = {0};
    int rc = ftree_tree_synthetic(string, t->job.fanout, &t->tree, &t->ranks_per_node, &e);

    if (rc)
        sim_complain("faultloc simulate: --topology '%s', column %d: %s", string, e.column,
                     rc == FTREE_ERR_INVALID ? e.text : ftree_strerror(rc));
    else {
        t->job.nodes = t->tree->nodes;
        t->string = sim_copy(string, strlen(string) + 1);
    }
    return rc ? FTREE_ERR_INVALID : FTREE_OK;
}

static void make_ranks(struct sim_topology *t)
{
    struct ftree_job *job = &t->job;

    job->size = job->nodes * t->ranks_per_node;
    if (t->ranks_per_node == 1)
        return;
    t->rank_node = sim_calloc((size_t) job->size, sizeof(int32_t));
    t->node_ranks = sim_calloc((size_t) job->size, sizeof(int32_t));
    t->node_first = sim_calloc((size_t) job->nodes + 1, sizeof(int32_t));
    for (int32_t r = 0; r < job->size; r++) {
        t->rank_node[r] = r / t->ranks_per_node;
        t->node_ranks[r] = r;
    }
    for (int32_t n = 0; n <= job->nodes; n++)
        t->node_first[n] = n * t->ranks_per_node;
    job->rank_node = t->rank_node;
    job->node_ranks = t->node_ranks;
    job->node_first = t->node_first;
}

static int read_rules(struct sim_topology *t)
{
    struct ftree_rules_error e = {0};
    size_t len;
    const char *text = ftree_rules_builtin(&len);

    if (ftree_rules_read(text, len, &t->rules, &e)) {
        fprintf(stderr, "faultloc simulate: the built-in rules, %d:%d: %s\n", e.line, e.column,
                e.text);
        return FTREE_ERR_INVALID;
    }
    t->job.rules = t->rules;
    return FTREE_OK;
}

/* What the nodes make of it, however they were found. */
static int finish(struct sim_topology *t, int32_t ranks)
{
    if (ranks)
        t->ranks_per_node = ranks;
    if ((int64_t) t->job.nodes * t->ranks_per_node > TREE_NAMES_MAX) {
        fprintf(stderr, "faultloc simulate: more than %d ranks\n", TREE_NAMES_MAX);
        return FTREE_ERR_INVALID;
    }
    t->job.tree = t->tree;
    t->job.node_name = (const char *const *) t->name;
    make_ranks(t);
    return read_rules(t);
}

int sim_topology_make(struct sim_topology *t, const char *what, int32_t nodes, int32_t fanout,
                      int32_t ranks, uint64_t seed)
{
    *t = (struct sim_topology){.ranks_per_node = 1};
    t->job = (struct ftree_job){
        .nodes = nodes, .fanout = fanout, .seed = seed, .has_path = {true, true}};
    if (what && (strchr(what, '/') || !strchr(what, ':')) && from_file(t, what))
        return FTREE_ERR_INVALID;
    if (what && !t->tree && from_string(t, what))
        return FTREE_ERR_INVALID;
    if (nodes && nodes != t->job.nodes) {
        sim_complain("faultloc simulate: --nodes %d, but --topology %s has %d", (int) nodes, what,
                     (int) t->job.nodes);
        return FTREE_ERR_INVALID;
    }
    return finish(t, ranks);
}

int sim_topology_make_of_text(struct sim_topology *t, const char *file, const char *text,
                              size_t len, int32_t fanout, int32_t ranks, uint64_t seed)
{
    *t = (struct sim_topology){.ranks_per_node = 1};
    t->job = (struct ftree_job){.fanout = fanout, .seed = seed, .has_path = {true, true}};
    return from_text(t, file, text, len) ? FTREE_ERR_INVALID : finish(t, ranks);
}

void sim_topology_free(struct sim_topology *t)
{
    for (int32_t i = 0; t->name && i < t->job.nodes; i++)
        free(t->name[i]);
    free(t->name);
    free(t->string);
    free(t->file_text);
    ftree_tree_free(t->tree);
    ftree_rules_free(t->rules);
    free(t->rank_node);
    free(t->node_ranks);
    free(t->node_first);
    *t = (struct sim_topology){0};
}

/* ---- names ----------------------------------------------------------------------------------- */

static bool is_name(const char *name, const char *text, size_t len)
{
    return strlen(name) == len && !memcmp(name, text, len);
}

int32_t sim_topology_node(const struct sim_topology *t, const char *name, size_t len)
{
    int64_t n;

    for (int32_t i = 0; t->name && i < t->job.nodes; i++)
        if (is_name(t->name[i], name, len))
            return i;
    if (!t->name && len > 1 && name[0] == 'n' &&
        sim_read_number(name + 1, len - 1, 0, t->job.nodes - 1, &n))
        return (int32_t) n;
    return sim_read_number(name, len, 0, t->job.nodes - 1, &n) ? (int32_t) n : FTREE_NONE;
}

int32_t sim_topology_switch(const struct sim_topology *t, const char *name, size_t len)
{
    int64_t n;

    for (int32_t s = 0; t->tree && s < t->tree->switches; s++)
        if (is_name(t->tree->switch_name[s], name, len))
            return s;
    if (t->tree && sim_read_number(name, len, 0, t->tree->switches - 1, &n))
        return (int32_t) n;
    return FTREE_NONE;
}
