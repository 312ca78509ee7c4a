/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "tool.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The schema is doc/faultloc-report.schema.json, which the build makes part of the program.  It is
 * JSON Schema, of which the keywords in the table below are understood; a schema with another one
 * is refused, so that none is passed over in silence.  Patterns are written so that they mean the
 * same as POSIX extended regular expressions.
 */

static const char schema_text[] =
#include "tools/schema.inc"
    ;

struct walk {
    struct tool_findings *f;
    struct json_object *root; /* of the schema */
};

static void check_value(const struct walk *w, struct json_object *schema,
                        struct json_object *value);

/* ---- keywords -------------------------------------------------------------------------------- */

static const char *as_text(struct json_object *value)
{
    return json_object_to_json_string_ext(value,
                                          JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
}

/* As JSON Schema calls it; a whole number written 1.0 is none here. */
static const char *type_name(struct json_object *value)
{
    switch (json_object_get_type(value)) {
        case json_type_boolean:
            return "boolean";
        case json_type_double:
            return "number";
        case json_type_int:
            return "integer";
        case json_type_object:
            return "object";
        case json_type_array:
            return "array";
        case json_type_string:
            return "string";
        default:
            return "null";
    }
}

static bool is_number(struct json_object *value)
{
    return json_object_is_type(value, json_type_int) ||
           json_object_is_type(value, json_type_double);
}

static bool has_type(struct json_object *value, const char *type)
{
    return !strcmp(type_name(value), type) || (!strcmp(type, "number") && is_number(value));
}

static void check_type(const struct walk *w, struct json_object *rule, struct json_object *value)
{
    const char *type = json_object_get_string(rule);

    if (!has_type(value, type))
        tool_found(w->f, "must be of type %s, is of type %s", type, type_name(value));
}

static void check_const(const struct walk *w, struct json_object *rule, struct json_object *value)
{
    if (!json_object_equal(rule, value))
        tool_found(w->f, "must be %s, is %.80s", as_text(rule),
                   as_text(value));
}

static void check_enum(const struct walk *w, struct json_object *rule, struct json_object *value)
{
    for (size_t i = 0; i < json_object_array_length(rule); i++)
        if (json_object_equal(json_object_array_get_idx(rule, i), value))
            return;
    tool_found(w->f, "is %.80s, must be one of %s", as_text(value),
               as_text(rule));
}

static void check_required(const struct walk *w, struct json_object *rule,
                           struct json_object *value)
{
    if (!json_object_is_type(value, json_type_object))
        return;
    for (size_t i = 0; i < json_object_array_length(rule); i++) {
        const char *key = json_object_get_string(json_object_array_get_idx(rule, i));
        if (!json_object_object_get_ex(value, key, NULL))
            tool_found(w->f, "has no \"%s\"", key);
    }
}

static void check_properties(const struct walk *w, struct json_object *rule,
                             struct json_object *value)
{
    if (!json_object_is_type(value, json_type_object))
        return;
    json_object_object_foreach(rule, key, schema) {
        struct json_object *member;
        size_t where;
        if (!json_object_object_get_ex(value, key, &member))
            continue;
        where = tool_enter_key(w->f, key);
        check_value(w, schema, member);
        tool_leave(w->f, where);
    }
}

static void check_items(const struct walk *w, struct json_object *rule, struct json_object *value)
{
    if (!json_object_is_type(value, json_type_array))
        return;
    for (size_t i = 0; i < json_object_array_length(value); i++) {
        size_t where = tool_enter_index(w->f, i);
        check_value(w, rule, json_object_array_get_idx(value, i));
        tool_leave(w->f, where);
        if (w->f->count > TOOL_FINDINGS_MAX)
            return; /* a million numbers may all be strings */
    }
}

static void check_max_items(const struct walk *w, struct json_object *rule,
                            struct json_object *value)
{
    if (json_object_is_type(value, json_type_array) &&
        json_object_array_length(value) > (size_t) json_object_get_int64(rule))
        tool_found(w->f, "has %zu elements, more than %s", json_object_array_length(value),
                   as_text(rule));
}

static void check_min_items(const struct walk *w, struct json_object *rule,
                            struct json_object *value)
{
    if (json_object_is_type(value, json_type_array) &&
        json_object_array_length(value) < (size_t) json_object_get_int64(rule))
        tool_found(w->f, "has %zu elements, fewer than %s", json_object_array_length(value),
                   as_text(rule));
}

/* Written so that what is not a number at all (NaN) fails. */
static void check_minimum(const struct walk *w, struct json_object *rule, struct json_object *value)
{
    if (is_number(value) && !(json_object_get_double(value) >= json_object_get_double(rule)))
        tool_found(w->f, "is %.40s, less than %s", as_text(value),
                   as_text(rule));
}

static void check_maximum(const struct walk *w, struct json_object *rule, struct json_object *value)
{
    if (is_number(value) && !(json_object_get_double(value) <= json_object_get_double(rule)))
        tool_found(w->f, "is %.40s, more than %s", as_text(value),
                   as_text(rule));
}

static void check_max_length(const struct walk *w, struct json_object *rule,
                             struct json_object *value)
{
    if (json_object_is_type(value, json_type_string) &&
        json_object_get_string_len(value) > json_object_get_int(rule))
        tool_found(w->f, "is longer than %s bytes", as_text(rule));
}

static void check_pattern(const struct walk *w, struct json_object *rule, struct json_object *value)
{
    const char *text = json_object_get_string(value), *pattern = json_object_get_string(rule);
    bool fits = false;
    regex_t re;

    if (!json_object_is_type(value, json_type_string))
        return;
    if (regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB)) {
        tool_found(w->f, "internal: the schema's pattern \"%s\" is not a regular expression",
                   pattern);
        return;
    }
    /* a zero byte would hide what follows it */
    if (strlen(text) == (size_t) json_object_get_string_len(value))
        fits = regexec(&re, text, 0, NULL, 0) == 0;
    regfree(&re);
    if (!fits)
        tool_found(w->f, "is %.80s, which does not match %s", as_text(value),
                   pattern);
}

