/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/topology/tree_int.h"

#include "ftree/base/base.h"
#include "ftree/base/text.h"

#include <stdarg.h>
#include <stdio.h>

int ftree_tree_wrong(struct ftree_tree_error *e, int line, int column, const char *format, ...)
{
    va_list args;

    e->line = line;
    e->column = column;
    va_start(args, format);
    vsnprintf(e->text, sizeof(e->text), format, args);
    va_end(args);
    ftree_text_ascii(e->text); /* it may quote a job's own name for a node */
    return FTREE_ERR_INVALID;
}
