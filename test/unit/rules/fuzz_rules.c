/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "must.h"
#include "ftree/rules/rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * A rule base that may be anything.  It is refused with a place that exists and a reason that can
 * be printed, or its tables are as rules.h says, and can be used.
 *
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined -Isrc/util -Isrc/util/ftree \
 *         $(pkg-config --cflags json-c) test/unit/rules/fuzz_rules.c \
 *         $(find src/util/ftree/rules -name '*.c') \
 *         src/util/ftree/base/names.c $(pkg-config --libs json-c) -o fuzz_rules
 *     test/unit/rules/test_fuzz_rules --corpus corpus && ./fuzz_rules corpus
 *
 * test_fuzz_rules runs it with rule bases changed at random, from a fixed seed.
 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_name(const char *name, size_t size)
{
    MUST(*name && memchr(name, '\0', size));
    for (; *name; name++)
        MUST(*name >= ' ' && *name <= '~');
}

static void check_error(const struct ftree_rules_error *e, const char *text, size_t len)
{
    size_t at = 0;

    check_name(e->text, sizeof(e->text));
    if (len > RULES_FILE_MAX)
        return;
    MUST(e->line >= 1 && e->column >= 1);
    for (int line = 1; line < e->line; line++) {
        const char *end = memchr(text + at, '\n', len - at);
        MUST(end);
        at = (size_t) (end - text) + 1;
    }
    MUST(at + (size_t) e->column - 1 <= len);
}

static void check_condition(const struct rules_condition *c)
{
    if (c->is_number) {
        MUST(c->fact < RULES_NUMBER_COUNT);
        MUST(c->above < c->below);
    } else {
        MUST(c->fact < RULES_FACT_COUNT);
        MUST(c->values && c->values >> ftree_rules_values(c->fact) == 0);
    }
}

static void check_sign(const struct rules_sign *s)
{
    check_name(s->name, sizeof(s->name));
    check_name(s->text, sizeof(s->text));
    MUST(strchr(s->name, '/'));
    MUST(s->confidence >= 1 && s->confidence <= 1000);
    MUST(s->conditions >= 1 && s->conditions <= RULES_CONDITIONS_MAX);
    for (int32_t i = 0; i < s->conditions; i++)
        check_condition(&s->condition[i]);
    MUST(s->candidates >= 0 && s->candidates <= FTREE_CANDIDATE_MAX);
    for (int32_t i = 0; i < s->candidates; i++)
        MUST(s->candidate[i].class_ < FTREE_CLASS_COUNT && s->candidate[i].confidence <= 1000);
}

static uint64_t all_of(int32_t n)
{
    return n >= 64 ? UINT64_MAX : ((uint64_t) 1 << n) - 1;
}

static void check_model(const struct ftree_rules *rules, int32_t m)
{
    const struct rules_model *mo = &rules->model[m];

    check_name(mo->name, sizeof(mo->name));
    MUST(ftree_rules_model(rules, mo->name) == m);
    MUST(mo->class_ < FTREE_CLASS_COUNT);
    MUST(!(mo->symptoms & ~all_of(FTREE_SYMPTOM_COUNT)));
    MUST(!((mo->causes | mo->masks) & ~all_of(rules->models)));
    MUST(!((mo->causes | mo->masks) >> m & 1));
    MUST(mo->errors >= 0 && mo->errors <= 8);
    MUST(mo->signs >= 0 && mo->signs <= RULES_SIGNS_MAX);
    MUST(mo->listed_only == (mo->signs == 0));
    for (int32_t s = 0; s < mo->signs; s++)
        check_sign(&mo->sign[s]);
}

static void check_pattern(const struct rules_pattern *p)
{
    MUST(p->kinds && !(p->kinds & ~all_of(FTREE_SYMPTOM_COUNT)));
    MUST(p->count >= 1 && p->components >= 1);
    MUST(p->window <= 3600000 * FTREE_MS);
    MUST(p->relation < RULES_RELATION_COUNT && p->severity < FTREE_SEVERITY_COUNT);
    MUST(p->error >= 0 && p->error < 4096);
}

