/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/examine/examine.h"

#include <math.h>
#include <string.h>

/* What the probes of a suspect came to: as facts in the words of the rule base, which decides, and
 * as evidence in the words of the report, which tells. */

#define ASKED_ENOUGH 5 /* units: the question by a new connection at 4.5 is followed by one */

/* Who showed that the path works as the suspect was asked; a suspect is no witness of its own.
 * NULL: nobody did. */
static const struct witness *find_witness(const struct ftree *ft, const struct suspect *su,
                                          int path)
{
    const struct witness *w = &ft->examine->heard[path][0];

    if (w->node == su->node)
        w++;
    return ftree_silence_counts(su, path) && w->at > 0 && w->node != su->node ? w : NULL;
}

bool ftree_facts_was_witnessed(const struct ftree *ft, const struct suspect *su, int path)
{
    return find_witness(ft, su, path) != NULL;
}

/* ---- facts ----------------------------------------------------------------------------------- */

static void find_reaches(const struct ftree *ft, const struct suspect *su, bool at_end,
                         struct rules_facts *facts)
{
    static const uint8_t by_role[FTREE_ROLES] = {RULES_FACT_AGENT, RULES_FACT_DEPUTY};
    static const uint8_t by_path[FTREE_PATHS] = {RULES_FACT_DATA, RULES_FACT_MGMT};

    for (int path = 0; path < FTREE_PATHS; path++) {
        if (!ft->job->has_path[path])
            continue;
        for (int role = 0; role < FTREE_ROLES; role++) {
            uint8_t reach = su->reach[path][role];
            if (at_end && su->questions[path][role] > 0 && reach == FTREE_REACH_NOT_ASKED)
                reach = FTREE_REACH_SILENT;
            if (reach > facts->value[by_role[role]])
                facts->value[by_role[role]] = reach;
            if (role == FTREE_ROLE_AGENT)
                facts->value[by_path[path]] = reach;
            else if (reach == FTREE_REACH_CONNECTED)
                facts->value[RULES_FACT_DEPUTY_CONNECTS] = RULES_YES;
            /* a path by which the deputy's port is reached is not silent, if it loses much */
            if (role == FTREE_ROLE_DEPUTY && reach >= FTREE_REACH_CONNECTED &&
                facts->value[by_path[path]] < FTREE_REACH_CONNECTED)
                facts->value[by_path[path]] = FTREE_REACH_CONNECTED;
        }
    }
    if (!ft->job->has_path[FTREE_PATH_DATA] && !ft->job->has_path[FTREE_PATH_MGMT])
        facts->value[RULES_FACT_AGENT] = facts->value[RULES_FACT_DEPUTY] = RULES_REACH_NO_PATH;
    facts->value[RULES_FACT_MAIN] =
        facts->value[ft->job->has_path[FTREE_PATH_DATA] ? RULES_FACT_DATA : RULES_FACT_MGMT];
}

static void find_elsewhere(const struct ftree *ft, const struct suspect *su,
                           struct rules_facts *facts)
{
    uint8_t *best = &facts->value[RULES_FACT_ELSEWHERE];

    for (int path = 0; path < FTREE_PATHS; path++)
        if (su->elsewhere[path].reach > *best)
            *best = su->elsewhere[path].reach;
    facts->value[RULES_FACT_ELSEWHERE_DATA] = ft->job->has_path[FTREE_PATH_DATA]
                                                  ? su->elsewhere[FTREE_PATH_DATA].reach
                                                  : RULES_REACH_NO_PATH;
}

static void find_surroundings(const struct ftree *ft, const struct suspect *su,
                              struct rules_facts *facts)
{
    int paths = 0, down = 0, witnessed = 0;

