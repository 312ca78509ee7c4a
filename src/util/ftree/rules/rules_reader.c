/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/rules/rules_reader.h"

#include "ftree/base/base.h"
#include "ftree/base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- errors ---------------------------------------------------------------------------------- */

void rules_fail(struct rules_reader *r, bool at_key, const char *format, ...)
{
    struct ftree_rules_error *e = r->e;
    struct rules_span span;
    char what[sizeof(e->text)];
    va_list args;

    if (r->failed)
        return;
    r->failed = true;
    rules_path_text(&r->path, e->text, sizeof(e->text) / 2);
    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    ftree_text_add(e->text, sizeof(e->text), "%s: %s", *e->text ? "" : "the rule base", what);
    ftree_text_ascii(e->text);
    e->line = e->column = 0;
    if (rules_place_find(r->text, r->len, &r->path, at_key, &span))
        rules_place_line(r->text, r->len, span.begin, &e->line, &e->column);
}

/* ---- types and keys -------------------------------------------------------------------------- */

static const char *type_name(enum json_type type)
{
    switch (type) {
        case json_type_boolean:
            return "true or false";
        case json_type_double:
        case json_type_int:
            return "a number";
        case json_type_object:
            return "an object";
        case json_type_array:
            return "a list";
        case json_type_string:
            return "a string";
        default:
            return "null";
    }
}

bool rules_is(struct rules_reader *r, struct json_object *v, enum json_type type)
{
    if (!json_object_is_type(v, type))
        rules_fail(r, false, "must be %s, is %s", type_name(type),
                   type_name(json_object_get_type(v)));
    return !r->failed;
}

bool rules_enter(struct rules_reader *r, struct json_object *object, const char *key,
                 struct json_object **v)
{
    *v = NULL;
    if (r->failed || !json_object_object_get_ex(object, key, v))
        return false;
    rules_path_key(&r->path, key);
    return true;
}

bool rules_enter_type(struct rules_reader *r, struct json_object *object, const char *key,
                      enum json_type type, bool required, struct json_object **v)
{
    if (!rules_enter(r, object, key, v)) {
        if (required)
            rules_fail(r, false, "has no \"%s\"", key);
        return false;
    }
    if (rules_is(r, *v, type))
        return true;
    rules_path_leave(&r->path);
    return false;
}

/* ---- lists ----------------------------------------------------------------------------------- */

struct json_object *rules_enter_list(struct rules_reader *r, struct json_object *object,
                                     const char *key, int max, bool required)
{
    struct json_object *list;
    size_t n;

    if (!rules_enter_type(r, object, key, json_type_array, required, &list))
        return NULL;
    n = json_object_array_length(list);
    if (n > (size_t) max)
        rules_fail(r, false, "has %zu elements, at most %d are possible", n, max);
    else if (n == 0 && required)
        rules_fail(r, false, "is an empty list");
    if (!r->failed)
        return list;
    rules_path_leave(&r->path);
    return NULL;
}

bool rules_next(struct rules_reader *r, struct json_object *list, size_t i, struct json_object **v)
{
    if (r->failed || !list)
        return false;
    if (i > 0)
        rules_path_leave(&r->path);
    if (i == json_object_array_length(list)) {
        rules_path_leave(&r->path);
        return false;
    }
    rules_path_index(&r->path, (int) i);
    *v = json_object_array_get_idx(list, i);
    return true;
}

/* ---- names ----------------------------------------------------------------------------------- */

static const char *threshold_at(const struct rules_reader *r, int i)
{
    if (!r->thresholds)
        return NULL;
    json_object_object_foreach(r->thresholds, key, value) {
        (void) value;
        if (i-- == 0)
            return key;
    }
    return NULL;
}

/* NULL behind the last. */
static const char *name_at(const struct rules_reader *r, enum rules_word of, int i)
{
    const char *name = NULL;

    switch (of) {
#define NAME_CASE(id, what, of_reader) \
    case id: \
        name = of_reader; \
        break;
        RULES_WORDS(NAME_CASE)
#undef NAME_CASE
    }
    return name && strcmp(name, "?") ? name : NULL;
}

/* ---- the nearest name ------------------------------------------------------------------------ */

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Letters to change, add, leave out or swap with their neighbour to get from a to b; only the
 * first FTREE_NAME_MAX - 1 letters of each count. */
