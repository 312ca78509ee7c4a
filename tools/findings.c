/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "tool.h"

#include <stdarg.h>
#include <stdio.h>

/* What is wrong in a document, and where in it. */

void tool_found(struct tool_findings *f, const char *format, ...)
{
    char text[400];
    va_list args;

    if (++f->count > TOOL_FINDINGS_MAX)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    tool_say(stderr, "faultloc: %s: %s: %s", f->file, f->len ? f->path : "the document", text);
}

static size_t enter(struct tool_findings *f, const char *format, const char *key, size_t index)
{
    size_t where = f->len, room = sizeof(f->path) - f->len;
    int n = key ? snprintf(f->path + where, room, format, key)
                : snprintf(f->path + where, room, "[%zu]", index);

    f->len += n < 0 ? 0 : (size_t) n < room ? (size_t) n : room - 1;
    tool_clean(f->path + where);
    return where;
}

size_t tool_enter_key(struct tool_findings *f, const char *key)
{
    return enter(f, f->len ? ".%s" : "%s", key, 0);
}

size_t tool_enter_index(struct tool_findings *f, size_t index)
{
    return enter(f, NULL, NULL, index);
}

void tool_leave(struct tool_findings *f, size_t where)
{
    f->len = where;
    f->path[where] = '\0';
}
