/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/waits/waits_int.h"

#include <stdlib.h>
#include <string.h>

/*
 * Who can go on, who never can, and why.
 *
 * Which nodes of the graph go on is a least fixpoint: begin with those that do not wait, and let
 * each node go on as soon as one (or the last) of its inputs does.  What is not known here yet is
 * first taken to wait for ever: who goes on even so is free.  Then it is taken to go on: who waits
 * even so is blocked, whatever comes from above.  All conditions are monotone, so both stay true
 * when more is known, and a fixpoint over the whole job comes to the same.
 *
 * The blocked ones wait for each other.  A strongly connected component of them that waits for no
 * other is a core: a cycle, where all must come true, or a knot, where one suffices.  To find the
 * next core let this one go on, and see who then does: those were its victims.  A victim that waits
 * besides for what is not known here may be in a core that only a node above can see.
 */

struct search {
    struct waits *w;
    const struct graph *g;
    bool *goes_on; /* [nodes] */
    bool *is_fixed; /* [nodes] known from below, whatever its inputs */
    bool *only_done; /* [nodes] all of its inputs have called MPI_Finalize */
    bool *is_open; /* [nodes] more may be known above of what it waits for */
    int32_t *pending; /* [nodes] inputs that do not go on, of a node that needs all */
    int32_t *because; /* [nodes] of which goes on: an end's entry, later a core */
    int32_t *queue;
    int32_t head, tail;
};

static bool needs_all(const struct search *s, int32_t v)
{
    if (v < s->g->entries)
        return s->w->entries.items[v].mode != WAITS_FOR_ONE;
    return s->g->gates.items[v - s->g->entries].type == TERM_ALL ||
           s->g->gates.items[v - s->g->entries].type == TERM_FIRST;
}

static bool is_done(const struct search *s, int32_t v)
{
    return v < s->g->entries && s->w->entries.items[v].what == WAITS_DONE;
}

/* ---- the fixpoint ---------------------------------------------------------------------------- */

static void let_go(struct search *s, int32_t v, int32_t because)
{
    if (s->goes_on[v])
        return;
    s->goes_on[v] = true;
    s->because[v] = because;
    s->queue[s->tail++] = v;
}

/* v goes on, and u waits for it.  One that waits for others besides does not wait in vain because
 * one of them has called MPI_Finalize. */
static bool goes_on_by(struct search *s, int32_t u, int32_t v)
{
    if (s->is_fixed[u])
        return false;
    if (needs_all(s, u))
        return --s->pending[u] == 0;
    return s->only_done[u] || !is_done(s, v);
}

static void propagate(struct search *s)
{
    const struct graph *g = s->g;

    while (s->head < s->tail) {
        int32_t v = s->queue[s->head++];
        for (int32_t i = g->out_first[v]; i < g->out_first[v + 1]; i++)
            if (goes_on_by(s, g->out[i], v))
                let_go(s, g->out[i], s->because[v]);
    }
}

/* One that needs all and has no input waits for nobody. */
static void begin_node(struct search *s, int32_t v, bool unknown_goes_on)
{
    bool lacks = s->g->unknown[v] && !unknown_goes_on;
    bool all = needs_all(s, v);

    s->pending[v] = s->g->in_first[v + 1] - s->g->in_first[v] + lacks;
    if (all ? s->pending[v] == 0 : s->g->unknown[v] && unknown_goes_on)
        let_go(s, v, v);
}

static void find_fixpoint(struct search *s, bool unknown_goes_on)
{
    memset(s->goes_on, 0, (size_t) s->g->nodes * sizeof(*s->goes_on));
    s->head = s->tail = 0;
    for (int32_t v = 0; v < s->g->nodes; v++) {
        const struct entry *e = v < s->g->entries ? &s->w->entries.items[v] : NULL;
        s->is_fixed[v] = e && e->what != WAITS_UNDECIDED;
        if (!s->is_fixed[v])
            begin_node(s, v, unknown_goes_on);
        else if (e->what == WAITS_FREE)
            let_go(s, v, v);
    }
    propagate(s);
}

