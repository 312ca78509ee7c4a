/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/waitfor/waitfor.h"

#include "ftree/wire/codec.h"

#include <string.h>

/*
 * The ranks of a candidate are asked, each for its record and for its messages with those of the
 * others that matter for it.  Their nodes are asked directly; the answers come back, each node's at
 * once.
 */

/* An answer may be as old as it likes until the next look begins, so a candidate of many ranks can
 * wait for those whose messages were lost; what is to be known soon cannot. */
static ftree_time patience(const struct ftree *ft, const struct waitfor_candidate *c)
{
    return c->kind == WAITFOR_ENDS || c->verdict ? ft->cfg.stall : 4 * ft->cfg.stall;
}

struct waitfor_asked *waitfor_look_add(struct ftree *ft, struct waitfor_candidate *c, int32_t rank)
{
    struct waitfor_asked *a = waitfor_asked_find(c, rank);
    int32_t at;

    if (a)
        return a;
    if (!FTREE_PUSH(ft, c->ranks))
        return NULL;
    for (at = c->ranks.n - 1; at > 0 && c->ranks.items[at - 1].rank > rank; at--)
        c->ranks.items[at] = c->ranks.items[at - 1];
    c->ranks.items[at] = (struct waitfor_asked){.rank = rank};
    return &c->ranks.items[at];
}

void waitfor_look_forget(struct ftree *ft, struct waitfor_candidate *c)
{
    FTREE_EACH(struct waitfor_asked, a, c->ranks) {
        ftree_alloc(ft, a->answer, 0);
        a->answer = NULL;
    }
}

/* ---- asking ---------------------------------------------------------------------------------- */

static void note_unasked(struct ftree *ft, ftree_time now, struct waitfor_candidate *c,
                         int32_t node, enum waitfor_seen seen)
{
    FTREE_EACH(struct waitfor_asked, a, c->ranks) {
        if (a->answer || ftree_node_of(ft, a->rank) != node)
            continue;
        a->answer = ftree_alloc_zeroed(ft, sizeof(*a->answer));
        if (a->answer)
            *a->answer = (struct waitfor_answer){.rank = a->rank, .seen = (uint8_t) seen};
        if (a->answer && seen == WAITFOR_UNABLE)
            a->answer->since = now; /* 0 would be that the rank does not wait any more */
    }
    if (waitfor_look_is_over(c))
        c->next = now + 1; /* behind this tick */
}

static void ask_node(struct ftree *ft, ftree_time now, struct waitfor_candidate *c, int32_t node)
{
    waitfor_bytes bytes = {0};
    struct wire_codec w = ftree_wire_writer(ft, now, &bytes);

    if (node != ft->self && ftree_has_no_agent(ft, node)) {
        note_unasked(ft, now, c, node, WAITFOR_LOST);
        return;
    }
    FTREE_EACH(const struct waitfor_asked, a, c->ranks) {
        if (ftree_node_of(ft, a->rank) != node)
            continue;
        ftree_wire_within(&w, a->rank, 0, INT32_MAX);
        ftree_wire_within(&w, a->withs, 0, WAITS_PEERS_MAX);
        for (int32_t i = 0; i < a->withs; i++)
            ftree_wire_within(&w, c->with.items[a->with + i], 0, INT32_MAX);
    }
    if (!w.nomem && node == ft->self)
        waitfor_ask(ft, now, ft->self, c->number, bytes.items, (size_t) bytes.n);
    else if (!w.nomem)
        ftree_parcel_send(ft, now, node, WIRE_WAITS_LOOK, c->number, bytes.items,
                            (size_t) bytes.n);
    ftree_alloc(ft, bytes.items, 0);
}

/* Of those that have not answered. */
static bool is_first_of_node(const struct ftree *ft, const struct waitfor_candidate *c, int32_t i)
{
    int32_t node = ftree_node_of(ft, c->ranks.items[i].rank);

    for (int32_t k = i - 1; k >= 0; k--)
        if (!c->ranks.items[k].answer && ftree_node_of(ft, c->ranks.items[k].rank) == node)
            return false;
    return !c->ranks.items[i].answer;
}

static void ask_nodes(struct ftree *ft, ftree_time now, struct waitfor_candidate *c)
{
    for (int32_t i = 0; i < c->ranks.n; i++)
        if (is_first_of_node(ft, c, i))
            ask_node(ft, now, c, ftree_node_of(ft, c->ranks.items[i].rank));
}

void waitfor_look_send(struct ftree *ft, ftree_time now, struct waitfor_candidate *c)
{
    waitfor_look_forget(ft, c);
    c->number = ++ft->next_id;
    c->state = WAITFOR_ASKED;
    c->until = now + patience(ft, c);
    c->next = now + ft->cfg.stall;
    ftree_trace(ft, "  asks %d ranks what they wait for, rank %d is the first", c->ranks.n,
                c->ranks.n > 0 ? c->ranks.items[0].rank : FTREE_NONE);
    ask_nodes(ft, now, c);
}

static bool lacks_answers(const struct ftree *ft, const struct waitfor_candidate *c, int32_t node)
{
    FTREE_EACH(const struct waitfor_asked, a, c->ranks)
        if (!a->answer && ftree_node_of(ft, a->rank) == node)
            return true;
    return false;
}

/* The question was lost, or the answer: a node that is still at it answers once. */
bool waitfor_look_again(struct ftree *ft, ftree_time now, struct waitfor_candidate *c)
{
    if (c->until <= now || waitfor_look_is_over(c))
        return false;
    c->next = ftree_min(now + ft->cfg.stall, c->until);
    ask_nodes(ft, now, c);
    return true;
}

/* ---- answers --------------------------------------------------------------------------------- */

bool waitfor_look_is_over(const struct waitfor_candidate *c)
{
    FTREE_EACH(const struct waitfor_asked, a, c->ranks)
        if (!a->answer)
            return false;
    return true;
}

void waitfor_look_seen(struct ftree *ft, ftree_time now, int32_t from, uint32_t number,
                       const uint8_t *bytes, size_t len)
{
    struct waitfor_candidate *c = NULL;
    struct waitfor_answer *answer;
    size_t at = 0;

    FTREE_EACH(struct waitfor_candidate, asked, ft->waitfor->work->candidates)
        c = asked->state == WAITFOR_ASKED && asked->number == number ? asked : c;
    while (c && (answer = waitfor_answer_get(ft, now, bytes, len, &at))) {
        struct waitfor_asked *a = waitfor_asked_find(c, answer->rank);
        if (!a || a->answer || ftree_node_of(ft, answer->rank) != from)
            ftree_alloc(ft, answer, 0);
        else
            a->answer = answer;
    }
    if (c && waitfor_look_is_over(c))
        c->next = now;
}

void waitfor_look_unanswered(struct ftree *ft, ftree_time now, int32_t node)
{
    FTREE_EACH(struct waitfor_candidate, c, ft->waitfor->work->candidates) {
        if (c->state != WAITFOR_ASKED || !lacks_answers(ft, c, node))
            continue;
        if (ftree_peer_has_left(ft, node)) /* and is gone */
            note_unasked(ft, now, c, node, WAITFOR_LEFT);
        else if (now + patience(ft, c) / 2 < c->until) /* perhaps only the network lost it */
            ask_node(ft, now, c, node);
        else
            note_unasked(ft, now, c, node, WAITFOR_UNABLE);
    }
}
