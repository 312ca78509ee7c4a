/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/rules/rules_reader.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The fault models of a rule base, their signs, and the conditions of these. */

/* ---- conditions ------------------------------------------------------------------------------ */

/* A number, or the name of a threshold of the model. */
static double get_bound(struct rules_reader *r, struct json_object *range, const char *key,
                        double otherwise)
{
    struct json_object *v;
    int i;

    if (!rules_enter(r, range, key, &v))
        return otherwise;
    if (json_object_is_type(v, json_type_string)) {
        i = rules_number_of(r, json_object_get_string(v), RULES_WORD_THRESHOLD, false);
        if (i >= 0) {
            r->thresholds_used |= (uint64_t) 1 << i;
            json_object_object_get_ex(r->thresholds, json_object_get_string(v), &v);
        }
    }
    if (!r->failed)
        otherwise = rules_number_in(r, v, -1e15, 1e15);
    rules_path_leave(&r->path);
    return otherwise;
}

static void read_range(struct rules_reader *r, struct json_object *v, struct rules_condition *c)
{
    static const char *const keys[] = {"above", "below", NULL};

    if (!rules_check_keys(r, v, keys))
        return;
    c->above = get_bound(r, v, "above", -INFINITY);
    c->below = get_bound(r, v, "below", INFINITY);
    if (!r->failed && !(c->above < c->below))
        rules_fail(r, false, "nothing is above %g and below %g", c->above, c->below);
    else if (isinf(c->above) && isinf(c->below))
        rules_fail(r, false, "has neither \"above\" nor \"below\"");
}

static void read_values(struct rules_reader *r, struct json_object *v, struct rules_condition *c)
{
    static const char *const keys[] = {"not", NULL};
    uint64_t all = ((uint64_t) 1 << ftree_rules_values(c->fact)) - 1, set;

    r->fact = c->fact;
    if (!json_object_is_type(v, json_type_object)) {
        set = rules_set_in(r, v, RULES_WORD_VALUE);
    } else {
        if (rules_check_keys(r, v, keys) && !json_object_object_get_ex(v, "not", NULL))
            rules_fail(r, false, "has no \"not\"");
        set = all & ~rules_get_set(r, v, "not", RULES_WORD_VALUE);
    }
    if (!r->failed && (set == 0 || set == all))
        rules_fail(r, false, set ? "holds always, and so says nothing" : "never holds");
    c->values = (uint16_t) set;
}

static void read_when(struct rules_reader *r, struct json_object *when, struct rules_sign *sign)
{
    if (!rules_is(r, when, json_type_object))
        return;
    if (json_object_object_length(when) == 0 ||
        json_object_object_length(when) > RULES_CONDITIONS_MAX) {
        rules_fail(r, false, "has %d conditions, must have 1 to %d",
                   json_object_object_length(when), RULES_CONDITIONS_MAX);
        return;
    }
    json_object_object_foreach(when, key, value) {
        struct rules_condition *c = &sign->condition[sign->conditions];
        int fact = -1;
        rules_path_key(&r->path, key);
        if (!r->failed && !strcmp(key, "ranks"))
            rules_fail(
                r, true,
                "there is no fact \"ranks\": agent and deputy are no ranks, so their "
                "ports say nothing of one; leave the condition out, or the sign");
        if (!r->failed)
            fact = rules_number_of(r, key, RULES_WORD_FACT, true);
        if (fact >= 0) {
            c->is_number = fact >= RULES_FACT_COUNT;
            c->fact = (uint8_t) (c->is_number ? fact - RULES_FACT_COUNT : fact);
            (c->is_number ? read_range : read_values)(r, value, c);
            sign->conditions++;
        }
        rules_path_leave(&r->path);
    }
}

/* ---- signs ----------------------------------------------------------------------------------- */

static size_t alternatives(struct json_object *sign)
{
    struct json_object *when = NULL;

    json_object_object_get_ex(sign, "when", &when);
    return json_object_is_type(when, json_type_array) ? json_object_array_length(when) : 1;
}

static void read_candidate(struct rules_reader *r, struct json_object *v, struct rules_sign *sign,
                           bool ruled_out)
{
    static const char *const keys[] = {"class", "confidence", NULL};
    struct ftree_candidate *c = &sign->candidate[sign->candidates];
    int class_;

    if (!rules_check_keys(r, v, keys))
        return;
    class_ = rules_get_name_of(r, v, "class", RULES_WORD_CLASS, -1);
    if (class_ < 0)
        rules_fail(r, false, "has no \"class\"");
    c->class_ = (uint8_t) class_;
    c->confidence = rules_get_permille(r, v, "confidence");
    c->ruled_out = ruled_out;
    sign->candidates++;
}

static void read_candidates(struct rules_reader *r, struct json_object *v, const char *key,
                            struct rules_sign *sign)
{
    int room = FTREE_CANDIDATE_MAX - sign->candidates;
    struct json_object *list = rules_enter_list(r, v, key, room, false);

    for (size_t i = 0; rules_next(r, list, i, &v); i++)
        read_candidate(r, v, sign, !strcmp(key, "rules_out"));
}

