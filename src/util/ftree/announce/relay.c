/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/announce/announce.h"

/*
 * By way of another.  A node may be silent only from where its FLN asks: others asked for it and were
 * answered.  The verdict says so, and the node goes on working; but its FLN is who tells it verdicts.
 * So these go to one that reaches it, too, marked to be passed on: to the node that the first summary
 * in the message is about, which is the verdict on it.  Who passes them on asks for the victims there
 * and below, and names them to the FLN.
 *
 * Each time the node gets all that is told, for it may have missed any of it.
 */

#define LOOKS 16 /* so many nodes are looked at for one that can pass it on */

/* ---- at the FLN ------------------------------------------------------------------------------ */

/* Who was answered by the node of a verdict found here, which does not answer this one; FTREE_NONE:
 * nobody, or it does. */
static int32_t reached_by(const struct ftree *ft, const struct known *k)
{
    int32_t by = FTREE_NONE;

    if (!k->full || k->v.withdrawn || k->v.own_only || k->v.fln != ft->self ||
        k->v.kind == FTREE_KIND_SWITCH || ftree_has_failed(ft, k->v.node))
        return FTREE_NONE;
    for (int32_t i = 0; i < k->full->evidences; i++) {
        const struct ftree_evidence *e = &k->full->evidence[i];
        if (e->target != k->v.node || e->role != FTREE_ROLE_AGENT ||
            e->reach != FTREE_REACH_ANSWERED)
            continue;
        if (e->source != FTREE_EVIDENCE_VISIT)
            return FTREE_NONE;
        by = e->by;
    }
    return by;
}

/* The verdict found here that the node answers others only, and who was answered; NULL: there is none. */
static const struct known *only_others_reach(const struct ftree *ft, int32_t node, int32_t *by)
{
    const struct known *k;

    for (int32_t i = -1; (k = ftree_verdict_about(ft, node, &i));)
        if ((*by = reached_by(ft, k)) != FTREE_NONE)
            return k;
    return NULL;
}

/* True if this node is above it, and nobody is between who would tell it instead. */
static bool is_told_from_here(const struct ftree *ft, int32_t node)
{
    int32_t above = ftree_topo_parent(ft->topo, node);

    while (above > ft->self && ftree_has_failed(ft, above))
        above = ftree_topo_parent(ft->topo, above);
    return above == ft->self;
}

/* Nobody below the node: it would not tell them, as it tells nobody a verdict who told it that. */
static bool can_pass_on(const struct ftree *ft, ftree_time now, int32_t relay, int32_t node)
{
    int32_t by;

    return relay != ft->self && !ftree_topo_is_above(ft->topo, node, relay) &&
           ftree_peer_usable(ft, now, relay) && !ftree_case_is_suspect(ft, relay) &&
           !only_others_reach(ft, relay, &by);
}

/* `by` was answered; who is next to the node by number may lie behind the same switch.  Many of these
 * may be lost by now: they do not count as looked at. */
static int32_t relay_for(const struct ftree *ft, ftree_time now, int32_t node, int32_t by)
{
    if (can_pass_on(ft, now, by, node))
        return by;
    for (int32_t i = 1, looks = 0; looks < LOOKS && i < ft->job->nodes; i++) {
        int32_t n = (int32_t) (((int64_t) node + i) % ft->job->nodes);
        if (can_pass_on(ft, now, n, node))
            return n;
        looks += !ftree_has_failed(ft, n);
    }
    return FTREE_NONE;
}

static bool put(const struct ftree *ft, ftree_time now, struct wire_summaries *w,
                const struct known *k)
{
    return ftree_wire_put_summary(w, now, &k->v, ftree_verdict_rule(ft, &k->v));
}

/* Writes those that are told from place i on, behind the one on the node itself; returns the place
 * after the last. */
static int32_t write_told(const struct ftree *ft, ftree_time now, const struct known *first,
                          int32_t i, struct wire_summaries *w)
{
    put(ft, now, w, first);
    for (; i < ft->state->known.n; i++) {
        const struct known *k = &ft->state->known.items[i];
        bool told = k->v.withdrawn ? k->over_told_down : k->told_down;
        if (k != first && told && !k->v.own_only && !put(ft, now, w, k))
            break;
    }
    return i;
}

static void send(struct ftree *ft, ftree_time now, const struct known *k, int32_t relay,
                 int32_t announcement)
{
    for (int32_t i = 0; i < ft->state->known.n;) {
        struct wire_message m = {.type = WIRE_VERDICT_DOWN, .flags = WIRE_FLAG_PASS_ON};
        struct wire_summaries w = {0};
        i = write_told(ft, now, k, i, &w);
        m.u.told = ftree_wire_told(&w);
        ftree_outbox_put(ft, now, relay, &m);
        ftree_gather_wait_for(ft, announcement, relay, m.id);
    }
}

void ftree_relay_tell(struct ftree *ft, ftree_time now, int32_t announcement)
{
    char node[16], name[16];

    FTREE_EACH(const struct known, k, ft->state->known) {
        int32_t by = reached_by(ft, k), relay;
        if (by == FTREE_NONE || !k->told_down || !is_told_from_here(ft, k->v.node))
            continue;
        relay = relay_for(ft, now, k->v.node, by);
        if (relay == FTREE_NONE)
            continue;
        ftree_trace(ft, "tells %s by way of %s", ftree_name(ft, k->v.node, node),
                    ftree_name(ft, relay, name));
        send(ft, now, k, relay, announcement);
    }
}

void ftree_relay_tell_past(struct ftree *ft, ftree_time now, const struct payload *payload,
                           int32_t announcement)
{
    char rule[FTREE_NAME_MAX] = "";
    uint8_t buf[FTREE_MESSAGE_MAX];
    struct wire_message m;
    struct wire_told rest;
    struct summary o;
    int32_t by, relay;

    if (ftree_wire_renew(ft->job, payload->sent, payload->bytes, payload->len, now, buf) ||
        ftree_wire_decode(ft->job, now, buf, payload->len, &m))
        return;
    rest = m.u.told;
    if (!ftree_wire_get_summary(ft->job, now, &rest, &o, rule) ||
        !only_others_reach(ft, o.node, &by) || !is_told_from_here(ft, o.node))
        return;
    relay = relay_for(ft, now, o.node, by);
    if (relay == FTREE_NONE)
        return;
    ftree_outbox_put(ft, now, relay, &m);
    ftree_gather_wait_for(ft, announcement, relay, m.id);
    if (announcement >= 0) {
        struct announcement *t = &ft->announce->announcements.items[announcement];
        t->until = ftree_max(t->until, now + ftree_gather_takes(ft, o.node));
    }
}

/* ---- at the other ---------------------------------------------------------------------------- */

enum told ftree_relay_pass_on(struct ftree *ft, ftree_time now, int32_t from, enum ftree_path path,
                              const struct wire_message *m)
{
    struct wire_message passed = {.type = WIRE_VERDICT_DOWN, .u.told = m->u.told};
    struct wire_told rest = m->u.told;
    char rule[FTREE_NAME_MAX] = "", name[16];
    struct summary o;

    if (!ftree_wire_get_summary(ft->job, now, &rest, &o, rule) || o.node == ft->self ||
        o.node == from || ftree_has_failed(ft, o.node))
        return TOLD_NOBODY_WAITS;
    ftree_trace(ft, "passes what is told on to %s", ftree_name(ft, o.node, name));
    ftree_outbox_put(ft, now, o.node, &passed);
    return ftree_gather_for(ft, now, from, path, m->id, o.node, passed.id) ? TOLD_ASKING
                                                                           : TOLD_NOBODY_WAITS;
}
