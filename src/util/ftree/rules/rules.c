/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/rules/rules.h"

#include "ftree/base/io.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The rule base as it is used: names of its numbers, look-up, and the decision. */

#define COUNT(array) ((int) (sizeof(array) / sizeof((array)[0])))

/* ---- names ----------------------------------------------------------------------------------- */

static const char *const reach_values[] = {"not-asked", "silent",  "local-down", "unreachable",
                                           "connected", "refused", "answered",   "no-path"};
static const char *const witnessed_values[] = {"none", "one", "both"};
static const char *const no_yes_values[] = {"no", "yes"};
static const char *const side_values[] = {"up", "down"};
static const char *const process_values[] = {"none",   "running",    "stopped",
                                             "traced", "disk-sleep", "gone", "memory-limit"};
static const char *const seen_by_values[] = {"nobody", "agent", "deputy"};
static const char *const behind_values[] = {"none", "some-answer", "all-silent", "cut-off"};
static const char *const launcher_values[] = {"none", "ended", "lost"};
static const char *const power_values[] = {"none", "on", "off"};
static const char *const port_values[] = {"none", "up", "down", "disabled"};
static const char *const transport_values[] = {"none", "reset"};
static const char *const waits_values[] = {"none",   "self",      "cycle", "knot",   "missing-partner",
                                           "behind", "different", "ahead", "uneven", "order",
                                           "library", "absent"};
static const char *const connection_values[] = {"none", "stuck", "not-made", "silent"};
static const char *const outside_values[] = {
    "none", "burning", "pausing", "awaiting-answer", "blocked", "disk-sleep", "unknown"};
static const char *const slowed_values[] = {"none",   "quota",  "shared-core", "preempted",
                                            "stolen", "paging", "slow-clock"};
static const char *const way_values[] = {"unknown", "well", "silent", "lossy", "late", "no-large"};
static const char *const ways_values[] = {"unknown", "well", "worse", "switch"};
static const char *const fabric_values[] = {"none", "silent", "between"};
static const char *const link_values[] = {"unknown", "up", "down", "no-carrier", "gone",
                                          "flapping", "slow"};

_Static_assert(COUNT(reach_values) == RULES_REACH_NO_PATH + 1, "one word for each reach");
_Static_assert(COUNT(process_values) == RULES_PROCESS_MEMORY + 1, "one word for each state");
_Static_assert(COUNT(waits_values) == RULES_WAITS_ABSENT + 1, "one word for each finding");
_Static_assert(COUNT(link_values) == FTREE_LINK_COUNT, "one word for each link state");

static const struct {
    const char *name;
    const char *const *value;
    int values;
} facts[] = {
#define FACT_ROW(id, name, values) {name, values, COUNT(values)},
    RULES_FACTS(FACT_ROW)
#undef FACT_ROW
};

#define NAME(id, name) name,
static const char *const numbers[] = {RULES_NUMBERS(NAME)};
static const char *const relations[] = {RULES_RELATIONS(NAME)};
static const char *const asks[] = {"response", "state", "log", "burst"};
static const char *const whoms[] = {"agent", "deputy", "witnesses", "neighbours", "handlers"};
static const char *const overs[] = {"all", "data", "mgmt", "main", "answered"};
static const char *const froms[] = {"here", "elsewhere"};
static const char *const ifs[] = {"always", "kernel-spoke", "unwitnessed",
                                   "answered", "silent", "one-sided"};

_Static_assert(COUNT(asks) == RULES_ASKS && COUNT(whoms) == RULES_WHOMS, "one word for each");
_Static_assert(COUNT(overs) == RULES_OVERS && COUNT(ifs) == RULES_IFS, "one word for each");
_Static_assert(COUNT(froms) == RULES_FROMS, "one word for each");

static const char *pick(const char *const *name, int count, int i)
{
    return i >= 0 && i < count ? name[i] : "?";
}

const char *ftree_rules_fact_name(int fact)
{
    return fact >= 0 && fact < RULES_FACT_COUNT ? facts[fact].name : "?";
}

