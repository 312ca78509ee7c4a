/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* fits_schema SCHEMA DOCUMENT: does a JSON file fit a schema? For scripts. What does not fit is told
 * on standard error. Exit code: 0 it fits, 1 it does not, 2 a file cannot be read. */

#include "tool.h"

int main(int argc, char **argv)
{
    struct tool_findings found = {.file = argc == 3 ? argv[2] : ""};
    struct json_object *schema = argc == 3 ? json_object_from_file(argv[1]) : NULL;
    struct json_object *document = schema ? json_object_from_file(argv[2]) : NULL;

    if (!document) {
        fprintf(stderr, "fits_schema: two files of JSON are needed: a schema, a document\n");
        return 2;
    }
    tool_check_schema(&found, schema, document);
    json_object_put(schema);
    json_object_put(document);
    return found.count > 0;
}
