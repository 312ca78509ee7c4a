/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree_int.h"

/*
 * Verdicts that are over.  A process that was stopped may run again, a node that was cut off may be
 * reached again.  The node that decided asks at growing intervals, and so does the acting root in
 * its place; it asks at once when something is heard from there.  Only an answer to that very
 * question withdraws the verdict: a message that was long on its way is no sign of life.
 *
 * The ranks of the own node are looked at instead.
 */

#define RECHECK_DOUBLINGS 64

/* A crash is for ever; what is not known to be wrong cannot be known to be well. */
static bool may_be_over(const struct known *k)
{
    return !k->v.withdrawn && k->v.class_ != FTREE_CLASS_PROCESS_CRASH && !k->v.own_only;
}

static bool is_own_rank(const struct ftree *ft, const struct known *k)
{
    return k->v.node == ft->self && k->v.class_ == FTREE_CLASS_PROCESS_STOPPED &&
           k->v.rank != FTREE_NONE;
}

void ftree_withdraw_watch(struct ftree *ft, ftree_time now, struct known *k)
{
    bool asks = ftree_verdict_takes_node(ft, &k->v) && k->v.node != ft->self &&
                (k->v.fln == ft->self || ftree_spread_is_root(ft));

    k->recheck = FTREE_NEVER;
    if (!may_be_over(k) || (!asks && !is_own_rank(ft, k)))
        return;
    k->recheck_pause = ft->cfg.recheck / 2;
    k->recheck = now + ft->cfg.gather / 2; /* before people are told */
}

static void ask(struct ftree *ft, ftree_time now, struct known *k)
{
    struct wire_message m = {.type = WIRE_PROBE};
    struct ftree_route to = {.node = k->v.node, .role = FTREE_ROLE_AGENT, .fresh = true};

    if (!k->check)
        k->check = ++ft->next_id;
    m.u.probe.nonce = k->check;
    m.u.probe.ask = RULES_ASK_RESPONSE;
    m.u.probe.rank = FTREE_NONE;
    m.u.probe.first = now;
    for (int path = 0; path < FTREE_PATHS; path++) {
        to.path = (uint8_t) path;
        if (ft->job->has_path[path])
            ftree_send(ft, now, &to, &m);
    }
}

/* Its agent spoke although a verdict takes its node: is that over? */
void ftree_withdraw_heard(struct ftree *ft, ftree_time now, int32_t from)
{
    for (int32_t i = 0; i < ft->known.n; i++) {
        struct known *k = &ft->known.items[i];
        if (k->v.node != from || !may_be_over(k) || !ftree_verdict_takes_node(ft, &k->v) ||
            (k->check && k->recheck <= now + ft->cfg.recheck)) /* it is asked soon anyway */
            continue;
        k->recheck_pause = ft->cfg.recheck;
        k->recheck = ftree_min(k->recheck, now + k->recheck_pause);
        ask(ft, now, k);
    }
}

/* True: the answer was to a question of this file's. */
bool ftree_withdraw_answer(struct ftree *ft, ftree_time now, int32_t from,
                           const struct wire_answer *a)
{
    bool ours = false;

    for (int32_t i = 0; i < ft->known.n; i++) {
        struct known *k = &ft->known.items[i];
        if (k->v.node != from || !k->check || k->check != a->nonce ||
            a->role != FTREE_ROLE_AGENT)
            continue;
        ours = true;
        if (may_be_over(k))
            ftree_spread_withdraw(ft, now, k, "its agent answers again");
    }
    return ours;
}

static bool runs_again(struct ftree *ft, const struct known *k)
{
    struct ftree_rank_state s;

    for (int32_t i = 0; i < ftree_ranks_of(ft->job, ft->self); i++) {
        if (ftree_rank_at(ft->job, ft->self, i) != k->v.rank)
            continue;
        ft->io->look(ft->io_ctx, i, &s);
        return !ftree_symptom_is_trouble(&s);
    }
    return false;
}

static void recheck(struct ftree *ft, ftree_time now, struct known *k)
{
    if (is_own_rank(ft, k)) {
        k->recheck = now + ft->cfg.recheck;
        if (runs_again(ft, k))
            ftree_spread_withdraw(ft, now, k, "it runs again");
        return;
    }
    k->recheck_pause = ftree_min(2 * k->recheck_pause, RECHECK_DOUBLINGS * ft->cfg.recheck);
    k->recheck = now + k->recheck_pause;
    ask(ft, now, k);
}

void ftree_withdraw_tick(struct ftree *ft, ftree_time now)
{
    for (int32_t i = 0; i < ft->known.n; i++) {
        struct known *k = &ft->known.items[i];
        if (k->recheck > now)
            continue;
        if (may_be_over(k) && !ft->leaving)
            recheck(ft, now, k);
        else
            k->recheck = FTREE_NEVER;
    }
}

ftree_time ftree_withdraw_deadline(const struct ftree *ft)
{
    ftree_time t = FTREE_NEVER;

    for (int32_t i = 0; i < ft->known.n; i++)
        t = ftree_min(t, ft->known.items[i].recheck);
    return t;
}