    for (int path = 0; path < FTREE_PATHS; path++) {
        if (!ft->job->has_path[path])
            continue;
        paths++;
        down += su->reach[path][FTREE_ROLE_AGENT] == FTREE_REACH_LOCAL_DOWN;
        witnessed += ftree_facts_was_witnessed(ft, su, path);
    }
    facts->value[RULES_FACT_WITNESSED] = (uint8_t) witnessed; /* none, one, both */
    facts->value[RULES_FACT_DATA_WITNESSED] =
        ft->job->has_path[FTREE_PATH_DATA] && ftree_facts_was_witnessed(ft, su, FTREE_PATH_DATA);
    facts->value[RULES_FACT_OTHERS] = ft->job->nodes - 2 - ftree_verdict_failed(ft, su->node) > 0;
    facts->value[RULES_FACT_OWN_SIDE] = down == paths ? RULES_SIDE_DOWN : RULES_SIDE_UP;
}

static double centi(uint32_t value)
{
    return value == UINT32_MAX ? NAN : value / 100.0;
}

static double percent(uint64_t part, uint64_t whole)
{
    if (part == UINT64_MAX || whole == UINT64_MAX || whole == 0)
        return NAN;
    return 100.0 * (double) part / (double) whole;
}

static double count(uint64_t n)
{
    return n == UINT64_MAX ? NAN : (double) n;
}

static double frequency_percent(const struct ftree_node_state *s)
{
    if (s->frequency_max_mhz == UINT32_MAX || s->frequency_nominal_mhz == UINT32_MAX ||
        s->frequency_nominal_mhz == 0)
        return NAN;
    return 100.0 * s->frequency_max_mhz / s->frequency_nominal_mhz;
}

static void find_state(const struct ftree_node_state *s, struct rules_facts *facts)
{
    double *number = facts->number;

    if (s->cpus && s->cpus != UINT32_MAX)
        number[RULES_NUMBER_LOAD] = centi(s->load_centi) / s->cpus;
    number[RULES_NUMBER_CPU_PRESSURE] = centi(s->cpu_pressure_centi);
    number[RULES_NUMBER_MEMORY_PRESSURE] = centi(s->memory_pressure_centi);
    number[RULES_NUMBER_IO_PRESSURE] = centi(s->io_pressure_centi);
    number[RULES_NUMBER_MEMORY_AVAILABLE] = percent(s->memory_available, s->memory_total);
    number[RULES_NUMBER_SWAP_USED] = 100.0 - percent(s->swap_free, s->swap_total);
    number[RULES_NUMBER_FREQUENCY] = frequency_percent(s);
    number[RULES_NUMBER_THROTTLES] = count(s->throttles);
    number[RULES_NUMBER_LINK_ERRORS] = count(s->link_errors);
    number[RULES_NUMBER_LINK_DROPS] = count(s->link_drops);
    facts->value[RULES_FACT_LINK] = s->link;
    facts->value[RULES_FACT_STATE_KNOWN] = RULES_YES;
}

/* The rank of the suspect that is worst off, as its state probe says: in the kernel, in state D. */
static void find_process(const struct suspect *su, struct rules_facts *facts)
{
    for (int32_t i = 0; i < su->node_state.ranks; i++)
        if (su->node_state.rank[i].proc_state == 'D')
            ftree_rules_process(facts, su->node_state.rank[i].phase, 'D', RULES_SEEN_BY_AGENT);
}

/* A rank is meant of which no verdict says yet that it ended. */
static bool is_news(const struct ftree *ft, const struct ftree_symptom *s)
{
    return !ftree_verdict_find(ft, FTREE_CLASS_PROCESS_CRASH, s->about.node, s->about.rank);
}

static bool is_new_reset(const struct ftree *ft, const struct ftree_symptom *s)
{
    return s->kind == FTREE_SYMPTOM_PEER_RESET && is_news(ft, s);
}

/* The next rank of a node that is suspected, after `after` (FTREE_NONE: the first), of which the
 * process manager said that it ended, and no verdict says so yet; FTREE_NONE: none. */
static int32_t next_ended(const struct ftree *ft, int32_t node, int32_t after)
{
    const struct ftree_case *g = ftree_case_find(ft, node, FTREE_NONE);

    for (int32_t r = 0; g && r < g->ended.ranges; r++)
        for (int32_t i = g->ended.range[r].first; i <= g->ended.range[r].last; i++) {
            int32_t rank = ftree_rank_at(ft->job, node, i);
            if (rank > after && !ftree_verdict_find(ft, FTREE_CLASS_PROCESS_CRASH, node, rank))
                return rank;
        }
    return FTREE_NONE;
}

