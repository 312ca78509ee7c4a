/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/base/event.h"
#include "ftree/net/net.h"
#include "ftree/observe/observe.h"
#include "ftree/state/state.h"

#include <stdio.h>

/*
 * The program's own connections.  Nodes may answer each other's questions, which are small, and go by
 * new connections where old ones are silent, while what the ranks send does not arrive: because of a
 * switch port that passes no large packets, or a firewall that has forgotten the ranks' connections.
 * The kernel of the sender knows: data that nobody acknowledges are sent again and again.
 *
 * It is asked when a wait of some seconds is examined, here or elsewhere, and then from time to time,
 * as long as it says so.  That a network was silent says nothing of it as it is now: TCP tries again
 * after up to two minutes.  So the agent of the other node is asked, by a new connection over the
 * same network; what was sent after its answer, and again not acknowledged, is lost.  Where it does
 * not answer, but a third node does, and no verdict says why, the two are cut off from each other
 * alone.
 */

#define WAITED (3000 * FTREE_MS) /* before the kernel is asked */
#define LOOKS (1000 * FTREE_MS) /* at the least between two questions, */
#define LOOKS_MOST (10000 * FTREE_MS) /* and at the most, as long as something is stuck */
#define LASTS (6000 * FTREE_MS) /* what is stuck for so long is said; */
#define LASTS_SLOW (4 * LASTS) /* where a slow path's queue may drop what is too much */
#define ASKS 4 /* of which none is answered */

static struct checked *find_checked(const struct ftree *ft, int32_t node)
{
    return FTREE_FIND(struct checked, k, ft->observe->checked, k->node == node);
}

/* ---- whether the node answers ---------------------------------------------------------------- */

static void ask_node(struct ftree *ft, ftree_time now, int32_t node, uint32_t nonce)
{
    ftree_ask(ft, now, &(struct ftree_route){.node = node, .role = FTREE_ROLE_AGENT, .fresh = true},
              (uint8_t) (1u << ftree_main_path(ft)), nonce);
}

/* Another node each time; one to which nothing is stuck. */
static int32_t witness_of(const struct ftree *ft, const struct checked *k)
{
    for (int32_t i = 0; i < ft->job->nodes; i++) {
        int32_t node = (int32_t) (((int64_t) k->node + k->asks + i) % ft->job->nodes);
        if (node != ft->self && !find_checked(ft, node) && !ftree_has_failed(ft, node))
            return node;
    }
    return FTREE_NONE;
}

static void ask_witness(struct ftree *ft, ftree_time now, struct checked *k)
{
    int32_t witness = witness_of(ft, k);

    k->nonce = ++ft->next_id;
    k->asked = now;
    k->asks++;
    k->witnessed = false;
    ask_node(ft, now, k->node, k->nonce);
    if (witness != FTREE_NONE && k->asks > 1) /* as a rule the first question is answered */
        ask_node(ft, now, witness, k->nonce);
}

static void check(struct ftree *ft, ftree_time now, const struct ftree_connection *c)
{
    struct checked *k = find_checked(ft, c->node);

    if (!k) {
        k = FTREE_PUSH(ft, ft->observe->checked);
        if (!k)
            return;
        k->node = c->node;
        ftree_trace(ft, "rank %d: %u bytes for %s not acknowledged", (int) c->rank,
                    (unsigned) c->bytes, ftree_name(ft, c->node));
    }
    if (!k->answered && (k->asks == 0 || now - k->asked >= LOOKS / 2))
        ask_witness(ft, now, k);
}

void ftree_connections_answer(struct ftree *ft, ftree_time now, int32_t from, enum ftree_path path,
                              const struct wire_answer *a)
{
    if (a->role != FTREE_ROLE_AGENT || path != ftree_main_path(ft))
        return;
    FTREE_EACH(struct checked, k, ft->observe->checked) {
        if (k->nonce != a->nonce)
            continue;
        k->witnessed |= from != k->node;
        if (from == k->node && !k->answered)
            k->answered = now;
    }
}

/* ---- what is said ---------------------------------------------------------------------------- */

static bool is_slow(const struct ftree *ft)
{
    return ftree_own_delivers(ft, FTREE_NONE, ftree_main_path(ft), ft->cfg.stall,
                              ftree_silence_unit(ft));
}

