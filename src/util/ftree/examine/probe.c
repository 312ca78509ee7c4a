/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/base/event.h"
#include "ftree/examine/examine.h"

#include <stdio.h>
#include <string.h>

/*
 * Message probing.  A suspect is asked step by step, as the strategy says that the rules chose for
 * its case: which probe, of whom, over which path, when (in multiples of the probe timeout rto),
 * on what condition.  After every answer the signs that need not wait are looked at, at the end of
 * the window (silence.c) all of them: the first that holds decides, and the asking stops.
 *
 * The built-in strategy asks over each path at 0, 1, 3 and 4.5 rto; from the second try on by a new
 * connection, so that "connects" and "refused" are facts of now, and between these by the one that
 * is there, lest a few lost messages look like silence; from then on, too, the deputy is
 * asked where the node's kernel spoke but its agent did not, and one or two other nodes are asked
 * as witnesses that the paths work at all; and where a path is silent one or two nodes near the
 * suspect are asked to ask it, too.  A flood query asks over one path first: most of the nodes that
 * it asks are well.
 */

#define WITNESSES 2
#define HELPERS 2

/* ---- asking ---------------------------------------------------------------------------------- */

static struct ftree_case *case_of(const struct ftree *ft, const struct suspect *su)
{
    return ftree_case_find(ft, su->node, su->switch_);
}

static bool goes_over(const struct ftree *ft, const struct suspect *su, int path, uint8_t over)
{
    if (!ft->job->has_path[path])
        return false;
    switch (over) {
        case RULES_OVER_DATA:
            return path == FTREE_PATH_DATA;
        case RULES_OVER_MGMT:
            return path == FTREE_PATH_MGMT;
        case RULES_OVER_MAIN:
            return path == (int) ftree_main_path(ft);
        case RULES_OVER_ANSWERED:
            return su->reach[path][FTREE_ROLE_AGENT] == FTREE_REACH_ANSWERED;
        default:
            return true;
    }
}

static void ask_node(struct ftree *ft, ftree_time now, struct suspect *su, int32_t node,
                     enum ftree_role role, const struct rules_step *step)
{
    struct wire_message m = {.type = WIRE_PROBE};
    struct ftree_route to = {.node = node, .role = role, .fresh = step->fresh};

    m.u.probe.nonce = node == su->node ? su->nonce : 0;
    m.u.probe.round = node == su->node ? su->round : 0;
    m.u.probe.rank = node == su->node ? su->rank : FTREE_NONE;
    m.u.probe.ask = step->ask;
    m.u.probe.first = case_of(ft, su)->first;
    for (int path = 0; path < FTREE_PATHS; path++) {
        to.path = (uint8_t) path;
        if (!goes_over(ft, su, path, step->over))
            continue;
        if (node == su->node && step->ask == RULES_ASK_RESPONSE) {
            su->questions[path][role] += su->questions[path][role] < UINT8_MAX;
            su->connections[path][role] += step->fresh && su->connections[path][role] < UINT8_MAX;
            if (step->fresh && role == FTREE_ROLE_AGENT)
                ftree_silence_asked(su, now, path);
        }
        ftree_send(ft, now, &to, &m);
    }
}

static void ask_witnesses(struct ftree *ft, ftree_time now, struct suspect *su,
                          const struct rules_step *step)
{
    int32_t asked = 0, parent = ftree_topo_parent(ft->topo, ft->self), looks = FTREE_LOOKS, n;

    if (su->prolonged && su->witness >= ft->job->nodes - 1)
        su->witness = 0; /* all were asked, and must be heard once more */
    if (parent != FTREE_NONE && ftree_can_help(ft, now, parent)) {
        ask_node(ft, now, su, parent, FTREE_ROLE_AGENT, step);
        asked++;
    }
    for (; asked < WITNESSES; asked++) {
        n = ftree_helper(ft, now, ft->self, &su->witness, &looks, parent);
        if (n == FTREE_NONE)
            return;
        ask_node(ft, now, su, n, FTREE_ROLE_AGENT, step);
    }
}