int32_t ftree_facts_ended(const struct ftree *ft, int32_t node)
{
    return next_ended(ft, node, FTREE_NONE);
}

/* True if it said so of all ranks of the node. */
bool ftree_facts_all_ended(const struct ftree *ft, int32_t node)
{
    const struct ftree_case *g = ftree_case_find(ft, node, FTREE_NONE);

    return g && g->ended.count == ftree_ranks_of(ft->job, node);
}

/* The rank that reset a connection. */
int32_t ftree_facts_reset(const struct ftree *ft, int32_t node)
{
    const struct ftree_case *g = ftree_case_find(ft, node, FTREE_NONE);

    for (int32_t i = 0; g && i < g->symptoms; i++)
        if (is_new_reset(ft, &g->symptom[i]))
            return g->symptom[i].about.rank;
    return FTREE_NONE;
}

/* What process manager and transport said of the suspect; of both that the former knows, that a
 * process ended.  Where its deputy names a rank, another's end counts for nothing. */
static void find_told(const struct ftree *ft, const struct suspect *su,
                      struct rules_facts *facts)
{
    const struct ftree_case *g = ftree_case_find(ft, su->node, FTREE_NONE);
    uint8_t *launcher = &facts->value[RULES_FACT_LAUNCHER];
    int32_t rank = su->deputy_word.rank;
    int32_t ended = next_ended(ft, su->node, rank == FTREE_NONE ? FTREE_NONE : rank - 1);

    if (ended != FTREE_NONE && (rank == FTREE_NONE || rank == ended))
        *launcher = RULES_LAUNCHER_ENDED;
    for (int32_t i = 0; g && i < g->symptoms; i++) {
        const struct ftree_symptom *s = &g->symptom[i];
        if (rank == FTREE_NONE && ftree_symptom_is_end(s) && s->about.rank == FTREE_NONE &&
            is_news(ft, s))
            *launcher = RULES_LAUNCHER_ENDED;
        else if (s->kind == FTREE_SYMPTOM_PROXY_LOST && *launcher == RULES_LAUNCHER_NONE)
            *launcher = RULES_LAUNCHER_LOST;
        if (is_new_reset(ft, s))
            facts->value[RULES_FACT_TRANSPORT] = RULES_TRANSPORT_RESET;
    }
}

/* A silence of one direction may end as one of both may: until the suspect was asked by the last new
 * connection, and once more, it decides nothing.  doc/protocol.md says how long a silence may last. */
static void forget_early_silence(const struct ftree *ft, const struct suspect *su,
                                 struct rules_facts *facts)
{
    static const uint8_t ways[] = {RULES_FACT_WAY_OUT, RULES_FACT_WAY_IN};

    for (int i = 0; i < 2; i++)
        if (facts->value[ways[i]] == RULES_WAY_SILENT &&
            su->asked < su->opened + ASKED_ENOUGH * ftree_silence_unit(ft))
            facts->value[ways[i]] = RULES_WAY_UNKNOWN;
}

void ftree_facts_find(const struct ftree *ft, const struct suspect *su, bool at_end,
                      struct rules_facts *facts)
{
    ftree_rules_no_facts(facts);
    find_reaches(ft, su, at_end, facts);
    find_elsewhere(ft, su, facts);
    find_surroundings(ft, su, facts);
    find_told(ft, su, facts);
    ftree_burst_facts(ft, su->node, facts);
    ftree_handled_find(su, ftree_case_find(ft, su->node, FTREE_NONE), facts);
    if (at_end) {
        facts->value[RULES_FACT_BEHIND] = ftree_neighbour_silence(ft, su, false).behind;
        facts->value[RULES_FACT_BEHIND_DATA] = ftree_neighbour_silence(ft, su, true).behind;
    } else {
        forget_early_silence(ft, su, facts);
        if (ftree_neighbour_may_be_switch(ft, su))
            facts->value[RULES_FACT_BEHIND_DATA] = RULES_BEHIND_SILENT;
    }
    if (su->deputy_word.rank != FTREE_NONE)
        ftree_rules_process(facts, su->deputy_word.phase, su->deputy_word.proc_state,
                            RULES_SEEN_BY_DEPUTY);
    if (su->has_state) {
        find_state(&su->node_state, facts);
        if (su->deputy_word.rank == FTREE_NONE)
            find_process(su, facts);
    }
}

