/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/examine/examine.h"

#include <string.h>

/*
 * A person asks how a node or a rank is, and is to be answered where it is well, too.  This node
 * asks its agent over every path, as an examination does, and where that answers, for its state and
 * the last messages of its ranks.  Where it does not, the deputy is asked as well.
 *
 * It is no case with a suspect: any node asks, not the FLN alone, what it hears stays with it, and
 * several may ask of one node at once.  Nothing is decided here and nobody is accused: that is for
 * the examination, which a symptom (user-suspects) begins with a strategy of its own.
 */

#define INQUIRIES_MAX 16 /* at the same time */
#define PATIENCE 4 /* round-trip timeouts for what an agent that has answered has still to say */

static struct inquiry *find_inquiry(const struct ftree *ft, uint32_t number)
{
    return FTREE_FIND(struct inquiry, q, ftree_rare(ft)->inquiries, q->said.number == number);
}

/* Whose messages are asked for. */
static int32_t count_ranks(const struct ftree *ft, const struct ftree_inquiry *q)
{
    int32_t n = ftree_ranks_of(ft->job, q->node);

    return q->rank != FTREE_NONE ? 1 : n < FTREE_STATE_RANKS_MAX ? n : FTREE_STATE_RANKS_MAX;
}

static int32_t rank_at(const struct ftree *ft, const struct ftree_inquiry *q, int32_t i)
{
    return q->rank != FTREE_NONE ? q->rank : ftree_rank_at(ft->job, q->node, i);
}

static bool has_log(const struct ftree_inquiry *q, int32_t rank)
{
    for (int32_t i = 0; i < q->logs; i++)
        if (q->log[i].rank == rank)
            return true;
    return false;
}

static bool is_heard(const struct ftree_inquiry *q, int path)
{
    return q->reach[path][FTREE_ROLE_AGENT] == FTREE_REACH_ANSWERED;
}

static void end_if_all_is_said(const struct ftree *ft, struct ftree_inquiry *q)
{
    bool all = q->answered && q->has_state && q->logs == count_ranks(ft, q);

    for (int path = 0; path < FTREE_PATHS; path++)
        all = all && (!ft->job->has_path[path] || is_heard(q, path));
    q->over = q->over || all;
}

/* ---- the own node ---------------------------------------------------------------------------- */

static void add_trouble(struct ftree_inquiry *q, const struct ftree_rank_state *s)
{
    if (s->rank == q->rank) {
        q->phase = s->phase;
        q->peer = s->waiting > 0 ? s->peer : FTREE_NONE;
    }
    if (ftree_symptom_is_trouble(s) && q->troubles < FTREE_STATE_RANKS_MAX)
        q->trouble[q->troubles++] = *s;
}

static void look_at_own(struct ftree *ft, struct ftree_inquiry *q)
{
    struct ftree_rank_state s;

    for (int32_t i = 0; i < ftree_ranks_of(ft->job, ft->self); i++) {
        int32_t rank = ftree_rank_at(ft->job, ft->self, i);
        ft->io->look(ft->io_ctx, i, &s);
        add_trouble(q, &s);
        if (!ft->io->log || q->logs == count_ranks(ft, q) ||
            (q->rank != FTREE_NONE && q->rank != rank))
            continue;
        ft->io->log(ft->io_ctx, i, &q->log[q->logs]);
        q->log[q->logs++].rank = rank;
    }
    q->has_state = ft->io->state != NULL;
    if (q->has_state)
        ft->io->state(ft->io_ctx, &q->state);
    q->answered = q->is_own = q->over = true;
}

/* ---- asking ---------------------------------------------------------------------------------- */

static void send_over_silent_paths(struct ftree *ft, ftree_time now, const struct inquiry *q,
                                   struct ftree_route *to, struct wire_message *m)
{
    for (int path = 0; path < FTREE_PATHS; path++) {
        to->path = (uint8_t) path;
        if (ft->job->has_path[path] && !is_heard(&q->said, path))
            ftree_send(ft, now, to, m);
    }
}