static void check_ref(const struct walk *w, struct json_object *rule, struct json_object *value)
{
    static const char begin[] = "#/$defs/";
    const char *name = json_object_get_string(rule);
    struct json_object *schema = NULL;

    if (!strncmp(name, begin, sizeof(begin) - 1))
        schema = tool_member(tool_member(w->root, "$defs"), name + sizeof(begin) - 1);
    if (schema)
        check_value(w, schema, value);
    else
        tool_found(w->f, "internal: the schema has no %s", name);
}

static const struct {
    const char *name;
    void (*check)(const struct walk *w, struct json_object *rule, struct json_object *value);
} keywords[] = {
    {"type", check_type},
    {"const", check_const},
    {"enum", check_enum},
    {"required", check_required},
    {"properties", check_properties},
    {"items", check_items},
    {"minItems", check_min_items},
    {"maxItems", check_max_items},
    {"minimum", check_minimum},
    {"maximum", check_maximum},
    {"maxLength", check_max_length},
    {"pattern", check_pattern},
    {"$ref", check_ref},
    /* for people and for other validators */
    {"$schema", NULL},
    {"$id", NULL},
    {"$defs", NULL},
    {"title", NULL},
    {"description", NULL},
};

static void check_keyword(const struct walk *w, const char *name, struct json_object *rule,
                          struct json_object *value)
{
    for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++)
        if (!strcmp(keywords[i].name, name)) {
            if (keywords[i].check)
                keywords[i].check(w, rule, value);
            return;
        }
    tool_found(w->f, "internal: the schema's keyword \"%s\" is not understood", name);
}

/* Keywords are in the order of the schema.  One that fails ends it: what follows it would only say
 * the same again ("is no number", "is no number of this range"). */
static void check_value(const struct walk *w, struct json_object *schema,
                        struct json_object *value)
{
    int before = w->f->count;

    json_object_object_foreach(schema, name, rule) {
        check_keyword(w, name, rule, value);
        if (w->f->count > before && strcmp(name, "required"))
            return;
    }
}

void tool_check_schema(struct tool_findings *f, struct json_object *schema,
                       struct json_object *document)
{
    const struct walk w = {.f = f, .root = schema};

    check_value(&w, schema, document);
}

void tool_check(struct tool_findings *f, struct json_object *report)
{
    struct json_object *schema = json_tokener_parse(schema_text);

    if (!schema) {
        tool_found(f, "internal: the schema is not JSON");
        return;
    }
    tool_check_schema(f, schema, report);
    json_object_put(schema);
    if (f->count == 0)
        tool_check_meaning(f, report);
}
