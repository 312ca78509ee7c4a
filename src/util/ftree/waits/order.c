/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/waits/waits_int.h"

#include <stdlib.h>
#include <string.h>

/* A core as a person reads it: round a shortest cycle through its lowest rank, then the others; and
 * who of a cycle of collectives is in another order than the rest, or whether all are in the same
 * one. */

/* ---- a cycle --------------------------------------------------------------------------------- */

struct walk {
    const struct waits *w;
    int32_t core;
    int32_t *from; /* [nodes] by which node a node was reached; FTREE_NONE: not yet */
    int32_t *queue;
};

/* Walks from node to node until the first is met again; the node from which it is, or
 * FTREE_NONE. */
static int32_t close_cycle(struct walk *k, int32_t start)
{
    const struct graph *g = &k->w->graph;
    int32_t head = 0, tail = 0;

    k->queue[tail++] = start;
    while (head < tail) {
        int32_t v = k->queue[head++];
        for (int32_t i = g->in_first[v]; i < g->in_first[v + 1]; i++) {
            int32_t u = g->in[i];
            if (u == start)
                return v;
            if (k->w->core_of[u] != k->core || k->from[u] != FTREE_NONE)
                continue;
            k->from[u] = v;
            k->queue[tail++] = u;
        }
    }
    return FTREE_NONE;
}

/* The ranks of the cycle, which ends in node v; gates are left out. */
static int32_t write_cycle(const struct walk *k, int32_t start, int32_t v, int32_t *rank)
{
    int32_t n = 0;

    for (;; v = k->from[v]) {
        if (v < k->w->graph.entries)
            rank[n++] = k->w->entries.items[v].rank;
        if (v == start || v == FTREE_NONE)
            break;
    }
    for (int32_t i = 0; i < n / 2; i++) {
        int32_t last = rank[n - 1 - i];
        rank[n - 1 - i] = rank[i];
        rank[i] = last;
    }
    return n;
}

/* Behind the n of the cycle; `sorted` has room for these. */
static void write_others(const struct waits_core *core, int32_t *sorted, int32_t *rank, int32_t n)
{
    int32_t cycle = n;

    memcpy(sorted, rank, (size_t) n * sizeof(*rank));
    qsort(sorted, (size_t) n, sizeof(*sorted), ftree_compare_numbers);
    for (int32_t i = 0, k = 0; i < core->ranks; i++) {
        while (k < cycle && sorted[k] < core->rank[i])
            k++;
        if (k == cycle || sorted[k] != core->rank[i])
            rank[n++] = core->rank[i];
    }
}

static int32_t write_order(struct walk *k, int32_t *rank)
{
    struct waits_core core;
    int32_t start, end, n = 0;

    ftree_waits_core_at(k->w, k->core, &core);
    start = waits_node_of(k->w, core.id);
    for (int32_t v = 0; v < k->w->graph.nodes; v++)
        k->from[v] = FTREE_NONE;
    end = close_cycle(k, start);
    if (end != FTREE_NONE)
        n = write_cycle(k, start, end, rank);
    write_others(&core, k->queue, rank, n);
    return n ? n : 1;
}

int32_t ftree_waits_order(const struct waits *w, int32_t i, int32_t *rank)
{
    size_t n = (size_t) w->graph.nodes + 1;
    struct walk k = {.w = w, .core = i};
    int32_t cycle = 0;

    k.from = ftree_alloc(w->ft, NULL, n * sizeof(*k.from));
    k.queue = ftree_alloc(w->ft, NULL, n * sizeof(*k.queue));
    if (k.from && k.queue && i >= 0 && i < w->cores.n)
        cycle = write_order(&k, rank);
    ftree_alloc(w->ft, k.from, 0);
    ftree_alloc(w->ft, k.queue, 0);
    return cycle;
}

/* ---- another order --------------------------------------------------------------------------- */

/* The collectives of a core, each of another communicator. */
struct choices {
    struct waits_key key[WAITS_CLASSES_MAX];
    uint32_t number[WAITS_CLASSES_MAX];
    int32_t n;
};

