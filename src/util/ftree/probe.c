/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree_int.h"

#include <string.h>

/*
 * The response probe.  A suspect is asked over each path at 0, 1, 3 and 4.5 rto; the last answer may
 * come at max(window_min, 6 rto).  From the second try on each question takes a new connection, so
 * that "connects" and "refused" are facts of now; from then on, too, the deputy is asked where the
 * node's kernel spoke but its agent did not, and one or two other nodes are asked as witnesses
 * that the paths work at all.  A sweep asks over one path first: most of the nodes it asks are
 * well.
 */

#define WITNESSES 2

struct suspect *ftree_probe_find(const struct ftree *ft, int32_t node)
{
    for (int32_t i = 0; i < ft->suspects.n; i++)
        if (ft->suspects.items[i].node == node)
            return &ft->suspects.items[i];
    return NULL;
}

/* ---- asking ---------------------------------------------------------------------------------- */

static void ask(struct ftree *ft, ftree_time now, const struct suspect *su, int32_t node,
                enum ftree_role role, bool fresh, bool one_path)
{
    struct wire_message m = {.type = WIRE_PROBE};
    struct ftree_route to = {.node = node, .role = role, .fresh = fresh};

    m.u.probe.nonce = node == su->node ? su->nonce : 0;
    m.u.probe.round = node == su->node ? su->round : 0;
    m.u.probe.rank = node == su->node ? su->rank : FTREE_NONE;
    m.u.probe.age = now - su->first_symptom;
    for (int path = 0; path < FTREE_PATHS; path++) {
        if (!ft->job->has_path[path])
            continue;
        to.path = (uint8_t) path;
        ftree_send(ft, now, &to, &m);
        if (one_path)
            return;
    }
}

static bool is_doubtful(const struct ftree *ft, ftree_time now, int32_t node)
{
    return node == ft->self || !ftree_correlate_usable(ft, now, node) || ftree_probe_find(ft, node);
}

static void ask_witnesses(struct ftree *ft, ftree_time now, struct suspect *su)
{
    int32_t asked = 0, parent = ftree_topo_parent(&ft->topo, ft->self), end = su->witness + 16;

    if (parent != FTREE_NONE && !is_doubtful(ft, now, parent)) {
        ask(ft, now, su, parent, FTREE_ROLE_AGENT, false, false);
        asked++;
    }
    /* neighbours by number lie in the same subtree where there are any; the next time others are
     * asked, for neighbours tend to be lost together.  16 looks bound the search when half the job
     * is gone. */
    while (su->witness < end && su->witness < ft->job->nodes - 1 && asked < WITNESSES) {
        int32_t n = (int32_t) (((int64_t) ft->self + ++su->witness) % ft->job->nodes);
        if (n == parent || is_doubtful(ft, now, n))
            continue;
        ask(ft, now, su, n, FTREE_ROLE_AGENT, false, false);
        asked++;
    }
}

static bool kernel_spoke(const struct suspect *su)
{
    for (int path = 0; path < FTREE_PATHS; path++)
        if (su->reach[path][FTREE_ROLE_AGENT] == FTREE_REACH_REFUSED ||
            su->reach[path][FTREE_ROLE_AGENT] == FTREE_REACH_CONNECTED)
            return true;
    return false;
}

static bool was_witnessed(const struct ftree *ft, const struct suspect *su, int path)
{
    return ft->heard[path].at >= su->opened && ft->heard[path].at > 0 &&
           ft->heard[path].node != su->node;
}

static bool needs_witness(const struct ftree *ft, const struct suspect *su)
{
    for (int path = 0; path < FTREE_PATHS; path++)
        if (ft->job->has_path[path] && !was_witnessed(ft, su, path))
            return true;
    return false;
}