const char *ftree_rules_value_name(int fact, int value)
{
    return fact >= 0 && fact < RULES_FACT_COUNT ? pick(facts[fact].value, facts[fact].values, value)
                                                : "?";
}

int ftree_rules_values(int fact)
{
    return fact >= 0 && fact < RULES_FACT_COUNT ? facts[fact].values : 0;
}

#define NAME_OF(what, table) \
    const char *ftree_rules_##what##_name(int i) \
    { \
        return pick(table, COUNT(table), i); \
    }

NAME_OF(number, numbers)
NAME_OF(relation, relations)
NAME_OF(ask, asks)
NAME_OF(whom, whoms)
NAME_OF(over, overs)
NAME_OF(from, froms)
NAME_OF(if, ifs)

/* ---- look-up --------------------------------------------------------------------------------- */

int32_t ftree_rules_model(const struct ftree_rules *rules, const char *name)
{
    for (int32_t m = 0; m < rules->models; m++)
        if (!strcmp(rules->model[m].name, name))
            return m;
    return -1;
}

int32_t ftree_rules_rule(const struct ftree_rules *rules, const char *name)
{
    for (int32_t r = 0; r < rules->rules; r++)
        if (!strcmp(rules->rule[r].name, name))
            return r;
    return -1;
}

/* One block holds them all (rules_read.c). */
void ftree_rules_free(struct ftree_rules *rules)
{
    free(rules);
}

/* ---- facts ----------------------------------------------------------------------------------- */

void ftree_rules_no_facts(struct rules_facts *f)
{
    memset(f, 0, sizeof(*f));
    f->value[RULES_FACT_DATA] = f->value[RULES_FACT_MGMT] = RULES_REACH_NO_PATH;
    for (int i = 0; i < RULES_NUMBER_COUNT; i++)
        f->number[i] = NAN;
}

void ftree_rules_process(struct rules_facts *f, uint8_t phase, char proc_state, int seen_by)
{
    uint8_t process = RULES_PROCESS_RUNNING;

    if (phase == FTREE_PHASE_GONE || (proc_state && strchr("XxZ", proc_state)))
        process = RULES_PROCESS_GONE;
    else if (proc_state == 't')
        process = RULES_PROCESS_TRACED;
    else if (proc_state == FTREE_PROC_MEMORY)
        process = RULES_PROCESS_MEMORY;
    else if (ftree_is_stopped(proc_state))
        process = RULES_PROCESS_STOPPED;
    else if (proc_state == 'D')
        process = RULES_PROCESS_DISK_SLEEP;
    f->value[RULES_FACT_PROCESS] = process;
    f->value[RULES_FACT_SEEN_BY] = (uint8_t) seen_by;
}

/* ---- the decision ---------------------------------------------------------------------------- */

/* A number that is not known (NAN) compares as neither above nor below. */
static bool holds(const struct rules_condition *c, const struct rules_facts *f)
{
    if (c->is_number)
        return f->number[c->fact] > c->above && f->number[c->fact] < c->below;
    return c->values >> f->value[c->fact] & 1;
}

static const struct rules_sign *first_sign(const struct rules_sign *sign, int32_t signs,
                                           const struct rules_facts *f, bool at_end)
{
    for (int32_t s = 0; s < signs; s++) {
        int32_t i = 0;
        if (!at_end && !sign[s].at_once)
            continue;
        while (i < sign[s].conditions && holds(&sign[s].condition[i], f))
            i++;
        if (i == sign[s].conditions)
            return &sign[s];
    }
    return NULL;
}

static const struct rules_sign *first_of_models(const struct ftree_rules *rules,
                                                const struct rules_facts *f, uint64_t models,
                                                bool even_if_well, bool at_end, int32_t *model)
{
    for (int32_t m = 0; m < rules->models; m++) {
        const struct rules_model *mo = &rules->model[m];
        const struct rules_sign *sign = NULL;
        if ((models >> m & 1) && mo->even_if_well == even_if_well)
            sign = first_sign(mo->sign, mo->signs, f, at_end);
        if (sign) {
            *model = m;
            return sign;
        }
    }
    return NULL;
}

