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
 * Learning from the past.  A verdict of a report names the rule that made its fault a candidate
 * ("raised_by") and, where a person has looked into it, has the field "confirmed": true; false; or
 * the class that it was.  For each candidate of a rule that says how often it was right, of how
 * many times n one knows; and the prior that the rule gives it moves there as if it rested on
 * WEIGHT cases so far:
 *
 *     new = (old * WEIGHT + right) / (WEIGHT + n)
 *
 * Where all is known of a case that keeps the sum of a rule's priors at most at what it was, or 1.
 */

#define WEIGHT 20

/* A prior of 0 would be for ever; and 1/1000 is the step. */
#define LEAST 1

struct count {
    int n, right;
};

struct learning {
    const struct rules_file *f;
    struct count (*count)[RULES_CANDIDATES_MAX]; /* [rules] */
    struct json_object *seen; /* keys of reports that were read */
    int reports, confirmed, used;
};

/* ---- reports --------------------------------------------------------------------------------- */

static void note(const char *file, size_t i, const char *what, const char *name)
{
    tool_say(stderr, "faultloc: %s: verdicts[%zu]: %s%s%s; skipped", file, i, what,
             *name ? " " : "", name);
}

static bool is_of_class(const struct ftree_rules *rules, int32_t model, const char *name)
{
    return !strcmp(rules->model[model].name, name) ||
           !strcmp(ftree_class_name(rules->model[model].class_), name);
}

/* The model of a verdict: of "model/sign" what is before the slash. */
static int32_t decided_model(const struct ftree_rules *rules, struct json_object *verdict)
{
    char name[FTREE_NAME_MAX];

    snprintf(name, sizeof(name), "%s", tool_string(verdict, "rule"));
    name[strcspn(name, "/")] = '\0';
    return ftree_rules_model(rules, name);
}

/* It was true: who else was a candidate was wrong.  It was false: of the others one does not
 * know.  It was something else: all are known. */
static void count_case(struct learning *l, int32_t r, int32_t decided,
                       struct json_object *confirmed)
{
    const struct ftree_rules *rules = l->f->rules;
    const struct rules_rule *rule = &rules->rule[r];
    bool class_ = json_object_is_type(confirmed, json_type_string);
    bool is_true = !class_ && json_object_get_boolean(confirmed);

    for (int32_t i = 0; i < rule->candidates; i++) {
        int32_t model = rule->candidate[i].model;
        bool right = class_ ? is_of_class(rules, model, json_object_get_string(confirmed))
                            : is_true && model == decided;
        if (!class_ && !is_true && model != decided)
            continue;
        l->count[r][i].n++;
        l->count[r][i].right += right;
    }
}

static void learn_verdict(struct learning *l, const char *file, size_t i,
                          struct json_object *verdict)
{
    struct json_object *confirmed = tool_member(verdict, "confirmed");
    const char *raised_by = tool_string(verdict, "raised_by");
    int32_t r = ftree_rules_rule(l->f->rules, raised_by), model;

    if (!confirmed)
        return;
    l->confirmed++;
    model = decided_model(l->f->rules, verdict);
    if (!*raised_by)
        note(file, i, "no rule raised it", "");
    else if (r < 0)
        note(file, i, "the rule base has no rule", raised_by);
    else if (model < 0)
        note(file, i, "the rule base has no model of", tool_string(verdict, "rule"));
    else {
        l->used++;
        count_case(l, r, model, confirmed);
    }
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
        l->reports++;
        verdicts = tool_member(report, "verdicts");
        for (size_t i = 0; i < json_object_array_length(verdicts); i++)
            learn_verdict(l, file, i, json_object_array_get_idx(verdicts, i));
    }
    json_object_put(report);
    return findings.count ? TOOL_INVALID : TOOL_OK;
}

/* ---- new priors ------------------------------------------------------------------------------ */

static int new_prior(const struct count *c, int old)
{
    int prior = (int) ((old * WEIGHT + 1000.0 * c->right) / (WEIGHT + c->n) + 0.5);

    return prior < LEAST ? LEAST : prior > 1000 ? 1000 : prior;
}

/* Rounding, and what is not known of wrong verdicts, may bring the sum above 1: then the greatest
 * gives way. */
static void new_priors(const struct learning *l, int32_t r, int prior[RULES_CANDIDATES_MAX])
{
    const struct rules_rule *rule = &l->f->rules->rule[r];
    int sum = 0, greatest = 0;

    for (int32_t i = 0; i < rule->candidates; i++) {
        prior[i] = new_prior(&l->count[r][i], rule->candidate[i].prior);
        sum += prior[i];
        greatest = prior[i] > prior[greatest] ? (int) i : greatest;
    }
    if (sum > 1000)
        prior[greatest] -= sum - 1000;
}

/* ---- the diff -------------------------------------------------------------------------------- */

struct change {
    struct rules_span span; /* of the number in the text */
    char number[16];
};