/* False: there are more, or two of one communicator. */
static bool add_choice(struct choices *c, const struct term *gate)
{
    for (int32_t i = 0; i < c->n; i++)
        if (key_compare(c->key[i], gate->key) == 0)
            return c->number[i] == gate->number;
    if (c->n == WAITS_CLASSES_MAX)
        return false;
    c->key[c->n] = gate->key;
    c->number[c->n++] = gate->number;
    return true;
}

/* It waits in one collective, be it for messages inside, too. */
static bool is_in_collective(const struct waits *w, const struct entry *e)
{
    int32_t n = 0;

    for (int32_t i = e->term; i < e->term + e->terms; i++)
        n += w->terms.items[i].type == TERM_ALL || w->terms.items[i].type == TERM_FIRST;
    return n == 1 && e->mode != WAITS_FOR_ONE;
}

/* False: somebody waits otherwise. */
static bool list_choices(const struct waits *w, int32_t core, struct choices *c)
{
    for (int32_t v = 0; v < w->graph.nodes; v++) {
        const struct term *gate =
            v >= w->graph.entries ? &w->graph.gates.items[v - w->graph.entries] : NULL;
        if (w->core_of[v] != core)
            continue;
        if (gate ? !waits_is_collective(gate) || !add_choice(c, gate)
                 : !is_in_collective(w, &w->entries.items[v]))
            return false;
    }
    return c->n > 1;
}

/* Of each entry a bit for each of them: whether the rank has begun it, or is a member and has
 * not. */
static void list_votes(const struct waits *w, const struct choices *c, uint8_t *begun,
                       uint8_t *lacks)
{
    for (int32_t k = 0; k < c->n; k++) {
        int32_t i = waits_first_position(w, c->key[k], 0), end = waits_end_position(w, c->key[k]);
        for (; i < end; i++) {
            const struct position *p = &w->positions.items[i];
            int32_t at = waits_find(w, p->rank, 0);
            if (at != FTREE_NONE)
                *(p->last.begun >= c->number[k] ? &begun[at] : &lacks[at]) |= (uint8_t) (1 << k);
        }
    }
}

/* Which of them the rank of an entry has begun first; FTREE_NONE: it is not in all of their
 * communicators, or has begun none or more. */
static int32_t vote_of(const struct choices *c, uint8_t begun, uint8_t lacks)
{
    for (int32_t k = 0; k < c->n; k++)
        if (begun == 1 << k && lacks == (((1 << c->n) - 1) & ~begun))
            return k;
    return FTREE_NONE;
}

/* What those did who have begun the k-th of them. */
static struct waits_collective what_of(const struct waits *w, const struct choices *c, int32_t k)
{
    int32_t i = waits_first_position(w, c->key[k], c->number[k]);

    for (; i < waits_end_position(w, c->key[k]); i++) {
        const struct waits_collective *what = waits_did(&w->positions.items[i], c->number[k]);
        if (what)
            return *what;
    }
    return (struct waits_collective){
        .begun = c->number[k], .root = FTREE_NONE, .bytes = WAITS_NO_BYTES};
}

/* The class of the k-th of them, behind those that are as large. */
static void add_class(const struct waits *w, const struct choices *c, int32_t k,
                      const uint8_t *begun, const uint8_t *lacks, struct waits_mismatch *m)
{
    int32_t at = m->classes++, n = 0;
    struct ftree_ranks ranks = {0};

    for (int32_t i = 0; i < w->entries.n; i++) {
        const struct entry *e = &w->entries.items[i];
        if (e->thread > 0 || vote_of(c, begun[i], lacks[i]) != k)
            continue;
        ftree_ranks_add(&ranks, e->rank, e->rank);
        n++;
    }
    for (; at > 0 && n > m->class_[at - 1].count; at--)
        m->class_[at] = m->class_[at - 1];
    memset(&m->class_[at], 0, sizeof(m->class_[at]));
    m->class_[at].comm = c->key[k];
    m->class_[at].did = what_of(w, c, k);
    m->class_[at].count = n;
    m->class_[at].example = n > 0 ? ranks.range[0].first : FTREE_NONE;
    m->class_[at].ranks = ranks;
    m->reported += n;
}

