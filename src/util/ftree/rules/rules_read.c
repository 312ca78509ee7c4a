/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/rules/rules_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The document becomes tables.  It is gone over twice: first its lists are counted, so that one
 * block of memory holds all tables, then each of its parts is read.  Models and strategies come
 * before rules, which name them, wherever in the file they are.
 */

/* A state probe that comes later than the last moment at which a suspect is asked never comes. */
#define RTO_MAX 5.9

/* ---- strategies ------------------------------------------------------------------------------ */

/* Of steps at the same time the order of the file is kept. */
static void insert_step(struct rules_reader *r, struct rules_strategy *s,
                        const struct rules_step *step)
{
    int32_t i = s->steps;

    if (s->steps == RULES_STEPS_MAX) {
        rules_fail(r, false, "more than %d steps; each time of \"at_rto\" counts", RULES_STEPS_MAX);
        return;
    }
    for (; i > 0 && s->step[i - 1].at_milli_rto > step->at_milli_rto; i--)
        s->step[i] = s->step[i - 1];
    s->step[i] = *step;
    s->steps++;
}

static void read_times(struct rules_reader *r, struct json_object *v, struct rules_strategy *s,
                       struct rules_step *step)
{
    struct json_object *at;
    size_t n;

    if (!rules_enter(r, v, "at_rto", &at)) {
        rules_fail(r, false, "has no \"at_rto\"");
        return;
    }
    n = json_object_is_type(at, json_type_array) ? json_object_array_length(at) : 1;
    if (n == 0)
        rules_fail(r, false, "is an empty list");
    for (size_t i = 0; i < n && !r->failed; i++) {
        bool list = json_object_is_type(at, json_type_array);
        if (list)
            rules_path_index(&r->path, (int) i);
        step->at_milli_rto =
            (uint32_t) (rules_number_in(r, list ? json_object_array_get_idx(at, i) : at, 0,
                                        RTO_MAX) *
                            1000 +
                        0.5);
        insert_step(r, s, step);
        if (list)
            rules_path_leave(&r->path);
    }
    rules_path_leave(&r->path);
}

static void read_step(struct rules_reader *r, struct json_object *v, struct rules_strategy *s)
{
    static const char *const keys[] = {"ask", "of", "over", "from", "at_rto", "fresh", "if", NULL};
    struct rules_step step = {.fresh = false};
    int ask;

    if (!rules_check_keys(r, v, keys))
        return;
    ask = rules_get_name_of(r, v, "ask", RULES_WORD_ASK, -1);
    if (ask < 0)
        rules_fail(r, false, "has no \"ask\"");
    step.ask = (uint8_t) ask;
    step.of = (uint8_t) rules_get_name_of(r, v, "of", RULES_WORD_WHOM, RULES_OF_AGENT);
    step.over = (uint8_t) rules_get_name_of(r, v, "over", RULES_WORD_OVER, RULES_OVER_ALL);
    step.from = (uint8_t) rules_get_name_of(r, v, "from", RULES_WORD_FROM, RULES_FROM_HERE);
    step.if_ = (uint8_t) rules_get_name_of(r, v, "if", RULES_WORD_IF, RULES_IF_ALWAYS);
    step.fresh = rules_get_bool(r, v, "fresh");
    if (step.of == RULES_OF_HANDLERS && step.ask != RULES_ASK_STATE)
        rules_fail(r, false, "handlers are asked for the state alone");
    else if (step.ask != RULES_ASK_RESPONSE && step.of != RULES_OF_AGENT &&
             step.of != RULES_OF_HANDLERS)
        rules_fail(r, false, "only an agent answers a %s probe", ftree_rules_ask_name(step.ask));
    if (step.from == RULES_FROM_ELSEWHERE &&
        (step.ask != RULES_ASK_RESPONSE ||
         (step.of != RULES_OF_AGENT && step.of != RULES_OF_NEIGHBOURS) ||
         step.over != RULES_OVER_ALL))
        rules_fail(r, false, "from elsewhere an agent is asked for a response over all paths");
    read_times(r, v, s, &step);
}

