/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef NOMEM_JSON_H_INCLUDED
#define NOMEM_JSON_H_INCLUDED

#include "nomem.h"

#include <json.h>

/* What makes JSON fails in its turn, too. */

NOMEM_WRAP(struct json_object *, json_object_new_object, (void), ())
NOMEM_WRAP(struct json_object *, json_object_new_array, (void), ())
NOMEM_WRAP(struct json_object *, json_object_new_string, (const char *s), (s))
NOMEM_WRAP(struct json_object *, json_object_new_int, (int32_t i), (i))
NOMEM_WRAP(struct json_object *, json_object_new_int64, (int64_t i), (i))
NOMEM_WRAP(struct json_object *, json_object_new_double_s, (double d, const char *s), (d, s))

int __real_json_object_object_add(struct json_object *o, const char *key, struct json_object *value);
int __wrap_json_object_object_add(struct json_object *o, const char *key, struct json_object *value);
int __wrap_json_object_object_add(struct json_object *o, const char *key, struct json_object *value)
{
    return nomem_fails() ? -1 : __real_json_object_object_add(o, key, value);
}

int __real_json_object_array_add(struct json_object *list, struct json_object *value);
int __wrap_json_object_array_add(struct json_object *list, struct json_object *value);
int __wrap_json_object_array_add(struct json_object *list, struct json_object *value)
{
    return nomem_fails() ? -1 : __real_json_object_array_add(list, value);
}

#endif /* NOMEM_JSON_H_INCLUDED */