/* They tell a lost node from what lies between it and here. */
static void send_indirect_probes(struct ftree *ft, ftree_time now, struct suspect *su)
{
    struct wire_message m = {.type = WIRE_INDIRECT_PROBE};
    struct ftree_route to = {.role = FTREE_ROLE_AGENT};
    int32_t looks = FTREE_LOOKS;

    m.u.indirect_probe.nonce = su->nonce;
    m.u.indirect_probe.target = su->node;
    for (int32_t sent = 0; sent < HELPERS; sent++) {
        to.node = ftree_helper(ft, now, su->node, &su->helper, &looks, FTREE_NONE);
        if (to.node == FTREE_NONE)
            return;
        ftree_send_all_paths(ft, now, &to, &m);
    }
}

static bool is_silent(const struct ftree *ft, const struct suspect *su)
{
    return FTREE_ANY_PATH(path, ft->job->has_path[path] && su->reach[path][FTREE_ROLE_AGENT] <
                                                               FTREE_REACH_CONNECTED);
}

static bool needs_witness(const struct ftree *ft, const struct suspect *su)
{
    return FTREE_ANY_PATH(path,
                          ft->job->has_path[path] && ftree_silence_needs_witness(su, path));
}

static bool holds(const struct ftree *ft, const struct suspect *su,
                  const struct rules_step *step)
{
    if ((step->of == RULES_OF_NEIGHBOURS && !ft->job->tree) ||
        (step->ask == RULES_ASK_BURST && !ft->io->packet))
        return false;
    if (step->of == RULES_OF_HANDLERS && (!ft->io->handlers || su->handled.over))
        return false;
    switch (step->if_) {
        case RULES_IF_KERNEL_SPOKE:
            return ftree_facts_kernel_spoke(su);
        case RULES_IF_UNWITNESSED:
            return needs_witness(ft, su);
        case RULES_IF_ANSWERED:
            return ftree_facts_answered(su);
        case RULES_IF_SILENT:
            return is_silent(ft, su);
        case RULES_IF_ONE_SIDED:
            return is_silent(ft, su) && ftree_facts_answered(su);
        default:
            return true;
    }
}

/* The same question by the same connections again, lest the first was lost, is not worth a line. */
static void trace_asked(struct ftree *ft, const struct suspect *su,
                        const struct rules_step *step)
{
    if (su->tries > 0 && !step->fresh && step->from != RULES_FROM_ELSEWHERE &&
        step->ask == RULES_ASK_RESPONSE && step->of == RULES_OF_AGENT)
        return;
    ftree_trace(ft, "  asks %s: %s of %s over %s%s", ftree_name(ft, su->node),
                ftree_rules_ask_name(step->ask), ftree_rules_whom_name(step->of),
                ftree_rules_over_name(step->over),
                step->from == RULES_FROM_ELSEWHERE ? " from elsewhere" : "");
}

static void take_step(struct ftree *ft, ftree_time now, struct suspect *su,
                      const struct rules_step *step)
{
    if (!holds(ft, su, step))
        return;
    trace_asked(ft, su, step);
    if (step->from == RULES_FROM_ELSEWHERE && step->of == RULES_OF_NEIGHBOURS) {
        ftree_neighbour_indirect_probe(ft, now, su);
        return;
    }
    if (step->from == RULES_FROM_ELSEWHERE) {
        send_indirect_probes(ft, now, su);
        return;
    }
    if (step->ask == RULES_ASK_BURST) {
        ftree_burst_ask(ft, now, su->node);
        return;
    }
    switch (step->of) {
        case RULES_OF_WITNESSES:
            ask_witnesses(ft, now, su, step);
            break;
        case RULES_OF_HANDLERS:
            ftree_handled_ask(ft, now, su);
            break;
        case RULES_OF_NEIGHBOURS:
            su->neighbours = now;
            ftree_neighbour_ask(ft, now, su);
            break;
        case RULES_OF_DEPUTY:
            ask_node(ft, now, su, su->node, FTREE_ROLE_DEPUTY, step);
            break;
        default:
            if (su->asked < now || su->tries == 0) {
                su->asked = now;
                su->tries += su->tries < UINT8_MAX;
            }
            ask_node(ft, now, su, su->node, FTREE_ROLE_AGENT, step);
            break;
    }
}

static ftree_time due_at(const struct ftree *ft, const struct suspect *su,
                         const struct rules_step *step)
{
    return su->base + ftree_silence_unit(ft) * step->at_milli_rto / 1000;
}

