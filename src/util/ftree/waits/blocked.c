/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/waits/waits_int.h"

/*
 * Who can go on, who never can, and why.
 *
 * What is not known here yet is first taken to wait for ever: who goes on even so is free.  Then it
 * is taken to go on: who waits even so is blocked, whatever comes from above.  All conditions are
 * monotone, so both stay true when more is known, and a fixpoint over the whole job comes to the
 * same.  A victim that waits besides for what is not known here may be in a core that only a node
 * above can see.
 */

/* ---- the free -------------------------------------------------------------------------------- */

static void mark_free(struct search *s)
{
    waits_find_fixpoint(s, false);
    for (int32_t v = 0; v < s->g->entries; v++) {
        struct entry *e = &s->w->entries.items[v];
        if (!s->is_fixed[v] && s->goes_on[v])
            e->what = WAITS_FREE;
    }
}

/* ---- what may be seen from above ------------------------------------------------------------- */

/* Those of which something is not known, and the blocked ones that wait for them: is_open has the
 * nodes that are neither free nor blocked. */
static void find_open(struct search *s)
{
    int32_t *queue = s->spare, head = 0, tail = 0;

    for (int32_t v = 0; v < s->g->nodes; v++) {
        s->is_open[v] = s->is_open[v] || (s->g->unknown[v] && !s->goes_on[v]);
        if (s->is_open[v])
            queue[tail++] = v;
    }
    while (head < tail) {
        int32_t v = queue[head++];
        for (int32_t i = s->g->out_first[v]; i < s->g->out_first[v + 1]; i++) {
            int32_t u = s->g->out[i];
            if (s->is_open[u] || s->goes_on[u])
                continue;
            s->is_open[u] = true;
            queue[tail++] = u;
        }
    }
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* The undecided that do not go on, before cores let them. */
static void mark_blocked(struct search *s)
{
    for (int32_t v = 0; v < s->g->nodes; v++)
        s->is_open[v] = !s->goes_on[v]; /* it is not free ... */
    waits_find_fixpoint(s, true);
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
        e->of = s->goes_on[v] ? s->because[v] : FTREE_NONE;
        e->is_open = s->is_open[v];
    }
}

static void find_only_done(struct search *s)
{
    const struct graph *g = s->g;

    for (int32_t v = 0; v < g->nodes; v++) {
        s->only_done[v] = true;
        for (int32_t i = g->in_first[v]; i < g->in_first[v + 1] && s->only_done[v]; i++)
            s->only_done[v] = waits_is_done(s, g->in[i]);
    }
}

#define FLAGS 4 /* tables of each kind, below */
#define NUMBERS (3 + SEARCH_SPARE)

static void lay_out(struct search *s, bool *flags, int32_t *numbers)
{
    size_t n = (size_t) s->g->nodes + 1;

    s->goes_on = flags;
    s->is_fixed = flags + n;
    s->only_done = flags + 2 * n;
    s->is_open = flags + 3 * n;
    s->pending = numbers;
    s->because = numbers + n;
    s->queue = numbers + 2 * n;
    s->spare = numbers + 3 * n;
}

static void decide(struct waits *w, bool is_top, bool *flags, int32_t *numbers)
{
    struct search s = {.w = w, .g = &w->graph, .is_top = is_top};

    lay_out(&s, flags, numbers);
    for (int32_t v = 0; v < w->graph.nodes; v++)
        w->core_of[v] = FTREE_NONE;
    find_only_done(&s);
    mark_free(&s);
    mark_blocked(&s);
    find_open(&s);
    waits_find_cores(&s);
    name_cores(&s);
}

bool waits_decide(struct waits *w, bool is_top)
{
    size_t n = (size_t) w->graph.nodes + 1;
    bool *flags = ftree_alloc_zeroed(w->ft, FLAGS * n * sizeof(*flags));
    int32_t *numbers = ftree_alloc_zeroed(w->ft, NUMBERS * n * sizeof(*numbers));

    w->core_of = ftree_alloc(w->ft, NULL, n * sizeof(*w->core_of));
    w->nomem = !flags || !numbers || !w->core_of;
    if (!w->nomem)
        decide(w, is_top, flags, numbers);
    ftree_alloc(w->ft, flags, 0);
    ftree_alloc(w->ft, numbers, 0);
    return !w->nomem;
}