static void next_try(struct ftree *ft, ftree_time now, int32_t i)
{
    struct suspect *su = &ft->suspects.items[i];
    bool first = su->tries == 0;

    if (su->tries < UINT8_MAX)
        su->tries++;
    su->asked = now;
    su->next_try = now + (su->tries < 3 ? su->tries * ft->rto : ft->rto * 3 / 2);
    su->next_try = ftree_min(su->next_try, su->deadline);
    ask(ft, now, su, su->node, FTREE_ROLE_AGENT, !first, first && su->round);
    if (first)
        return;
    if (ftree_ranks_of(ft->job, su->node) > 1 && kernel_spoke(su)) {
        ask(ft, now, su, su->node, FTREE_ROLE_DEPUTY, true, false);
        su->deputy_asked = true;
    }
    if (needs_witness(ft, su))
        ask_witnesses(ft, now, su);
}

void ftree_probe_open(struct ftree *ft, ftree_time now, const struct wire_symptom *s,
                      uint32_t round)
{
    ftree_time first = now > s->age ? now - s->age : 0;
    struct suspect *su = ftree_probe_find(ft, s->node);
    char name[16];

    if (su) {
        su->symptoms += s->count;
        su->first_symptom = ftree_min(su->first_symptom, first);
        if (su->rank == FTREE_NONE)
            su->rank = s->rank;
        return;
    }
    if (ft->leaving || s->node == ft->self || ftree_has_failed(ft, s->node))
        return;
    su = FTREE_PUSH(ft, ft->suspects);
    if (!su)
        return;
    su->node = s->node;
    su->rank = s->rank;
    su->nonce = ++ft->next_id;
    su->symptoms = s->count;
    su->round = round;
    su->first_symptom = first;
    su->opened = now;
    su->deadline = now + ftree_max(ft->cfg.window_min, 6 * ft->rto);
    su->deputy_word.rank = FTREE_NONE;
    ftree_trace(ft, "suspects %s: %s", ftree_name(ft, s->node, name),
                round                      ? "sweep"
                : s->kind == SYMPTOM_STALL ? "stall"
                                           : "silent");
    next_try(ft, now, ft->suspects.n - 1);
}

/* ---- being asked ----------------------------------------------------------------------------- */

void ftree_probe_compose_answer(struct wire_answer *a, const struct wire_probe *p,
                                const struct ftree_rank_state *s, ftree_time limit)
{
    struct wire_trouble *t;

    if (ftree_symptom_is_victim(s, limit) && !ftree_symptom_is_trouble(s))
        ftree_verdict_ranks_add(&a->waiting, s->rank, s->rank);
    if (s->rank == p->rank)
        a->asked_phase = s->phase;
    if (!ftree_symptom_is_trouble(s) || a->troubles == WIRE_TROUBLES_MAX)
        return;
    t = &a->trouble[a->troubles++];
    t->rank = s->rank;
    t->pid = s->pid;
    t->phase = s->phase;
    t->proc_state = s->proc_state;
}

void ftree_probe_asked(struct ftree *ft, ftree_time now, int32_t from, enum ftree_path path,
                       uint64_t conn, const struct wire_probe *p)
{
    struct ftree_route to = {.node = from, .path = (uint8_t) path, .conn = conn};
    struct wire_message m = {.type = WIRE_ANSWER};
    struct ftree_rank_state s;

    m.u.answer.nonce = p->nonce;
    m.u.answer.role = FTREE_ROLE_AGENT;
    m.u.answer.leaving = ft->leaving;
    for (int32_t i = 0; i < ftree_ranks_of(ft->job, ft->self); i++) {
        ft->io->look(ft->io_ctx, i, &s);
        ftree_probe_compose_answer(&m.u.answer, p, &s, ft->cfg.stall);
    }
    ftree_send(ft, now, &to, &m);
    if (p->nonce) /* a witness is not suspected, and need not look at itself */
        ftree_symptom_look(ft, now, now > p->age ? now - p->age : 0);
    if (p->round)
        ftree_sweep_join(ft, now, p->round, from);
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
    if (rc || m.type != WIRE_PROBE)
        return rc;
    answer.u.answer.nonce = m.u.probe.nonce;
    answer.u.answer.role = FTREE_ROLE_DEPUTY;
    for (int32_t i = 0; i < n; i++)
        ftree_probe_compose_answer(&answer.u.answer, &m.u.probe, &states[i], limit);
    *len = ftree_wire_encode(&answer, FTREE_NEVER, out);
    return FTREE_OK;
}