/* After a pause several steps are due that ask the same: the last of them is enough. */
static bool is_repeated(const struct ftree *ft, ftree_time now, const struct suspect *su,
                        const struct rules_strategy *st, int32_t i)
{
    const struct rules_step *a = &st->step[i];

    for (int32_t j = i + 1; j < st->steps; j++) {
        const struct rules_step *b = &st->step[j];
        if (a->ask == b->ask && a->of == b->of && a->from == b->from && a->fresh <= b->fresh &&
            b->at_milli_rto > a->at_milli_rto && !(su->done >> j & 1) && due_at(ft, su, b) <= now)
            return true;
    }
    return false;
}

static const struct rules_strategy *strategy_of(const struct ftree *ft, const struct suspect *su)
{
    int32_t strategy = case_of(ft, su)->strategy;

    return strategy >= 0 ? &ft->rules->strategy[strategy] : NULL;
}

/* Symptoms that came since may name a rank. */
static void note_rank(const struct ftree *ft, struct suspect *su)
{
    const struct ftree_case *g = case_of(ft, su);

    for (int32_t i = 0; i < g->symptoms && su->rank == FTREE_NONE; i++)
        su->rank = g->symptom[i].about.rank;
}

static void take_due(struct ftree *ft, ftree_time now, struct suspect *su)
{
    const struct rules_strategy *st = strategy_of(ft, su);

    note_rank(ft, su);
    su->again = su->deadline;
    for (int32_t i = 0; st && i < st->steps; i++) {
        ftree_time due = due_at(ft, su, &st->step[i]);
        if (su->done >> i & 1)
            continue;
        if (due > now) {
            su->again = ftree_min(su->again, due);
            continue;
        }
        if (!is_repeated(ft, now, su, st, i))
            take_step(ft, now, su, &st->step[i]);
        su->done |= 1u << i;
    }
}

static void trace_opened(struct ftree *ft, const struct ftree_case *g)
{
    ftree_trace(ft, "suspects %s: %s, rule %s", ftree_name(ft, g->node),
                ftree_symptom_info(g->symptom[g->symptoms - 1].kind)->name,
                ft->rules->rule[g->candidate[0].rule].name);
}

void ftree_probe_open(struct ftree *ft, ftree_time now, int32_t node, int32_t switch_,
                      uint32_t round)
{
    struct ftree_case *g = ftree_case_find(ft, node, switch_);
    struct suspect *su;

    if (!g)
        return;
    g->state = CASE_IDLE;
    if (ftree_is_leaving(ft) || ftree_has_failed(ft, node))
        return;
    if (!ftree_is_asking(ft))
        ftree_neighbour_forget(ft);
    su = ftree_suspect_open(ft, now, g, round);
    if (!su)
        return;
    su->deadline = now + ftree_silence_window(ft);
    trace_opened(ft, g);
    take_due(ft, now, su);
}

/* ---- deciding -------------------------------------------------------------------------------- */

/* It is asked no more. */
static void close_case(struct ftree *ft, struct suspect *su, bool well)
{
    bool emitted = FTREE_EMIT(ft, CLOSED, .well = well, .node = su->node, .switch_ = su->switch_);

    case_of(ft, su)->state = emitted && !well ? CASE_DECIDED : CASE_IDLE;
}

static void close_well(struct ftree *ft, struct suspect *su, const char *why)
{
    ftree_trace(ft, "%s is well: %s", ftree_name(ft, su->node), why);
    close_case(ft, su, true);
}

/* The one behind which all are silent; else what the suspect is, or is behind. */
static void name_switch(const struct ftree *ft, const struct suspect *su,
                        struct ftree_verdict *v)
{
    v->switch_ = ftree_neighbour_silence(ft, su, ftree_facts_answered(su)).switch_;
    if (v->switch_ == FTREE_NONE)
        v->switch_ =
            su->switch_ != FTREE_NONE ? su->switch_ : ftree_topo_switch_of(ft->topo, su->node);
    if (v->switch_ != FTREE_NONE && ft->job->tree->switch_head[v->switch_] != FTREE_NONE)
        v->node = ft->job->tree->switch_head[v->switch_]; /* the same for all that find it */
}

/* Of a crash the rank that the launcher says has ended, else the one that reset a connection.
 * Where none is known all of the node's are meant (the launcher lost its daemon there), and where
 * all have ended. */
static int32_t rank_of(const struct ftree *ft, int32_t node, int class_)
{
    bool is_crash = class_ == FTREE_CLASS_PROCESS_CRASH;
    bool all = is_crash && ftree_facts_all_ended(ft, node);
    int32_t rank = is_crash && !all ? ftree_facts_ended(ft, node) : FTREE_NONE;

    if (rank == FTREE_NONE && is_crash && !all)
        rank = ftree_facts_reset(ft, node);
    if (rank == FTREE_NONE && ftree_ranks_of(ft->job, node) == 1)
        rank = ftree_rank_at(ft->job, node, 0);
    return rank;
}

