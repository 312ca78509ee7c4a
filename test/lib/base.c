/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct ftree_rules *base_rules(void)
{
    static struct ftree_rules *rules;
    struct ftree_rules_error e;
    const char *text;
    size_t len;

    if (rules)
        return rules;
    text = ftree_rules_builtin(&len);
    if (ftree_rules_read(text, len, &rules, &e)) {
        fprintf(stderr, "the built-in rules, %d:%d: %s\n", e.line, e.column, e.text);
        abort();
    }
    return rules;
}

struct ftree_rules *base_read(const char *text)
{
    struct ftree_rules *rules = NULL;
    struct ftree_rules_error e;
    char *json = strdup(text);

    for (char *c = json; c && *c; c++)
        *c = *c == '\'' ? '"' : *c;
    if (!json || ftree_rules_read(json, strlen(json), &rules, &e)) {
        fprintf(stderr, "rules of a test, %d:%d: %s\n", e.line, e.column, e.text);
        abort();
    }
    free(json);
    return rules;
}

void base_write(const char *file, const char *name)
{
    const char *text = ftree_rules_builtin(NULL), *at = strstr(text, "\"name\"");
    FILE *f = fopen(file, "w");

    at = strchr(strchr(at, ':'), '"') + 1;
    if (!f || fprintf(f, "%.*s%s%s", (int) (at - text), text, name, strchr(at, '"')) < 0 ||
        fclose(f)) {
        perror(file);
        abort();
    }
}

const struct rules_sign *base_sign(const char *name, int *class_)
{
    const struct ftree_rules *rules = base_rules();

    for (int32_t m = 0; m < rules->models; m++)
        for (int32_t i = 0; i < rules->model[m].signs; i++)
            if (strcmp(rules->model[m].sign[i].name, name) == 0) {
                *class_ = rules->model[m].class_;
                return &rules->model[m].sign[i];
            }
    fprintf(stderr, "the built-in rules have no sign %s\n", name);
    abort();
}

struct ftree_verdict base_verdict(const char *sign_name, int32_t node, int32_t rank)
{
    struct ftree_verdict v;
    int class_;
    const struct rules_sign *sign = base_sign(sign_name, &class_);

    memset(&v, 0, sizeof(v));
    v.class_ = (uint8_t) class_;
    v.kind = (uint8_t) ftree_class_kind(class_);
    v.confidence = sign->confidence;
    memcpy(v.rule, sign->name, sizeof(v.rule));
    memcpy(v.because, sign->text, sizeof(v.because));
    v.node = node;
    v.rank = rank;
    v.switch_ = FTREE_NONE;
    v.symptoms = 1;
    for (int32_t i = 0; i < sign->candidates; i++)
        v.candidate[v.candidates++] = sign->candidate[i];
    return v;
}

bool base_accuses(int symptom)
{
    const struct ftree_rules *rules = base_rules();
    struct rules_facts facts;
    uint64_t models = 0;
    int32_t model;

    ftree_rules_no_facts(&facts);
    facts.value[RULES_FACT_AGENT] = facts.value[RULES_FACT_MAIN] = FTREE_REACH_ANSWERED;
    for (int32_t m = 0; m < rules->models; m++)
        models |= (rules->model[m].symptoms >> symptom & 1) << m;
    return ftree_rules_decide_at_end(rules, &facts, models, &model) != NULL;
}