/* ---- hearing --------------------------------------------------------------------------------- */

static void close_well(struct ftree *ft, struct suspect *su, const char *why)
{
    char name[16];

    ftree_trace(ft, "%s is well: %s", ftree_name(ft, su->node, name), why);
    FTREE_DROP(ft->suspects, (int32_t) (su - ft->suspects.items));
}

/* A stopped rank that no verdict names yet, so that of several each gets its turn; else any. */
static struct wire_trouble worst_trouble(const struct ftree *ft, int32_t node,
                                         const struct wire_answer *a)
{
    struct wire_trouble any = {.rank = FTREE_NONE};

    for (int32_t i = 0; i < a->troubles; i++) {
        const struct wire_trouble *t = &a->trouble[i];
        if (ftree_node_of(ft, t->rank) != node)
            continue;
        if (t->phase != FTREE_PHASE_GONE && !ftree_verdict_on_rank(ft, node, t->rank))
            return *t;
        if (any.rank == FTREE_NONE)
            any = *t;
    }
    return any;
}

void ftree_probe_answer(struct ftree *ft, ftree_time now, int32_t from, enum ftree_path path,
                        const struct wire_answer *a)
{
    struct suspect *su = ftree_probe_find(ft, from);
    bool main_path = path == FTREE_PATH_DATA || !ft->job->has_path[FTREE_PATH_DATA];

    if (!su || su->nonce != a->nonce)
        return;
    su->reach[path][a->role] = FTREE_REACH_ANSWERED;
    if (a->role == FTREE_ROLE_DEPUTY) {
        su->deputy_word = worst_trouble(ft, from, a);
        su->waiting = a->waiting;
        return;
    }
    if (su->tries == 1)
        ftree_rtt(ft, now - su->asked);
    if (a->leaving || main_path) {
        bool untold = su->untold;
        close_well(ft, su, a->leaving ? "it leaves" : "its agent answers");
        if (untold)
            ftree_spread_retell(ft, now, from);
    }
    if (a->leaving)
        ftree_leave_goodbye(ft, now, from);
}

void ftree_probe_reached(struct ftree *ft, int32_t node, enum ftree_path path, enum ftree_role role,
                         enum ftree_reach reach, int error)
{
    struct suspect *su = ftree_probe_find(ft, node);

    if (!su)
        return;
    if (reach > su->reach[path][role]) {
        su->reach[path][role] = (uint8_t) reach;
        su->error[path][role] = (int16_t) (error > 0 && error < 4096 ? error : 0);
    }
    if (ft->leaving && reach == FTREE_REACH_REFUSED)
        close_well(ft, su, "it has left");
}

/* ---- deciding -------------------------------------------------------------------------------- */

static void find_facts(const struct ftree *ft, struct suspect *su, struct verdict_findings *f)
{
    memset(f, 0, sizeof(*f));
    f->ranks = ftree_ranks_of(ft->job, su->node);
    if (su->deputy_word.rank != FTREE_NONE)
        f->deputy_word =
            su->deputy_word.phase == FTREE_PHASE_GONE ? 'X' : su->deputy_word.proc_state;
    for (int path = 0; path < FTREE_PATHS; path++) {
        f->has_path[path] = ft->job->has_path[path];
        f->witness[path] = was_witnessed(ft, su, path);
        for (int role = 0; role < FTREE_ROLES; role++) {
            bool asked = f->has_path[path] && (role == FTREE_ROLE_AGENT || su->deputy_asked);
            if (asked && su->reach[path][role] == FTREE_REACH_NOT_ASKED)
                su->reach[path][role] = FTREE_REACH_SILENT;
            f->reach[path][role] = su->reach[path][role];
        }
    }
    f->any_other_node = ft->job->nodes - 2 - ftree_verdict_failed(ft, su->node) > 0;
}

