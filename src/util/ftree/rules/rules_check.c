/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/base/io.h"
#include "ftree/rules/rules_reader.h"

#include <stdio.h>

/* Do the tables fit together: circles, and what can never come about. */

/* ---- circles --------------------------------------------------------------------------------- */

static bool needs(const struct rules_rule *rule, uint64_t kinds)
{
    for (int32_t p = 0; p < rule->patterns; p++)
        if (rule->pattern[p].kinds & kinds)
            return true;
    return false;
}

/* All symptoms that follow from this one in the end. */
static uint64_t derived_from(const struct ftree_rules *rules, int32_t kind)
{
    uint64_t all = (uint64_t) 1 << kind, before = 0;

    while (all != before) {
        before = all;
        for (int32_t i = 0; i < rules->rules; i++)
            if (rules->rule[i].derives >= 0 && needs(&rules->rule[i], all))
                all |= (uint64_t) 1 << rules->rule[i].derives;
    }
    return all;
}

static void check_derived(struct rules_reader *r, const struct rules_rule *rule)
{
    rules_path_key(&r->path, "then");
    rules_path_key(&r->path, "derive");
    if (rule->derives >= 0 && needs(rule, derived_from(r->rules, rule->derives)))
        rules_fail(r, false, "goes in a circle: from \"%s\" follows again what the rule needs",
                   ftree_symptom_info(rule->derives)->name);
    rules_path_leave(&r->path);
    rules_path_leave(&r->path);
}

/* A chain has a first cause, and no fault is its own consequence. */
static void check_circle(struct rules_reader *r, int32_t m, bool causes, const char *key,
                         const char *does)
{
    rules_path_index(&r->path, m);
    rules_path_key(&r->path, key);
    if (ftree_rules_follow(r->rules, m, causes) >> m & 1)
        rules_fail(r, false, "goes in a circle: in the end \"%s\" %s itself",
                   r->rules->model[m].name, does);
    rules_path_leave(&r->path);
    rules_path_leave(&r->path);
}

/* ---- what a strategy can find out ------------------------------------------------------------ */

#define BIT(value) (1u << (value))

enum asked {
    ASKS_AGENT = 1,
    ASKS_DEPUTY = 2,
    ASKS_STATE = 4,
    ASKS_ELSEWHERE = 8,
    ASKS_NEIGHBOURS = 16,
    ASKS_NEVER = 32 /* no examination does */
};

static unsigned what_is_asked(const struct rules_strategy *s)
{
    unsigned asked = 0;

    for (int32_t i = 0; s && i < s->steps; i++) {
        const struct rules_step *step = &s->step[i];
        bool of_agent = step->of == RULES_OF_AGENT;
        asked |= step->of == RULES_OF_NEIGHBOURS ? ASKS_NEIGHBOURS : 0;
        if (step->from == RULES_FROM_ELSEWHERE && of_agent) {
            asked |= ASKS_ELSEWHERE;
            continue;
        }
        asked |= of_agent ? ASKS_AGENT : 0;
        asked |= step->of == RULES_OF_DEPUTY ? ASKS_DEPUTY : 0;
        asked |= step->ask == RULES_ASK_STATE && of_agent ? ASKS_STATE : 0;
    }
    return asked;
}

#define NOT_ASKED (BIT(FTREE_REACH_NOT_ASKED) | BIT(RULES_REACH_NO_PATH))

/* By what a fact becomes known, and the values that it has else; the others are known without
 * asking. */
