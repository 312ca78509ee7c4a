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

/* A chain has a first cause. */
static void check_leads_to(struct rules_reader *r, int32_t m)
{
    rules_path_index(&r->path, m);
    rules_path_key(&r->path, "leads_to");
    if (ftree_rules_led_to(r->rules, m) >> m & 1)
        rules_fail(r, false, "goes in a circle: in the end \"%s\" leads to itself",
                   r->rules->model[m].name);
    rules_path_leave(&r->path);
    rules_path_leave(&r->path);
}

/* A fault that in the end causes itself would be a consequence of itself. */
static void check_causes(struct rules_reader *r, int32_t m)
{
    const struct rules_model *model = r->rules->model;
    uint64_t all = model[m].causes, before = 0;

    while (all != before) {
        before = all;
        for (int32_t i = 0; i < r->rules->models; i++)
            if (all >> i & 1)
                all |= model[i].causes;
    }
    rules_path_index(&r->path, m);
    rules_path_key(&r->path, "causes");
    if (all >> m & 1)
        rules_fail(r, false, "goes in a circle: in the end \"%s\" causes itself", model[m].name);
    rules_path_leave(&r->path);
    rules_path_leave(&r->path);
}

/* ---- what a strategy can find out ------------------------------------------------------------ */

struct asked {
    bool agent, deputy, state, elsewhere, neighbours;
};

static struct asked what_is_asked(const struct rules_strategy *s)
{
    struct asked a = {.agent = false};

    for (int32_t i = 0; s && i < s->steps; i++) {
        a.neighbours |= s->step[i].of == RULES_OF_NEIGHBOURS;
        if (s->step[i].from == RULES_FROM_ELSEWHERE && s->step[i].of == RULES_OF_AGENT) {
            a.elsewhere = true;
            continue;
        }
        a.agent |= s->step[i].of == RULES_OF_AGENT;
        a.deputy |= s->step[i].of == RULES_OF_DEPUTY;
        a.state |= s->step[i].ask == RULES_ASK_STATE && s->step[i].of == RULES_OF_AGENT;
    }
    return a;
}

#define BIT(value) (1u << (value))

/* The values that a fact may come to have; of what is not asked, that it is not known. */
static unsigned possible_values(const struct asked *a, int fact)
{
    unsigned all = BIT(ftree_rules_values(fact)) - 1;
    unsigned not_asked = BIT(FTREE_REACH_NOT_ASKED) | BIT(RULES_REACH_NO_PATH);

    switch (fact) {
        case RULES_FACT_AGENT:
        case RULES_FACT_MAIN:
        case RULES_FACT_DATA:
        case RULES_FACT_MGMT:
            return a->agent ? all : not_asked;
        case RULES_FACT_DEPUTY:
            return a->deputy ? all : not_asked;
        case RULES_FACT_ELSEWHERE:
        case RULES_FACT_ELSEWHERE_DATA:
            return a->elsewhere ? all : not_asked;
        case RULES_FACT_BEHIND:
        case RULES_FACT_BEHIND_DATA:
            return a->neighbours ? all : BIT(RULES_BEHIND_NONE);
        case RULES_FACT_DEPUTY_CONNECTS:
            return a->deputy ? all : BIT(RULES_NO);
        case RULES_FACT_SEEN_BY:
            return a->deputy ? all : all & ~BIT(RULES_SEEN_BY_DEPUTY);
        case RULES_FACT_WITNESSED: /* while one waits, any node may be heard */
        case RULES_FACT_DATA_WITNESSED:
            return a->agent ? all : BIT(0);
        case RULES_FACT_LINK:
            return a->state ? all : BIT(FTREE_LINK_UNKNOWN);
        case RULES_FACT_STATE_KNOWN:
            return a->state ? all : BIT(RULES_NO);
        case RULES_FACT_WAITS: /* no examination finds it */
            return BIT(RULES_WAITS_NONE);
        case RULES_FACT_OUTSIDE: /* likewise */
            return BIT(RULES_OUTSIDE_NONE);
        case RULES_FACT_SLOWED: /* likewise */
            return BIT(RULES_SLOWED_NONE);
        case RULES_FACT_IN_MPI:
        case RULES_FACT_OTHERS_GO_ON:
            return BIT(RULES_NO);
        default: /* known without asking */
            return all;
    }
}

static bool can_hold(const struct rules_sign *sign, const struct asked *a)
{
    for (int32_t i = 0; i < sign->conditions; i++) {
        const struct rules_condition *c = &sign->condition[i];
        if (c->is_number ? !a->state : !(c->values & possible_values(a, c->fact)))
            return false;
    }
    return true;
}

static bool can_be_decided(const struct rules_model *model, const struct asked *a)
{
    for (int32_t s = 0; s < model->signs; s++)
        if (can_hold(&model->sign[s], a))
            return true;
    return false;
}

static void check_candidates(struct rules_reader *r, const struct rules_rule *rule)
{
    const struct rules_strategy *s =
        rule->strategy < 0 ? NULL : &r->rules->strategy[rule->strategy];
    struct asked a = what_is_asked(s);

    rules_path_key(&r->path, "then");
    rules_path_key(&r->path, "candidates");
    for (int32_t i = 0; i < rule->candidates; i++) {
        const struct rules_model *model = &r->rules->model[rule->candidate[i].model];
        rules_path_index(&r->path, i);
        if (!model->listed_only && !can_be_decided(model, &a))
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
        check_causes(r, m);
        check_leads_to(r, m);
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