static void name_component(const struct ftree *ft, const struct suspect *su,
                           struct ftree_verdict *v)
{
    if (v->kind == FTREE_KIND_SWITCH)
        name_switch(ft, su, v);
    ftree_burst_name(ft, su->node, v);
    if (v->kind != FTREE_KIND_RANK)
        return;
    if (su->deputy_word.rank != FTREE_NONE) {
        v->rank = su->deputy_word.rank;
        v->pid = su->deputy_word.pid;
        v->victims = su->waiting; /* their agent cannot name them */
        return;
    }
    for (int32_t i = 0; i < su->node_state.ranks; i++)
        if (su->node_state.rank[i].proc_state == 'D') {
            v->rank = su->node_state.rank[i].rank;
            v->pid = su->node_state.rank[i].pid;
        }
    if (v->rank == FTREE_NONE)
        v->rank = rank_of(ft, su->node, v->class_);
    if (v->rank != FTREE_NONE && !v->pid && ft->job->rank_pid)
        v->pid = ft->job->rank_pid[v->rank];
}

static const char *raised_by(const struct ftree *ft, const struct ftree_case *g, int32_t model)
{
    for (int32_t i = 0; i < g->candidates; i++)
        if (g->candidate[i].model == model)
            return ft->rules->rule[g->candidate[i].rule].name;
    return "";
}

static bool any_witness(const struct ftree *ft, const struct suspect *su)
{
    return FTREE_ANY_PATH(path, ftree_facts_was_witnessed(ft, su, path));
}

static bool is_end_of_another(const struct ftree_symptom *s, int32_t rank)
{
    return rank != FTREE_NONE && ftree_symptom_is_end(s) && s->about.rank != rank;
}

static void conclude(struct ftree *ft, ftree_time now, const struct suspect *su,
                     const struct rules_sign *sign, int32_t model)
{
    int32_t node = sign->about_asker ? ft->self : su->node;
    const struct ftree_case *g = case_of(ft, su);
    struct ftree_verdict v;

    if (ftree_verdict_is_consequence(ft, model, node, su->switch_)) {
        ftree_trace(ft, "%s is a consequence of a fault that is known", sign->name);
        return;
    }
    ftree_verdict_init(ft, now, &v, sign, ft->rules->model[model].class_, node, FTREE_NONE);
    if (!sign->about_asker)
        name_component(ft, su, &v);
    if (v.kind == FTREE_KIND_SWITCH && v.switch_ == FTREE_NONE)
        v.kind = FTREE_KIND_NODE; /* no switch is known there */
    v.local_only = sign->about_asker && !any_witness(ft, su) && !ftree_facts_answered(su);
    snprintf(v.raised_by, sizeof(v.raised_by), "%s", raised_by(ft, g, model));
    ftree_facts_add_evidence(ft, now, su, &v);
    if (v.kind == FTREE_KIND_SWITCH)
        ftree_neighbour_add_evidence(ft, now, su, &v);
    v.symptoms = g->count;
    v.first_symptom = ftree_min(g->first, now);
    for (int32_t i = 0; i < g->symptoms; i++) {
        v.symptom_kinds |= (uint64_t) 1 << g->symptom[i].kind;
        if (!is_end_of_another(&g->symptom[i], v.rank))
            ftree_verdict_support(ft, now, &g->symptom[i], model, &v);
    }
    ftree_verdict_list(ft, g, &v);
    ftree_verdict_order(ft, g, &v);
    ftree_cause_add(ft, model, &v);
    ftree_handled_add_unknown(ft, su, model, &v);
    ftree_emit_verdict(ft, &v);
}

static void forget_old_words(struct suspect *su, int path, int role)
{
    uint8_t left = ftree_suspect_word_left(su, path, role);

    su->reach[path][role] = ftree_probe_reach(su, path, role);
    if (left == FTREE_REACH_NOT_ASKED)
        su->error[path][role] = su->reach[path][role] ? su->since_error[path][role] : 0;
}