static const struct {
    uint8_t by, otherwise;
} sources[RULES_FACT_COUNT] = {
    [RULES_FACT_AGENT] = {ASKS_AGENT, NOT_ASKED},
    [RULES_FACT_MAIN] = {ASKS_AGENT, NOT_ASKED},
    [RULES_FACT_DATA] = {ASKS_AGENT, NOT_ASKED},
    [RULES_FACT_MGMT] = {ASKS_AGENT, NOT_ASKED},
    [RULES_FACT_DEPUTY] = {ASKS_DEPUTY, NOT_ASKED},
    [RULES_FACT_ELSEWHERE] = {ASKS_ELSEWHERE, NOT_ASKED},
    [RULES_FACT_ELSEWHERE_DATA] = {ASKS_ELSEWHERE, NOT_ASKED},
    [RULES_FACT_BEHIND] = {ASKS_NEIGHBOURS, BIT(RULES_BEHIND_NONE)},
    [RULES_FACT_BEHIND_DATA] = {ASKS_NEIGHBOURS, BIT(RULES_BEHIND_NONE)},
    [RULES_FACT_DEPUTY_CONNECTS] = {ASKS_DEPUTY, BIT(RULES_NO)},
    [RULES_FACT_SEEN_BY] = {ASKS_DEPUTY, BIT(RULES_SEEN_BY_NOBODY) | BIT(RULES_SEEN_BY_AGENT)},
    /* while one waits, any node may be heard */
    [RULES_FACT_WITNESSED] = {ASKS_AGENT, BIT(RULES_WITNESSED_NONE)},
    [RULES_FACT_DATA_WITNESSED] = {ASKS_AGENT, BIT(RULES_NO)},
    [RULES_FACT_LINK] = {ASKS_STATE, BIT(FTREE_LINK_UNKNOWN)},
    [RULES_FACT_STATE_KNOWN] = {ASKS_STATE, BIT(RULES_NO)},
    [RULES_FACT_WAITS] = {ASKS_NEVER, BIT(RULES_WAITS_NONE)},
    [RULES_FACT_OUTSIDE] = {ASKS_NEVER, BIT(RULES_OUTSIDE_NONE)},
    [RULES_FACT_SLOWED] = {ASKS_NEVER, BIT(RULES_SLOWED_NONE)},
    [RULES_FACT_IN_MPI] = {ASKS_NEVER, BIT(RULES_NO)},
    [RULES_FACT_OTHERS_GO_ON] = {ASKS_NEVER, BIT(RULES_NO)},
};

static bool may_hold(const struct rules_condition *c, unsigned asked)
{
    if (c->is_number)
        return asked & ASKS_STATE;
    return !sources[c->fact].by || asked & sources[c->fact].by ||
           c->values & sources[c->fact].otherwise;
}

static bool can_hold(const struct rules_sign *sign, unsigned asked)
{
    for (int32_t i = 0; i < sign->conditions; i++)
        if (!may_hold(&sign->condition[i], asked))
            return false;
    return true;
}

static bool can_be_decided(const struct rules_model *model, unsigned asked)
{
    for (int32_t s = 0; s < model->signs; s++)
        if (can_hold(&model->sign[s], asked))
            return true;
    return false;
}

static void check_candidates(struct rules_reader *r, const struct rules_rule *rule)
{
    const struct rules_strategy *s =
        rule->strategy < 0 ? NULL : &r->rules->strategy[rule->strategy];
    unsigned asked = what_is_asked(s);

    rules_path_key(&r->path, "then");
    rules_path_key(&r->path, "candidates");
    for (int32_t i = 0; i < rule->candidates; i++) {
        const struct rules_model *model = &r->rules->model[rule->candidate[i].model];
        rules_path_index(&r->path, i);
        if (!model->listed_only && !can_be_decided(model, asked))
            rules_fail(r, false, "no sign of \"%s\" can ever hold: %s%s%s does not ask for it",
                       model->name, s ? "strategy \"" : "the rule", s ? s->name : "",
                       s ? "\"" : ", without \"probes\",");
        rules_path_leave(&r->path);
    }
    rules_path_leave(&r->path);
    rules_path_leave(&r->path);
}

void rules_check(struct rules_reader *r)
{
    rules_path_key(&r->path, "models");
    for (int32_t m = 0; m < r->rules->models; m++) {
        check_circle(r, m, true, "causes", "causes");
        check_circle(r, m, false, "leads_to", "leads to");
    }
    rules_path_leave(&r->path);
    rules_path_key(&r->path, "rules");
    for (int32_t i = 0; i < r->rules->rules; i++) {
        rules_path_index(&r->path, i);
        check_derived(r, &r->rules->rule[i]);
        check_candidates(r, &r->rules->rule[i]);
        rules_path_leave(&r->path);
    }
    rules_path_leave(&r->path);
}
