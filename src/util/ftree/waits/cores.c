/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/waits/waits_int.h"

#include <stdlib.h>
#include <string.h>

/*
 * The blocked ones wait for each other.  A strongly connected component of them that waits for no
 * other is a core: a cycle, where all must come true, or a knot, where one suffices.  To find the
 * next core let this one go on, and see who then does: those were its victims.
 */

/* ---- components ------------------------------------------------------------------------------ */

/* Tarjan's algorithm over the nodes that do not go on, without recursion: a chain may be long.
 * Components come in an order in which each waits only for those before it. */
struct components {
    int32_t *number; /* [nodes] in the order of discovery, from 1; 0: not yet */
    int32_t *low;
    int32_t *of; /* [nodes] which component, FTREE_NONE while it is open */
    int32_t *next; /* [nodes] the next input to look at */
    int32_t *path, *open; /* two stacks */
    int32_t *members, *first; /* component c is members[first[c]] .. members[first[c + 1] - 1] */
    int32_t numbers, paths, opens, components;
};

static void lay_out(struct components *c, const struct search *s)
{
    size_t n = (size_t) s->g->nodes + 1;
    int32_t **table[] = {&c->number, &c->low,  &c->of,      &c->next,
                         &c->path,   &c->open, &c->members, &c->first};

    _Static_assert(sizeof(table) / sizeof(table[0]) == SEARCH_SPARE, "there is room for them");
    for (size_t i = 0; i < SEARCH_SPARE; i++)
        *table[i] = s->spare + i * n;
}

static void discover(struct components *c, const struct graph *g, int32_t v)
{
    c->number[v] = c->low[v] = ++c->numbers;
    c->next[v] = g->in_first[v];
    c->path[c->paths++] = v;
    c->open[c->opens++] = v;
}

static void close_component(struct components *c, int32_t v)
{
    int32_t u, to = c->first[c->components];

    do {
        u = c->open[--c->opens];
        c->of[u] = c->components;
        c->members[to++] = u;
    } while (u != v);
    c->first[++c->components] = to;
}

/* One step of the walk at the end of its path. */
static void walk_on(struct components *c, const struct search *s, int32_t v)
{
    const struct graph *g = s->g;
    int32_t u;

    if (c->next[v] < g->in_first[v + 1]) {
        u = g->in[c->next[v]++];
        if (s->goes_on[u])
            return;
        if (!c->number[u])
            discover(c, g, u);
        else if (c->of[u] == FTREE_NONE && c->number[u] < c->low[v])
            c->low[v] = c->number[u];
        return;
    }
    c->paths--;
    if (c->paths > 0 && c->low[v] < c->low[c->path[c->paths - 1]])
        c->low[c->path[c->paths - 1]] = c->low[v];
    if (c->low[v] == c->number[v])
        close_component(c, v);
}

static void find_components(struct components *c, const struct search *s)
{
    int32_t nodes = s->g->nodes;

    c->numbers = c->paths = c->opens = c->components = 0;
    memset(c->number, 0, (size_t) nodes * sizeof(*c->number));
    for (int32_t v = 0; v < nodes; v++)
        c->of[v] = FTREE_NONE;
    for (int32_t v = 0; v < nodes; v++) {
        if (s->goes_on[v] || c->number[v])
            continue;
        discover(c, s->g, v);
        while (c->paths > 0)
            walk_on(c, s, c->path[c->paths - 1]);
    }
}

/* ---- cores ----------------------------------------------------------------------------------- */

static bool waits_only_within(const struct search *s, const struct components *c, int32_t component)
{
    for (int32_t i = c->first[component]; i < c->first[component + 1]; i++) {
        int32_t v = c->members[i];
        if (s->goes_on[v])
            return false;
        for (int32_t k = s->g->in_first[v]; k < s->g->in_first[v + 1]; k++)
            if (!s->goes_on[s->g->in[k]] && c->of[s->g->in[k]] != component)
                return false;
    }
    return true;
}

/* Each once, however many of its threads there are. */
static void sort_ranks(struct waits *w, struct core *core)
{
    int32_t *rank = w->core_ranks.items + core->first, n = w->core_ranks.n - core->first;

    if (n > 0)
        qsort(rank, (size_t) n, sizeof(*rank), ftree_compare_numbers);
    for (int32_t i = 0; i < n; i++)
        if (i == 0 || rank[i] != rank[i - 1])
            rank[core->c.ranks++] = rank[i];
    w->core_ranks.n = core->first + core->c.ranks;
}

/* What is said of a core because of one of its nodes; a collective that is waited for is a gate. */
static void note_node(struct search *s, struct core *core, int32_t v)
{
    const struct term *gate = v >= s->g->entries ? &s->g->gates.items[v - s->g->entries] : NULL;

    if (!gate && s->w->entries.items[v].polls)
        core->c.polls = true;
    if (!gate || !waits_is_collective(gate) || core->c.collective)
        return;
    core->c.collective = true;
    core->c.comm = gate->key;
}