static void read_strategy(struct rules_reader *r, struct json_object *v, int32_t s)
{
    static const char *const keys[] = {"name", "steps", NULL};
    struct json_object *list;

    if (!rules_check_keys(r, v, keys))
        return;
    list = rules_enter_list(r, v, "steps", RULES_STEPS_MAX, true);
    for (size_t i = 0; rules_next(r, list, i, &v); i++)
        read_step(r, v, &r->rules->strategy[s]);
}

/* ---- rules ----------------------------------------------------------------------------------- */

static void read_pattern(struct rules_reader *r, struct json_object *v, struct rules_pattern *p)
{
    static const char *const keys[] = {"kind",      "relation", "count", "components",
                                       "window_ms", "severity", "errno", NULL};
    struct json_object *error;

    if (!rules_check_keys(r, v, keys))
        return;
    p->kinds = rules_get_set(r, v, "kind", RULES_WORD_SYMPTOM);
    if (!p->kinds)
        rules_fail(r, false, "has no \"kind\"");
    p->relation = (uint8_t) rules_get_name_of(r, v, "relation", RULES_WORD_RELATION,
                                              RULES_SAME_NODE);
    p->severity = (uint8_t) rules_get_name_of(r, v, "severity", RULES_WORD_SEVERITY,
                                              FTREE_SEVERITY_INFO);
    p->count = rules_get_count(r, v, "count", 1, 1000000, 1);
    p->components = rules_get_count(r, v, "components", 1, 1000000, 1);
    p->window = rules_get_count(r, v, "window_ms", 1, 3600000, 0) * FTREE_MS;
    if (p->components > 1 &&
        (p->relation == RULES_SAME_COMPONENT || p->relation == RULES_SAME_NODE))
        rules_fail(r, false, "\"components\": only one has the relation \"%s\"",
                   ftree_rules_relation_name(p->relation));
    RULES_IN(r, rules_enter(r, v, "errno", &error))
        p->error = rules_errno_in(r, error);
}

static void read_fault(struct rules_reader *r, struct json_object *v, struct rules_rule *rule)
{
    static const char *const keys[] = {"model", "prior", NULL};
    struct rules_candidate *c = &rule->candidate[rule->candidates];
    int model;

    if (!rules_check_keys(r, v, keys))
        return;
    model = rules_get_name_of(r, v, "model", RULES_WORD_MODEL, -1);
    if (model < 0)
        rules_fail(r, false, "has no \"model\"");
    for (int32_t i = 0; i < rule->candidates; i++)
        if (rule->candidate[i].model == model)
            rules_fail(r, false, "model \"%s\" is there twice", r->rules->model[model].name);
    c->model = (uint8_t) model;
    c->prior = rules_get_permille(r, v, "prior");
    rule->candidates++;
}

static void read_faults(struct rules_reader *r, struct json_object *then, struct rules_rule *rule)
{
    struct json_object *v,
        *list = rules_enter_list(r, then, "candidates", RULES_CANDIDATES_MAX, false);
    int sum = 0;

    for (size_t i = 0; rules_next(r, list, i, &v); i++) {
        read_fault(r, v, rule);
        sum += rule->candidate[i].prior;
    }
    rules_path_key(&r->path, "candidates");
    if (sum > 1000)
        rules_fail(r, false, "the priors add up to %d.%03d, more than 1", sum / 1000, sum % 1000);
    rules_path_leave(&r->path);
}

static void read_rule(struct rules_reader *r, struct json_object *v, int32_t i)
{
    static const char *const keys[] = {"name", "if", "then", NULL};
    static const char *const then_keys[] = {"candidates", "derive", "probes", NULL};
    struct rules_rule *rule = &r->rules->rule[i];
    struct json_object *then, *list, *pattern;

    if (!rules_check_keys(r, v, keys))
        return;
    list = rules_enter_list(r, v, "if", RULES_PATTERNS_MAX, true);
    for (size_t k = 0; rules_next(r, list, k, &pattern); k++)
        read_pattern(r, pattern, &rule->pattern[rule->patterns++]);
    if (!rules_enter_type(r, v, "then", json_type_object, true, &then))
        return;
    if (rules_check_keys(r, then, then_keys)) {
        read_faults(r, then, rule);
        rule->derives = rules_get_name_of(r, then, "derive", RULES_WORD_SYMPTOM, -1);
        rule->strategy = rules_get_name_of(r, then, "probes", RULES_WORD_STRATEGY, -1);
        if (rule->candidates == 0 && rule->derives < 0)
            rules_fail(r, false, "nothing follows: it has neither \"candidates\" nor \"derive\"");
    }
    rules_path_leave(&r->path);
}

