/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_JSON_TEXT_H_INCLUDED
#define FAULTLOC_JSON_TEXT_H_INCLUDED

#include <json.h>
#include <stddef.h>

/* Purpose: the member `key` of o, which is o's; NULL: o is no object, or that is no text. */
static inline const char *faultloc_text(struct json_object *o, const char *key)
{
    struct json_object *v;

    return json_object_object_get_ex(o, key, &v) && json_object_is_type(v, json_type_string)
               ? json_object_get_string(v)
               : NULL;
}

#endif /* FAULTLOC_JSON_TEXT_H_INCLUDED */
