/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_JSON_TEXT_H_INCLUDED
#define FAULTLOC_JSON_TEXT_H_INCLUDED

#include <json.h>
#include <stddef.h>
#include <stdint.h>

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

#endif /* FAULTLOC_JSON_TEXT_H_INCLUDED */
