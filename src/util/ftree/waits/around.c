/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/waits/waits_int.h"

/* Who is to be asked about what a reduction has found. */

/* ---- of a wait ------------------------------------------------------------------------------- */

struct list {
    int32_t *rank;
    int32_t n, most;
};

static void list_rank(struct list *l, int32_t rank)
{
    if (ftree_waits_is_listed(l->rank, l->n < l->most ? l->n : l->most, rank))
        return;
    if (l->n < l->most)
        l->rank[l->n] = rank;
    l->n++;
}

static void list_members(struct list *l, const struct waits_comm *c, int32_t but)
{
    if (!c || c->runs == 0)
        l->n = l->most + 1;
    for (int32_t i = 0; c && i < c->runs; i++)
        for (int32_t k = 0; k < c->run[i].count && l->n <= l->most; k++)
            if (c->run[i].first + k * c->run[i].step != but)
                list_rank(l, c->run[i].first + k * c->run[i].step);
}

static void list_term(const struct waits *w, const struct entry *e, const struct term *t,
                      const int32_t *set, int32_t n, struct list *l)
{
    if (t->type == TERM_ANY)
        list_members(l, ftree_waits_comm(w, t->key), e->rank);
    else if (t->type == TERM_RANK &&
             (e->mode == WAITS_FOR_ONE || ftree_waits_is_listed(set, n, t->rank)))
        list_rank(l, t->rank);
}

int32_t ftree_waits_peers(const struct waits *w, int32_t rank, const int32_t *set, int32_t n,
                          int32_t *peer, int32_t most)
{
    struct list l = {.rank = peer, .most = most};

    for (int32_t thread = 0; thread < WAITS_THREADS_MAX; thread++) {
        int32_t at = waits_find(w, rank, thread);
        const struct entry *e = at == FTREE_NONE ? NULL : &w->entries.items[at];
        for (int32_t i = 0; e && i < e->terms; i++)
            list_term(w, e, &w->terms.items[e->term + i], set, n, &l);
    }
    return l.n;
}

/* ---- who waits for a rank that is missing ---------------------------------------------------- */

/* Of a lock the members are not known, but who holds it. */
static bool holds(const struct waits *w, const struct term *t, int32_t rank)
{
    int32_t i = waits_first_position(w, t->key, 0);
    int32_t end = waits_first_position(w, t->key, t->number);

    while (i < end && w->positions.items[i].rank != rank)
        i++;
    return i < end;
}

static bool waits_for(const struct waits *w, const struct entry *e, int32_t rank)
{
    for (int32_t i = e->term; i < e->term + e->terms; i++) {
        const struct term *t = &w->terms.items[i];
        if (waits_has_rank(t->type) && t->rank == rank)
            return true;
        if (t->type == TERM_ALL && ftree_waits_is_lock(t->key) && holds(w, t, rank))
            return true;
        if ((t->type == TERM_ANY || t->type == TERM_ALL) &&
            waits_has_member(ftree_waits_comm(w, t->key), rank))
            return true;
    }
    return false;
}

int32_t ftree_waits_waiters(const struct waits *w, int32_t rank, int32_t *waiter, int32_t most)
{
    int32_t n = 0;

    for (int32_t i = 0; i < w->entries.n && n < most; i++) {
        const struct entry *e = &w->entries.items[i];
        if (e->what == WAITS_BLOCKED && waits_for(w, e, rank) &&
            !ftree_waits_is_listed(waiter, n, e->rank))
            waiter[n++] = e->rank;
    }
    return n;
}

/* Adds a rank that is missing, once. */
static void list_done(const struct waits *w, struct list *l, int32_t rank)
{
    int32_t at = waits_find(w, rank, 0);

    if (at != FTREE_NONE && l->n < l->most && w->entries.items[at].what == WAITS_DONE &&
        w->core_of[at] != FTREE_NONE)
        list_rank(l, rank);
}

int32_t ftree_waits_missing(const struct waits *w, int32_t waiter, int32_t *rank, int32_t n,
                            int32_t most)
{
    struct list l = {.rank = rank, .n = n, .most = most};
    int32_t at = waits_find(w, waiter, 0);
    const struct entry *e = at == FTREE_NONE ? NULL : &w->entries.items[at];

    for (int32_t i = e ? e->term : 0; e && i < e->term + e->terms && l.n < most; i++) {
        const struct term *t = &w->terms.items[i];
        if (t->type == TERM_RANK)
            list_done(w, &l, t->rank);
        else if (t->type == TERM_ALL && ftree_waits_is_lock(t->key))
            for (int32_t k = waits_first_position(w, t->key, 0);
                 k < waits_first_position(w, t->key, t->number); k++)
                list_done(w, &l, w->positions.items[k].rank);
    }
    return l.n;
}

/* ---- who is silent --------------------------------------------------------------------------- */

struct silent {
    struct waits_end *end; /* those most waited for first */
    int32_t n, most;
    int64_t left; /* members that may still be looked at */
};

/* True: all is known that the rank does whose first entry is at `at`; where a thread is not
 * recorded, it may be anything. */