/* What was asked and has not answered by the end is silent. */
static void end_silences(struct suspect *su)
{
    for (int path = 0; path < FTREE_PATHS; path++)
        for (int role = 0; role < FTREE_ROLES; role++) {
            forget_old_words(su, path, role);
            if (su->questions[path][role] > 0 && su->reach[path][role] == FTREE_REACH_NOT_ASKED)
                su->reach[path][role] = FTREE_REACH_SILENT;
        }
}

/* All faults but those that are only thought of where something speaks for them. */
static uint64_t all_models(const struct ftree *ft)
{
    uint64_t models = 0;

    for (int32_t m = 0; m < ft->rules->models; m++)
        if (!ft->rules->model[m].even_if_well)
            models |= (uint64_t) 1 << m;
    return models;
}

static const struct rules_sign *find_sign(struct ftree *ft, const struct suspect *su,
                                          bool at_end, bool *well, int32_t *model)
{
    const struct rules_sign *sign;
    struct rules_facts facts;

    ftree_facts_find(ft, su, at_end, &facts);
    sign = ftree_rules_decide(ft->rules, &facts, ftree_case_models(case_of(ft, su)), at_end, well,
                              model);
    if (sign || !at_end)
        return sign;
    ftree_trace(ft, "  no candidate fits %s: all models are tried", ftree_name(ft, su->node));
    return ftree_rules_decide(ft->rules, &facts, all_models(ft), at_end, well, model);
}

/* Several ranks may have ended, as the launcher says: each has a verdict of its own.  True:
 * there was one more. */
static bool conclude_another(struct ftree *ft, ftree_time now, const struct suspect *su,
                             struct ftree_event *e)
{
    int32_t rank = su->deputy_word.rank == FTREE_NONE && !ftree_has_failed(ft, su->node)
                       ? ftree_facts_ended(ft, su->node)
                       : FTREE_NONE;

    if (rank == FTREE_NONE || rank == e->u.rest.after)
        return false;
    e->u.rest.after = rank;
    conclude(ft, now, su, &ft->rules->model[e->u.rest.model].sign[e->u.rest.sign], e->u.rest.model);
    return ftree_emit(ft, e);
}

/* Beside a rank that ended another may be stopped, and the deputy says so. */
static void conclude_stopped(struct ftree *ft, ftree_time now, struct suspect *su)
{
    const struct rules_sign *sign;
    int32_t model = -1;
    bool well = false;

    su->deputy_word = su->deputy_next;
    sign = find_sign(ft, su, true, &well, &model);
    if (sign && !well && ft->rules->model[model].class_ == FTREE_CLASS_PROCESS_STOPPED)
        conclude(ft, now, su, sign, model);
}

void ftree_probe_rest(struct ftree *ft, ftree_time now, const struct ftree_event *rest)
{
    const struct ftree_case *g = ftree_case_find(ft, rest->node, rest->switch_);
    struct ftree_event e = *rest;

    if (g && g->suspect && !conclude_another(ft, now, g->suspect, &e) && e.u.rest.at_end)
        conclude_stopped(ft, now, g->suspect);
}

/* Looks at the signs; true: the suspect is decided about and no longer there. */
static bool judge(struct ftree *ft, ftree_time now, struct suspect *su, bool at_end)
{
    const struct rules_sign *sign;
    int32_t model = -1;
    bool well = false;

    note_rank(ft, su);
    sign = find_sign(ft, su, at_end, &well, &model);
    if (!sign && !at_end)
        return false;
    if (!sign || well) {
        ftree_burst_after(ft, now, su->node);
        ftree_fabric_after(ft, now, su);
        close_well(ft, su, sign ? sign->text : "no sign says otherwise");
        return true;
    }
    if (su->deputy_word.rank != FTREE_NONE && !ftree_facts_answered(su))
        ftree_peer_unresponsive(ft, now, su->node, false);
    conclude(ft, now, su, sign, model);
    if (ft->rules->model[model].class_ == FTREE_CLASS_PROCESS_CRASH)
        FTREE_EMIT(
            ft, REST, .node = su->node, .switch_ = su->switch_,
            .u.rest = {model, (int32_t) (sign - ft->rules->model[model].sign), FTREE_NONE, at_end});
    close_case(ft, su, false);
    return true;
}

void ftree_probe_due(struct ftree *ft, ftree_time now, int32_t node)
{
    struct suspect *su = ftree_suspect(ft, node);

    if (!su)
        return;
    end_silences(su);
    judge(ft, now, su, true);
}