/* The first question goes over the connections that there are, and so do all where the node is
 * examined: a new one ends the one before, with what waits there. */
static void ask_whether_it_answers(struct ftree *ft, ftree_time now, const struct inquiry *q)
{
    struct wire_message m = {.type = WIRE_PROBE,
                             .u.probe = {.nonce = q->said.number,
                                         .rank = q->said.rank,
                                         .ask = RULES_ASK_RESPONSE,
                                         .first = now}};
    struct ftree_route to = {.node = q->said.node,
                             .fresh = q->tries > 0 && !ftree_suspect(ft, q->said.node)};

    send_over_silent_paths(ft, now, q, &to, &m);
    to.role = FTREE_ROLE_DEPUTY;
    if (q->tries > 0 && !q->said.answered)
        send_over_silent_paths(ft, now, q, &to, &m);
}

static void ask_for_the_rest(struct ftree *ft, ftree_time now, const struct inquiry *q)
{
    struct wire_message m = {
        .type = WIRE_PROBE, .u.probe = {.nonce = q->said.number, .rank = FTREE_NONE, .first = now}};
    struct ftree_route to = {.node = q->said.node, .path = q->path};

    m.u.probe.ask = RULES_ASK_STATE;
    if (!q->said.has_state)
        ftree_send(ft, now, &to, &m);
    m.u.probe.ask = RULES_ASK_LOG;
    for (int32_t i = 0; i < count_ranks(ft, &q->said); i++) {
        m.u.probe.rank = rank_at(ft, &q->said, i);
        if (!has_log(&q->said, m.u.probe.rank))
            ftree_send(ft, now, &to, &m);
    }
}

static void ask_missing(struct ftree *ft, ftree_time now, struct inquiry *q)
{
    ask_whether_it_answers(ft, now, q);
    if (q->said.answered)
        ask_for_the_rest(ft, now, q);
    q->tries++;
    q->next = now + ftree_rto(ft);
}

/* ---- the handle's functions ------------------------------------------------------------------ */

int ftree_inquiry_begin(struct ftree *ft, ftree_time now, int32_t node, int32_t rank,
                        uint32_t *number)
{
    struct inquiry *q;

    if (ftree_rare(ft)->inquiries.n >= INQUIRIES_MAX || !ftree_has_rare(ft) ||
        !FTREE_RESERVE(ft, ftree_rare(ft)->inquiries, 1))
        return FTREE_ERR_NOMEM;
    q = FTREE_PUSH(ft, ftree_rare(ft)->inquiries);
    *number = q->said.number = ++ft->next_id;
    q->said.node = node;
    q->said.rank = rank;
    q->said.peer = FTREE_NONE;
    q->said.asked = now;
    q->until = now + ftree_silence_window(ft) + ftree_rto(ft);
    ftree_trace(ft, "asks how %s is", ftree_name(ft, node));
    if (node == ft->self)
        look_at_own(ft, &q->said);
    else
        ask_missing(ft, now, q);
    return FTREE_OK;
}

const struct ftree_inquiry *ftree_inquired(const struct ftree *ft, uint32_t number)
{
    const struct inquiry *q = find_inquiry(ft, number);

    return q ? &q->said : NULL;
}

void ftree_inquire_no_more(struct ftree *ft, uint32_t number)
{
    struct rare *x = ftree_rare(ft);
    struct inquiry *q = find_inquiry(ft, number);

    if (q)
        FTREE_DROP(x->inquiries, (int32_t) (q - x->inquiries.items));
    if (x->inquiries.n > 0)
        return;
    ftree_alloc(ft, x->inquiries.items, 0);
    memset(&x->inquiries, 0, sizeof(x->inquiries));
}

/* ---- answers --------------------------------------------------------------------------------- */

