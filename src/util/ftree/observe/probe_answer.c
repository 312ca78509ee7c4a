/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/base/event.h"
#include "ftree/net/net.h"
#include "ftree/observe/observe.h"
#include "ftree/state/state.h"

/*
 * Being asked: by a response probe, whether and how the own ranks are; by a state probe, how the
 * node is; by a log probe, what a rank sent and received last.  The deputy answers response probes
 * only, when the agent does not.
 */

static void compose(struct wire_answer *a, const struct wire_probe *p,
                    const struct ftree_rank_state *s, ftree_time limit)
{
    struct wire_trouble *t;

    if (ftree_symptom_is_victim(s, limit) && !ftree_symptom_is_trouble(s))
        ftree_ranks_add(&a->waiting, s->rank, s->rank);
    if (s->rank == p->rank) {
        a->asked_phase = s->phase;
        /* who has ended has said so with whom it waited for, or was ended with it */
        if (s->waiting > 0 && s->peer >= 0 && s->proc_state != 'X')
            a->asked_peer = s->peer;
    }
    if (!ftree_symptom_is_trouble(s) || a->troubles == WIRE_TROUBLES_MAX)
        return;
    t = &a->trouble[a->troubles++];
    t->rank = s->rank;
    t->pid = s->pid;
    t->phase = s->phase;
    t->proc_state = s->proc_state;
}

static void answer_response(struct ftree *ft, ftree_time now, const struct ftree_route *to,
                            const struct wire_probe *p)
{
    struct wire_message m = {.type = WIRE_ANSWER};
    struct ftree_rank_state s;

    m.u.answer.nonce = p->nonce;
    m.u.answer.role = FTREE_ROLE_AGENT;
    m.u.answer.leaving = ftree_is_leaving(ft);
    m.u.answer.asked_peer = FTREE_NONE;
    for (int32_t i = 0; i < ftree_ranks_of(ft->job, ft->self); i++) {
        ft->io->look(ft->io_ctx, i, &s);
        compose(&m.u.answer, p, &s, ft->cfg.stall);
    }
    m.u.answer.asked_reported = p->rank != FTREE_NONE && ftree_symptom_is_reported(ft, p->rank);
    ftree_send(ft, now, to, &m);
}

static void answer_state(struct ftree *ft, ftree_time now, const struct ftree_route *to,
                         const struct wire_probe *p)
{
    struct wire_message m = {.type = WIRE_STATE};

    if (!ft->io->state)
        return;
    m.u.state.nonce = p->nonce;
    ft->io->state(ft->io_ctx, &m.u.state.state);
    if (ftree_own_tells_delivery(ft, FTREE_NONE, FTREE_PATH_DATA, ftree_silence_unit(ft)))
        m.flags = WIRE_FLAG_DELIVERS;
    ftree_send(ft, now, to, &m);
}

static void answer_log(struct ftree *ft, ftree_time now, const struct ftree_route *to,
                       const struct wire_probe *p)
{
    struct wire_message m = {.type = WIRE_LOG};
    int32_t i = ftree_place_of(ft->job, ft->self, p->rank);

    if (!ft->io->log || i == FTREE_NONE)
        return;
    m.u.log.nonce = p->nonce;
    m.u.log.log.rank = p->rank;
    ft->io->log(ft->io_ctx, i, &m.u.log.log);
    ftree_send(ft, now, to, &m);
}

void ftree_answer(struct ftree *ft, ftree_time now, int32_t from, enum ftree_path path,
                  uint64_t conn, const struct wire_probe *p)
{
    struct ftree_route to = {.node = from, .path = (uint8_t) path, .conn = conn};

    if (p->ask == RULES_ASK_STATE)
        answer_state(ft, now, &to, p);
    else if (p->ask == RULES_ASK_LOG)
        answer_log(ft, now, &to, p);
    else
        answer_response(ft, now, &to, p);
    if (p->nonce) { /* a witness is not suspected, and need not look at itself */
        ftree_symptom_look(ft, now, p->first);
        ftree_connections_look(ft, now, p->first);
    }
    if (p->round)
        FTREE_EMIT(ft, SEARCH, .number = p->round, .by = from);
}

int ftree_deputy_answer(const struct ftree_job *job, ftree_time limit, const void *bytes,
                        size_t bytes_len, const struct ftree_rank_state *states, int32_t n,
                        void *out, size_t *len)
{
    struct wire_message m, answer = {.type = WIRE_ANSWER};
    size_t room = *len;
    int rc;

    *len = 0;
    if (room < FTREE_MESSAGE_MAX)
        return FTREE_ERR_INVALID;
    rc = ftree_wire_decode(job, FTREE_NEVER, bytes, bytes_len, &m);
    if (rc || m.type != WIRE_PROBE || m.u.probe.ask != RULES_ASK_RESPONSE)
        return rc;
    answer.u.answer.nonce = m.u.probe.nonce;
    answer.u.answer.role = FTREE_ROLE_DEPUTY;
    answer.u.answer.asked_peer = FTREE_NONE;
    for (int32_t i = 0; i < n; i++)
        compose(&answer.u.answer, &m.u.probe, &states[i], limit);
    *len = ftree_wire_encode(&answer, FTREE_NEVER, out);
    return FTREE_OK;
}
