/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "tool_rules.h"

#include "ftree/base/base.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A part of a rule base in words. */

#define WIDTH 100

/* ---- lines ----------------------------------------------------------------------------------- */

/* A paragraph: words go into `text`, which is printed by end_line(), broken at blanks, with what
 * follows the first line indented by `rest`. */
struct line {
    int first, rest;
    char text[4096];
};

#define add(l, ...) ftree_text_add((l)->text, sizeof((l)->text), __VA_ARGS__)

static void begin_line(struct line *l, int first, int rest)
{
    l->first = first;
    l->rest = rest;
    l->text[0] = '\0';
}

static void end_line(struct line *l)
{
    const char *s = l->text;
    int indent = l->first;

    while (*s) {
        size_t room = (size_t) (WIDTH - indent), n = strlen(s);
        if (n > room) {
            n = room;
            while (n > 0 && s[n] != ' ')
                n--;
            n = n ? n : room; /* one long word */
        }
        printf("%*s%.*s\n", indent, "", (int) n, s);
        s += n;
        while (*s == ' ')
            s++;
        indent = l->rest;
    }
}

static void print_line(int first, int rest, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void print_line(int first, int rest, const char *format, ...)
{
    struct line l;
    va_list args;

    begin_line(&l, first, rest);
    va_start(args, format);
    vsnprintf(l.text, sizeof(l.text), format, args);
    va_end(args);
    end_line(&l);
}

/* What stands before the i-th of n: "a, b or c". */
static const char *glue(int i, int n, const char *last)
{
    return i == 0 ? "" : i == n - 1 ? last : ", ";
}

static int bits(uint64_t set)
{
    return __builtin_popcountll(set);
}

/* A model of "mine" and a sign "model/sign" of it have the name's end in common. */
static const char *own_name(const char *name)
{
    const char *slash = strchr(name, '/');

    return slash ? slash + 1 : name;
}

/* ---- rules ----------------------------------------------------------------------------------- */

static void add_relation(struct line *l, const struct rules_pattern *p)
{
    static const char *const words[RULES_RELATION_COUNT] = {
        [RULES_SAME_COMPONENT] = " of the same component",
        [RULES_SAME_NODE] = "",
        [RULES_SAME_SWITCH] = " behind the same switch",
        [RULES_SAME_SUBTREE] = " in the same subtree",
        [RULES_PARENT_OF] = " of the node above it in the tree",
        [RULES_CHILD_OF] = " of a node below it in the tree",
        [RULES_SAME_CHAIN] = " in the same chain of waiting ranks",
        [RULES_ANY] = " of any component"};

    add(l, "%s", words[p->relation]);
}

static void add_pattern(struct line *l, const struct rules_pattern *p)
{
    int n = 0;

    if (p->count > 1)
        add(l, "%u times ", (unsigned) p->count);
    for (int k = 0; k < FTREE_SYMPTOM_COUNT; k++)
        if (p->kinds >> k & 1) {
            add(l, "%s%s", glue(n, bits(p->kinds), " or "), ftree_symptom_info(k)->name);
            n++;
        }
    add_relation(l, p);
    if (p->components > 1)
        add(l, ", about %u components", (unsigned) p->components);
    if (p->severity > FTREE_SEVERITY_INFO)
        add(l, ", at least of severity %s", ftree_severity_name(p->severity));
    if (p->error)
        add(l, ", with errno %d (%s)", (int) p->error, strerror(p->error));
    if (p->window)
        add(l, ", within %g s", (double) p->window / 1e9);
}

static void add_patterns(struct line *l, const struct rules_rule *rule)
{
    for (int32_t i = 0; i < rule->patterns; i++) {
        add(l, "%s", i ? "; and " : "");
        add_pattern(l, &rule->pattern[i]);
    }
}

static void print_meanings(uint64_t kinds)
{
    for (int k = 0; k < FTREE_SYMPTOM_COUNT; k++)
        if (kinds >> k & 1)
            print_line(4, 24, "%-18s  %s", ftree_symptom_info(k)->name,
                       ftree_symptom_info(k)->meaning);
}

/* ---- strategies ------------------------------------------------------------------------------ */

static void add_step(struct line *l, const struct rules_step *s)
{
    static const char *const asks[RULES_ASKS] = {"response", "state", "log", "burst"};
    static const char *const whom[RULES_WHOMS] = {"its agent", "its deputy", "other nodes",
                                                  "other nodes behind its switches",
                                                  "the handlers of the site"};
    static const char *const over[RULES_OVERS] = {"on every path", "on the data path",
                                                  "on the management path", "on the main path",
                                                  "on the paths on which it has answered"};
    static const char *const conditions[RULES_IFS] = {
        "", ", if its kernel has responded", ", if no other node has been heard on some path",
        ", if its agent has answered", ", if some path is silent",
        ", if its agent has answered and some path is silent"};

    add(l, "%s probe to %s %s%s%s%s", asks[s->ask], whom[s->of], over[s->over],
        s->from == RULES_FROM_ELSEWHERE ? ", sent by other nodes" : "",
        s->fresh ? ", on a new connection" : "", conditions[s->if_]);
}

static bool is_same_step(const struct rules_step *a, const struct rules_step *b)
{
    return a->ask == b->ask && a->of == b->of && a->over == b->over && a->if_ == b->if_ &&
           a->fresh == b->fresh && a->from == b->from;
}

/* The times of steps that are the same but for their times: "at 1, 3, 4.5 rto". */
static void print_times(const struct rules_strategy *s, int32_t first, char *buf, size_t size)
{
    size_t len = (size_t) snprintf(buf, size, "at");

    for (int32_t i = first; i < s->steps && len < size; i++)
        if (is_same_step(&s->step[i], &s->step[first]))
            len += (size_t) snprintf(buf + len, size - len, "%s%g", i > first ? ", " : " ",
                                     s->step[i].at_milli_rto / 1000.0);
    if (len < size)
        snprintf(buf + len, size - len, " rto");
}

static void print_strategy(const struct rules_strategy *s)
{
    char times[200];
    struct line l;

    print_line(2, 4,
               "probed by strategy \"%s\" (rto: probe timeout):", s->name);
    for (int32_t i = 0; i < s->steps; i++) {
        int32_t before = 0;
        while (before < i && !is_same_step(&s->step[before], &s->step[i]))
            before++;
        if (before < i)
            continue;
        print_times(s, i, times, sizeof(times));
        begin_line(&l, 4, 24);
        add(&l, "%-18s  ", times);
        add_step(&l, &s->step[i]);
        end_line(&l);
    }
}

/* ---- signs ----------------------------------------------------------------------------------- */

static void add_values(struct line *l, const struct rules_condition *c)
{
    int all = ftree_rules_values(c->fact), n = bits(c->values), i = 0;
    bool other = n > all / 2 && n > 2; /* shorter by what it is not */
    uint64_t set = other ? ~(uint64_t) c->values & (((uint64_t) 1 << all) - 1) : c->values;

    add(l, "%s is %s", ftree_rules_fact_name(c->fact), other ? "not " : "");
    for (int v = 0; v < all; v++)
        if (set >> v & 1) {
            add(l, "%s%s", glue(i, bits(set), " or "), ftree_rules_value_name(c->fact, v));
            i++;
        }
}

static void add_condition(struct line *l, const struct rules_condition *c)
{
    if (!c->is_number) {
        add_values(l, c);
        return;
    }
    add(l, "%s is", ftree_rules_number_name(c->fact));
    if (isfinite(c->above))
        add(l, " above %g", c->above);
    if (isfinite(c->below))
        add(l, "%s below %g", isfinite(c->above) ? " and" : "", c->below);
}

static void print_conditions(const struct rules_sign *sign, bool alternative)
{
    struct line l;

    begin_line(&l, 6, 8);
    add(&l, "%s ", alternative ? "or" : "if");
    for (int32_t i = 0; i < sign->conditions; i++) {
        add(&l, "%s", glue(i, sign->conditions, ", and "));
        add_condition(&l, &sign->condition[i]);
    }
    end_line(&l);
}

static void print_candidates(const struct rules_sign *sign, bool ruled_out)
{
    struct line l;
    int n = 0;

    begin_line(&l, 6, 8);
    for (int32_t i = 0; i < sign->candidates; i++)
        if (sign->candidate[i].ruled_out == ruled_out)
            add(&l, "%s%s %g%%",
                n++         ? ", "
                : ruled_out ? "rules out: "
                            : "leaves open: ",
                ftree_class_name(sign->candidate[i].class_),
                sign->candidate[i].confidence / 10.0);
    end_line(&l);
}

/* It is no part of an examination. */
static bool needs_waits(const struct rules_sign *sign)
{
    for (int32_t i = 0; i < sign->conditions; i++) {
        const struct rules_condition *c = &sign->condition[i];
        if (!c->is_number && c->fact == RULES_FACT_WAITS && !(c->values >> RULES_WAITS_NONE & 1))
            return true;
        if (!c->is_number && c->fact == RULES_FACT_OUTSIDE &&
            !(c->values >> RULES_OUTSIDE_NONE & 1))
            return true;
    }
    return false;
}

/* `sign` with the alternatives of the same name behind it; returns how many these are. */
static int32_t print_sign(const struct rules_sign *sign, int32_t signs, bool well)
{
    int32_t n = 1;
    struct line l;

    begin_line(&l, 4, 6);
    add(&l, "%s", own_name(sign->name));
    if (!well)
        add(&l, ", confidence %g", sign->confidence / 1000.0);
    add(&l, ": %s", sign->text);
    end_line(&l);
    if (sign->about_asker)
        print_line(6, 8, "the fault is attributed to the node that asks");
    print_conditions(sign, false);
    for (; n < signs && !strcmp(sign[n].name, sign->name); n++)
        print_conditions(&sign[n], true);
    if (needs_waits(sign))
        print_line(6, 8, "evaluated when the ranks have said twice what they wait for");
    else if (!sign->at_once)
        print_line(6, 8, "evaluated when the time for answers is over");
    print_candidates(sign, false);
    print_candidates(sign, true);
    return n;
}

static void print_signs(const struct rules_sign *sign, int32_t signs, bool well)
{
    for (int32_t s = 0; s < signs;)
        s += print_sign(&sign[s], signs - s, well);
}

/* ---- models ---------------------------------------------------------------------------------- */

static void print_head(const struct rules_model *m)
{
    const char *class_ = ftree_class_name(m->class_);
    bool own = strcmp(m->name, class_) != 0;
    int origin = ftree_class_origin(m->class_);

    print_line(0, 2, "%s: %s%s%sa fault of a %s, %s", m->name, own ? "of class " : "",
               own ? class_ : "", own ? ", " : "", ftree_kind_name(ftree_class_kind(m->class_)),
               origin == FTREE_ORIGIN_UNKNOWN ? "hardware or software" : ftree_origin_name(origin));
}

/* Returns the strategies that the rules use which lead to model m. */
static uint32_t print_raising(const struct ftree_rules *rules, int32_t m, uint64_t *kinds)
{
    uint32_t strategies = 0;
    struct line l;

    for (int32_t r = 0; r < rules->rules; r++) {
        const struct rules_rule *rule = &rules->rule[r];
        for (int32_t i = 0; i < rule->candidates; i++) {
            if (rule->candidate[i].model != m)
                continue;
            begin_line(&l, 4, 8);
            add(&l, "%s (prior %g%%): ", rule->name, rule->candidate[i].prior / 10.0);
            add_patterns(&l, rule);
            end_line(&l);
            for (int32_t p = 0; p < rule->patterns; p++)
                *kinds |= rule->pattern[p].kinds;
            if (rule->strategy >= 0)
                strategies |= (uint32_t) 1 << rule->strategy;
        }
    }
    return strategies;
}

/* Rules that do not lead there themselves, but derive a symptom of which others do. */
static void print_deriving(const struct ftree_rules *rules, uint64_t *kinds)
{
    uint64_t before = 0;
    struct line l;

    while (before != *kinds) {
        uint64_t now = *kinds;
        for (int32_t r = 0; r < rules->rules; r++) {
            const struct rules_rule *rule = &rules->rule[r];
            if (rule->derives < 0 || !(now >> rule->derives & 1) || (before >> rule->derives & 1))
                continue;
            begin_line(&l, 4, 8);
            add(&l, "%s (derives %s): ", rule->name, ftree_symptom_info(rule->derives)->name);
            add_patterns(&l, rule);
            end_line(&l);
            for (int32_t p = 0; p < rule->patterns; p++)
                *kinds |= rule->pattern[p].kinds;
        }
        before = now;
    }
}

static void print_models(const struct ftree_rules *rules, const char *what, uint64_t set)
{
    struct line l;
    int n = 0;

    if (!set)
        return;
    begin_line(&l, 2, 4);
    add(&l, "%s ", what);
    for (int32_t m = 0; m < rules->models; m++)
        if (set >> m & 1) {
            add(&l, "%s%s", glue(n, bits(set), " and "), rules->model[m].name);
            n++;
        }
    end_line(&l);
}

static void print_symptoms(const struct rules_model *m)
{
    struct line l;
    int n = 0;

    begin_line(&l, 2, 4);
    for (int k = 0; k < FTREE_SYMPTOM_COUNT; k++)
        if (m->symptoms >> k & 1) {
            add(&l, "%s%s", n ? glue(n, bits(m->symptoms), " and ") : "supported by ",
                ftree_symptom_info(k)->name);
            n++;
        }
    for (int32_t i = 0; i < m->errors; i++)
        add(&l, "%serrno %d (%s)",
            i   ? ", "
            : n ? "; shows as "
                : "shows as ",
            (int) m->error[i], strerror(m->error[i]));
    end_line(&l);
}

static void print_rest(const struct ftree_rules *rules, const struct rules_model *m)
{
    print_models(rules, "masks, on the same node:", m->masks);
    print_models(rules, "causes:", m->causes);
    print_models(rules, "may lead to:", m->leads_to);
    print_symptoms(m);
}

static bool is_raised(const struct ftree_rules *rules, int32_t m)
{
    for (int32_t r = 0; r < rules->rules; r++)
        for (int32_t i = 0; i < rules->rule[r].candidates; i++)
            if (rules->rule[r].candidate[i].model == m)
                return true;
    return false;
}

static void explain_raising(const struct ftree_rules *rules, int32_t m)
{
    uint64_t kinds = 0;
    uint32_t strategies;

    if (!is_raised(rules, m)) {
        print_line(2, 4, "candidate of no rule");
        return;
    }
    print_line(2, 4, "candidate of the rules:");
    strategies = print_raising(rules, m, &kinds);
    print_deriving(rules, &kinds);
    print_line(2, 4, "for the symptoms:");
    print_meanings(kinds);
    for (int32_t s = 0; s < rules->strategies; s++)
        if (strategies >> s & 1)
            print_strategy(&rules->strategy[s]);
}

static void explain_model(const struct ftree_rules *rules, int32_t m)
{
    const struct rules_model *model = &rules->model[m];

    print_head(model);
    explain_raising(rules, m);
    if (ftree_rules_by_waits(rules, m) && model->class_ == FTREE_CLASS_STRAGGLER)
        print_line(2, 4,
                   "found without a rule, too: where ranks wait longer than ever before all nodes "
                   "are asked what slows theirs");
    else if (ftree_rules_by_waits(rules, m))
        print_line(
            2, 4,
            "found without a rule: ranks that have stalled are asked what they wait for, and "
            "where that ends in ranks outside MPI all nodes are asked for their samples");
    if (model->listed_only)
        print_line(2, 4, "never a verdict: only named as a candidate of other verdicts");
    else
        print_line(2, 4, "decided%s by these signs:",
                   model->even_if_well ? ", even if the node otherwise seems well," : "");
    print_signs(model->sign, model->signs, false);
    print_rest(rules, model);
}

/* ---- what is asked for ----------------------------------------------------------------------- */

static void explain_rule(const struct ftree_rules *rules, const struct rules_rule *rule)
{
    uint64_t kinds = 0;
    struct line l;

    begin_line(&l, 0, 2);
    add(&l, "%s: a rule; if there is ", rule->name);
    add_patterns(&l, rule);
    end_line(&l);
    for (int32_t p = 0; p < rule->patterns; p++)
        kinds |= rule->pattern[p].kinds;
    print_meanings(kinds);
    if (rule->derives >= 0)
        print_line(2, 4, "then there is also %s: %s", ftree_symptom_info(rule->derives)->name,
                   ftree_symptom_info(rule->derives)->meaning);
    if (rule->candidates)
        print_line(2, 4, "then these faults are possible, with prior weights:");
    for (int32_t i = 0; i < rule->candidates; i++)
        print_line(4, 6, "%-18s  %g%%", rules->model[rule->candidate[i].model].name,
                   rule->candidate[i].prior / 10.0);
    if (rule->strategy >= 0)
        print_strategy(&rules->strategy[rule->strategy]);
    else
        print_line(2, 4, "no probes");
}

static bool explain_sign(const struct ftree_rules *rules, const char *name)
{
    for (int32_t m = 0; m < rules->models; m++)
        for (int32_t s = 0; s < rules->model[m].signs; s++)
            if (!strcmp(rules->model[m].sign[s].name, name)) {
                print_head(&rules->model[m]);
                print_sign(&rules->model[m].sign[s], rules->model[m].signs - s, false);
                return true;
            }
    return false;
}

static bool explain_well(const struct ftree_rules *rules, const char *name)
{
    if (strcmp(name, "well") || !rules->wells)
        return false;
    print_line(0, 2, "well: signs that nothing is wrong with a node that was suspected");
    print_signs(rules->well, rules->wells, true);
    return true;
}

/* A class is explained by its models, of which there may be several. */
static bool explain_models(const struct ftree_rules *rules, const char *name)
{
    bool any = false;

    for (int32_t m = 0; m < rules->models; m++) {
        const struct rules_model *model = &rules->model[m];
        if (strcmp(model->name, name) && strcmp(ftree_class_name(model->class_), name))
            continue;
        if (any)
            putchar('\n');
        explain_model(rules, m);
        any = true;
    }
    return any;
}

static void say_what_there_is(const struct rules_file *f, const char *what)
{
    tool_say(stderr, "faultloc: %s: there is no class, model, rule or sign \"%s\"; known are",
             f->name, what);
    for (int32_t m = 0; m < f->rules->models; m++)
        tool_say(stderr, "  fault %s", f->rules->model[m].name);
    for (int32_t r = 0; r < f->rules->rules; r++)
        tool_say(stderr, "  rule %s", f->rules->rule[r].name);
}

enum tool_exit tool_rules_explain(const struct rules_file *f, const char *what)
{
    int32_t r = ftree_rules_rule(f->rules, what);
    bool model = explain_models(f->rules, what);

    if (r >= 0) {
        if (model)
            putchar('\n');
        explain_rule(f->rules, &f->rules->rule[r]);
    }
    if (r >= 0 || model || explain_well(f->rules, what) || explain_sign(f->rules, what))
        return TOOL_OK;
    if (ftree_class_by_name(what) >= 0) {
        tool_say(stdout, "%s: a class of faults of which the rule base has no model", what);
        return TOOL_OK;
    }
    say_what_there_is(f, what);
    return TOOL_TROUBLE;
}