static void check_sign_name(struct rules_reader *r, const struct rules_sign *signs, int32_t n)
{
    for (int32_t i = 0; i < n && !r->failed; i++)
        if (!strcmp(signs[i].name, signs[n].name)) {
            rules_path_key(&r->path, "name");
            rules_fail(r, false, "there is another sign of this name");
            rules_path_leave(&r->path);
        }
}

/* What is about the sign of a model only. */
static void read_model_sign(struct rules_reader *r, struct json_object *v, struct rules_sign *sign)
{
    static const char *const sides[] = {"suspect", "asker"};
    struct json_object *about;

    sign->confidence = rules_get_permille(r, v, "confidence");
    read_candidates(r, v, "leaves_open", sign);
    read_candidates(r, v, "rules_out", sign);
    RULES_IN(r, rules_enter_type(r, v, "about", json_type_string, false, &about)) {
        sign->about_asker = !strcmp(json_object_get_string(about), sides[1]);
        if (!sign->about_asker && strcmp(json_object_get_string(about), sides[0]))
            rules_fail(r, false, "must be \"suspect\" or \"asker\"");
    }
}

/* Puts the sign behind the *n that are there, once for each alternative.  It is an object: it has
 * been counted. */
static void read_sign(struct rules_reader *r, struct json_object *v, const char *model,
                      struct rules_sign *signs, int32_t *n)
{
    static const char *const model_keys[] = {
        "name", "text", "confidence", "when", "at_once", "about", "leaves_open", "rules_out", NULL};
    static const char *const well_keys[] = {"name", "text", "when", "at_once", NULL};
    struct rules_sign sign = {.confidence = 1000};
    struct json_object *when = NULL;

    if (!rules_check_keys(r, v, model ? model_keys : well_keys))
        return;
    rules_get_name(r, v, model ? model : "well", sign.name);
    rules_get_text(r, v, "text", sign.text);
    sign.at_once = rules_get_bool(r, v, "at_once");
    if (model)
        read_model_sign(r, v, &sign);
    signs[*n] = sign;
    check_sign_name(r, signs, *n);
    if (!rules_enter(r, v, "when", &when)) {
        rules_fail(r, false, "has no \"when\"");
        return;
    }
    if (!json_object_is_type(when, json_type_array)) {
        read_when(r, when, &signs[(*n)++]);
        rules_path_leave(&r->path);
        return;
    }
    for (size_t i = 0; rules_next(r, when, i, &v); i++) {
        signs[*n] = sign;
        read_when(r, v, &signs[(*n)++]);
    }
}

/* How many there are, with alternatives; the list's path is left again. */
int32_t rules_count_signs(struct rules_reader *r, struct json_object *object, const char *key)
{
    struct json_object *v, *list = rules_enter_list(r, object, key, RULES_SIGNS_MAX, false);
    size_t n = 0;

    for (size_t i = 0; rules_next(r, list, i, &v); i++) {
        size_t here = rules_is(r, v, json_type_object) ? alternatives(v) : 0;
        if (!r->failed && here == 0)
            rules_fail(r, false, "\"when\" is an empty list");
        if (!r->failed && here > RULES_SIGNS_MAX - n)
            rules_fail(r, false, "more than %d signs; each alternative counts", RULES_SIGNS_MAX);
        n += here;
    }
    return (int32_t) n;
}

int32_t rules_read_signs(struct rules_reader *r, struct json_object *object, const char *key,
                         const char *model, struct rules_sign *signs)
{
    struct json_object *v, *list = rules_enter_list(r, object, key, RULES_SIGNS_MAX, false);
    int32_t n = 0;

    for (size_t i = 0; rules_next(r, list, i, &v); i++)
        read_sign(r, v, model, signs, &n);
    return n;
}

/* ---- models ---------------------------------------------------------------------------------- */

static void check_class(struct rules_reader *r, struct json_object *v, struct rules_model *mo)
{
    int class_ = ftree_class_by_name(mo->name);

    class_ = rules_get_name_of(r, v, "class", RULES_WORD_CLASS, class_);
    if (class_ < 0) {
        rules_fail(r, false, "has no \"class\", and its name is none");
        return;
    }
    mo->class_ = (uint8_t) class_;
    if (rules_get_name_of(r, v, "component", RULES_WORD_KIND,
                          ftree_class_kind(class_)) != ftree_class_kind(class_))
        rules_fail(r, false, "\"component\": %s is a fault of a %s", ftree_class_name(class_),
                   ftree_kind_name(ftree_class_kind(class_)));
    if (rules_get_name_of(r, v, "origin", RULES_WORD_ORIGIN, ftree_class_origin(class_)) !=
        ftree_class_origin(class_))
        rules_fail(r, false, "\"origin\": of %s it is %s", ftree_class_name(class_),
                   ftree_origin_name(ftree_class_origin(class_)));
}