static bool is_all_recorded(const struct waits *w, int32_t at)
{
    const struct entry *first = at == FTREE_NONE ? NULL : &w->entries.items[at];

    return first && (first->threads == 1 ||
                     (first->threads > 1 &&
                      waits_find(w, first->rank, first->threads - 1) != FTREE_NONE));
}

static void count_silent(const struct waits *w, struct silent *s, int32_t rank, int32_t by,
                         bool needed)
{
    struct waits_end *end = s->end;
    int32_t i = 0;

    if (is_all_recorded(w, waits_find(w, rank, 0)))
        return;
    while (i < s->n && end[i].rank != rank)
        i++;
    if (i == s->most)
        return;
    if (i == s->n)
        end[s->n++] = (struct waits_end){.rank = rank};
    end[i].count += by;
    end[i].needed |= needed;
    for (; i > 0 && end[i].count > end[i - 1].count; i--) {
        struct waits_end other = end[i - 1];
        end[i - 1] = end[i];
        end[i] = other;
    }
}

static bool has_begun(const struct waits *w, struct waits_key key, int32_t rank, uint32_t number)
{
    int32_t end = waits_end_position(w, key);

    for (int32_t i = waits_first_position(w, key, number); i < end; i++)
        if (w->positions.items[i].rank == rank)
            return true;
    return false;
}

/* A member is mostly the neighbour of the one before, and so is its entry, at *at. */
static bool is_known(const struct waits *w, int32_t rank, int32_t *at)
{
    bool is_next = *at < w->entries.n && w->entries.items[*at].rank == rank &&
                   w->entries.items[*at].thread == 0;
    int32_t found = is_next ? *at : waits_find(w, rank, 0);

    if (found == FTREE_NONE)
        return false;
    *at = found + 1;
    return is_all_recorded(w, found);
}

/* Members without an entry that are looked at for one gate: the others are asked about once these
 * have spoken.  Any number of members that have one may come before those, and cost little; all
 * members of all gates are at the most so many times the ranks of the job. */
#define SILENT_MAX 4096
#define MEMBERS_MAX 16

static void count_members(const struct waits *w, const struct term *g, const struct waits_comm *c,
                          int32_t by, struct silent *s)
{
    int32_t found = s->n, looked = 0, at = 0;

    for (int32_t i = 0; i < c->runs; i++)
        for (int32_t k = 0; k < c->run[i].count && s->n < found + s->most / 2 + 1; k++) {
            int32_t rank = c->run[i].first + k * c->run[i].step;
            if (s->left-- <= 0)
                return;
            if (is_known(w, rank, &at))
                continue;
            if (++looked > SILENT_MAX)
                return;
            if (g->type == TERM_ANY || !has_begun(w, g->key, rank, g->number))
                count_silent(w, s, rank, by, g->type != TERM_ANY);
        }
}

static int32_t count_waiting(const struct waits *w, const struct term *g)
{
    int32_t node = w->graph.entries + (int32_t) (g - w->graph.gates.items);

    return w->graph.out_first[node + 1] - w->graph.out_first[node];
}

static void count_gate(const struct waits *w, const struct term *g, struct silent *s)
{
    int32_t by = count_waiting(w, g);
    const struct waits_comm *c =
        g->type == TERM_ANY || g->type == TERM_ALL ? ftree_waits_comm(w, g->key) : NULL;

    if (g->type == TERM_TURNS ||
        (g->type == TERM_FIRST && !has_begun(w, g->key, g->rank, g->number)))
        count_silent(w, s, g->rank, by, true);
    if (c)
        count_members(w, g, c, by, s);
}

/* A lock that nobody holds of whom anything is known is held by one of the others, which are named
 * if they are few. */
static void count_holders(const struct waits *w, struct silent *s)
{
    int32_t at = 0, unknown = 0, by = 0;

    FTREE_EACH(const struct term, g, w->graph.gates)
        if (ftree_waits_is_lock(g->key) && by < count_waiting(w, g))
            by = count_waiting(w, g);
    for (int32_t rank = 0; rank < w->ft->job->size && by > 0 && unknown <= s->most; rank++)
        unknown += !is_known(w, rank, &at);
    at = 0;
    for (int32_t rank = 0; rank < w->ft->job->size && by > 0 && unknown <= s->most; rank++)
        if (!is_known(w, rank, &at))
            count_silent(w, s, rank, by, false);
}

int32_t ftree_waits_silent(const struct waits *w, struct waits_end *end, int32_t most)
{
    struct silent s = {
        .end = end, .most = most, .left = MEMBERS_MAX * (int64_t) w->ft->job->size};

    FTREE_EACH(const struct entry, e, w->entries)
        for (int32_t i = e->term; i < e->term + e->terms && e->what == WAITS_UNDECIDED; i++)
            if (w->terms.items[i].type == TERM_RANK)
                count_silent(w, &s, w->terms.items[i].rank, 1,
                             e->terms == 1 || e->mode != WAITS_FOR_ONE);
    FTREE_EACH(const struct term, g, w->graph.gates)
        count_gate(w, g, &s);
    if (s.n == 0)
        count_holders(w, &s);
    return s.n;
}

int32_t ftree_waits_count(const struct waits *w)
{
    int32_t n = 0;

    FTREE_EACH(const struct entry, e, w->entries)
        n += e->thread == 0 && e->what != WAITS_DONE;
    return n;
}