/* ---- the document ---------------------------------------------------------------------------- */

struct lists {
    struct json_object *rules, *models, *strategies;
};

static struct json_object *find_list(struct rules_reader *r, struct json_object *root,
                                     const char *key, int max, int32_t *n)
{
    struct json_object *list = rules_enter_list(r, root, key, max, true);

    *n = 0;
    if (!list)
        return NULL;
    rules_path_leave(&r->path);
    *n = (int32_t) json_object_array_length(list);
    return list;
}

/* The sizes of all lists; `tables` has no tables yet. */
static void measure(struct rules_reader *r, struct json_object *root, struct lists *l,
                    struct ftree_rules *tables, size_t *signs)
{
    struct json_object *v;

    l->strategies = find_list(r, root, "strategies", RULES_STRATEGIES_MAX, &tables->strategies);
    l->models = find_list(r, root, "models", RULES_MODELS_MAX, &tables->models);
    l->rules = find_list(r, root, "rules", RULES_MAX, &tables->rules);
    tables->wells = rules_count_signs(r, root, "well");
    *signs = (size_t) tables->wells;
    rules_path_key(&r->path, "models");
    for (size_t i = 0; rules_next(r, l->models, i, &v); i++)
        if (rules_is(r, v, json_type_object))
            *signs += (size_t) rules_count_signs(r, v, "signs");
}

/* Signs of all models follow those of "well"; where a model's begin is set when it is read. */
static struct ftree_rules *make_tables(const struct ftree_rules *sizes, size_t signs)
{
    size_t rule = sizeof(struct ftree_rules), model, strategy, sign, end;
    struct ftree_rules *t;
    char *block;

    model = rule + (size_t) sizes->rules * sizeof(struct rules_rule);
    sign = model + (size_t) sizes->models * sizeof(struct rules_model);
    strategy = sign + signs * sizeof(struct rules_sign);
    end = strategy + (size_t) sizes->strategies * sizeof(struct rules_strategy);
    block = calloc(1, end);
    if (!block)
        return NULL;
    t = (struct ftree_rules *) block;
    *t = *sizes;
    t->rule = (struct rules_rule *) (void *) (block + rule);
    t->model = (struct rules_model *) (void *) (block + model);
    t->well = (struct rules_sign *) (void *) (block + sign);
    t->strategy = (struct rules_strategy *) (void *) (block + strategy);
    return t;
}

_Static_assert(sizeof(struct ftree_rules) % 8 == 0 && sizeof(struct rules_rule) % 8 == 0 &&
                   sizeof(struct rules_model) % 8 == 0 && sizeof(struct rules_sign) % 8 == 0 &&
                   _Alignof(struct rules_sign) <= 8 && _Alignof(struct rules_strategy) <= 8,
               "one block holds them one after the other");

/* Names first, for parts may name later ones. */
static void read_names(struct rules_reader *r, struct json_object *list, const char *key,
                       char *first, size_t size)
{
    struct json_object *v;

    rules_path_key(&r->path, key);
    for (size_t i = 0; rules_next(r, list, i, &v); i++) {
        char *name = first + i * size;
        if (rules_is(r, v, json_type_object))
            rules_get_name(r, v, NULL, name);
        for (size_t j = 0; j < i && !r->failed; j++)
            if (!strcmp(first + j * size, name)) {
                rules_path_key(&r->path, "name");
                rules_fail(r, false, "%s[%zu] has this name, too", key, j);
            }
    }
}

/* Each is an object: its name has been read. */
static void read_parts(struct rules_reader *r, struct json_object *list, const char *key,
                       void (*read)(struct rules_reader *r, struct json_object *v, int32_t i))
{
    struct json_object *v;

    rules_path_key(&r->path, key);
    for (size_t i = 0; rules_next(r, list, i, &v); i++)
        read(r, v, (int32_t) i);
}

/* The signs of model m begin where those of the one before it end. */
static void read_next_model(struct rules_reader *r, struct json_object *v, int32_t m)
{
    struct ftree_rules *t = r->rules;

    t->model[m].sign = m == 0 ? t->well + t->wells : t->model[m - 1].sign + t->model[m - 1].signs;
    rules_read_model(r, v, m);
}