static void read_errors(struct rules_reader *r, struct json_object *v, struct rules_model *mo)
{
    int max = (int) (sizeof(mo->error) / sizeof(mo->error[0]));
    struct json_object *list = rules_enter_list(r, v, "errno", max, false);

    for (size_t i = 0; rules_next(r, list, i, &v); i++)
        mo->error[mo->errors++] = rules_errno_in(r, v);
}

static void enter_thresholds(struct rules_reader *r, struct json_object *v)
{
    r->thresholds = NULL;
    r->thresholds_used = 0;
    if (!rules_enter_type(r, v, "thresholds", json_type_object, false, &r->thresholds))
        return;
    json_object_object_foreach(r->thresholds, key, value) {
        rules_path_key(&r->path, key);
        if (!r->failed)
            rules_number_in(r, value, -1e15, 1e15);
        rules_path_leave(&r->path);
    }
    rules_path_leave(&r->path);
}

static void check_thresholds(struct rules_reader *r)
{
    int i = 0;

    if (r->failed || !r->thresholds)
        return;
    rules_path_key(&r->path, "thresholds");
    json_object_object_foreach(r->thresholds, key, value) {
        (void) value;
        rules_path_key(&r->path, key);
        if (!(r->thresholds_used >> i++ & 1))
            rules_fail(r, true, "no sign uses it");
        rules_path_leave(&r->path);
    }
    rules_path_leave(&r->path);
}

#define BEFORE_ABOVE (-10.0) /* reporters look now and then */
#define BEFORE_BELOW 3600.0

static void read_leads_to(struct rules_reader *r, struct json_object *v, struct rules_model *mo)
{
    struct rules_condition c = {.above = BEFORE_ABOVE, .below = BEFORE_BELOW};
    struct json_object *range;

    mo->leads_to = rules_get_set(r, v, "leads_to", RULES_WORD_MODEL);
    RULES_IN(r, rules_enter(r, v, "before_s", &range)) {
        read_range(r, range, &c);
        if (!r->failed && !mo->leads_to)
            rules_fail(r, false, "without \"leads_to\"");
    }
    mo->before_above = isinf(c.above) ? BEFORE_ABOVE : c.above;
    mo->before_below = isinf(c.below) ? BEFORE_BELOW : c.below;
}

static double get_limit(struct rules_reader *r, struct json_object *limits, const char *key)
{
    struct json_object *v;
    double limit = NAN;

    RULES_IN(r, rules_enter(r, limits, key, &v))
        limit = rules_number_in(r, v, -1e15, 1e15);
    return limit;
}

static void read_limits(struct rules_reader *r, struct json_object *v, struct rules_model *mo)
{
    static const char *const keys[] = {"high", "low", NULL};
    struct json_object *limits;

    mo->high = mo->low = NAN;
    if (!rules_enter_type(r, v, "limits", json_type_object, false, &limits))
        return;
    if (rules_check_keys(r, limits, keys)) {
        mo->high = get_limit(r, limits, "high");
        mo->low = get_limit(r, limits, "low");
    }
    if (!r->failed && isnan(mo->high) && isnan(mo->low))
        rules_fail(r, false, "has neither \"high\" nor \"low\"");
    if (!r->failed && !mo->symptoms)
        rules_fail(r, false, "without \"symptoms\"");
    rules_path_leave(&r->path);
}

static void check_signs(struct rules_reader *r, const struct rules_model *mo)
{
    if (mo->listed_only && mo->signs)
        rules_fail(r, false, "is \"listed_only\" and has signs");
    if (!mo->listed_only && !mo->signs)
        rules_fail(r, false,
                   "has no signs, so that nothing decides for it; if that is meant, say"
                   " \"listed_only\": true");
    if (mo->listed_only && mo->even_if_well)
        rules_fail(r, false, "is \"listed_only\" and \"even_if_well\"");
}

void rules_read_model(struct rules_reader *r, struct json_object *v, int32_t m)
{
    static const char *const keys[] = {
        "name",   "class",      "component",   "origin",       "symptoms", "errno", "masks",
        "causes", "leads_to",   "before_s",    "limits",       "thresholds", "listed_only", "even_if_well",
        "signs",  NULL};
    struct rules_model *mo = &r->rules->model[m];

    if (!rules_check_keys(r, v, keys))
        return;
    check_class(r, v, mo);
    mo->symptoms = rules_get_set(r, v, "symptoms", RULES_WORD_SYMPTOM);
    mo->causes = rules_get_set(r, v, "causes", RULES_WORD_MODEL);
    mo->masks = rules_get_set(r, v, "masks", RULES_WORD_MODEL);
    if ((mo->causes | mo->masks) >> m & 1)
        rules_fail(r, false, "causes or masks itself");
    read_errors(r, v, mo);
    read_limits(r, v, mo);
    mo->listed_only = rules_get_bool(r, v, "listed_only");
    mo->even_if_well = rules_get_bool(r, v, "even_if_well");
    enter_thresholds(r, v);
    read_leads_to(r, v, mo);
    mo->signs = rules_read_signs(r, v, "signs", mo->name, mo->sign);
    check_thresholds(r);
    check_signs(r, mo);
}
