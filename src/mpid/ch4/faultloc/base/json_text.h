/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_JSON_TEXT_H_INCLUDED
#define FAULTLOC_JSON_TEXT_H_INCLUDED

#include <json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Purpose: the member `key` of o, which is o's; NULL: o is no object, or that is no text. */
static inline const char *faultloc_text(struct json_object *o, const char *key)
{
    struct json_object *v;

    return json_object_object_get_ex(o, key, &v) && json_object_is_type(v, json_type_string)
               ? json_object_get_string(v)
               : NULL;
}

/* Purpose: the object that a text begins with, to be freed; NULL: it begins with none, of at most that
 * depth. */
static inline struct json_object *faultloc_json_object(const char *text, size_t len, int depth)
{
    struct json_tokener *t = len <= INT32_MAX ? json_tokener_new_ex(depth) : NULL;
    struct json_object *o = t ? json_tokener_parse_ex(t, text, (int) len) : NULL;

    if (t)
        json_tokener_free(t);
    if (json_object_is_type(o, json_type_object))
        return o;
    json_object_put(o);
    return NULL;
}

/* Purpose: gives a value to an object, and to a list.  It is freed where either of them is NULL or has
 * no memory for it: false. */
static inline bool faultloc_json_set(struct json_object *o, const char *key,
                                     struct json_object *value)
{
    if (o && value && !json_object_object_add(o, key, value))
        return true;
    json_object_put(value);
    return false;
}

static inline bool faultloc_json_append(struct json_object *list, struct json_object *value)
{
    if (list && value && !json_object_array_add(list, value))
        return true;
    json_object_put(value);
    return false;
}

/* Purpose: the same of a text, of a whole number, and of one with so many digits behind its point. */
static inline void faultloc_json_string(struct json_object *o, const char *key, const char *s)
{
    faultloc_json_set(o, key, json_object_new_string(s));
}

static inline void faultloc_json_number(struct json_object *o, const char *key, int64_t n)
{
    faultloc_json_set(o, key, json_object_new_int64(n));
}

static inline void faultloc_json_decimal(struct json_object *o, const char *key, double d,
                                         int digits)
{
    char buf[64];

    snprintf(buf, sizeof(buf), "%.*f", digits, d);
    faultloc_json_set(o, key, json_object_new_double_s(d, buf));
}

#endif /* FAULTLOC_JSON_TEXT_H_INCLUDED */