/* True while a sign of the model may still come to hold. */
static bool is_open(const struct rules_model *mo, const struct rules_facts *f)
{
    for (int32_t s = 0; s < mo->signs; s++)
        if (!mo->sign[s].at_once || f->value[RULES_FACT_STATE_KNOWN] != RULES_YES)
            return true;
    return false;
}

/* An agent that answers is well at once; but not where it is asked just because the node may be ill
 * although it answers. */
static bool may_be_well(const struct ftree_rules *rules, const struct rules_facts *f,
                        uint64_t models, bool at_end)
{
    for (int32_t m = 0; m < rules->models && !at_end; m++)
        if ((models >> m & 1) && rules->model[m].even_if_well && is_open(&rules->model[m], f))
            return false;
    return true;
}

const struct rules_sign *ftree_rules_decide(const struct ftree_rules *rules,
                                            const struct rules_facts *f, uint64_t models,
                                            bool at_end, bool *well, int32_t *model)
{
    const struct rules_sign *sign;

    *well = false;
    *model = -1;
    sign = first_of_models(rules, f, models, true, at_end, model);
    if (sign)
        return sign;
    if (may_be_well(rules, f, models, at_end))
        sign = first_sign(rules->well, rules->wells, f, at_end);
    *well = sign != NULL;
    return sign ? sign : first_of_models(rules, f, models, false, at_end, model);
}

const struct rules_sign *ftree_rules_decide_at_end(const struct ftree_rules *rules,
                                                   const struct rules_facts *f, uint64_t models,
                                                   int32_t *model)
{
    bool well;
    const struct rules_sign *sign = ftree_rules_decide(rules, f, models, true, &well, model);

    return well ? NULL : sign;
}

/* ---- what leads to what ---------------------------------------------------------------------- */

uint64_t ftree_rules_follow(const struct ftree_rules *rules, int32_t m, bool causes)
{
    const struct rules_model *model = rules->model;
    uint64_t all = causes ? model[m].causes : model[m].leads_to, before = 0;

    while (all != before) {
        before = all;
        for (int32_t i = 0; i < rules->models; i++)
            if (all >> i & 1)
                all |= causes ? model[i].causes : model[i].leads_to;
    }
    return all;
}

uint64_t ftree_rules_leading_to(const struct ftree_rules *rules, int32_t model)
{
    uint64_t all = 0;

    for (int32_t m = 0; m < rules->models; m++)
        if (ftree_rules_follow(rules, m, false) >> model & 1)
            all |= (uint64_t) 1 << m;
    return all;
}

uint64_t ftree_rules_leading_by(const struct ftree_rules *rules, int kind)
{
    uint64_t all = 0;

    for (int32_t m = 0; m < rules->models; m++)
        if (rules->model[m].leads_to && rules->model[m].symptoms >> kind & 1)
            all |= (uint64_t) 1 << m;
    return all;
}

static void add_limit(const struct rules_model *m, char than, double limit, char *text, size_t room)
{
    char one[FTREE_NAME_MAX + 32];

    for (int k = 0; k < FTREE_SYMPTOM_COUNT; k++) {
        if (isnan(limit) || !(m->symptoms >> k & 1))
            continue;
        snprintf(one, sizeof(one), "%s%s%c%.10g", *text ? "," : "", ftree_symptom_info(k)->name, than,
                 limit);
        if (strlen(text) + strlen(one) < room)
            strcat(text, one);
    }
}

void ftree_rules_limits(const struct ftree_rules *rules, char *text, size_t room)
{
    *text = '\0';
    for (int32_t m = 0; m < rules->models; m++) {
        add_limit(&rules->model[m], '>', rules->model[m].high, text, room);
        add_limit(&rules->model[m], '<', rules->model[m].low, text, room);
    }
}

/* ---- ranks that wait for each other ---------------------------------------------------------- */

static uint64_t models_of_class(const struct ftree_rules *rules, int class_)
{
    uint64_t models = 0;

    for (int32_t m = 0; m < rules->models; m++)
        if (rules->model[m].class_ == class_)
            models |= (uint64_t) 1 << m;
    return models;
}

