/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/waits/waits_int.h"

#include <stdlib.h>

/*
 * The conditions as a graph.  Ranks that wait for any member of a communicator, or for all that
 * have not begun its n-th collective, share a gate, so that N ranks in one collective are N edges
 * and not N * N.  The gates of a communicator's collectives are a chain: who is behind at the 4th
 * is behind at the 5th, too.
 */

static int by_gate(const void *a, const void *b)
{
    const struct term *x = a, *y = b;
    int order = key_compare(x->key, y->key);

    WAITS_ORDER(x->type, y->type);
    if (order)
        return order;
    WAITS_ORDER(x->number, y->number);
    WAITS_ORDER(x->rank, y->rank);
    return 0;
}

static bool has_gate(const struct term *t)
{
    return waits_has_comm(t->type) || t->type == TERM_TURNS;
}

/* Threads of a rank are entries; who waits for the rank waits for any of them. */
static bool has_threads(const struct entry *e)
{
    return e->thread == 0 && e->threads > 1;
}

static struct term gate_of(const struct term *t)
{
    struct term gate = {.type = t->type, .key = t->key};

    if (t->type != TERM_ANY)
        gate.number = t->number;
    if (waits_has_rank(t->type))
        gate.rank = t->rank;
    return gate;
}

static void push_gate(struct waits *w, const struct term *t)
{
    w->nomem = w->nomem || !FTREE_ADD(w->ft, w->graph.gates, gate_of(t));
}

static void push_gates(struct waits *w, const struct entry *e)
{
    struct term rank = {.type = TERM_RANK, .rank = e->rank};

    if (has_threads(e))
        push_gate(w, &rank);
    for (int32_t i = e->term; i < e->term + e->terms; i++)
        if (e->what == WAITS_UNDECIDED && has_gate(&w->terms.items[i]))
            push_gate(w, &w->terms.items[i]);
}

static int32_t find_gate(const struct graph *g, const struct term *t)
{
    struct term wanted = gate_of(t);
    const struct term *found =
        bsearch(&wanted, g->gates.items, (size_t) g->gates.n, sizeof(wanted), by_gate);

    return g->entries + (int32_t) (found - g->gates.items);
}

int32_t waits_node_of(const struct waits *w, int32_t rank)
{
    struct term t = {.type = TERM_RANK, .rank = rank};
    int32_t i = waits_find(w, rank, 0);

    return i != FTREE_NONE && has_threads(&w->entries.items[i]) ? find_gate(&w->graph, &t) : i;
}

/* Node waits for input; one that is not there is unknown. */
static void link_to(struct waits *w, int32_t node, int32_t input)
{
    struct edge edge = {.node = node, .input = input};

    if (input == FTREE_NONE)
        w->graph.unknown[node] = true;
    else
        w->nomem = w->nomem || !FTREE_ADD(w->ft, w->graph.edges, edge);
}

/* ---- gates ----------------------------------------------------------------------------------- */

/* Whichever are fewer are gone through: the communicator's members ... */
static int32_t link_members(struct waits *w, int32_t node, const struct waits_comm *c)
{
    int32_t found = 0;

    for (int32_t i = 0; i < c->runs; i++)
        for (int32_t k = 0; k < c->run[i].count; k++) {
            int32_t at = waits_node_of(w, c->run[i].first + k * c->run[i].step);
            if (at == FTREE_NONE)
                continue;
            link_to(w, node, at);
            found++;
        }
    return found;
}

/* ... or the ranks that are known. */
static int32_t link_known(struct waits *w, int32_t node, const struct waits_comm *c)
{
    int32_t found = 0;

    for (int32_t i = 0; i < w->entries.n; i++) {
        const struct entry *e = &w->entries.items[i];
        if (e->thread > 0 || !waits_has_member(c, e->rank))
            continue;
        link_to(w, node, waits_node_of(w, e->rank));
        found++;
    }
    return found;
}

static void link_any(struct waits *w, int32_t node, const struct term *gate)
{
    const struct waits_comm *c = ftree_waits_comm(w, gate->key);
    int32_t found = 0;

    if (c && c->runs > 0)
        found = c->size < w->entries.n ? link_members(w, node, c) : link_known(w, node, c);
    w->graph.unknown[node] = !c || found < c->size;
}

/* Who waits turns its progress; who has called MPI_Finalize does not, for long. */
static void link_turns(struct waits *w, int32_t node, int32_t rank)
{
    int32_t i = waits_find(w, rank, 0);

    if (i == FTREE_NONE || w->entries.items[i].what == WAITS_DONE)
        link_to(w, node, i);
}

/* A thread without a record is unknown. */
static void link_threads(struct waits *w, int32_t node, int32_t rank)
{
    int32_t threads = w->entries.items[waits_find(w, rank, 0)].threads;

    for (int32_t thread = 0; thread < threads; thread++)
        link_to(w, node, waits_find(w, rank, thread));
}

/* Those behind, from where the gate before ends, which is of the same communicator or none.  Who
 * has not spoken is unknown. */