struct changes {
    const char *text;
    size_t len;
    int n;
    struct change *change; /* in the order of the text, but for that it is sorted */
};

static int by_place(const void *a, const void *b)
{
    const struct change *x = a, *y = b;

    return (x->span.begin > y->span.begin) - (x->span.begin < y->span.begin);
}

static bool find_prior(const struct rules_file *f, int32_t r, int32_t i, struct rules_span *span)
{
    struct rules_path path = {.depth = 0};

    rules_path_key(&path, "rules");
    rules_path_index(&path, (int) r);
    rules_path_key(&path, "then");
    rules_path_key(&path, "candidates");
    rules_path_index(&path, (int) i);
    rules_path_key(&path, "prior");
    return rules_place_find(f->text, f->len, &path, false, span);
}

static void find_changes(const struct learning *l, struct changes *c)
{
    int prior[RULES_CANDIDATES_MAX];

    for (int32_t r = 0; r < l->f->rules->rules; r++) {
        const struct rules_rule *rule = &l->f->rules->rule[r];
        new_priors(l, r, prior);
        for (int32_t i = 0; i < rule->candidates; i++) {
            struct change *change = &c->change[c->n];
            if (prior[i] == rule->candidate[i].prior || !find_prior(l->f, r, i, &change->span))
                continue;
            snprintf(change->number, sizeof(change->number), "%g", prior[i] / 1000.0);
            c->n++;
        }
    }
    qsort(c->change, (size_t) c->n, sizeof(c->change[0]), by_place);
}

static const char *if_unended(const struct changes *c, size_t end)
{
    return end == c->len ? "\\ No newline at end of file\n" : "";
}

/* One line with its changes, of which the first is the i-th; returns the first behind it. */
static int print_line(const struct changes *c, int line, size_t begin, size_t end, int i)
{
    size_t at = begin;

    printf("@@ -%d +%d @@\n-%.*s\n%s+", line, line, (int) (end - begin), c->text + begin,
           if_unended(c, end));
    for (; i < c->n && c->change[i].span.begin < end; i++) {
        printf("%.*s%s", (int) (c->change[i].span.begin - at), c->text + at, c->change[i].number);
        at = c->change[i].span.end;
    }
    printf("%.*s\n%s", (int) (end - at), c->text + at, if_unended(c, end));
    return i;
}

/* The lines stay as many as they are, and the file is the very one, so that no context is needed. */
static void print_diff(const struct changes *c, const char *name)
{
    const char *feed;
    size_t end;
    int line = 1, i = 0;

    printf("--- %s\n+++ %s\n", name, name);
    for (size_t begin = 0; i < c->n; begin = end + 1, line++) {
        feed = memchr(c->text + begin, '\n', c->len - begin);
        end = feed ? (size_t) (feed - c->text) : c->len;
        if (c->change[i].span.begin < end)
            i = print_line(c, line, begin, end, i);
    }
}

/* ---- the command ----------------------------------------------------------------------------- */

static enum tool_exit out_of_memory(void)
{
    tool_say(stderr, "faultloc: out of memory");
    return TOOL_TROUBLE;
}

static void print_nothing(const struct learning *l)
{
    if (l->confirmed == 0)
        tool_say(stdout,
                 "nothing to learn: none of the verdicts in %d report(s) has the field"
                 " \"confirmed\"",
                 l->reports);
    else
        tool_say(stdout,
                 "nothing to learn: %d confirmed verdict(s), of which %d count, change no prior",
                 l->confirmed, l->used);
}

static enum tool_exit propose(const struct learning *l)
{
    struct changes c = {.text = l->f->text, .len = l->f->len};

    c.change = calloc((size_t) l->f->rules->rules * RULES_CANDIDATES_MAX, sizeof(c.change[0]));
    if (!c.change)
        return out_of_memory();
    find_changes(l, &c);
    if (c.n > 0) {
        print_diff(&c, strcmp(l->f->name, "built-in rules") ? l->f->name : "rules.json");
        tool_say(stderr,
                 "faultloc: %d report(s), %d confirmed verdict(s), of which %d count; new prior ="
                 " (old * %d + right) / (%d + n)",
                 l->reports, l->confirmed, l->used, WEIGHT, WEIGHT);
    } else {
        print_nothing(l);
    }
    free(c.change);
    return TOOL_OK;
}

enum tool_exit tool_rules_learn(const struct rules_file *f, int n, char **reports)
{
    struct learning l = {.f = f, .seen = json_object_new_object()};
    enum tool_exit worst = TOOL_OK;

    l.count = calloc((size_t) f->rules->rules, sizeof(l.count[0]));
    if (!l.count || !l.seen)
        worst = out_of_memory();
    for (int i = 0; worst != TOOL_TROUBLE && i < n; i++) {
        enum tool_exit code = learn_report(&l, reports[i]);
        worst = code > worst ? code : worst;
    }
    if (worst == TOOL_OK)
        worst = propose(&l);
    free(l.count);
    json_object_put(l.seen);
    return worst;
}