/* ---- the free -------------------------------------------------------------------------------- */

/* A gate that waits for nobody: its collective is complete, and goes on by itself. */
static void set_end(const struct search *s, struct entry *e, int32_t v)
{
    const struct entry *end = NULL;
    int32_t because = s->because[v];

    if (because < s->g->entries && because != v)
        end = &s->w->entries.items[because];
    e->of = end ? end->of : e->rank;
    e->fate = end ? end->fate : WAITS_COMES;
}

static void mark_free(struct search *s)
{
    find_fixpoint(s, false);
    for (int32_t v = 0; v < s->g->entries; v++) {
        struct entry *e = &s->w->entries.items[v];
        if (s->is_fixed[v] || !s->goes_on[v])
            continue;
        set_end(s, e, v);
        e->what = WAITS_FREE;
    }
}

static int by_end(const void *a, const void *b)
{
    const struct waits_end *x = a, *y = b;

    return (x->rank > y->rank) - (x->rank < y->rank);
}

static int by_count(const void *a, const void *b)
{
    const struct waits_end *x = a, *y = b;

    return x->count != y->count ? (x->count < y->count) - (x->count > y->count) : by_end(a, b);
}

static int count_ends(struct waits *w)
{
    struct waits_end *end, *list;
    int32_t kept = 0;

    FTREE_EACH(const struct entry, e, w->entries) {
        if (e->what != WAITS_FREE)
            continue;
        end = FTREE_PUSH(w->ft, w->ends);
        if (!end)
            return FTREE_ERR_NOMEM;
        *end = (struct waits_end){.rank = e->of, .fate = e->fate, .count = e->of != e->rank};
    }
    list = w->ends.items;
    if (w->ends.n > 0)
        qsort(list, (size_t) w->ends.n, sizeof(*list), by_end);
    for (int32_t i = 0; i < w->ends.n; i++) {
        if (kept > 0 && list[kept - 1].rank == list[i].rank)
            list[kept - 1].count += list[i].count;
        else
            list[kept++] = list[i];
    }
    w->ends.n = kept;
    if (kept > 0)
        qsort(list, (size_t) kept, sizeof(*list), by_count);
    return FTREE_OK;
}

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

static int compare_ranks(const void *a, const void *b)
{
    int32_t x = *(const int32_t *) a, y = *(const int32_t *) b;

    return (x > y) - (x < y);
}

static int push_rank(struct waits *w, int32_t rank)
{
    int32_t *p = FTREE_PUSH(w->ft, w->core_ranks);

    if (!p)
        return FTREE_ERR_NOMEM;
    *p = rank;
    return FTREE_OK;
}

/* Each once, however many of its threads there are. */
static void sort_ranks(struct waits *w, struct core *core)
{
    int32_t *rank = w->core_ranks.items + core->first, n = w->core_ranks.n - core->first;

    if (n > 0)
        qsort(rank, (size_t) n, sizeof(*rank), compare_ranks);
    for (int32_t i = 0; i < n; i++)
        if (i == 0 || rank[i] != rank[i - 1])
            rank[core->c.ranks++] = rank[i];
    w->core_ranks.n = core->first + core->c.ranks;
}

/* What is said of a core because of one of its nodes; a collective that is waited for is a gate. */
static void note_node(struct search *s, struct core *core, int32_t v)
{
    const struct gate *gate = v >= s->g->entries ? &s->g->gates.items[v - s->g->entries] : NULL;

    if (!gate && s->w->entries.items[v].polls)
        core->c.polls = true;
    if (!gate || gate->type == TERM_ANY || gate->type == TERM_RANK || core->c.collective)
        return;
    core->c.collective = true;
    core->c.comm = gate->key;
}

