/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/examine/examine.h"

#include <string.h>

/*
 * Indirect probes.  What is silent from one place may answer at another: then it is no outage but
 * something between the two places.  So the node that examines a suspect asks other nodes, its
 * helpers, to probe it, too (INDIRECT_PROBE).  Each asks the agent once over every path, by new
 * connections, and sends what came of it (INDIRECT_RESULT): an answer or a word of the kernel at
 * once, silence after two probe timeouts.  An indirect probe decides nothing by itself, and one
 * that is lost is only missing.
 *
 * A new connection ends the one before, and with it what waits there.  So one question does for all
 * who ask at about the same time, and where the helper examines the node itself its own connection
 * is left alone.
 */

#define INDIRECT_PROBES_MAX 64 /* at the same time, for all who ask; more are not made */

static void send_result(struct ftree *ft, ftree_time now, struct indirect_probe *v, int path,
                        uint8_t flags)
{
    struct wire_message m = {.type = WIRE_INDIRECT_RESULT, .flags = flags};
    struct ftree_route to = {.node = v->from};

    m.u.indirect_result.nonce = v->their_nonce;
    m.u.indirect_result.target = v->target;
    m.u.indirect_result.path = (uint8_t) path;
    m.u.indirect_result.reach = v->sent[path] = v->reach[path];
    ftree_send_all_paths(ft, now, &to, &m);
}

static void ask_target(struct ftree *ft, ftree_time now, const struct indirect_probe *v)
{
    struct ftree_route to = {.node = v->target, .fresh = !ftree_suspect(ft, v->target)};

    ftree_ask(ft, now, &to, ftree_all_paths(ft->job), v->nonce);
}

static bool is_known(const struct ftree *ft, int32_t from, const struct wire_indirect_probe *w)
{
    return FTREE_ANY(struct indirect_probe, v, ft->examine->indirect_probes,
                      v->from == from && v->target == w->target && v->their_nonce == w->nonce);
}

/* What is known already: of a question asked a moment ago (true), else of the own examination. */
static bool begin(const struct ftree *ft, ftree_time now, int32_t target, struct indirect_probe *v)
{
    const struct suspect *su = ftree_suspect(ft, target);

    *v = (struct indirect_probe){.target = target, .asked = now};
    FTREE_EACH(struct indirect_probe, other, ft->examine->indirect_probes)
        if (other->target == target && other->asked + ftree_rto(ft) > now) {
            *v = *other;
            memset(v->sent, 0, sizeof(v->sent));
            return true;
        }
    for (int path = 0; su && path < FTREE_PATHS; path++)
        if (su->reach[path][FTREE_ROLE_AGENT] == FTREE_REACH_CONNECTED)
            v->reach[path] = FTREE_REACH_CONNECTED; /* that connection says so no second time */
    return false;
}

static void send_news(struct ftree *ft, ftree_time now, struct indirect_probe *v)
{
    for (int path = 0; path < FTREE_PATHS; path++)
        if (v->reach[path] >= FTREE_REACH_CONNECTED && v->reach[path] > v->sent[path])
            send_result(ft, now, v, path, 0);
}

void ftree_indirect(struct ftree *ft, ftree_time now, int32_t from,
                    const struct wire_indirect_probe *w)
{
    struct indirect_probe *v, first;
    bool is_asked;

    if (ftree_is_leaving(ft) || w->target == ft->self || w->target == from)
        return;
    if (w->burst) {
        ftree_burst_indirect(ft, now, from, w);
        return;
    }
    if (ft->examine->indirect_probes.n >= INDIRECT_PROBES_MAX ||
        is_known(ft, from, w)) /* it came over both paths */
        return;
    is_asked = begin(ft, now, w->target, &first);
    v = FTREE_PUSH(ft, ft->examine->indirect_probes);
    if (!v)
        return;
    *v = first;
    v->from = from;
    v->their_nonce = w->nonce;
    v->until = now + 2 * ftree_rto(ft);
    if (!is_asked) {
        v->nonce = ++ft->next_id;
        ask_target(ft, now, v);
    }
    send_news(ft, now, v);
}

void ftree_indirect_answer(struct ftree *ft, ftree_time now, int32_t from, enum ftree_path path,
                           const struct wire_answer *a)
{
    FTREE_EACH(struct indirect_probe, v, ft->examine->indirect_probes)
        if (v->target == from && v->nonce == a->nonce) {
            v->reach[path] = FTREE_REACH_ANSWERED;
            send_news(ft, now, v);
        }
}

void ftree_indirect_reached(struct ftree *ft, ftree_time now, int32_t node, enum ftree_path path,
                            enum ftree_role role, enum ftree_reach reach)
{
    FTREE_EACH(struct indirect_probe, v, ft->examine->indirect_probes) {
        if (v->target != node || role != FTREE_ROLE_AGENT || reach <= v->reach[path])
            continue;
        v->reach[path] = (uint8_t) reach;
        send_news(ft, now, v);
    }
}

/* What the own side could not ask it has not seen. */
static void end(struct ftree *ft, ftree_time now, struct indirect_probe *v)
{
    for (int path = 0; path < FTREE_PATHS; path++) {
        bool delivers = v->reach[path] < FTREE_REACH_REFUSED && ft->job->has_path[path] &&
                        ftree_own_tells_delivery(ft, v->target, path, 0);
        if (!ft->job->has_path[path] || v->reach[path] == FTREE_REACH_LOCAL_DOWN ||
            (v->sent[path] && !delivers))
            continue;
        if (v->reach[path] == FTREE_REACH_NOT_ASKED)
            v->reach[path] = FTREE_REACH_SILENT;
        send_result(ft, now, v, path, delivers ? WIRE_FLAG_DELIVERS : 0);
    }
}

void ftree_indirect_tick(struct ftree *ft, ftree_time now)
{
    for (int32_t i = 0; i < ft->examine->indirect_probes.n;) {
        struct indirect_probe *v = &ft->examine->indirect_probes.items[i];
        if (v->until > now) {
            i++;
            continue;
        }
        end(ft, now, v);
        FTREE_DROP(ft->examine->indirect_probes, i);
    }
}

ftree_time ftree_indirect_deadline(const struct ftree *ft)
{
    return FTREE_EARLIEST(struct indirect_probe, v, ft->examine->indirect_probes, v->until);
}