void ftree_probe_learned(struct ftree *ft)
{
    FTREE_EACH_SUSPECT(su, ft)
        if (ftree_has_failed(ft, su->node) ||
            (ftree_facts_answered(su) &&
             (ftree_verdict_by_switch(ft, su->node) || ftree_verdict_by_switch(ft, ft->self))))
            close_case(ft, su, false);
}

/* ---- hearing --------------------------------------------------------------------------------- */

/* A rank, but for one, that the launcher, too, says has ended, then a stopped one; of those that no
 * verdict names yet, so that of several each gets its turn; else any. */
static struct wire_trouble worst_trouble(const struct ftree *ft, int32_t node, int32_t except,
                                         const struct wire_answer *a)
{
    struct wire_trouble any = {.rank = FTREE_NONE}, worst = any;
    int32_t ended = ftree_facts_ended(ft, node);

    for (int32_t i = 0; i < a->troubles; i++) {
        const struct wire_trouble *t = &a->trouble[i];
        bool gone = t->phase == FTREE_PHASE_GONE;
        if (ftree_node_of(ft, t->rank) != node || t->rank == except)
            continue;
        if (any.rank == FTREE_NONE)
            any = *t;
        if (ftree_verdict_on_rank(ft, node, t->rank) || (gone && t->rank != ended))
            continue;
        if (worst.rank == FTREE_NONE || gone)
            worst = *t;
    }
    return worst.rank != FTREE_NONE ? worst : any;
}

/* The rank that others wait for waits itself: its peer is asked about next, unless its own agent
 * has said so already.  (Of one that began to wait later it would say so up to a stall limit
 * later.) */
static void follow_chain(struct ftree *ft, ftree_time now, int32_t from, ftree_time first,
                         const struct wire_answer *a)
{
    struct ftree_case *g = ftree_case_find(ft, from, FTREE_NONE);
    struct ftree_symptom s;
    int32_t node;

    if (a->asked_peer == FTREE_NONE || a->leaving)
        return;
    node = ftree_node_of(ft, a->asked_peer);
    if (node == from)
        return;
    if (g)
        g->chain = node;
    if (a->asked_reported)
        return;
    ftree_symptom_init(&s, FTREE_SYMPTOM_CHAINED, node, a->asked_peer, from, first, now);
    ftree_emit_symptom(ft, FTREE_EVENT_SYMPTOM, &s);
}

void ftree_probe_answer(struct ftree *ft, ftree_time now, int32_t from, enum ftree_path path,
                        const struct wire_answer *a)
{
    struct suspect *su = ftree_suspect(ft, from);

    if (!su || su->nonce != a->nonce)
        return;
    su->reach[path][a->role] = FTREE_REACH_ANSWERED;
    if (a->role == FTREE_ROLE_DEPUTY) {
        su->deputy_word = worst_trouble(ft, from, FTREE_NONE, a);
        su->deputy_next = worst_trouble(ft, from, su->deputy_word.rank, a);
        su->waiting = a->waiting;
        judge(ft, now, su, false);
        return;
    }
    su->answered_question[path] = su->questions[path][FTREE_ROLE_AGENT];
    su->since[path][FTREE_ROLE_AGENT] = FTREE_REACH_NOT_ASKED;
    if (su->tries == 1 && !su->waits) /* one that waits would have been asked again before this */
        ftree_rtt(ft, now - su->asked);
    note_rank(ft, su);
    if (a->leaving) {
        close_well(ft, su, "it leaves");
        FTREE_EMIT(ft, LEFT, .node = from);
    } else if (judge(ft, now, su, false)) {
        follow_chain(ft, now, from, case_of(ft, su)->first, a);
    }
}

void ftree_probe_state(struct ftree *ft, ftree_time now, int32_t from, const struct wire_state *s,
                       bool delivers)
{
    struct suspect *su = ftree_suspect(ft, from);

    if (!su || su->nonce != s->nonce)
        return;
    su->node_state = s->state;
    su->has_state = true;
    su->delivers[FTREE_PATH_DATA] = delivers ? now : 0;
    judge(ft, now, su, false);
}