static void take_troubles(struct ftree_inquiry *q, const struct wire_answer *a)
{
    q->phase = a->asked_phase;
    q->peer = a->asked_peer;
    q->troubles = a->troubles;
    for (int32_t i = 0; i < a->troubles; i++)
        q->trouble[i] = (struct ftree_rank_state){.rank = a->trouble[i].rank,
                                                  .pid = a->trouble[i].pid,
                                                  .phase = a->trouble[i].phase,
                                                  .proc_state = a->trouble[i].proc_state,
                                                  .peer = FTREE_NONE};
}

static struct inquiry *find_of(const struct ftree *ft, int32_t from, uint32_t nonce)
{
    struct inquiry *q = find_inquiry(ft, nonce);

    return q && q->said.node == from && !q->said.over ? q : NULL;
}

void ftree_inquiry_answer(struct ftree *ft, ftree_time now, int32_t from, enum ftree_path path,
                          const struct wire_answer *a)
{
    struct inquiry *q = find_of(ft, from, a->nonce);

    if (!q)
        return;
    q->said.reach[path][a->role] = FTREE_REACH_ANSWERED;
    end_if_all_is_said(ft, &q->said);
    if (q->said.answered)
        return;
    take_troubles(&q->said, a);
    q->said.leaving = a->leaving;
    if (a->role != FTREE_ROLE_AGENT)
        return;
    q->said.answered = true;
    q->said.took = now - q->said.asked;
    q->path = (uint8_t) path;
    q->until = ftree_max(q->until, now + PATIENCE * ftree_rto(ft));
    ask_for_the_rest(ft, now, q);
    q->next = now + ftree_rto(ft);
}

void ftree_inquiry_state(struct ftree *ft, int32_t from, const struct wire_state *s)
{
    struct inquiry *q = find_of(ft, from, s->nonce);

    if (!q)
        return;
    q->said.state = s->state;
    q->said.has_state = true;
    end_if_all_is_said(ft, &q->said);
}

void ftree_inquiry_log(struct ftree *ft, int32_t from, const struct wire_log *l)
{
    struct inquiry *q = find_of(ft, from, l->nonce);

    if (!q || has_log(&q->said, l->log.rank) || q->said.logs == count_ranks(ft, &q->said) ||
        ftree_node_of(ft, l->log.rank) != from)
        return;
    q->said.log[q->said.logs++] = l->log;
    end_if_all_is_said(ft, &q->said);
}

void ftree_inquiry_reached(struct ftree *ft, int32_t node, enum ftree_path path,
                           enum ftree_role role, enum ftree_reach reach)
{
    FTREE_EACH(struct inquiry, q, ftree_rare(ft)->inquiries)
        if (q->said.node == node && q->said.reach[path][role] < reach)
            q->said.reach[path][role] = (uint8_t) reach;
}

/* ---- time ------------------------------------------------------------------------------------ */

static void end(const struct ftree *ft, struct ftree_inquiry *q)
{
    for (int path = 0; path < FTREE_PATHS; path++)
        if (ft->job->has_path[path] && q->reach[path][FTREE_ROLE_AGENT] == FTREE_REACH_NOT_ASKED)
            q->reach[path][FTREE_ROLE_AGENT] = FTREE_REACH_SILENT;
    q->over = true;
}

void ftree_inquiry_tick(struct ftree *ft, ftree_time now)
{
    FTREE_EACH(struct inquiry, q, ftree_rare(ft)->inquiries) {
        if (q->said.over)
            continue;
        if (q->until <= now)
            end(ft, &q->said);
        else if (q->next <= now)
            ask_missing(ft, now, q);
    }
}

ftree_time ftree_inquiry_deadline(const struct ftree *ft)
{
    return FTREE_EARLIEST(const struct inquiry, q, ftree_rare(ft)->inquiries,
                          q->said.over ? FTREE_NEVER : ftree_min(q->next, q->until));
}

void ftree_inquiry_stop(struct ftree *ft)
{
    FTREE_EACH(struct inquiry, q, ftree_rare(ft)->inquiries)
        end(ft, &q->said);
}