/* ---- evidence -------------------------------------------------------------------------------- */

static void add_reaches(const struct suspect *su, struct ftree_evidence e, struct ftree_verdict *v)
{
    for (int role = 0; role < FTREE_ROLES; role++) {
        e.role = (uint8_t) role;
        e.reach = su->reach[e.path][role];
        e.error = su->error[e.path][role];
        e.proc_state = role == FTREE_ROLE_DEPUTY && e.reach == FTREE_REACH_ANSWERED &&
                               su->deputy_word.rank != FTREE_NONE
                           ? su->deputy_word.proc_state
                           : 0;
        if (e.reach != FTREE_REACH_NOT_ASKED)
            ftree_verdict_add_evidence(v, &e);
    }
}

static void add_witness(const struct witness *w, struct ftree_evidence e, struct ftree_verdict *v)
{
    e.target = w->node;
    e.reach = w->reach;
    e.at = w->at;
    ftree_verdict_add_evidence(v, &e);
}

static void add_elsewhere(const struct suspect *su, struct ftree_evidence e, struct ftree_verdict *v)
{
    e.source = FTREE_EVIDENCE_INDIRECT;
    e.by = su->elsewhere[e.path].by;
    e.reach = su->elsewhere[e.path].reach;
    e.at = su->elsewhere[e.path].at;
    ftree_verdict_add_evidence(v, &e);
}

static void add_number(char text[FTREE_DETAIL_MAX], const char *name, double value)
{
    if (!isnan(value))
        ftree_text_add(text, FTREE_DETAIL_MAX, ", %s %.4g", name, value);
}

static void add_state(const struct ftree *ft, ftree_time now, const struct suspect *su,
                      struct ftree_verdict *v)
{
    char text[FTREE_DETAIL_MAX] = "";
    struct rules_facts facts;

    ftree_rules_no_facts(&facts);
    find_state(&su->node_state, &facts);
    add_number(text, "load/CPU", facts.number[RULES_NUMBER_LOAD]);
    add_number(text, "memory free %", facts.number[RULES_NUMBER_MEMORY_AVAILABLE]);
    add_number(text, "memory pressure %", facts.number[RULES_NUMBER_MEMORY_PRESSURE]);
    ftree_verdict_add_line(ft, now, FTREE_EVIDENCE_STATE, su->node, v, "data interface %s%s",
                           ftree_link_name(su->node_state.link), text);
}

void ftree_facts_add_evidence(const struct ftree *ft, ftree_time now, const struct suspect *su,
                              struct ftree_verdict *v)
{
    for (int path = 0; path < FTREE_PATHS; path++) {
        const struct ftree_evidence e = {
            .path = (uint8_t) path, .target = su->node, .by = ft->self, .at = now};
        add_reaches(su, e, v);
        if (ftree_facts_was_witnessed(ft, su, path))
            add_witness(find_witness(ft, su, path), e, v);
        if (su->elsewhere[path].reach != FTREE_REACH_NOT_ASKED)
            add_elsewhere(su, e, v);
    }
    ftree_burst_add_evidence(ft, now, su->node, v);
    if (ftree_class_says(v->class_, FTREE_IS_PATH) || v->class_ == FTREE_CLASS_UNKNOWN)
        ftree_burst_add_losses(ft, now, su->node, v);
    if (su->has_state)
        add_state(ft, now, su, v);
    ftree_handled_add_evidence(ft, su, v);
    if (su->has_log)
        ftree_verdict_add_message(ft, now, su->node, &su->message, true, v);
}