const struct rules_sign *ftree_rules_decide_waits(const struct ftree_rules *rules, int waits,
                                                  int32_t *model)
{
    bool collective = waits >= RULES_WAITS_BEHIND && waits <= RULES_WAITS_UNEVEN;
    int class_ = collective ? FTREE_CLASS_COLLECTIVE_MISMATCH : FTREE_CLASS_DEADLOCK;
    struct rules_facts f;

    ftree_rules_no_facts(&f);
    f.value[RULES_FACT_WAITS] = (uint8_t) waits;
    return ftree_rules_decide_at_end(rules, &f, models_of_class(rules, class_), model);
}

/* ---- ranks that hang outside MPI ------------------------------------------------------------- */

/* The words of `fact` that the sign needs one of, "none" not among them; 0: none. */
static uint32_t needs(const struct rules_sign *sign, int fact)
{
    for (int32_t i = 0; i < sign->conditions; i++)
        if (!sign->condition[i].is_number && sign->condition[i].fact == fact &&
            !(sign->condition[i].values & 1))
            return (uint32_t) sign->condition[i].values;
    return 0;
}

const struct rules_sign *ftree_rules_decide_outside(const struct ftree_rules *rules, int outside,
                                                    const struct rules_stay *stay, int32_t *model)
{
    uint64_t models = models_of_class(rules, FTREE_CLASS_USER_CODE_HANG) |
                      models_of_class(rules, FTREE_CLASS_MPI_HANG) |
                      models_of_class(rules, FTREE_CLASS_IO_HANG);
    const struct rules_sign *sign;
    struct rules_facts f;

    ftree_rules_no_facts(&f);
    f.value[RULES_FACT_OUTSIDE] = (uint8_t) outside;
    f.value[RULES_FACT_IN_MPI] = stay->in_mpi ? RULES_YES : RULES_NO;
    f.value[RULES_FACT_OTHERS_GO_ON] = stay->others_go_on ? RULES_YES : RULES_NO;
    f.number[RULES_NUMBER_STAY] = stay->percent;
    f.number[RULES_NUMBER_STAY_OF_ANY] = stay->of_any_percent;
    f.number[RULES_NUMBER_STAY_SECONDS] = stay->seconds;
    f.number[RULES_NUMBER_FAMILIAR] = stay->familiar_percent;
    f.number[RULES_NUMBER_STILL] = stay->still_seconds;
    sign = ftree_rules_decide_at_end(rules, &f, models, model);
    return sign && stay->others_go_on && !needs(sign, RULES_FACT_OTHERS_GO_ON) ? NULL : sign;
}

uint32_t ftree_rules_needs(const struct ftree_rules *rules, const char *name, int fact)
{
    uint32_t words = 0;

    for (int32_t m = 0; m < rules->models; m++)
        for (int32_t s = 0; s < rules->model[m].signs; s++)
            if (!strcmp(rules->model[m].sign[s].name, name))
                words |= needs(&rules->model[m].sign[s], fact);
    return words;
}

/* ---- ranks that are slow --------------------------------------------------------------------- */

const struct rules_sign *ftree_rules_decide_slowed(const struct ftree_rules *rules, int slowed,
                                                   double lost, double percent, int32_t *model)
{
    uint64_t models = models_of_class(rules, FTREE_CLASS_STRAGGLER);
    struct rules_facts f;

    ftree_rules_no_facts(&f);
    f.value[RULES_FACT_SLOWED] = (uint8_t) slowed;
    f.number[RULES_NUMBER_LOST] = lost;
    f.number[RULES_NUMBER_SLOWED] = percent;
    return ftree_rules_decide_at_end(rules, &f, models, model);
}

bool ftree_rules_by_waits(const struct ftree_rules *rules, int32_t m)
{
    int32_t model;

    for (int32_t s = 0; s < rules->model[m].signs; s++)
        if (needs(&rules->model[m].sign[s], RULES_FACT_OUTSIDE) ||
            needs(&rules->model[m].sign[s], RULES_FACT_SLOWED))
            return true;

    for (int waits = RULES_WAITS_NONE + 1; waits < COUNT(waits_values); waits++)
        if (ftree_rules_decide_waits(rules, waits, &model) && model == m)
            return true;
    return false;
}