void ftree_probe_indirect_result(struct ftree *ft, ftree_time now, int32_t from,
                                 const struct wire_indirect_result *s, bool delivers)
{
    struct suspect *su = ftree_suspect(ft, s->target);

    if (s->way[0] || s->way[1]) {
        ftree_burst_seen(ft, now, from, s);
        return;
    }
    ftree_neighbour_indirect_result(ft, from, s);
    if (!su || su->nonce != s->nonce)
        return;
    if (delivers)
        su->delivers[s->path] = now;
    if (s->reach <= su->elsewhere[s->path].reach)
        return;
    su->elsewhere[s->path].reach = s->reach;
    su->elsewhere[s->path].by = from;
    su->elsewhere[s->path].at = now;
    ftree_trace(ft, "  %s asked %s over %s: %s", ftree_name(ft, from), ftree_name(ft, su->node),
                ftree_path_name(s->path), ftree_reach_name(s->reach));
    judge(ft, now, su, false);
}

void ftree_probe_log(struct ftree *ft, ftree_time now, int32_t from, const struct wire_log *l)
{
    struct suspect *su = ftree_suspect(ft, from);

    if (!su || su->nonce != l->nonce || l->log.entries == 0)
        return;
    su->message = l->log.entry[0];
    su->has_log = true;
    judge(ft, now, su, false);
}

static void note_word(struct suspect *su, ftree_time now, enum ftree_path path,
                      enum ftree_role role, enum ftree_reach reach, int16_t error)
{
    if (reach == FTREE_REACH_CONNECTED && !su->connected)
        su->connected = now;
    if (reach == FTREE_REACH_CONNECTED || reach == FTREE_REACH_REFUSED) {
        su->kernel[path][role] = (uint8_t) reach;
        su->kernel_connection[path][role] = su->connections[path][role];
        su->since[path][role] = FTREE_REACH_NOT_ASKED;
    } else if (reach > su->since[path][role]) {
        su->since[path][role] = (uint8_t) reach;
        su->since_error[path][role] = error;
    }
    if (reach > su->reach[path][role]) {
        su->reach[path][role] = (uint8_t) reach;
        su->error[path][role] = error;
    }
}

void ftree_probe_reached(struct ftree *ft, ftree_time now, int32_t node, enum ftree_path path,
                         enum ftree_role role, enum ftree_reach reach, int error)
{
    struct suspect *su = ftree_suspect(ft, node);

    if (!su)
        return;
    note_word(su, now, path, role, reach, (int16_t) (error > 0 && error < 4096 ? error : 0));
    if (ftree_is_leaving(ft) && reach == FTREE_REACH_REFUSED)
        close_well(ft, su, "it has left");
    else
        judge(ft, now, su, false);
}

/* ---- time ------------------------------------------------------------------------------------ */

/* All but what was asked at first is asked once more, as if the first time were one rto ago. */
static void ask_again(const struct ftree *ft, ftree_time now, struct suspect *su)
{
    const struct rules_strategy *st = strategy_of(ft, su);

    for (int32_t i = 0; st && i < st->steps; i++)
        if (st->step[i].at_milli_rto > 0)
            su->done &= ~(1u << i);
    su->base = now > ftree_silence_unit(ft) ? now - ftree_silence_unit(ft) : 0;
    su->again = now;
}

/* The window is a new one. */
static void begin_anew(const struct ftree *ft, ftree_time now, struct suspect *su)
{
    su->opened = now;
    memset(su->works, 0, sizeof(su->works));
    su->deadline = now + ftree_silence_window(ft);
    ask_again(ft, now, su);
}

/* The own thread did not run when it should have: nobody is to blame for answers it missed.  anew:
 * it did not for so long that the others may not have run either. */
void ftree_probe_excuse(struct ftree *ft, ftree_time now, ftree_time late, bool anew)
{
    if (!ftree_is_asking(ft))
        return;
    ftree_trace(ft, "own tick late by %d ms: nobody is accused before being asked again",
                (int) (late / FTREE_MS));
    FTREE_EACH_SUSPECT(su, ft) {
        su->deadline = ftree_max(su->deadline + late, now + 2 * ftree_silence_unit(ft));
        if (anew)
            begin_anew(ft, now, su);
        else
            ask_again(ft, now, su);
    }
}

/* Other rules may ask other things, or nothing. */
void ftree_probe_restart(struct ftree *ft, ftree_time now)
{
    FTREE_EACH_SUSPECT(su, ft) {
        su->done = 0;
        su->again = now;
        if (!strategy_of(ft, su) || case_of(ft, su)->candidates == 0)
            close_well(ft, su, "no rule asks about it any more");
    }
}

/* Its agent answered, but now it does not, or by a path that should work it never did: there is no
 * hurry, for messages may have been lost. */