static void check_rule(const struct ftree_rules *rules, int32_t r)
{
    const struct rules_rule *rule = &rules->rule[r];
    int sum = 0;

    check_name(rule->name, sizeof(rule->name));
    MUST(ftree_rules_rule(rules, rule->name) == r);
    MUST(rule->patterns >= 1 && rule->patterns <= RULES_PATTERNS_MAX);
    for (int32_t i = 0; i < rule->patterns; i++)
        check_pattern(&rule->pattern[i]);
    MUST(rule->candidates >= 0 && rule->candidates <= RULES_CANDIDATES_MAX);
    for (int32_t i = 0; i < rule->candidates; i++) {
        MUST(rule->candidate[i].model < rules->models && rule->candidate[i].prior >= 1);
        sum += rule->candidate[i].prior;
    }
    MUST(sum <= 1000);
    MUST(rule->derives >= -1 && rule->derives < FTREE_SYMPTOM_COUNT);
    MUST(rule->strategy >= -1 && rule->strategy < rules->strategies);
    MUST(rule->candidates || rule->derives >= 0);
}

static void check_strategy(const struct rules_strategy *s)
{
    check_name(s->name, sizeof(s->name));
    MUST(s->steps >= 1 && s->steps <= RULES_STEPS_MAX);
    for (int32_t i = 0; i < s->steps; i++) {
        const struct rules_step *step = &s->step[i];
        MUST(step->ask < RULES_ASKS && step->of < RULES_WHOMS && step->over < RULES_OVERS);
        MUST(step->if_ < RULES_IFS && step->at_milli_rto < 6000);
        MUST(i == 0 || step[-1].at_milli_rto <= step->at_milli_rto);
    }
}

static void check_tables(const struct ftree_rules *rules)
{
    check_name(rules->name, sizeof(rules->name));
    MUST(rules->rules >= 1 && rules->rules <= RULES_MAX);
    MUST(rules->models >= 1 && rules->models <= RULES_MODELS_MAX);
    MUST(rules->strategies >= 1 && rules->strategies <= RULES_STRATEGIES_MAX);
    MUST(rules->wells >= 0 && rules->wells <= RULES_SIGNS_MAX);
    for (int32_t i = 0; i < rules->rules; i++)
        check_rule(rules, i);
    for (int32_t i = 0; i < rules->models; i++)
        check_model(rules, i);
    for (int32_t i = 0; i < rules->strategies; i++)
        check_strategy(&rules->strategy[i]);
    for (int32_t i = 0; i < rules->wells; i++)
        check_sign(&rules->well[i]);
}

/* Some facts, the same for the same input. */
static void use_tables(const struct ftree_rules *rules, uint32_t seed)
{
    struct rules_facts facts;
    int32_t model;
    bool well;

    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < RULES_FACT_COUNT; i++, seed = seed * 1664525u + 1013904223u)
            facts.value[i] = (uint8_t) ((seed >> 16) % (uint32_t) ftree_rules_values(i));
        for (int i = 0; i < RULES_NUMBER_COUNT; i++, seed = seed * 1664525u + 1013904223u)
            facts.number[i] = (double) (seed >> 25);
        const struct rules_sign *sign =
            ftree_rules_decide(rules, &facts, UINT64_MAX, round & 1, &well, &model);
        MUST(sign ? well == (model < 0) : !well && model < 0);
        MUST(model < rules->models);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* a copy of its own size, so that the sanitizers see a read behind it */
    char *text = malloc(size ? size : 1);
    struct ftree_rules *rules;
    struct ftree_rules_error e;
    int rc;

    MUST(text);
    if (size)
        memcpy(text, data, size);
    rc = ftree_rules_read(text, size, &rules, &e);
    MUST(rc == FTREE_OK || rc == FTREE_ERR_INVALID);
    MUST((rc == FTREE_OK) == (rules != NULL));
    if (rules) {
        check_tables(rules);
        use_tables(rules, (uint32_t) size);
    } else {
        check_error(&e, text, size);
    }
    ftree_rules_free(rules);
    free(text);
    return 0;
}