/* Those of the core who have begun another one first than most have; false: some are not in all
 * communicators, so that they cannot be compared. */
static bool add_odd(const struct waits *w, int32_t core, const struct choices *c,
                    const uint8_t *begun, const uint8_t *lacks, struct waits_mismatch *m)
{
    struct waits_core k;

    ftree_waits_core_at(w, core, &k);
    for (int32_t i = 0; i < k.ranks; i++) {
        int32_t at = waits_find(w, k.rank[i], 0);
        int32_t vote = at == FTREE_NONE ? FTREE_NONE : vote_of(c, begun[at], lacks[at]);
        if (vote == FTREE_NONE)
            return false;
        if (key_compare(c->key[vote], m->class_[0].comm))
            ftree_ranks_add(&m->odd, k.rank[i], k.rank[i]);
    }
    return 2 * m->class_[0].count > m->reported;
}

bool ftree_waits_odd_order(const struct waits *w, int32_t i, struct waits_mismatch *m)
{
    size_t n = (size_t) w->entries.n + 1;
    struct choices c = {.n = 0};
    uint8_t *begun = NULL;
    bool is_odd;

    *m = (struct waits_mismatch){.how = WAITS_DIFFER_ORDER};
    if (i < 0 || i >= w->cores.n || w->cores.items[i].c.missing || !list_choices(w, i, &c))
        return false;
    begun = ftree_alloc_zeroed(w->ft, 2 * n);
    if (!begun)
        return false;
    list_votes(w, &c, begun, begun + n);
    for (int32_t k = 0; k < c.n; k++)
        add_class(w, &c, k, begun, begun + n, m);
    is_odd = add_odd(w, i, &c, begun, begun + n, m);
    ftree_alloc(w->ft, begun, 0);
    return is_odd;
}

/* ---- inside one collective ------------------------------------------------------------------- */

/* Messages inside collectives have contexts of their own. */
static bool is_of_inside(const struct waits_comm *c)
{
    return c->key.context % 2 == 1;
}

/* The communicator of the collective in which a rank waits for messages inside alone; NULL: it waits
 * otherwise, or it is not known whether it has called it as others have. */
static const struct waits_comm *waits_inside(const struct waits_record *r)
{
    const struct waits_comm *in = NULL;

    for (int32_t i = 0; i < r->requests; i++)
        if (r->request[i].kind != WAITS_COLLECTIVE &&
            (r->request[i].comm < 0 || !is_of_inside(&r->comm[r->request[i].comm])))
            return NULL;
    for (int32_t i = 0; i < r->comms && r->requests > 0; i++) {
        const struct waits_collective *last = &r->comm[i].last;
        if (last->begun == 0 || last->call != r->call || !last->blocking)
            continue;
        if (in)
            return NULL;
        in = &r->comm[i];
    }
    return in && in->last.whole ? in : NULL;
}

/* Of an intercommunicator each side has a key of its own, so one with the same members may be meant
 * on the other side, if it may be the next there. */
static bool has_twin(const struct waits_record *r, const struct waits_comm *in)
{
    for (int32_t i = 0; i < r->comms; i++)
        if (&r->comm[i] != in && !is_of_inside(&r->comm[i]) &&
            r->comm[i].key.members == in->key.members && r->comm[i].key.first == in->key.first &&
            r->comm[i].last.begun + 1 == in->last.begun)
            return true;
    return false;
}

bool ftree_waits_alike(const struct waits_record *a, const struct waits_record *b)
{
    const struct waits_comm *x = waits_inside(a), *y = waits_inside(b);

    if (!x || !y || a->call != b->call || waits_compare_collectives(&x->last, &y->last))
        return false;
    if (key_compare(x->key, y->key) == 0)
        return true;
    return waits_has_member(x, b->rank) && waits_has_member(y, a->rank) &&
           !waits_has_member(x, a->rank) &&
           !has_twin(a, x) && !has_twin(b, y);
}
