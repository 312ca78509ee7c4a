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

#endif /* NOMEM_JSON_H_INCLUDED */