static void link_all(struct waits *w, int32_t node, const struct term *gate)
{
    const struct waits_comm *c = ftree_waits_comm(w, gate->key);
    const struct term *before = node > w->graph.entries ? gate - 1 : NULL;
    bool chained = before && before->type == TERM_ALL && !key_compare(before->key, gate->key);
    int32_t first = waits_first_position(w, gate->key, 0), end = waits_end_position(w, gate->key);
    int32_t from = chained ? waits_first_position(w, gate->key, before->number) : first;

    if (chained)
        link_to(w, node, node - 1);
    for (; from < end && w->positions.items[from].last.begun < gate->number; from++)
        link_to(w, node, waits_node_of(w, w->positions.items[from].rank));
    if (!c || end - first < c->size)
        w->graph.unknown[node] = true;
}

/* Who waits until a rank has begun a collective waits for nobody once it has. */
static void link_first(struct waits *w, int32_t node, const struct term *gate)
{
    struct position wanted = {.key = gate->key, .rank = gate->rank};
    const struct position *p = NULL;

    if (w->positions.n > 0)
        p = bsearch(&wanted, w->positions.items, (size_t) w->positions.n, sizeof(wanted),
                    waits_by_member);
    if (!p || p->last.begun < gate->number)
        link_to(w, node, p ? waits_node_of(w, gate->rank) : FTREE_NONE);
}

/* Sorted by rank meanwhile: there may be as many such gates as ranks. */
static void link_firsts(struct waits *w)
{
    struct graph *g = &w->graph;
    bool sorted = false;

    for (int32_t i = 0; i < g->gates.n; i++) {
        if (g->gates.items[i].type != TERM_FIRST)
            continue;
        if (!sorted && w->positions.n > 0)
            qsort(w->positions.items, (size_t) w->positions.n, sizeof(*w->positions.items),
                  waits_by_member);
        sorted = true;
        link_first(w, g->entries + i, &g->gates.items[i]);
    }
    if (sorted)
        waits_sort_positions(w);
}

static void link_term(struct waits *w, int32_t node, const struct term *t)
{
    if (t->type == TERM_RANK)
        link_to(w, node, waits_node_of(w, t->rank));
    else
        link_to(w, node, has_gate(t) ? find_gate(&w->graph, t) : FTREE_NONE);
}

static void link_ranks(struct waits *w)
{
    for (int32_t v = 0; v < w->graph.entries; v++) {
        const struct entry *e = &w->entries.items[v];
        for (int32_t i = e->term; i < e->term + e->terms; i++)
            if (e->what == WAITS_UNDECIDED)
                link_term(w, v, &w->terms.items[i]);
    }
}

static void link_gates(struct waits *w)
{
    struct graph *g = &w->graph;

    link_firsts(w);
    for (int32_t i = 0; i < g->gates.n; i++) {
        const struct term *gate = &g->gates.items[i];
        if (gate->type == TERM_RANK)
            link_threads(w, g->entries + i, gate->rank);
        else if (gate->type == TERM_TURNS)
            link_turns(w, g->entries + i, gate->rank);
        else if (gate->type == TERM_ANY)
            link_any(w, g->entries + i, gate);
        else if (gate->type == TERM_ALL)
            link_all(w, g->entries + i, gate);
    }
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void *table(struct waits *w, int32_t n, size_t size)
{
    void *p = ftree_alloc_zeroed(w->ft, ((size_t) n + 1) * size);

    w->nomem = w->nomem || !p;
    return p;
}

/* Sorts the edges by one end: those of v are other[first[v]] .. other[first[v + 1] - 1]. */
static void index_edges(const struct graph *g, bool by_input, int32_t *first, int32_t *other)
{
    FTREE_EACH(const struct edge, e, g->edges)
        first[(by_input ? e->input : e->node) + 1]++;
    for (int32_t v = 0; v < g->nodes; v++)
        first[v + 1] += first[v];
    FTREE_EACH(const struct edge, f, g->edges)
        other[first[by_input ? f->input : f->node]++] = by_input ? f->node : f->input;
    for (int32_t v = g->nodes; v > 0; v--)
        first[v] = first[v - 1];
    first[0] = 0;
}

static void index_graph(struct waits *w)
{
    struct graph *g = &w->graph;

    g->in_first = table(w, g->nodes, sizeof(*g->in_first));
    g->out_first = table(w, g->nodes, sizeof(*g->out_first));
    g->in = table(w, g->edges.n, sizeof(*g->in));
    g->out = table(w, g->edges.n, sizeof(*g->out));
    if (w->nomem)
        return;
    index_edges(g, false, g->in_first, g->in);
    index_edges(g, true, g->out_first, g->out);
}

bool waits_graph_build(struct waits *w)
{
    struct graph *g = &w->graph;

    FTREE_EACH(const struct entry, e, w->entries)
        push_gates(w, e);
    WAITS_SORT(g->gates, by_gate, by_gate);
    g->entries = w->entries.n;
    g->nodes = g->entries + g->gates.n;
    g->unknown = table(w, g->nodes, sizeof(*g->unknown));
    if (w->nomem)
        return false;
    link_ranks(w);
    link_gates(w);
    index_graph(w);
    return !w->nomem;
}

void waits_graph_free(struct waits *w)
{
    struct graph *g = &w->graph;

    ftree_alloc(w->ft, g->gates.items, 0);
    ftree_alloc(w->ft, g->edges.items, 0);
    ftree_alloc(w->ft, g->unknown, 0);
    ftree_alloc(w->ft, g->in_first, 0);
    ftree_alloc(w->ft, g->in, 0);
    ftree_alloc(w->ft, g->out_first, 0);
    ftree_alloc(w->ft, g->out, 0);
    ftree_alloc(w->ft, w->core_of, 0);
}
