/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/waits/waits_int.h"

#include <string.h>

/*
 * Which nodes of the graph go on is a least fixpoint: begin with those that do not wait, and let
 * each node go on as soon as one (or the last) of its inputs does.
 */

bool waits_needs_all(const struct search *s, int32_t v)
{
    int type;

    if (v < s->g->entries)
        return s->w->entries.items[v].mode != WAITS_FOR_ONE;
    type = s->g->gates.items[v - s->g->entries].type;
    return type != TERM_ANY && type != TERM_RANK;
}

bool waits_is_done(const struct search *s, int32_t v)
{
    return v < s->g->entries && s->w->entries.items[v].what == WAITS_DONE;
}

void waits_let_go(struct search *s, int32_t v, int32_t because)
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
    if (waits_needs_all(s, u))
        return --s->pending[u] == 0;
    return s->only_done[u] || !waits_is_done(s, v);
}

void waits_propagate(struct search *s)
{
    const struct graph *g = s->g;

    while (s->head < s->tail) {
        int32_t v = s->queue[s->head++];
        for (int32_t i = g->out_first[v]; i < g->out_first[v + 1]; i++)
            if (goes_on_by(s, g->out[i], v))
                waits_let_go(s, g->out[i], s->because[v]);
    }
}

/* One that needs all and has no input waits for nobody. */
static void begin_node(struct search *s, int32_t v, bool unknown_goes_on)
{
    bool lacks = s->g->unknown[v] && !unknown_goes_on;
    bool all = waits_needs_all(s, v);

    s->pending[v] = s->g->in_first[v + 1] - s->g->in_first[v] + lacks;
    if (all ? s->pending[v] == 0 : s->g->unknown[v] && unknown_goes_on)
        waits_let_go(s, v, v);
}

void waits_find_fixpoint(struct search *s, bool unknown_goes_on)
{
    memset(s->goes_on, 0, (size_t) s->g->nodes * sizeof(*s->goes_on));
    s->head = s->tail = 0;
    for (int32_t v = 0; v < s->g->nodes; v++) {
        const struct entry *e = v < s->g->entries ? &s->w->entries.items[v] : NULL;
        s->is_fixed[v] = e && e->what != WAITS_UNDECIDED;
        if (!s->is_fixed[v])
            begin_node(s, v, unknown_goes_on);
        else if (e->what == WAITS_FREE)
            waits_let_go(s, v, v);
    }
    waits_propagate(s);
}