static uint8_t fact_of(const struct ftree *ft, ftree_time now, const struct ftree_connection *c)
{
    const struct checked *k = find_checked(ft, c->node);

    if (!k || c->since < (ft->observe->is_slow ? LASTS_SLOW : LASTS))
        return RULES_CONNECTION_NONE;
    if (!k->answered)
        return k->asks >= ASKS && k->witnessed && now - k->asked >= LOOKS / 2
                   ? RULES_CONNECTION_SILENT
                   : RULES_CONNECTION_NONE;
    if (now - c->sent <= k->answered)
        return RULES_CONNECTION_NONE;
    return c->connecting ? RULES_CONNECTION_NOT_MADE : RULES_CONNECTION_STUCK;
}

/* What crosses a switch that is known to be bad may be lost. */
static bool is_behind_bad_switch(const struct ftree *ft, int32_t node)
{
    FTREE_EACH_SWITCH(k, ft)
        if (ftree_is_behind(ft, k->v.switch_, node))
            return true;
    return false;
}

/* A node that is lost acknowledges nothing. */
static bool is_explained(const struct ftree *ft, int32_t node)
{
    FTREE_EACH_STANDING(k, ft, node)
        if (k->v.kind != FTREE_KIND_RANK)
            return true;
    return ftree_has_failed(ft, node) || is_behind_bad_switch(ft, node);
}

static void add_connection(struct ftree *ft, ftree_time now, const struct ftree_connection *c,
                           struct ftree_verdict *v)
{
    struct ftree_rank_state s;
    char to[16] = "";

    ft->io->look(ft->io_ctx, ftree_place_of(ft->job, ft->self, c->rank), &s);
    if (s.peer >= 0 && ftree_node_of(ft, s.peer) == c->node)
        snprintf(to, sizeof(to), "rank %d ", (int) s.peer);
    else if (ftree_ranks_of(ft->job, c->node) == 1)
        snprintf(to, sizeof(to), "rank %d ", (int) ftree_rank_at(ft->job, c->node, 0));
    if (c->connecting)
        ftree_verdict_add_line(
            ft, now, FTREE_EVIDENCE_CONNECTION, ft->self, v,
            "rank %d on %s has asked %son %s for a connection in vain for %.1f s, %u times",
            (int) c->rank, ftree_name(ft, ft->self), to, ftree_name(ft, c->node),
            (double) c->since / 1e9, (unsigned) c->tries + 1);
    else
        ftree_verdict_add_line(
            ft, now, FTREE_EVIDENCE_CONNECTION, ft->self, v,
            "rank %d on %s to %son %s: %u bytes not acknowledged for %.1f s, sent %u times",
            (int) c->rank, ftree_name(ft, ft->self), to, ftree_name(ft, c->node),
            (unsigned) c->bytes, (double) c->since / 1e9, (unsigned) c->tries + 1);
}

#define PASSES 1280 /* bytes of a packet that every network passes (RFC 8200) */
#define HEADERS 52 /* of IP and TCP, with time stamps */

/* What helps to tell the two known causes. */
static void add_hint(struct ftree *ft, ftree_time now, const struct ftree_connection *c,
                     uint8_t fact, struct ftree_verdict *v)
{
    uint32_t packet = c->packet > 0 && c->bytes + HEADERS > c->packet ? c->packet : c->bytes + HEADERS;
    const char *self = ftree_name(ft, ft->self), *other = ftree_name(ft, c->node);

    if (fact == RULES_CONNECTION_SILENT)
        ftree_verdict_add_line(ft, now, FTREE_EVIDENCE_CONNECTION, c->node, v,
                               "the agent of %s is not answered by that of %s either", self, other);
    else
        ftree_verdict_add_line(ft, now, FTREE_EVIDENCE_CONNECTION, c->node, v,
                               "the agent of %s answers that of %s on the same network", other,
                               self);
    if (fact == RULES_CONNECTION_STUCK && packet > PASSES)
        ftree_verdict_add_line(
            ft, now, FTREE_EVIDENCE_CONNECTION, ft->self, v,
            "look for a switch port whose MTU is too small for packets of %u bytes, and for a firewall",
            (unsigned) packet);
    else
        ftree_verdict_add_line(ft, now, FTREE_EVIDENCE_CONNECTION, ft->self, v,
                               "look for a firewall between %s and %s", self, other);
}

