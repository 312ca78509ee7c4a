/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/rules/rules.h"

/* The bytes of rules_builtin.json, made from it by maint/embed-rules.sh. */
static const char text[] = {
#include "ftree/rules/rules_builtin.bytes"
    0
};

const char *ftree_rules_builtin(size_t *len)
{
    if (len)
        *len = sizeof(text) - 1;
    return text;
}
