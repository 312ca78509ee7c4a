/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "tool_rules.h"

#include "ftree/rules/rules_place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Learning from the past.  Where a person has looked into a verdict of a report it has the field
 * "confirmed": true; false; or the class that it was.  That goes into a table for people, of what
 * went wrong at this site and which symptoms came with it, and into the priors of the rules for it:
 * the one that raised the verdict ("raised_by"), and those for its symptoms.  A prior is taken to
 * rest on WEIGHT cases so far, and one knows of n, in which the candidate was right so often:
 *
 *     new = (old * WEIGHT + right) / (WEIGHT + n)
 *
 * Where all is known of a case that keeps the sum of a rule's priors at most at what it was, or 1.
 * A prior decides which of the faults that no probe tells apart is named first, and so looked at
 * first; neither how a node is asked nor the verdict depends on it.
 */

#define WEIGHT 20

struct count {
    int n, right;
};

struct learning {
    const struct rules_file *f;
    struct count (*count)[RULES_CANDIDATES_MAX]; /* [rules] */
    struct json_object *seen; /* keys of reports that were read */
    struct json_object *row; /* of the table: how often, by its text */
    int confirmed, used;
    /* cases with symptoms whose fault is known: of each fault, and of all */
    int cases[FTREE_CLASS_COUNT], with[FTREE_CLASS_COUNT][FTREE_SYMPTOM_COUNT];
    int all, all_with[FTREE_SYMPTOM_COUNT];
};

/* ---- reports --------------------------------------------------------------------------------- */

/* Fault by component by what raised and what decided it. */
static void count_row(struct learning *l, struct json_object *verdict, const char *is_not,
                      const char *fault)
{
    struct json_object *component = tool_member(verdict, "component");
    char what[FTREE_NAME_MAX + 8], where[200], text[600];

    snprintf(what, sizeof(what), "%s%s", is_not, fault);
    snprintf(where, sizeof(where), "%s %s", tool_string(component, "kind"),
             tool_string(component, "name"));
    snprintf(text, sizeof(text), "%-22s %-18s %s, %s", what, where,
             tool_string(verdict, "raised_by"), tool_string(verdict, "rule"));
    json_object_object_add(l->row, text,
                           json_object_new_int(json_object_get_int(tool_member(l->row, text)) + 1));
}

/* Where it is known what it was, all else that was a candidate was wrong; of what one knows only that
 * it was not, one does not know that. */
static bool count_case(struct learning *l, int32_t r, bool is_known, const char *fault)
{
    const struct ftree_rules *rules = l->f->rules;

    for (int32_t i = 0; i < rules->rule[r].candidates; i++) {
        const struct rules_model *model = &rules->model[rules->rule[r].candidate[i].model];
        bool is_it = !strcmp(model->name, fault) || !strcmp(ftree_class_name(model->class_), fault);
        l->count[r][i].n += is_known || is_it;
        l->count[r][i].right += is_known && is_it;
    }
    return rules->rule[r].candidates > 0;
}

/* One that looks beyond the component may not have fired. */
static bool is_for(const struct rules_rule *rule, uint64_t kinds)
{
    for (int32_t i = 0; i < rule->patterns; i++)
        if (!(rule->pattern[i].kinds & kinds) || rule->pattern[i].components > 1)
            return false;
    return true;
}

/* Returns the kinds; class_ -1: it is not known what it was. */
static uint64_t count_symptoms(struct learning *l, struct json_object *verdict, int class_)
{
    struct json_object *names = tool_member(verdict, "symptom_kinds");
    uint64_t kinds = 0;

    for (size_t i = 0; names && i < json_object_array_length(names); i++) {
        int k = ftree_symptom_by_name(json_object_get_string(json_object_array_get_idx(names, i)));
        kinds |= k >= 0 ? (uint64_t) 1 << k : 0; /* a later version may have others */
    }
    if (class_ < 0 || !kinds)
        return kinds;
    l->all++;
    l->cases[class_]++;
    for (int k = 0; k < FTREE_SYMPTOM_COUNT; k++) {
        l->all_with[k] += kinds >> k & 1;
        l->with[class_][k] += kinds >> k & 1;
    }
    return kinds;
}

/* What it was: the class that a person says, or the model that has decided ("model/sign"). */
static void learn_verdict(struct learning *l, struct json_object *verdict)
{
    struct json_object *confirmed = tool_member(verdict, "confirmed");
    bool is_class = json_object_is_type(confirmed, json_type_string);
    bool is_known = is_class || json_object_get_boolean(confirmed);
    int32_t raised_by = ftree_rules_rule(l->f->rules, tool_string(verdict, "raised_by"));
    char fault[FTREE_NAME_MAX];
    const char *class_;
    bool changes = false;
    uint64_t kinds;

    if (!confirmed)
        return;
    snprintf(fault, sizeof(fault), "%s",
             is_class ? json_object_get_string(confirmed) : tool_string(verdict, "rule"));
    fault[strcspn(fault, "/")] = '\0';
    count_row(l, verdict, is_known ? "" : "not ", fault);
    l->confirmed++;
    class_ = !is_known ? "" : is_class ? fault : tool_string(verdict, "class");
    kinds = count_symptoms(l, verdict, ftree_class_by_name(class_));
    for (int32_t r = 0; r < l->f->rules->rules; r++)
        if (r == raised_by || is_for(&l->f->rules->rule[r], kinds))
            changes |= count_case(l, r, is_known, fault);
    l->used += changes;
}