static void add_members(struct search *s, struct core *core, const int32_t *node, int32_t n)
{
    struct waits *w = s->w;

    core->first = w->core_ranks.n;
    for (int32_t i = 0; i < n; i++) {
        note_node(s, core, node[i]);
        core->c.is_open = core->c.is_open || s->is_open[node[i]];
        if (node[i] < s->g->entries)
            w->nomem = w->nomem || !FTREE_ADD(w->ft, w->core_ranks, w->entries.items[node[i]].rank);
    }
    sort_ranks(w, core);
    core->c.id = core->c.ranks == 0 ? FTREE_NONE : w->core_ranks.items[core->first];
}

/* NULL: out of memory. */
static struct core *add_core(struct search *s, const int32_t *node, int32_t n, bool missing)
{
    struct core *core = FTREE_PUSH(s->w->ft, s->w->cores);

    if (!core) {
        s->w->nomem = true;
        return NULL;
    }
    core->c.missing = missing;
    add_members(s, core, node, n);
    for (int32_t i = 0; i < n; i++) {
        s->w->core_of[node[i]] = (int32_t) (core - s->w->cores.items);
        s->is_fixed[node[i]] = true; /* it is one, and nobody's victim */
        waits_let_go(s, node[i], core->c.id);
    }
    waits_propagate(s);
    return core;
}

static bool waits_for_lock(const struct waits *w, const struct entry *e)
{
    for (int32_t i = e->term; i < e->term + e->terms; i++)
        if (w->terms.items[i].type == TERM_ALL && ftree_waits_is_lock(w->terms.items[i].key))
            return true;
    return false;
}

/* Node u stands for a target that is only waited for with a lock: another one, of which nothing may
 * be known yet, has that, and is the reason. */
static bool is_target_of_lock(const struct search *s, int32_t u)
{
    if (u < s->g->entries || s->g->gates.items[u - s->g->entries].type != TERM_TURNS)
        return false;
    for (int32_t i = s->g->out_first[u]; i < s->g->out_first[u + 1]; i++)
        if (!waits_for_lock(s->w, &s->w->entries.items[s->g->out[i]]))
            return false;
    return true;
}

/* True if somebody waits for it, and not for others as well. */
static bool is_waited_for(const struct search *s, int32_t v)
{
    for (int32_t i = s->g->out_first[v]; i < s->g->out_first[v + 1]; i++) {
        int32_t u = s->g->out[i];
        if (!s->goes_on[u] && (waits_needs_all(s, u) || s->only_done[u]) &&
            !is_target_of_lock(s, u))
            return true;
    }
    return false;
}

static bool is_missing(const struct search *s, int32_t v)
{
    return !s->w->entries.items[v].is_core && is_waited_for(s, v);
}

/* A rank that has called MPI_Finalize is a core by itself; what links to it may be a collective. */
static void add_missing(struct search *s, int32_t v)
{
    struct entry *e = &s->w->entries.items[v];
    struct core *core;

    if (!is_missing(s, v)) {
        waits_let_go(s, v, e->rank);
        waits_propagate(s);
        return;
    }
    e->is_core = true;
    core = add_core(s, &v, 1, true);
    for (int32_t i = s->g->out_first[v]; i < s->g->out_first[v + 1] && core; i++)
        note_node(s, core, s->g->out[i]);
}

/* What was decided below, and who is missing, come first; before these who has called MPI_Finalize
 * and is no reason. */
static void release_fixed(struct search *s)
{
    for (int32_t v = 0; v < s->g->entries; v++) {
        const struct entry *e = &s->w->entries.items[v];
        if (e->what == WAITS_BLOCKED && s->is_fixed[v])
            waits_let_go(s, v, e->of);
        else if (e->what == WAITS_DONE && !is_missing(s, v))
            waits_let_go(s, v, e->rank);
    }
    waits_propagate(s);
    for (int32_t v = 0; v < s->g->entries; v++)
        if (s->w->entries.items[v].what == WAITS_DONE && !s->goes_on[v])
            add_missing(s, v);
}

/* The first component of each round waits for no other.  So each round finds a core, until only
 * open ones are left. */
void waits_find_cores(struct search *s)
{
    struct components c = {0};
    int32_t cores = -1;

    release_fixed(s);
    lay_out(&c, s);
    while (s->tail < s->g->nodes && cores < s->w->cores.n) {
        cores = s->w->cores.n;
        find_components(&c, s);
        for (int32_t i = 0; i < c.components; i++) /* one of which a part went on is looked at anew */
            if (waits_only_within(s, &c, i) && (s->is_top || !s->is_open[c.members[c.first[i]]]))
                add_core(s, c.members + c.first[i], c.first[i + 1] - c.first[i], false);
    }
}