static int add_members(struct search *s, struct core *core, const int32_t *node, int32_t n)
{
    struct waits *w = s->w;
    int rc = FTREE_OK;

    for (int32_t i = 0; i < n && !rc; i++) {
        note_node(s, core, node[i]);
        if (node[i] >= s->g->entries)
            continue;
        rc = push_rank(w, w->entries.items[node[i]].rank);
    }
    if (!rc)
        sort_ranks(w, core);
    core->c.id = rc || core->c.ranks == 0 ? FTREE_NONE : w->core_ranks.items[core->first];
    return rc;
}

static int add_core(struct search *s, const int32_t *node, int32_t n, bool missing)
{
    struct core *core = FTREE_PUSH(s->w->ft, s->w->cores);
    int rc;

    if (!core)
        return FTREE_ERR_NOMEM;
    core->c.missing = missing;
    core->first = s->w->core_ranks.n;
    rc = add_members(s, core, node, n);
    if (rc)
        return rc;
    for (int32_t i = 0; i < n; i++) {
        s->w->core_of[node[i]] = (int32_t) (core - s->w->cores.items);
        s->is_fixed[node[i]] = true; /* it is one, and nobody's victim */
        let_go(s, node[i], core->c.id);
    }
    propagate(s);
    return FTREE_OK;
}

/* True if somebody waits for it, and not for others as well. */
static bool is_waited_for(const struct search *s, int32_t v)
{
    for (int32_t i = s->g->out_first[v]; i < s->g->out_first[v + 1]; i++) {
        int32_t u = s->g->out[i];
        if (!s->goes_on[u] && (needs_all(s, u) || s->only_done[u]))
            return true;
    }
    return false;
}

/* A rank that has called MPI_Finalize is a core by itself; what links to it may be a collective. */
static int add_missing(struct search *s, int32_t v)
{
    struct entry *e = &s->w->entries.items[v];
    struct core *core;
    int rc = FTREE_OK;

    if (e->told || !is_waited_for(s, v)) {
        let_go(s, v, e->rank);
        propagate(s);
        return FTREE_OK;
    }
    e->told = true;
    rc = add_core(s, &v, 1, true);
    core = rc ? NULL : &s->w->cores.items[s->w->cores.n - 1];
    for (int32_t i = s->g->out_first[v]; i < s->g->out_first[v + 1] && core; i++)
        note_node(s, core, s->g->out[i]);
    return rc;
}

/* What was decided below, and who is missing, come first. */
static int release_fixed(struct search *s)
{
    int rc = FTREE_OK;

    for (int32_t v = 0; v < s->g->entries && !rc; v++) {
        const struct entry *e = &s->w->entries.items[v];
        if (e->what == WAITS_BLOCKED && s->is_fixed[v]) {
            let_go(s, v, e->of);
            propagate(s);
        } else if (e->what == WAITS_DONE) {
            rc = add_missing(s, v);
        }
    }
    return rc;
}

/* All cores that can be seen at once.  A component of which a part went on is looked at anew. */
static int add_cores(struct search *s, const struct components *c)
{
    int rc = FTREE_OK;

    for (int32_t i = 0; i < c->components && !rc; i++)
        if (waits_only_within(s, c, i))
            rc = add_core(s, c->members + c->first[i], c->first[i + 1] - c->first[i], false);
    return rc;
}

/* The first component of each round waits for no other, so each round finds a core. */
static int find_cores(struct search *s, struct components *c)
{
    int rc = release_fixed(s);

    while (!rc && s->tail < s->g->nodes) {
        find_components(c, s);
        rc = add_cores(s, c);
    }
    return rc;
}

/* ---- what may be seen from above ------------------------------------------------------------- */

/* Of a core no more need be known, but a collective in it may lack others, too. */
static void open_node(struct search *s, int32_t v)
{
    if (s->is_open[v] || (s->is_fixed[v] && v < s->g->entries))
        return;
    s->is_open[v] = true;
    s->queue[s->tail++] = v;
}

/* Those of which something is not known, and who waits for them: is_open has the nodes that were
 * neither free nor blocked. */