static void add_evidence(const struct ftree *ft, ftree_time now, const struct suspect *su,
                         struct ftree_verdict *v)
{
    for (int path = 0; path < FTREE_PATHS; path++) {
        struct ftree_evidence e = {
            .path = (uint8_t) path, .target = su->node, .by = ft->self, .at = now};
        for (int role = 0; role < FTREE_ROLES; role++) {
            e.role = (uint8_t) role;
            e.reach = su->reach[path][role];
            e.error = su->error[path][role];
            e.proc_state = role == FTREE_ROLE_DEPUTY && e.reach == FTREE_REACH_ANSWERED &&
                                   su->deputy_word.rank != FTREE_NONE
                               ? su->deputy_word.proc_state
                               : 0;
            if (e.reach != FTREE_REACH_NOT_ASKED)
                ftree_verdict_add_evidence(v, &e);
        }
        if (!was_witnessed(ft, su, path))
            continue;
        e.role = FTREE_ROLE_AGENT;
        e.target = ft->heard[path].node;
        e.reach = ft->heard[path].reach;
        e.error = 0;
        e.proc_state = 0;
        e.at = ft->heard[path].at;
        ftree_verdict_add_evidence(v, &e);
    }
}

static void name_component(const struct ftree *ft, const struct suspect *su,
                           struct ftree_verdict *v)
{
    if (v->rule == FTREE_RULE_DEPUTY_SAYS_T) {
        v->rank = su->deputy_word.rank;
        v->pid = su->deputy_word.pid;
        v->victims = su->waiting; /* their agent cannot name them */
    } else if (v->kind == FTREE_KIND_RANK && ftree_ranks_of(ft->job, su->node) == 1) {
        v->rank = ftree_rank_at(ft->job, su->node, 0);
        v->pid = ft->job->rank_pid ? ft->job->rank_pid[v->rank] : 0;
    }
}

static void decide(struct ftree *ft, ftree_time now, int32_t i)
{
    struct suspect su = ft->suspects.items[i];
    struct verdict_findings f;
    enum verdict_outcome outcome;
    struct ftree_verdict v;
    enum ftree_rule rule;

    find_facts(ft, &su, &f);
    outcome = ftree_verdict_decide(&f, &rule);
    if (outcome == VERDICT_ALIVE) {
        close_well(ft, &ft->suspects.items[i], "its deputy answers");
        return;
    }
    FTREE_DROP(ft->suspects, i);
    ftree_verdict_init(&v, rule, outcome == VERDICT_RULE ? su.node : ft->self, FTREE_NONE);
    if (outcome == VERDICT_RULE)
        name_component(ft, &su, &v);
    if (rule == FTREE_RULE_DEPUTY_SAYS_T)
        ftree_outbox_mute(ft, now, su.node);
    add_evidence(ft, now, &su, &v);
    v.fln = ft->self;
    v.symptoms = su.symptoms;
    v.first_symptom = su.first_symptom;
    v.located = now;
    ftree_spread_raise(ft, now, &v);
}

/* The own thread did not run when it should have: nobody is to blame for answers it missed. */
void ftree_probe_excuse(struct ftree *ft, ftree_time now, ftree_time late)
{
    if (ft->suspects.n == 0)
        return;
    ftree_trace(ft, "own tick late by %d ms: nobody is accused before being asked again",
                (int) (late / FTREE_MS));
    for (int32_t i = 0; i < ft->suspects.n; i++) {
        struct suspect *su = &ft->suspects.items[i];
        su->deadline = ftree_max(su->deadline + late, now + 2 * ft->rto);
        su->next_try = now;
    }
}

void ftree_probe_tick(struct ftree *ft, ftree_time now)
{
    for (int32_t i = 0; i < ft->suspects.n;) {
        if (ft->suspects.items[i].deadline <= now) {
            decide(ft, now, i);
            i = 0; /* a verdict may have closed others */
            continue;
        }
        if (ft->suspects.items[i].next_try <= now)
            next_try(ft, now, i);
        i++;
    }
}

ftree_time ftree_probe_deadline(const struct ftree *ft)
{
    ftree_time t = FTREE_NEVER;

    for (int32_t i = 0; i < ft->suspects.n; i++)
        t = ftree_min(t, ftree_min(ft->suspects.items[i].deadline, ft->suspects.items[i].next_try));
    return t;
}