static void read_tables(struct rules_reader *r, struct json_object *root, const struct lists *l)
{
    struct ftree_rules *t = r->rules;

    rules_get_name(r, root, NULL, t->name);
    read_names(r, l->strategies, "strategies", t->strategy[0].name, sizeof(t->strategy[0]));
    read_names(r, l->models, "models", t->model[0].name, sizeof(t->model[0]));
    read_names(r, l->rules, "rules", t->rule[0].name, sizeof(t->rule[0]));
    read_parts(r, l->strategies, "strategies", read_strategy);
    rules_read_signs(r, root, "well", NULL, t->well);
    read_parts(r, l->models, "models", read_next_model);
    read_parts(r, l->rules, "rules", read_rule);
    if (!r->failed)
        rules_check(r);
}

static void check_schema(struct rules_reader *r, struct json_object *root)
{
    static const char *const keys[] = {"$schema", "schema", "name", "strategies",
                                       "rules",   "models", "well", NULL};
    struct json_object *v;

    if (!rules_is(r, root, json_type_object) ||
        !rules_enter_type(r, root, "schema", json_type_string, true, &v))
        return;
    if (strcmp(json_object_get_string(v), RULES_SCHEMA))
        rules_fail(r, false, "must be \"%s\", is \"%.40s\"", RULES_SCHEMA,
                   json_object_get_string(v));
    rules_path_leave(&r->path);
    rules_check_keys(r, root, keys);
}

static int read_document(struct rules_reader *r, struct json_object *root)
{
    struct ftree_rules sizes = {.rules = 0};
    struct lists l;
    size_t signs;

    check_schema(r, root);
    if (!r->failed)
        measure(r, root, &l, &sizes, &signs);
    if (r->failed)
        return FTREE_ERR_INVALID;
    r->rules = make_tables(&sizes, signs);
    if (!r->rules)
        return FTREE_ERR_NOMEM;
    read_tables(r, root, &l);
    if (!r->failed)
        return FTREE_OK;
    ftree_rules_free(r->rules);
    return FTREE_ERR_INVALID;
}

/* ---- the text -------------------------------------------------------------------------------- */

static int refuse(struct ftree_rules_error *e, const char *text, size_t len, size_t at,
                  const char *why)
{
    snprintf(e->text, sizeof(e->text), "%s", why);
    rules_place_line(text, len, at, &e->line, &e->column);
    return FTREE_ERR_INVALID;
}

/* `plain` is strict JSON by now, whatever else this json-c takes; it may still refuse more. */
static int parse(const char *plain, size_t len, struct json_object **root, size_t *at,
                 const char **why)
{
    struct json_tokener *tok = json_tokener_new_ex(RULES_DEPTH_MAX + 2);
    enum json_tokener_error error;

    if (!tok)
        return FTREE_ERR_NOMEM;
    json_tokener_set_flags(tok, JSON_TOKENER_STRICT);
    /* with the zero byte, which ends what is a number only */
    *root = json_tokener_parse_ex(tok, plain, (int) len + 1);
    error = json_tokener_get_error(tok);
    *at = json_tokener_get_parse_end(tok);
    *why = error == json_tokener_success ? NULL : json_tokener_error_desc(error);
    json_tokener_free(tok);
    return FTREE_OK;
}

int ftree_rules_read(const char *text, size_t len, struct ftree_rules **out,
                     struct ftree_rules_error *e)
{
    struct rules_reader r = {.text = text, .len = len, .e = e};
    struct json_object *root = NULL;
    int rc = FTREE_OK;
    const char *why;
    char *plain;
    size_t at;

    *out = NULL;
    memset(e, 0, sizeof(*e));
    if (len > RULES_FILE_MAX)
        return refuse(e, text, len, len, "larger than 1 MiB, which no rule base is");
    plain = malloc(len + 1);
    if (!plain)
        return FTREE_ERR_NOMEM;
    plain[len] = '\0';
    why = rules_place_scan(text, len, plain, &at);
    if (!why)
        rc = parse(plain, len, &root, &at, &why);
    free(plain);
    if (!rc)
        rc = why ? refuse(e, text, len, at, why) : read_document(&r, root);
    json_object_put(root);
    if (!rc)
        *out = r.rules;
    return rc;
}