static void find_open(struct search *s)
{
    s->head = s->tail = 0;
    for (int32_t v = 0; v < s->g->nodes; v++) {
        bool undecided = s->is_open[v];
        s->is_open[v] = false;
        if (undecided || s->g->unknown[v])
            open_node(s, v);
    }
    while (s->head < s->tail) {
        int32_t v = s->queue[s->head++];
        for (int32_t i = s->g->out_first[v]; i < s->g->out_first[v + 1]; i++)
            open_node(s, s->g->out[i]);
    }
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* The undecided that do not go on, before cores let them. */
static void mark_blocked(struct search *s)
{
    for (int32_t v = 0; v < s->g->nodes; v++)
        s->is_open[v] = !s->goes_on[v]; /* it is not free ... */
    find_fixpoint(s, true);
    for (int32_t v = 0; v < s->g->nodes; v++)
        s->is_open[v] = s->is_open[v] && s->goes_on[v]; /* ... and not blocked */
    for (int32_t v = 0; v < s->g->entries; v++)
        if (s->w->entries.items[v].what == WAITS_UNDECIDED && !s->goes_on[v])
            s->w->entries.items[v].what = WAITS_BLOCKED;
}

static void name_cores(struct search *s)
{
    for (int32_t v = 0; v < s->g->entries; v++) {
        struct entry *e = &s->w->entries.items[v];
        if (e->what != WAITS_BLOCKED)
            continue;
        e->of = s->because[v];
        e->is_open = s->is_open[v];
    }
}

static void find_only_done(struct search *s)
{
    const struct graph *g = s->g;

    for (int32_t v = 0; v < g->nodes; v++) {
        s->only_done[v] = true;
        for (int32_t i = g->in_first[v]; i < g->in_first[v + 1] && s->only_done[v]; i++)
            s->only_done[v] = is_done(s, g->in[i]);
    }
}

#define FLAGS 4 /* tables of each kind, below */
#define NUMBERS 11

static void lay_out(struct search *s, struct components *c, bool *flags, int32_t *numbers)
{
    size_t n = (size_t) s->g->nodes + 1;

    s->goes_on = flags;
    s->is_fixed = flags + n;
    s->only_done = flags + 2 * n;
    s->is_open = flags + 3 * n;
    s->pending = numbers;
    s->because = numbers + n;
    s->queue = numbers + 2 * n;
    c->number = numbers + 3 * n;
    c->low = numbers + 4 * n;
    c->of = numbers + 5 * n;
    c->next = numbers + 6 * n;
    c->path = numbers + 7 * n;
    c->open = numbers + 8 * n;
    c->members = numbers + 9 * n;
    c->first = numbers + 10 * n;
}

static int decide(struct waits *w, bool *flags, int32_t *numbers)
{
    struct search s = {.w = w, .g = &w->graph};
    struct components c = {0};
    int rc;

    lay_out(&s, &c, flags, numbers);
    memset(flags, 0, FLAGS * ((size_t) w->graph.nodes + 1) * sizeof(*flags));
    memset(numbers, 0, NUMBERS * ((size_t) w->graph.nodes + 1) * sizeof(*numbers));
    for (int32_t v = 0; v < w->graph.nodes; v++)
        w->core_of[v] = FTREE_NONE;
    find_only_done(&s);
    mark_free(&s);
    mark_blocked(&s);
    rc = find_cores(&s, &c);
    find_open(&s);
    name_cores(&s);
    return rc ? rc : count_ends(w);
}

int waits_decide(struct waits *w)
{
    size_t n = (size_t) w->graph.nodes + 1;
    bool *flags = ftree_alloc(w->ft, NULL, FLAGS * n * sizeof(*flags));
    int32_t *numbers = ftree_alloc(w->ft, NULL, NUMBERS * n * sizeof(*numbers));
    int rc = FTREE_ERR_NOMEM;

    w->core_of = ftree_alloc(w->ft, NULL, n * sizeof(*w->core_of));
    if (flags && numbers && w->core_of)
        rc = decide(w, flags, numbers);
    ftree_alloc(w->ft, flags, 0);
    ftree_alloc(w->ft, numbers, 0);
    return rc;
}
