/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/examine/examine.h"

#include <string.h>

/*
 * Looking from elsewhere.  What is silent from one place may answer at another: then it is no outage
 * but something between the two places.  So who examines a suspect asks other nodes to ask it, too
 * (VISIT); each asks the agent once over every path, by new connections, and says what came of it
 * (SEEN): an answer or a word of the kernel at once, silence after two probe timeouts.  A visit
 * decides nothing by itself, and one that is lost is only missing.
 *
 * A new connection ends the one before, and with it what waits there.  So one question does for all
 * who ask at about the same time, and where the visitor examines the node itself its own connection
 * is left alone.
 */

#define VISITS_MAX 64 /* at the same time, for all who ask; more are not made */

static void tell(struct ftree *ft, ftree_time now, struct indirect_probe *v, int path)
{
    struct wire_message m = {.type = WIRE_SEEN};
    struct ftree_route to = {.node = v->from};

    m.u.seen.nonce = v->their_nonce;
    m.u.seen.target = v->target;
    m.u.seen.path = (uint8_t) path;
    m.u.seen.reach = v->told[path] = v->reach[path];
    ftree_send_all_paths(ft, now, &to, &m);
}

static void ask(struct ftree *ft, ftree_time now, const struct indirect_probe *v)
{
    struct ftree_route to = {.node = v->target, .fresh = !ftree_case_suspect(ft, v->target)};

    ftree_ask(ft, now, &to, ftree_all_paths(ft->job), v->nonce);
}

static bool is_known(const struct ftree *ft, int32_t from, const struct wire_visit *w)
{
    FTREE_EACH(struct indirect_probe, v, ft->examine->visits)
        if (v->from == from && v->target == w->target && v->their_nonce == w->nonce)
            return true;
    return false;
}

/* What is known already: of a question asked a moment ago (true), else of the own examination. */
static bool begin(const struct ftree *ft, ftree_time now, int32_t target, struct indirect_probe *v)
{
    const struct ftree_case *su = ftree_case_suspect(ft, target);

    *v = (struct indirect_probe){.target = target, .asked = now};
    FTREE_EACH(struct indirect_probe, other, ft->examine->visits)
        if (other->target == target && other->asked + ftree_rto(ft) > now) {
            *v = *other;
            memset(v->told, 0, sizeof(v->told));
            return true;
        }
    for (int path = 0; su && path < FTREE_PATHS; path++)
        if (su->reach[path][FTREE_ROLE_AGENT] == FTREE_REACH_CONNECTED)
            v->reach[path] = FTREE_REACH_CONNECTED; /* that connection says so no second time */
    return false;
}

static void tell_news(struct ftree *ft, ftree_time now, struct indirect_probe *v)
{
    for (int path = 0; path < FTREE_PATHS; path++)
        if (v->reach[path] >= FTREE_REACH_CONNECTED && v->reach[path] > v->told[path])
            tell(ft, now, v, path);
}

void ftree_indirect(struct ftree *ft, ftree_time now, int32_t from, const struct wire_visit *w)
{
    struct indirect_probe *v, first;
    bool is_asked;

    if (ftree_is_leaving(ft) || w->target == ft->self || w->target == from ||
        ft->examine->visits.n >= VISITS_MAX || is_known(ft, from, w)) /* it came over both paths */
        return;
    is_asked = begin(ft, now, w->target, &first);
    v = FTREE_PUSH(ft, ft->examine->visits);
    if (!v)
        return;
    *v = first;
    v->from = from;
    v->their_nonce = w->nonce;
    v->until = now + 2 * ftree_rto(ft);
    if (!is_asked) {
        v->nonce = ++ft->next_id;
        ask(ft, now, v);
    }
    tell_news(ft, now, v);
}

void ftree_indirect_answer(struct ftree *ft, ftree_time now, int32_t from, enum ftree_path path,
                           const struct wire_answer *a)
{
    FTREE_EACH(struct indirect_probe, v, ft->examine->visits)
        if (v->target == from && v->nonce == a->nonce) {
            v->reach[path] = FTREE_REACH_ANSWERED;
            tell_news(ft, now, v);
        }
}

void ftree_indirect_reached(struct ftree *ft, ftree_time now, int32_t node, enum ftree_path path,
                            enum ftree_role role, enum ftree_reach reach)
{
    FTREE_EACH(struct indirect_probe, v, ft->examine->visits) {
        if (v->target != node || role != FTREE_ROLE_AGENT || reach <= v->reach[path])
            continue;
        v->reach[path] = (uint8_t) reach;
        tell_news(ft, now, v);
    }
}

/* What the own side could not ask it has not seen. */
static void end(struct ftree *ft, ftree_time now, struct indirect_probe *v)
{
    for (int path = 0; path < FTREE_PATHS; path++) {
        if (!ft->job->has_path[path] || v->told[path] || v->reach[path] == FTREE_REACH_LOCAL_DOWN)
            continue;
        if (v->reach[path] == FTREE_REACH_NOT_ASKED)
            v->reach[path] = FTREE_REACH_SILENT;
        tell(ft, now, v, path);
    }
}

void ftree_indirect_tick(struct ftree *ft, ftree_time now)
{
    for (int32_t i = 0; i < ft->examine->visits.n;) {
        struct indirect_probe *v = &ft->examine->visits.items[i];
        if (v->until > now) {
            i++;
            continue;
        }
        end(ft, now, v);
        FTREE_DROP(ft->examine->visits, i);
    }
}

ftree_time ftree_indirect_deadline(const struct ftree *ft)
{
    ftree_time t = FTREE_NEVER;

    FTREE_EACH(struct indirect_probe, v, ft->examine->visits)
        t = ftree_min(t, v->until);
    return t;
}
