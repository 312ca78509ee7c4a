/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef SCHEMA_H_INCLUDED
#define SCHEMA_H_INCLUDED

#include "suite.h"
#include "tool.h"

/* Purpose: in how many places a text does not fit the schema doc/faultloc-NAME.schema.json.  The
 * suite has tools/cmd_check.c among its sources. */
static inline int schema_findings(const char *name, const char *text)
{
    struct tool_findings found = {.file = name};
    struct json_object *schema, *document = json_tokener_parse(text);
    char path[4096];

    snprintf(path, sizeof(path), "%s/doc/faultloc-%s.schema.json", getenv("top_srcdir"), name);
    schema = json_object_from_file(path);
    ck_assert_msg(schema && document, "%s: %s", path, text);
    tool_check_schema(&found, schema, document);
    json_object_put(schema);
    json_object_put(document);
    return found.count;
}

#endif /* SCHEMA_H_INCLUDED */