static int distance(const char *a, const char *b)
{
    int row[3][FTREE_NAME_MAX];
    int n = least((int) strlen(a), FTREE_NAME_MAX - 1),
        m = least((int) strlen(b), FTREE_NAME_MAX - 1);

    for (int i = 0; i <= n; i++) {
        int *now = row[i % 3], *before = row[(i + 2) % 3], *last = row[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= m; j++) {
            if (i == 0) {
                now[j] = j;
                continue;
            }
            now[j] =
                least(least(before[j], now[j - 1]) + 1, before[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], last[j - 2] + 1);
        }
    }
    return row[n % 3][m];
}

/* NULL where none is near enough to be meant. */
static const char *nearest(const struct rules_reader *r, const char *name, enum rules_word of)
{
    int best = 1 + (int) strlen(name) / 3;
    const char *found = NULL;

    for (int i = 0; name_at(r, of, i); i++)
        if (distance(name, name_at(r, of, i)) < best + !found) {
            best = distance(name, name_at(r, of, i));
            found = name_at(r, of, i);
        }
    return found;
}

/* "a, b or c" of at most 8 names, else "". */
static const char *all_names(const struct rules_reader *r, enum rules_word of, char *buf,
                             size_t size)
{
    int n = 0;

    buf[0] = '\0';
    while (n < 9 && name_at(r, of, n))
        n++;
    for (int i = 0; i < n && n < 9; i++)
        ftree_text_add(buf, size, "%s%s",
                       i == 0       ? "; it must be "
                       : i == n - 1 ? " or "
                                    : ", ",
                       name_at(r, of, i));
    return buf;
}

int rules_number_of(struct rules_reader *r, const char *name, enum rules_word of, bool at_key)
{
    static const char *const whats[] = {RULES_WORDS(FTREE_SECOND)};
    const char *near, *fact = ftree_rules_fact_name(r->fact);
    char what[80], others[128];

    for (int i = 0; name_at(r, of, i); i++)
        if (!strcmp(name_at(r, of, i), name))
            return i;
    if (of == RULES_WORD_VALUE)
        snprintf(what, sizeof(what), "value of \"%s\"", fact);
    else
        snprintf(what, sizeof(what), "%s", whats[of]);
    near = nearest(r, name, of);
    if (near)
        rules_fail(r, at_key, "there is no %s \"%.40s\"; did you mean \"%s\"?", what, name, near);
    else
        rules_fail(r, at_key, "there is no %s \"%.40s\"%s", what, name,
                   all_names(r, of, others, sizeof(others)));
    return -1;
}

bool rules_check_keys(struct rules_reader *r, struct json_object *object, const char *const *keys)
{
    if (r->failed || !rules_is(r, object, json_type_object))
        return false;
    r->keys = keys;
    json_object_object_foreach (object, key, value) {
        (void) value;
        rules_path_key(&r->path, key);
        rules_number_of(r, key, RULES_WORD_KEY, true);
        rules_path_leave(&r->path);
    }
    return !r->failed;
}

static int name_in(struct rules_reader *r, struct json_object *v, enum rules_word of)
{
    if (!rules_is(r, v, json_type_string))
        return -1;
    return rules_number_of(r, json_object_get_string(v), of, false);
}

int rules_get_name_of(struct rules_reader *r, struct json_object *object, const char *key,
                      enum rules_word of, int otherwise)
{
    struct json_object *v;

    RULES_IN(r, rules_enter(r, object, key, &v))
        otherwise = name_in(r, v, of);
    return otherwise;
}

/* ---- sets ------------------------------------------------------------------------------------ */

static void add_to_set(struct rules_reader *r, struct json_object *v, enum rules_word of,
                       uint64_t *set)
{
    int i = name_in(r, v, of);

    if (i < 0)
        return;
    if (*set >> i & 1)
        rules_fail(r, false, "\"%s\" is there twice", name_at(r, of, i));
    *set |= (uint64_t) 1 << i;
}

uint64_t rules_set_in(struct rules_reader *r, struct json_object *v, enum rules_word of)
{
    bool list = json_object_is_type(v, json_type_array);
    size_t n = list ? json_object_array_length(v) : 0;
    uint64_t set = 0;

    if (list && n == 0)
        rules_fail(r, false, "is an empty list");
    else if (!list && !json_object_is_type(v, json_type_string))
        rules_fail(r, false, "must be a string or a list of strings, is %s",
                   type_name(json_object_get_type(v)));
    else if (!list)
        add_to_set(r, v, of, &set);
    for (size_t i = 0; i < n && !r->failed; i++) {
        rules_path_index(&r->path, (int) i);
        add_to_set(r, json_object_array_get_idx(v, i), of, &set);
        rules_path_leave(&r->path);
    }
    return set;
}

uint64_t rules_get_set(struct rules_reader *r, struct json_object *object, const char *key,
                       enum rules_word of)
{
    struct json_object *v;
    uint64_t set = 0;

