/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/report/report_int.h"

#include "ftree/base/text.h"

#include <json.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* What the lines of a report are made by, and from. */

void report_add(struct report_text *t, const char *format, ...)
{
    bool line = format[strlen(format) - 1] == '\n';
    va_list args;
    char *s;
    int n;

    va_start(args, format);
    n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    s = n < 0 ? NULL : realloc(t->s, t->len + (size_t) n + 1);
    t->failed |= !s;
    if (!s)
        return;
    va_start(args, format);
    vsnprintf(s + t->len, (size_t) n + 1, format, args);
    va_end(args);
    ftree_text_clean(s + t->len, (size_t) n - line, '?');
    t->len += (size_t) n;
    t->s = s;
}

const char *report_string(struct json_object *object, const char *key)
{
    struct json_object *value = json_object_object_get(object, key);

    return value ? json_object_get_string(value) : "";
}