/* One report under two names is one report. */
static bool was_seen(struct learning *l, const char *file, struct json_object *report)
{
    struct json_object *job = tool_member(report, "job");
    char key[600];

    snprintf(key, sizeof(key), "%s %s", json_object_get_string(tool_member(job, "id")),
             tool_string(job, "started"));
    if (tool_member(l->seen, key)) {
        tool_say(stderr, "faultloc: %s: of the same job as %s; skipped", file,
                 tool_string(l->seen, key));
        return true;
    }
    json_object_object_add(l->seen, key, json_object_new_string(file));
    return false;
}

static enum tool_exit learn_report(struct learning *l, const char *file)
{
    struct tool_findings findings = {.file = file};
    struct json_object *report, *verdicts;
    enum tool_exit code = tool_read(file, &report);

    if (code)
        return code;
    tool_check(&findings, report);
    if (findings.count == 0 && !was_seen(l, file, report)) {
        verdicts = tool_member(report, "verdicts");
        for (size_t i = 0; i < json_object_array_length(verdicts); i++)
            learn_verdict(l, json_object_array_get_idx(verdicts, i));
    }
    json_object_put(report);
    return findings.count ? TOOL_INVALID : TOOL_OK;
}

/* ---- what was learned ------------------------------------------------------------------------ */

/* Rounding, and what is not known of wrong verdicts, may bring the sum above 1: then the greatest
 * gives way. */
static void new_priors(const struct learning *l, int32_t r, int prior[RULES_CANDIDATES_MAX])
{
    const struct rules_rule *rule = &l->f->rules->rule[r];
    int sum = 0, greatest = 0;

    for (int32_t i = 0; i < rule->candidates; i++) {
        const struct count *c = &l->count[r][i];
        prior[i] = (int) ((rule->candidate[i].prior * WEIGHT + 1000.0 * c->right) / (WEIGHT + c->n) +
                          0.5);
        prior[i] = prior[i] < 1 ? 1 : prior[i]; /* one of 0 would be for ever */
        sum += prior[i];
        greatest = prior[i] > prior[greatest] ? (int) i : greatest;
    }
    if (sum > 1000)
        prior[greatest] -= sum - 1000;
}

/* The text as it is, but for these numbers, in the order in which they stand there. */
static void print_rules(const struct learning *l)
{
    int prior[RULES_CANDIDATES_MAX];
    struct rules_span span;
    size_t at = 0;

    for (int32_t r = 0; r < l->f->rules->rules; r++) {
        const struct rules_rule *rule = &l->f->rules->rule[r];
        new_priors(l, r, prior);
        for (int32_t i = 0; i < rule->candidates; i++) {
            struct rules_path path = {
                6, {{"rules", 0}, {NULL, r}, {"then", 0}, {"candidates", 0}, {NULL, i}, {"prior", 0}}};
            if (prior[i] == rule->candidate[i].prior ||
                !rules_place_find(l->f->text, l->f->len, &path, false, &span))
                continue;
            printf("%.*s%g", (int) (span.begin - at), l->f->text + at, prior[i] / 1000.0);
            at = span.end;
        }
    }
    printf("%.*s", (int) (l->f->len - at), l->f->text + at);
}

/* Of other faults half a case more is taken to have had it, so that few cases say little. */
static void print_symptom(const struct learning *l, int c, int k)
{
    int n = l->with[c][k];
    double others = (l->all_with[k] - n + 0.5) / (l->all - l->cases[c] + 1);

    if (n > 0)
        tool_say(stderr, "%5d of %-4d %-22s %-18s %3d %%  %.1f", n, l->cases[c],
                 ftree_class_name(c), ftree_symptom_info(k)->name, 100 * n / l->all_with[k],
                 n / (l->cases[c] * others));
}

static void print_tables(const struct learning *l)
{
    tool_say(stderr, "%5s %-22s %-18s %s", "times", "it was", "named was", "raised by, decided by");
    json_object_object_foreach(l->row, text, n)
        tool_say(stderr, "%5d %s", json_object_get_int(n), text);
    tool_say(stderr, "%-13s %-22s %-18s %s", "symptom seen", "it was", "symptom",
             "part of all with it; times as often as in others");
    for (int i = 0; i < FTREE_CLASS_COUNT * FTREE_SYMPTOM_COUNT; i++)
        print_symptom(l, i / FTREE_SYMPTOM_COUNT, i % FTREE_SYMPTOM_COUNT);
    tool_say(stderr, "%d confirmed verdict(s), of which %d change priors", l->confirmed, l->used);
}

enum tool_exit tool_rules_learn(const struct rules_file *f, int n, char **reports)
{
    struct learning l = {.f = f, .seen = json_object_new_object(), .row = json_object_new_object()};
    enum tool_exit worst = TOOL_OK;

    l.count = calloc((size_t) f->rules->rules, sizeof(l.count[0]));
    if (!l.count || !l.seen || !l.row) {
        tool_say(stderr, "faultloc: out of memory");
        worst = TOOL_TROUBLE;
    }
    for (int i = 0; worst != TOOL_TROUBLE && i < n; i++) {
        enum tool_exit code = learn_report(&l, reports[i]);
        worst = code > worst ? code : worst;
    }
    if (worst == TOOL_OK) {
        print_rules(&l);
        print_tables(&l);
    }
    free(l.count);
    json_object_put(l.seen);
    json_object_put(l.row);
    return worst;
}