    RULES_IN(r, rules_enter(r, object, key, &v))
        set = rules_set_in(r, v, of);
    return set;
}

/* ---- other members --------------------------------------------------------------------------- */

int32_t rules_errno_in(struct rules_reader *r, struct json_object *v)
{
    int i, error = 0;

    if (json_object_is_type(v, json_type_int))
        return (int32_t) rules_number_in(r, v, 1, 4095);
    if (!json_object_is_type(v, json_type_string)) {
        rules_fail(r, false, "must be the name of an errno or its number, is %s",
                   type_name(json_object_get_type(v)));
        return 0;
    }
    i = rules_number_of(r, json_object_get_string(v), RULES_WORD_ERRNO, false);
    if (i >= 0)
        ftree_errno_at(i, &error);
    return error;
}

/* A zero byte, written as \u0000, is none of these characters either; digits and the hyphen come
 * before the letters. */
static bool is_name(struct json_object *v)
{
    const char *s = json_object_get_string(v);
    int len = json_object_get_string_len(v);

    for (int i = 0; i < len; i++)
        if (!(s[i] >= 'a' && s[i] <= 'z') && !(s[i] >= '0' && s[i] <= '9') && s[i] != '-')
            return false;
    return len > 0 && s[0] >= 'a';
}

void rules_get_name(struct rules_reader *r, struct json_object *object, const char *prefix,
                    char name[FTREE_NAME_MAX])
{
    struct json_object *v;
    int n;

    if (!rules_enter_type(r, object, "name", json_type_string, true, &v))
        return;
    n = snprintf(name, FTREE_NAME_MAX, "%s%s%s", prefix ? prefix : "", prefix ? "/" : "",
                 json_object_get_string(v));
    if (!is_name(v))
        rules_fail(r, false,
                   "must be of small letters, digits and hyphens and begin with a letter");
    else if (n >= FTREE_NAME_MAX)
        rules_fail(r, false, "is too long: %d characters, at most %d%s", n, FTREE_NAME_MAX - 1,
                   prefix ? " together with its model's name and a slash" : "");
    rules_path_leave(&r->path);
}

void rules_get_text(struct rules_reader *r, struct json_object *object, const char *key,
                    char text[FTREE_DETAIL_MAX])
{
    struct json_object *v;
    const char *s;
    int len;

    if (!rules_enter_type(r, object, key, json_type_string, true, &v))
        return;
    s = json_object_get_string(v);
    len = json_object_get_string_len(v);
    if (len == 0 || len >= FTREE_DETAIL_MAX)
        rules_fail(r, false, "must be of 1 to %d characters, is of %d", FTREE_DETAIL_MAX - 1, len);
    for (int i = 0; i < len; i++)
        if (s[i] < ' ' || s[i] > '~')
            rules_fail(r, false, "a character in it is not printable ASCII");
    if (!r->failed)
        memcpy(text, s, (size_t) len + 1);
    rules_path_leave(&r->path);
}

bool rules_get_bool(struct rules_reader *r, struct json_object *object, const char *key)
{
    struct json_object *v;
    bool is = false;

    RULES_IN(r, rules_enter_type(r, object, key, json_type_boolean, false, &v))
        is = json_object_get_boolean(v);
    return is;
}

/* Written so that what is not a number at all fails. */
double rules_number_in(struct rules_reader *r, struct json_object *v, double min, double max)
{
    double x = json_object_get_double(v);

    if (!json_object_is_type(v, json_type_int) && !rules_is(r, v, json_type_double))
        return min;
    if (!(x >= min && x <= max))
        rules_fail(r, false, "is %.15g, must be from %.15g to %.15g", x, min, max);
    return r->failed ? min : x;
}

uint32_t rules_get_count(struct rules_reader *r, struct json_object *object, const char *key,
                         uint32_t min, uint32_t max, uint32_t otherwise)
{
    struct json_object *v;

    RULES_IN(r, rules_enter(r, object, key, &v)) {
        otherwise = (uint32_t) rules_number_in(r, v, min, max);
        if (!r->failed && !json_object_is_type(v, json_type_int))
            rules_fail(r, false, "must be a whole number");
    }
    return otherwise;
}

uint16_t rules_get_permille(struct rules_reader *r, struct json_object *object, const char *key)
{
    struct json_object *v;
    double x;

    if (!rules_enter(r, object, key, &v)) {
        rules_fail(r, false, "has no \"%s\"", key);
        return 0;
    }
    x = rules_number_in(r, v, 0.001, 1);
    rules_path_leave(&r->path);
    return (uint16_t) (x * 1000 + 0.5);
}