static bool is_one_sided(const struct ftree *ft, const struct suspect *su)
{
    bool any_silent = false, any_answered = false;

    for (int path = 0; path < FTREE_PATHS; path++) {
        uint8_t reach = su->reach[path][FTREE_ROLE_AGENT];
        bool answered = reach == FTREE_REACH_ANSWERED;
        any_answered |= answered;
        any_silent |= answered ? ftree_suspect_is_old_answer(su, path)
                               : ft->job->has_path[path] && (reach == FTREE_REACH_NOT_ASKED ||
                                                             reach == FTREE_REACH_UNREACHABLE);
    }
    return any_answered && any_silent;
}

static bool awaits_handlers(const struct ftree *ft, ftree_time now, struct suspect *su)
{
    bool anew, waits = ftree_handled_waits(now, su, &anew);

    if (anew) {
        su->deadline = now + ftree_silence_unit(ft);
        ask_again(ft, now, su);
    }
    return waits;
}

/* Its window may have grown since it began, and what is silent at its end may not count yet. */
static bool needs_longer(struct ftree *ft, ftree_time now, struct suspect *su)
{
    ftree_time unit = ftree_silence_unit(ft), until;
    ftree_time end = su->opened + ftree_silence_window_of(ft, now, is_one_sided(ft, su));
    bool ask = true;

    if (ftree_burst_runs(ft, su->node)) /* it ends by itself */
        end = ftree_max(end, now + 2 * unit);
    /* who is asked again needs the time to answer: else the question alone makes old what its
     * kernel said before */
    if (now + unit < end)
        until = ftree_min(end, now + 2 * unit); /* by then the lag may be another */
    else
        until = ftree_silence_until(ft, now, su, &ask);
    if (!until)
        return awaits_handlers(ft, now, su);
    su->deadline = until;
    if (ask)
        ask_again(ft, now, su);
    return true;
}

/* What was heard while it waited is as good as what a first question brings. */
static void resume(const struct ftree *ft, ftree_time now, struct suspect *su)
{
    su->waits = false;
    su->waited = true;
    begin_anew(ft, now, su);
}

/* True: it waits for the result of others behind its switch. */
static bool is_held(struct ftree *ft, ftree_time now, struct suspect *su)
{
    ftree_time until = ftree_crowd_until(ft, su);

    if (until) {
        if (!su->waits)
            ftree_trace(ft, "  %s waits for the result of others behind its switch",
                        ftree_name(ft, su->node));
        su->waits = true;
        su->again = su->deadline = ftree_max(until, now + ftree_rto(ft) / 8);
        return true;
    }
    if (su->waits)
        resume(ft, now, su);
    return false;
}

/* True: what is known of it now is all there is to know. */
static bool is_over(struct ftree *ft, ftree_time now, struct suspect *su)
{
    if (su->again <= now && ftree_silence_is_mute(ft, now, su)) {
        su->deadline = now;
        return true;
    }
    return su->deadline <= now && !needs_longer(ft, now, su);
}

void ftree_probe_tick(struct ftree *ft, ftree_time now)
{
    FTREE_EACH_SUSPECT(su, ft) {
        if (ftree_burst_is_news(ft, su->node) && judge(ft, now, su, false))
            return;
        if (su->again <= now && is_held(ft, now, su))
            continue;
        if (is_over(ft, now, su)) {
            FTREE_EMIT(ft, DUE, .node = su->node, .switch_ = su->switch_);
            return; /* a verdict may close others */
        }
        if (su->again <= now)
            take_due(ft, now, su);
    }
}

ftree_time ftree_probe_deadline(const struct ftree *ft)
{
    ftree_time t = FTREE_NEVER;

    FTREE_EACH_SUSPECT(su, ft)
        t = ftree_min(t, ftree_min(su->again, su->deadline));
    return t;
}

void ftree_examine_clear(struct ftree *ft)
{
    ftree_alloc(ft, ft->examine->indirect_probes.items, 0);
    ftree_alloc(ft, ft->examine->neighbours.items, 0);
    ftree_alloc(ft, ft->examine->bursts.items, 0);
    ftree_rare_clear(ft);
}

void ftree_examine_stop(struct ftree *ft)
{
    ft->examine->indirect_probes.n = 0;
    ftree_burst_stop(ft);
    ftree_fabric_stop(ft);
    ftree_inquiry_stop(ft);
}