/* About the other node; about this one, where it is so of several others. */
static int32_t suspect_of(const struct ftree *ft, ftree_time now, const struct ftree_connection *c,
                          int32_t n, int32_t worst, uint8_t fact)
{
    for (int32_t i = 0; i < n; i++)
        if (c[i].node != c[worst].node && fact_of(ft, now, &c[i]) == fact)
            return ft->self;
    return c[worst].node;
}

static void say(struct ftree *ft, ftree_time now, const struct ftree_connection *c, int32_t n,
                int32_t worst, uint8_t fact)
{
    int32_t suspect = suspect_of(ft, now, c, n, worst, fact), model;
    const struct rules_sign *sign;
    struct rules_facts facts;
    struct ftree_verdict v;

    ftree_rules_no_facts(&facts);
    facts.value[RULES_FACT_CONNECTION] = fact;
    sign = ftree_rules_decide_at_end(ft->rules, &facts, UINT64_MAX, &model);
    if (!sign)
        return;
    ftree_verdict_init(ft, now, &v, sign, ft->rules->model[model].class_, suspect, FTREE_NONE);
    v.first_symptom = now > c[worst].since ? now - c[worst].since : 0;
    add_connection(ft, now, &c[worst], &v);
    for (int32_t i = 0; i < n && v.evidences < FTREE_EVIDENCE_MAX - 2; i++)
        if (i != worst && fact_of(ft, now, &c[i]) == fact)
            add_connection(ft, now, &c[i], &v);
    add_hint(ft, now, &c[worst], fact, &v);
    ftree_emit_verdict(ft, &v);
}

static void judge(struct ftree *ft, ftree_time now, const struct ftree_connection *c, int32_t n)
{
    int32_t worst = FTREE_NONE;

    for (int32_t i = 0; i < n; i++)
        if (fact_of(ft, now, &c[i]) && !is_explained(ft, c[i].node) &&
            (worst == FTREE_NONE || c[i].since > c[worst].since))
            worst = i;
    if (worst != FTREE_NONE && !is_explained(ft, ft->self))
        say(ft, now, c, n, worst, fact_of(ft, now, &c[worst]));
}

/* ---- looks ----------------------------------------------------------------------------------- */

static bool is_among(const struct ftree_connection *c, int32_t n, int32_t node)
{
    for (int32_t i = 0; i < n; i++)
        if (c[i].node == node)
            return true;
    return false;
}

static void look(struct ftree *ft, ftree_time now)
{
    struct ftree_connection c[FTREE_CONNECTIONS_MAX];
    int32_t n = ft->io->connections(ft->io_ctx, c, FTREE_CONNECTIONS_MAX);
    ftree_time longest = 0;

    ft->observe->connections_seen = now;
    for (int32_t i = ft->observe->checked.n - 1; i >= 0; i--)
        if (!is_among(c, n, ft->observe->checked.items[i].node))
            FTREE_DROP(ft->observe->checked, i);
    for (int32_t i = 0; i < n; i++)
        longest = ftree_max(longest, c[i].since);
    ft->observe->is_slow = longest >= LASTS && is_slow(ft);
    ft->observe->again_ms =
        n ? (uint32_t) (ftree_min(ftree_max(longest / 8, LOOKS), LOOKS_MOST) / FTREE_MS) : 0;
    judge(ft, now, c, n);
    for (int32_t i = 0; i < n; i++)
        check(ft, now, &c[i]);
}

void ftree_connections_look(struct ftree *ft, ftree_time now, ftree_time since)
{
    if (ft->io->connections && !ftree_is_leaving(ft) && now - since >= WAITED &&
        now - ft->observe->connections_seen >= LOOKS)
        look(ft, now);
}

void ftree_connections_tick(struct ftree *ft, ftree_time now)
{
    if (now < ftree_connections_deadline(ft) || ftree_events_wait(ft))
        return;
    ft->observe->again_ms = 0;
    ftree_connections_look(ft, now, 0);
}

ftree_time ftree_connections_deadline(const struct ftree *ft)
{
    const struct ftree_observe *o = ft->observe;

    return o->again_ms ? o->connections_seen + o->again_ms * FTREE_MS : FTREE_NEVER;
}
